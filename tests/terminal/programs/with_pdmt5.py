"""A program that trades through pdmt5, which makes data frames of what the terminal answers."""

import json
import sys
from datetime import UTC, datetime, timedelta

from pdmt5 import Mt5Config, Mt5DataClient  # type: ignore[import-not-found,unused-ignore]

with Mt5DataClient(config=Mt5Config()) as client:
    mt5 = client.mt5
    tick = client.symbol_info_tick_as_dict("EURUSD", skip_to_datetime=True)
    now = datetime.fromtimestamp(tick["time"], UTC)
    bars = client.copy_rates_from_pos_as_df("EURUSD", mt5.TIMEFRAME_H4, 0, 50)
    request = {
        "action": mt5.TRADE_ACTION_DEAL,
        "symbol": "EURUSD",
        "volume": 0.3,
        "type": mt5.ORDER_TYPE_SELL,
        "price": tick["bid"],
        "type_filling": mt5.ORDER_FILLING_IOC,
        "magic": 22,
        "comment": "with pdmt5",
    }
    checked = client.order_check_as_dict(request)
    opened = client.order_send_as_dict(request)
    moved = client.order_send_as_dict(
        {
            "action": mt5.TRADE_ACTION_SLTP,
            "position": opened["order"],
            "sl": round(tick["ask"] + 0.005, 5),
            "tp": round(tick["bid"] - 0.005, 5),
        }
    )
    held = client.positions_get_as_df(symbol="EURUSD")
    closed = client.order_send_as_dict(
        {
            **request,
            "type": mt5.ORDER_TYPE_BUY,
            "price": tick["ask"],
            "position": int(held["ticket"].iloc[0]),
        }
    )
    deals = client.history_deals_get_as_df(now - timedelta(days=1), now + timedelta(days=1))
    told = {
        "bars": len(bars),
        "columns": list(bars.columns),
        "retcodes": [each["retcode"] for each in (checked, opened, moved, closed)],
        "levels": [float(held["sl"].iloc[0]), float(held["tp"].iloc[0])],
        "left": len(client.positions_get_as_df()),
        "deals": [int(ticket) for ticket in deals.reset_index()["ticket"]],
    }
sys.stdout.write(json.dumps(told))
