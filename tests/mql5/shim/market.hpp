// Account, symbols, series of bars, time, and the terminal's own variables.
#pragma once
#pragma GCC system_header
#include "arrays.hpp"

namespace mql {

inline int GetLastError() { return at().last_error; }
inline void ResetLastError() { at().last_error = 0; }
inline void SetUserError(ushort code) { at().last_error = 65535 + code; }
inline bool known(const char *name, const value &v) { (void)name; return v.kind != 0; }

inline string Symbol() { return words("Symbol"); }
inline ENUM_TIMEFRAMES Period() { return ENUM_TIMEFRAMES(whole("Period")); }
inline double SymbolInfoDouble(const string &s, ENUM_SYMBOL_INFO_DOUBLE p) { return real("SymbolInfoDouble", s, p); }
inline long SymbolInfoInteger(const string &s, ENUM_SYMBOL_INFO_INTEGER p) { return whole("SymbolInfoInteger", s, p); }
inline string SymbolInfoString(const string &s, ENUM_SYMBOL_INFO_STRING p) { return words("SymbolInfoString", s, p); }
inline bool SymbolInfoDouble(const string &s, ENUM_SYMBOL_INFO_DOUBLE p, double &to) { value v = ask("SymbolInfoDouble", s, p); to = v.real; return v.kind != 0; }
inline bool SymbolInfoInteger(const string &s, ENUM_SYMBOL_INFO_INTEGER p, long &to) { value v = ask("SymbolInfoInteger", s, p); to = v.whole; return v.kind != 0; }
inline bool SymbolInfoString(const string &s, ENUM_SYMBOL_INFO_STRING p, string &to) { value v = ask("SymbolInfoString", s, p); to = v.words ? string(v.words) : string(); return v.kind != 0; }
inline int Digits() { return int(SymbolInfoInteger(Symbol(), SYMBOL_DIGITS)); }
inline double Point() { return SymbolInfoDouble(Symbol(), SYMBOL_POINT); }
inline bool SymbolInfoTick(const string &s, MqlTick &t) {
  value v = ask("SymbolInfoTick", s);
  const double *n = static_cast<const double *>(v.data);
  if (!n) return false;
  t.time = datetime(long(n[0])); t.bid = n[1]; t.ask = n[2]; t.last = n[3]; t.volume = ulong(n[4]); t.time_msc = long(n[5]); t.flags = uint(n[6]); t.volume_real = n[7];
  return true;
}
inline bool SymbolInfoSessionTrade(const string &s, ENUM_DAY_OF_WEEK day, uint i, datetime &from, datetime &to) {
  value v = ask("SymbolInfoSessionTrade", s, day, i);
  const double *n = static_cast<const double *>(v.data);
  if (!n) return false;
  from = datetime(long(n[0])); to = datetime(long(n[1]));
  return true;
}
inline bool SymbolSelect(const string &s, bool on) { return whole("SymbolSelect", s, on) != 0; }
inline bool SymbolExist(const string &s, bool &custom) { custom = false; return whole("SymbolExist", s) != 0; }
inline int SymbolsTotal(bool selected) { return int(whole("SymbolsTotal", selected)); }
inline string SymbolName(int i, bool selected) { return words("SymbolName", i, selected); }

inline double AccountInfoDouble(ENUM_ACCOUNT_INFO_DOUBLE p) { return real("AccountInfoDouble", p); }
inline long AccountInfoInteger(ENUM_ACCOUNT_INFO_INTEGER p) { return whole("AccountInfoInteger", p); }
inline string AccountInfoString(ENUM_ACCOUNT_INFO_STRING p) { return words("AccountInfoString", p); }
inline int TerminalInfoInteger(ENUM_TERMINAL_INFO_INTEGER p) { return int(whole("TerminalInfoInteger", p)); }
inline string TerminalInfoString(ENUM_TERMINAL_INFO_STRING p) { return words("TerminalInfoString", p); }
inline int MQLInfoInteger(ENUM_MQL_INFO_INTEGER p) { return int(whole("MQLInfoInteger", p)); }
inline string MQLInfoString(ENUM_MQL_INFO_STRING p) { return words("MQLInfoString", p); }

inline datetime TimeCurrent() { return whole("TimeCurrent"); }
inline datetime TimeTradeServer() { return whole("TimeTradeServer"); }
inline datetime TimeLocal() { return whole("TimeLocal"); }
inline datetime TimeGMT() { return whole("TimeGMT"); }
inline uint GetTickCount() { return uint(whole("GetTickCount64")); }
inline ulong GetTickCount64() { return ulong(whole("GetTickCount64")); }
inline ulong GetMicrosecondCount() { return ulong(whole("GetTickCount64")) * 1000; }
inline void Sleep(int ms) { whole("Sleep", ms); }
inline bool IsStopped() { return whole("IsStopped") != 0; }
inline int UninitializeReason() { return int(whole("UninitializeReason")); }
inline void ExpertRemove() { whole("ExpertRemove"); }
inline void TesterStop() { whole("ExpertRemove"); }
inline double TesterStatistics(ENUM_STATISTICS p) { return real("TesterStatistics", p); }
inline bool EventSetTimer(int s) { return whole("EventSetTimer", s) != 0; }
inline bool EventSetMillisecondTimer(int ms) { return whole("EventSetMillisecondTimer", ms) != 0; }
inline void EventKillTimer() { whole("EventKillTimer"); }
inline int PeriodSeconds(ENUM_TIMEFRAMES p = PERIOD_CURRENT) { return int(whole("PeriodSeconds", p)); }

// ------------------------------------------------------------------ bars
inline int Bars(const string &s, ENUM_TIMEFRAMES p) { return int(whole("Bars", s, p)); }
inline long SeriesInfoInteger(const string &s, ENUM_TIMEFRAMES p, ENUM_SERIES_INFO_INTEGER i) { return whole("SeriesInfoInteger", s, p, i); }
inline int iBarShift(const string &s, ENUM_TIMEFRAMES p, datetime t, bool exact = false) { return int(whole("iBarShift", s, p, t, exact)); }
// A row of the package's bars: packed, 60 bytes.
inline MqlRates bar_of(const char *row) {
  MqlRates r;
  memcpy(&r.time.v, row, 8); memcpy(&r.open, row + 8, 8); memcpy(&r.high, row + 16, 8); memcpy(&r.low, row + 24, 8); memcpy(&r.close, row + 32, 8);
  memcpy(&r.tick_volume, row + 40, 8); memcpy(&r.spread, row + 48, 4); memcpy(&r.real_volume, row + 52, 8);
  return r;
}
inline std::vector<MqlRates> bars_of(const string &s, ENUM_TIMEFRAMES p, long start, long count) {
  value v = ask("CopyRates", s, p, start, count);
  std::vector<MqlRates> bars;
  for (long i = 0; i < v.count; ++i) bars.push_back(bar_of(static_cast<const char *>(v.data) + 60 * i));
  return bars;
}
template <class T, class F> int copied(const string &s, ENUM_TIMEFRAMES p, int start, int count, array<T> &to, F member) {
  if (start < 0 || count < 0) { at().last_error = 4003; return -1; }
  std::vector<MqlRates> bars = bars_of(s, p, start, count);
  if (bars.empty()) return -1;
  bool series = to.is_series();
  to.series(false);
  if (!to.is_fixed()) to.resize(long(bars.size()));
  if (to.size() < long(bars.size())) die("bars are copied into a smaller array");
  for (size_t i = 0; i < bars.size(); ++i) to[i] = member(bars[i]);
  to.series(series);
  return int(bars.size());
}
inline int CopyRates(const string &s, ENUM_TIMEFRAMES p, int start, int n, array<MqlRates> &to) { return copied(s, p, start, n, to, [](const MqlRates &r) { return r; }); }
inline int CopyTime(const string &s, ENUM_TIMEFRAMES p, int start, int n, array<datetime> &to) { return copied(s, p, start, n, to, [](const MqlRates &r) { return r.time; }); }
inline int CopyOpen(const string &s, ENUM_TIMEFRAMES p, int start, int n, array<double> &to) { return copied(s, p, start, n, to, [](const MqlRates &r) { return r.open; }); }
inline int CopyHigh(const string &s, ENUM_TIMEFRAMES p, int start, int n, array<double> &to) { return copied(s, p, start, n, to, [](const MqlRates &r) { return r.high; }); }
inline int CopyLow(const string &s, ENUM_TIMEFRAMES p, int start, int n, array<double> &to) { return copied(s, p, start, n, to, [](const MqlRates &r) { return r.low; }); }
inline int CopyClose(const string &s, ENUM_TIMEFRAMES p, int start, int n, array<double> &to) { return copied(s, p, start, n, to, [](const MqlRates &r) { return r.close; }); }
inline int CopyTickVolume(const string &s, ENUM_TIMEFRAMES p, int start, int n, array<long> &to) { return copied(s, p, start, n, to, [](const MqlRates &r) { return r.tick_volume; }); }
inline int CopySpread(const string &s, ENUM_TIMEFRAMES p, int start, int n, array<int> &to) { return copied(s, p, start, n, to, [](const MqlRates &r) { return r.spread; }); }
inline MqlRates one_bar(const string &s, ENUM_TIMEFRAMES p, int shift) {
  std::vector<MqlRates> bars = bars_of(s, p, shift, 1);
  return bars.empty() ? zeroed<MqlRates>() : bars[0];
}
inline datetime iTime(const string &s, ENUM_TIMEFRAMES p, int shift) { return one_bar(s, p, shift).time; }
inline double iOpen(const string &s, ENUM_TIMEFRAMES p, int shift) { return one_bar(s, p, shift).open; }
inline double iHigh(const string &s, ENUM_TIMEFRAMES p, int shift) { return one_bar(s, p, shift).high; }
inline double iLow(const string &s, ENUM_TIMEFRAMES p, int shift) { return one_bar(s, p, shift).low; }
inline double iClose(const string &s, ENUM_TIMEFRAMES p, int shift) { return one_bar(s, p, shift).close; }

// ------------------------------------------------------------------ global variables of the terminal
inline bool GlobalVariableCheck(const string &n) { return whole("GlobalVariableCheck", n) != 0; }
inline double GlobalVariableGet(const string &n) { return real("GlobalVariableGet", n); }
inline datetime GlobalVariableSet(const string &n, double v) { return whole("GlobalVariableSet", n, v); }
inline bool GlobalVariableDel(const string &n) { return whole("GlobalVariableDel", n) != 0; }
inline bool GlobalVariableTemp(const string &n) { return whole("GlobalVariableTemp", n) != 0; }
inline datetime GlobalVariableTime(const string &n) { return whole("GlobalVariableTime", n); }
inline bool GlobalVariableSetOnCondition(const string &n, double v, double if_it_is) { return whole("GlobalVariableSetOnCondition", n, v, if_it_is) != 0; }
inline void GlobalVariablesFlush() { whole("GlobalVariablesFlush"); }
inline int GlobalVariablesTotal() { return int(whole("GlobalVariablesTotal")); }
inline string GlobalVariableName(int i) { return words("GlobalVariableName", i); }

inline int CryptEncode(ENUM_CRYPT_METHOD method, const array<uchar> &data, const array<uchar> &key, array<uchar> &result) {
  value v = ask("CryptEncode", method, raw_of(data), raw_of(key));
  if (v.count <= 0) return 0;
  result.resize(v.count);
  memcpy(result.data(), v.data, size_t(v.count));
  return int(v.count);
}

} // namespace mql
