"""Trade through mt5linux, with the server at the port that is named; print what was seen."""

import json
import sys
from datetime import datetime
from typing import Any

from mt5linux import MetaTrader5  # type: ignore[import-not-found]
from rpyc.utils.classic import obtain  # noqa: TID251  as its users do

mt5: Any = MetaTrader5(host="127.0.0.1", port=int(sys.argv[1]))
assert mt5.initialize()
account = mt5.account_info()
bars = mt5.copy_rates_from_pos("EURUSD", mt5.TIMEFRAME_H1, 0, 50)
since = mt5.copy_rates_from("EURUSD", mt5.TIMEFRAME_H1, datetime(2017, 6, 1), 3)  # noqa: DTZ001
tick = mt5.symbol_info_tick("EURUSD")
request = {
    "action": mt5.TRADE_ACTION_DEAL,
    "symbol": "EURUSD",
    "volume": 0.3,
    "type": mt5.ORDER_TYPE_BUY,
    "price": tick.ask,
    "deviation": 20,
    "magic": 44,
    "comment": "with mt5linux",
    "type_time": mt5.ORDER_TIME_GTC,
    "type_filling": mt5.ORDER_FILLING_IOC,
}
opened = mt5.order_send(request)
(held,) = mt5.positions_get(symbol="EURUSD")
close = {**request, "type": mt5.ORDER_TYPE_SELL, "position": held.ticket, "price": tick.bid}
closed = mt5.order_send(close)
seen = {
    "balance": account.balance,
    "copied": [obtain(account).login, obtain(account)._asdict()["server"]],
    "bars": [len(bars), len(since), list(bars.dtype.names)],
    "retcodes": [opened.retcode, closed.retcode],
    "request": opened.request.comment,
    "left": mt5.positions_total(),
    "error": list(mt5.last_error()),
}
print(json.dumps(seen))  # noqa: T201  the test reads it
mt5.shutdown()
