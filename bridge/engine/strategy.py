"""A strategy ready to run: settings, model, and what both together mean."""

from collections.abc import Iterable
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


def load_strategies(all_settings: Iterable[StrategySettings]) -> list[Strategy]:
    """Load the models of ``all_settings`` and check that each fits; equal files are loaded once.

    Raises:
        ModelError: A file or its contract is unusable, or meant for something else.
        ConfigError: A setting is out of its bounds.
    """
    known: dict[tuple[object, ...], LoadedModel] = {}
    strategies = []
    for settings in all_settings:
        key = (settings.model, settings.sha256, settings.session)
        if key not in known:
            known[key] = load_model(
                Path(settings.model), pin=settings.sha256, session=settings.session
            )
        strategies.append(_fitted(settings, known[key]))
    return strategies


def load_strategy(settings: StrategySettings) -> Strategy:
    """Load one; see :func:`load_strategies`."""
    return load_strategies([settings])[0]


def _fitted(settings: StrategySettings, model: LoadedModel) -> Strategy:
    check_fits(model, symbol=settings.symbol, timeframe=settings.timeframe, alias=settings.alias)
    return Strategy(
        settings=settings,
        model=model,
        timeframe=timeframe(settings.timeframe),
        decision=decision_settings(model.contract.decision, settings.decision),
    )
