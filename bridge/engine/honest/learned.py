"""How much of a test the model has learned by heart: bars inside its training span."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bridge.model.contract import Contract
from bridge.mt5.servertime import parse

_MOST = 0.5
"""Share of learned bars above which a result says little."""


@dataclass(frozen=True, slots=True)
class Learned:
    """A model's training span beside the bars of a test.

    Attributes:
        train_from, train_to: Open of the first and last bar trained on, as the contract has them;
            None where nothing was learned, or nobody says.
        bars: Bars of the test.
        inside: Those of them within the span.
    """

    train_from: str | None
    train_to: str | None
    bars: int
    inside: int

    @property
    def share(self) -> float:
        """Share of the test's bars that the model was trained on, 0 to 1."""
        return self.inside / self.bars if self.bars else 0.0

    @property
    def is_most(self) -> bool:
        """Whether most of the test was learned."""
        return self.share > _MOST


def learned(contract: Contract, times: Sequence[int]) -> Learned:
    """Return how many of the bars that open at ``times`` (server epoch seconds) were trained on."""
    if contract.train_from is None or contract.train_to is None:
        return Learned(contract.train_from, contract.train_to, len(times), 0)
    opens = np.asarray(times)
    inside = (opens >= parse(contract.train_from)) & (opens <= parse(contract.train_to))
    return Learned(contract.train_from, contract.train_to, len(opens), int(inside.sum()))
