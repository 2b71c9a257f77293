"""A program that trades through MT5pytrader, the package mt5py."""

import json
import sys
from datetime import UTC, datetime, timedelta

from MT5pytrader import Trader  # type: ignore[import-not-found,unused-ignore]

with Trader(magic=11, comment="with mt5py") as trader:
    tick = trader.mt5.symbol_info_tick("EURUSD")
    now = datetime.fromtimestamp(tick.time, UTC)
    bars = trader.get_rates("EURUSD", trader.mt5.TIMEFRAME_H1, now - timedelta(days=2), now)
    opened = trader.open_buy("EURUSD", lot=0.2, stop_loss=500, take_profit=800)
    (position,) = trader.positions(symbol="EURUSD", magic=11, side="buy")
    moved = trader.modify_sl(ticket_id=position.ticket, sl=round(position.sl + 0.001, 5))
    waiting = trader.open_buy_limit("EURUSD", round(tick.bid - 0.01, 5), lot=0.1)
    changed = trader.modify_order(waiting.order, price=round(tick.bid - 0.02, 5))
    cancelled = trader.cancel_order(waiting.order)
    half = trader.close_partial_buy(0.5, ticket_id=position.ticket)
    closed = trader.close_position(position.ticket)
    left = trader.positions()
    deals = trader.history_deals(now - timedelta(days=1), now + timedelta(days=1))
    steps = (opened, moved, waiting, changed, cancelled, half, closed)
    told = {
        "bars": len(bars),
        "steps": [step.status for step in steps],
        "sl": moved.request["sl"],
        "left": len(left),
        "deals": [int(ticket) for ticket in deals["ticket"]],
    }
sys.stdout.write(json.dumps(told))
