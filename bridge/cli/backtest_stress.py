"""``--stress``: the same test with worse prices, late fills and bars that are seen too late."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from bridge.cli.backtest_outcome import Outcome, outcome_of
from bridge.cli.backtest_plan import spreads_of, with_account, with_spread
from bridge.cli.backtest_run import Plan, Seam, plain, play
from bridge.cli.recording import Recording
from bridge.clock import Clock
from bridge.engine.stop import Stop
from bridge.mt5.rates import RatesArray
from bridge.mt5.records import OrderSendResult
from bridge.mt5.request import RequestDict
from bridge.mt5.terminal import Terminal
from bridge.settings import BacktestSettings
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.profile import Commission
from bridge.terminal.paper.specification import complete
from bridge.terminal.paper.terminal import PaperTerminal


@dataclass(frozen=True, slots=True)
class Scenario:
    """One thing that is worse.

    Attributes:
        title: What, in a few words.
        plan: What is tested then.
        seam: How the terminal behaves then.
    """

    title: str
    plan: Plan
    seam: Seam = plain


def scenarios(plan: Plan) -> Mapping[str, Scenario]:
    """Return what ``--stress`` tries, by the name of its folder."""
    hard = plan.settings.backtest
    wide = with_spread(plan.recording, lambda symbol, spread: spread * hard.stress_spread)
    slipping = _slipping(plan.recording, hard.stress_slippage)
    return {
        "spread": Scenario(f"spread x {hard.stress_spread:g}", replace(plan, recording=wide)),
        "slippage": Scenario(
            f"slippage {hard.stress_slippage:g} spreads", replace(plan, recording=slipping)
        ),
        "late": Scenario("filled a bar late", _patient(plan), _Late),
        "missed": Scenario(f"{hard.stress_missed:.0%} of bars missed", plan, _missing(hard)),
    }


def stress(
    plan: Plan,
    folder: Path,
    *,
    stop: Stop,
    told: Callable[[str], Callable[[int], None]],
) -> dict[str, Outcome]:
    """Run the scenarios, each in its own folder, and return what came of them by title.

    Args:
        plan: As it was tested.
        folder: Of the back-test.
        stop: Ends the run that goes on, and begins no other.
        told: Given a title, returns what is told the server's time.
    """
    found: dict[str, Outcome] = {}
    for name, scenario in scenarios(plan).items():
        inside = folder / f"stress-{name}"
        inside.mkdir(exist_ok=True)
        played = play(
            scenario.plan, inside, stop=stop, on_progress=told(scenario.title), seam=scenario.seam
        )
        if not played.has_ended:
            break
        found[scenario.title] = outcome_of(played)
    return found


def _slipping(recording: Recording, spreads: float) -> Recording:
    """Return the recording with a broker who takes what slippage would, as commission."""
    kinds = list(recording.profile.account.commissions)
    for symbol, (_, bars) in recording.bars.items():
        point = complete(symbol, recording.profile.symbols[symbol]).point
        lost = spreads * float(spreads_of(recording, symbol).mean()) * point
        if percent := 100 * lost / float(np.mean(bars["close"])):
            kinds.append(Commission(symbols=symbol, percent=percent))
    return with_account(recording, commission=tuple(kinds))


def _patient(plan: Plan) -> Plan:
    """Return the plan with strategies that act although another one's order took a bar."""
    limits = plan.settings.limits.model_copy(update={"max_bar_age_seconds": None})
    return replace(plan, settings=plan.settings.model_copy(update={"limits": limits}))


class _Late(ModuleTerminal):
    """A terminal whose server takes orders at the end of the bar in which they are sent."""

    def __init__(self, paper: PaperTerminal, recording: Recording, clock: Clock) -> None:
        super().__init__(paper)
        self._paper = paper
        self._recording = recording
        self._clock = clock

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        now = self._paper.server_time()
        timeframe = self._recording.bars[str(request["symbol"])][0]
        end = timeframe.next_open(timeframe.open_of(int(now))) - 1
        self._clock.wait_until(self._recording.server.to_utc(end))
        return super().order_send(request)


class _Missing(ModuleTerminal):
    """A terminal that shows some closed bars only when the next one has closed."""

    def __init__(self, paper: PaperTerminal, share: float, seed: int) -> None:
        super().__init__(paper)

        @lru_cache(maxsize=1_000)
        def is_hidden(symbol: str, opens: int) -> bool:
            chance = random.Random(f"{seed} {symbol} {opens}")  # noqa: S311  not a secret
            return chance.random() < share

        self._is_hidden = is_hidden

    def copy_rates_from_pos(
        self, symbol: str, timeframe: int, start_pos: int, count: int
    ) -> RatesArray:
        newest = super().copy_rates_from_pos(symbol, timeframe, 0, 1)
        hidden = len(newest) and self._is_hidden(symbol, int(newest["time"][-1]))
        return super().copy_rates_from_pos(symbol, timeframe, start_pos + bool(hidden), count)


def _missing(settings: BacktestSettings) -> Seam:
    def seam(paper: PaperTerminal, recording: Recording, clock: Clock) -> Terminal:
        return _Missing(paper, settings.stress_missed, settings.seed)

    return seam
