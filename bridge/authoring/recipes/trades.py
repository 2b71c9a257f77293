"""Labels: what a trade that follows each bar makes, after its costs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bridge.errors import ConfigError
from bridge.model.contract import Class
from bridge.mt5.rates import RatesArray

Doubles = NDArray[np.float64]

SIDES = (
    Class(name="down", side="short"),
    Class(name="flat", side="flat"),
    Class(name="up", side="long"),
)
"""The classes of :func:`sides_of`, in order."""
DOWN, FLAT, UP = range(3)
UNKNOWN = -1


@dataclass(frozen=True, slots=True, eq=False)
class Trades:
    """What a trade makes that is opened when the next bar opens, by the bar that asks for it.

    Attributes:
        horizon: Bars that it is held.
        move: From open to open, points, shape ``(n,)``; NaN where the bars end before.
        long: What buying makes, points, after spread and costs; likewise.
        short: What selling makes, likewise.
    """

    horizon: int
    move: Doubles
    long: Doubles
    short: Doubles

    @property
    def reach(self) -> int:
        """Bars after the one that asks which a label looks at."""
        return self.horizon + 1


def trades_of(rates: RatesArray, *, horizon: int, point: float, costs: float = 0.0) -> Trades:
    """Return the trade that each bar could ask for.

    It opens when the next bar opens and closes ``horizon`` bars later, at that bar's open. A buy
    pays the spread of the bar that it opens on, a sale that of the bar that it closes on: bars
    are bid prices.

    Args:
        rates: Shape ``(n,)``, oldest first.
        horizon: Bars that it is held, 1 or more.
        point: Price of one point, above 0.
        costs: Of a trade beside the spread, points: commission there and back, swap. Where bars
            have no spread (0), the spread belongs here, too.

    Raises:
        ConfigError: A number is out of its bounds, or there are too few bars.
    """
    if horizon < 1 or not point > 0.0 or not costs >= 0.0:
        raise ConfigError(
            f"a trade over {horizon} bars with points of {point:g} and costs of {costs:g} is none: "
            "give a horizon of 1 or more, a point above 0 and costs of 0 or more"
        )
    if len(rates) < horizon + 2:
        raise ConfigError(
            f"{len(rates)} bars are too few for trades over {horizon}: give more bars or a shorter "
            "horizon"
        )
    last = len(rates) - horizon - 1
    opens, spread = rates["open"], rates["spread"].astype(np.float64)
    move, paid_in, paid_out = (np.full(len(rates), np.nan) for _ in range(3))
    move[:last] = (opens[horizon + 1 :] - opens[1:-horizon]) / point
    paid_in[:last], paid_out[:last] = spread[1:-horizon], spread[horizon + 1 :]
    return Trades(horizon, move, move - paid_in - costs, -move - paid_out - costs)


def sides_of(trades: Trades, *, least: float = 0.0) -> NDArray[np.int64]:
    """Return 0 where selling pays, 2 where buying does, 1 where neither; -1 where it is not known.

    Args:
        trades: Of :func:`trades_of`.
        least: Points that a trade has to make to count, after its costs; 0 or more.
    """
    found = np.where(trades.long > least, UP, np.where(trades.short > least, DOWN, FLAT))
    return np.where(np.isnan(trades.move), UNKNOWN, found).astype(np.int64)
