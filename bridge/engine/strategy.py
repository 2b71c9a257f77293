"""A strategy ready to run: settings, model, and what both together mean."""

from dataclasses import dataclass
from pathlib import Path

from bridge.model.load import LoadedModel, check_fits, load_model
from bridge.mt5.timeframes import Timeframe, timeframe
from bridge.settings import DecisionSettings, StrategySettings, decision_settings


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy whose model is loaded and fits its symbol and timeframe.

    Attributes:
        decision: The contract's defaults with the user's changes.
    """

    settings: StrategySettings
    model: LoadedModel
    timeframe: Timeframe
    decision: DecisionSettings

    @property
    def depth(self) -> int:
        """Closed bars that a step needs: the model's window, the recent range, the longest hold."""
        return max(
            self.model.contract.window,
            self.decision.range_bars + 1,
            (self.decision.max_bars or 0) + 1,
        )


def load_strategy(settings: StrategySettings) -> Strategy:
    """Load the model of ``settings`` and check that it fits.

    Raises:
        ModelError: The file or its contract is unusable, or meant for something else.
        ConfigError: A setting is out of its bounds.
    """
    model = load_model(Path(settings.model), pin=settings.sha256)
    check_fits(model, symbol=settings.symbol, timeframe=settings.timeframe, alias=settings.alias)
    return Strategy(
        settings=settings,
        model=model,
        timeframe=timeframe(settings.timeframe),
        decision=decision_settings(model.contract.decision, settings.decision),
    )
