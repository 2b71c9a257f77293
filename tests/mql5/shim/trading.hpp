// Orders, positions and their history.
#pragma once
#pragma GCC system_header
#include "market.hpp"

namespace mql {

inline value sent(const char *name, const MqlTradeRequest &q) {
  return ask(name, q.action, q.magic, q.order, q.symbol, q.volume, q.price, q.stoplimit, q.sl, q.tp, q.deviation, q.type, q.type_filling, q.type_time, q.expiration, q.comment, q.position, q.position_by);
}
inline bool OrderSend(const MqlTradeRequest &q, MqlTradeResult &r) {
  value v = sent("OrderSend", q);
  const double *n = static_cast<const double *>(v.data);
  r.retcode = uint(n[0]); r.deal = ulong(n[1]); r.order = ulong(n[2]); r.volume = n[3]; r.price = n[4]; r.bid = n[5]; r.ask = n[6]; r.request_id = uint(n[7]); r.retcode_external = int(n[8]);
  r.comment = string(v.words);
  return v.whole != 0;
}
inline bool OrderCheck(const MqlTradeRequest &q, MqlTradeCheckResult &r) {
  value v = sent("OrderCheck", q);
  const double *n = static_cast<const double *>(v.data);
  r.retcode = uint(n[0]); r.balance = n[1]; r.equity = n[2]; r.profit = n[3]; r.margin = n[4]; r.margin_free = n[5]; r.margin_level = n[6];
  r.comment = string(v.words);
  return v.whole != 0;
}
inline bool OrderCalcMargin(ENUM_ORDER_TYPE a, const string &s, double volume, double price, double &margin) {
  value v = ask("OrderCalcMargin", a, s, volume, price);
  if (v.kind) margin = v.real;
  return v.kind != 0;
}
inline bool OrderCalcProfit(ENUM_ORDER_TYPE a, const string &s, double volume, double opened, double closed, double &profit) {
  value v = ask("OrderCalcProfit", a, s, volume, opened, closed);
  if (v.kind) profit = v.real;
  return v.kind != 0;
}

inline int PositionsTotal() { return int(whole("PositionsTotal")); }
inline ulong PositionGetTicket(int i) { return ulong(whole("PositionGetTicket", i)); }
inline string PositionGetSymbol(int i) { return words("PositionGetSymbol", i); }
inline bool PositionSelect(const string &s) { return whole("PositionSelect", s) != 0; }
inline bool PositionSelectByTicket(ulong t) { return whole("PositionSelectByTicket", t) != 0; }
inline double PositionGetDouble(ENUM_POSITION_PROPERTY_DOUBLE p) { return real("PositionGetDouble", p); }
inline long PositionGetInteger(ENUM_POSITION_PROPERTY_INTEGER p) { return whole("PositionGetInteger", p); }
inline string PositionGetString(ENUM_POSITION_PROPERTY_STRING p) { return words("PositionGetString", p); }

inline int OrdersTotal() { return int(whole("OrdersTotal")); }
inline ulong OrderGetTicket(int i) { return ulong(whole("OrderGetTicket", i)); }
inline bool OrderSelect(ulong t) { return whole("OrderSelect", t) != 0; }
inline double OrderGetDouble(ENUM_ORDER_PROPERTY_DOUBLE p) { return real("OrderGetDouble", p); }
inline long OrderGetInteger(ENUM_ORDER_PROPERTY_INTEGER p) { return whole("OrderGetInteger", p); }
inline string OrderGetString(ENUM_ORDER_PROPERTY_STRING p) { return words("OrderGetString", p); }

inline bool HistorySelect(datetime from, datetime to) { return whole("HistorySelect", from, to) != 0; }
inline bool HistorySelectByPosition(long id) { return whole("HistorySelectByPosition", id) != 0; }
inline int HistoryDealsTotal() { return int(whole("HistoryDealsTotal")); }
inline ulong HistoryDealGetTicket(int i) { return ulong(whole("HistoryDealGetTicket", i)); }
inline bool HistoryDealSelect(ulong t) { return whole("HistoryDealSelect", t) != 0; }
inline double HistoryDealGetDouble(ulong t, ENUM_DEAL_PROPERTY_DOUBLE p) { return real("HistoryDealGetDouble", t, p); }
inline long HistoryDealGetInteger(ulong t, ENUM_DEAL_PROPERTY_INTEGER p) { return whole("HistoryDealGetInteger", t, p); }
inline string HistoryDealGetString(ulong t, ENUM_DEAL_PROPERTY_STRING p) { return words("HistoryDealGetString", t, p); }
inline int HistoryOrdersTotal() { return int(whole("HistoryOrdersTotal")); }
inline ulong HistoryOrderGetTicket(int i) { return ulong(whole("HistoryOrderGetTicket", i)); }
inline bool HistoryOrderSelect(ulong t) { return whole("HistoryOrderSelect", t) != 0; }
inline double HistoryOrderGetDouble(ulong t, ENUM_ORDER_PROPERTY_DOUBLE p) { return real("HistoryOrderGetDouble", t, p); }
inline long HistoryOrderGetInteger(ulong t, ENUM_ORDER_PROPERTY_INTEGER p) { return whole("HistoryOrderGetInteger", t, p); }
inline string HistoryOrderGetString(ulong t, ENUM_ORDER_PROPERTY_STRING p) { return words("HistoryOrderGetString", t, p); }

} // namespace mql
