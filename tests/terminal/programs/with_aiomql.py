"""A program that trades through aiomql, asynchronously and from several threads at once."""

import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

from aiomql import (  # type: ignore[import-not-found,unused-ignore]
    Account,
    Config,
    History,
    Order,
    OrderType,
    Positions,
    Symbol,
    TimeFrame,
    TradeAction,
)


async def main() -> dict[str, Any]:
    Config(login=1, password="any", server="Paper-Demo", record_trades=False)  # noqa: S106  any will do
    async with Account() as account:
        symbol = Symbol(name="EURUSD")
        await symbol.initialize()
        asked = [symbol.copy_rates_from_pos(timeframe=TimeFrame.H1, count=n) for n in range(60, 80)]
        bars = [len(candles) for candles in await asyncio.gather(*asked)]
        now = datetime.fromtimestamp(symbol.tick.time, UTC)
        order = Order(
            symbol=symbol.name,
            type=OrderType.BUY,
            volume=0.4,
            price=symbol.tick.ask,
            sl=round(symbol.tick.bid - 0.005, 5),
            tp=round(symbol.tick.ask + 0.008, 5),
            comment="with aiomql",
        )
        checked, opened = await order.check(), await order.send()
        move = Order(
            action=TradeAction.SLTP,
            symbol=symbol.name,
            position=opened.order,
            sl=round(symbol.tick.bid - 0.004, 5),
            tp=order.tp,
        )
        moved = await move.send()
        (position,) = await Positions().get_positions(symbol=symbol.name)
        answer = await Positions.close_position(position=position)
        closed = answer[1] if isinstance(answer, tuple) else answer  # from 4.1 on: done, result
        day = timedelta(days=1)
        history = History(date_from=now - day, date_to=now + day)
        await history.initialize()
        left = await Positions().get_total_positions()
        return {
            "bars": bars,
            "login": account.login,
            "retcodes": [each.retcode for each in (checked, opened, moved, closed)],
            "sl": position.sl,
            "left": left,
            "deals": [deal.ticket for deal in history.deals],
        }


sys.stdout.write(json.dumps(asyncio.run(main())))
