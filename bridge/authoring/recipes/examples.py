"""Examples: rows of features with their labels, split by time so that none sees the other part."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.authoring.recipes.trades import Trades
from bridge.errors import ConfigError

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """What may be learned, a row a bar.

    Attributes:
        x: Features, float32, shape ``(n, features)``; of a sequence ``(n, steps, features)``.
        y: Labels, shape ``(n,)``: integers of classes, or doubles of a forecast.
        trades: What a trade makes that each bar asks for.
    """

    x: NDArray[np.float32]
    y: NDArray[Any]
    trades: Trades

    @property
    def rows(self) -> Rows:
        """The bars whose features and label are known."""
        flat = self.x.reshape(len(self.x), -1)
        known = np.isfinite(flat).all(axis=1) & np.isfinite(self.trades.move)
        return np.flatnonzero(known)

    def at(self, rows: Rows) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """Return features and labels of some bars."""
        return self.x[rows], self.y[rows]

    def hold_out(self, share: float) -> tuple[Rows, Rows]:
        """Return the bars to train on and the newest ``share`` of all bars, never to be trained on.

        Bars whose label looks into the newer part belong to neither.

        Raises:
            ConfigError: ``share`` is not between 0 and 1, or a part is empty.
        """
        if not 0.0 < share < 1.0:
            raise ConfigError(f"a share of {share:g} can't be held out: give one between 0 and 1")
        return self.split(self.rows, int(len(self.x) * (1.0 - share)))

    def split(self, rows: Rows, begin: int, end: int | None = None) -> tuple[Rows, Rows]:
        """Return those of ``rows`` that know nothing of bar ``begin``, and those from it on.

        Args:
            rows: Bars, ascending.
            begin: The first bar of the newer part.
            end: The bar before which that part ends; None for no end.

        Raises:
            ConfigError: A part is empty.
        """
        older = rows[rows + self.trades.reach < begin]
        newer = rows[(rows >= begin) & (rows < (len(self.x) if end is None else end))]
        if not (len(older) and len(newer)):
            raise ConfigError(
                f"{len(self.x)} bars, of which {len(rows)} are usable, leave {len(older)} before "
                f"bar {begin} and {len(newer)} after it: give more bars, or hold out less"
            )
        return older, newer
