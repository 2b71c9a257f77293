"""What conformance is tested on: a paper terminal as the subject, with one thing made otherwise."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from bridge.clock import ManualClock
from bridge.conformance.compare import Outcome, Verdict, conform
from bridge.market.barfile import read_bars
from bridge.mt5.rates import RatesArray
from bridge.mt5.timeframes import timeframe
from bridge.share import share_dir
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.script import Entry
from bridge.terminal.paper.terminal import PaperTerminal

SAMPLE = share_dir("models/sample_bars")
# A Wednesday's noon, on a clock that shows UTC.
START = 1_499_860_800


def bars() -> RatesArray:
    """Return real H1 prices told as minutes; the last one opens at START."""
    rates = read_bars(SAMPLE / "EURUSD_H1_2017.csv")[:600].copy()
    rates["time"] = START + 60 * (np.arange(len(rates)) - len(rates) + 1)
    return rates


def broker(account: dict[str, Any] | None = None, **symbol: Any) -> BrokerProfile:
    """Return the shipped broker and a second pair that is not shown."""
    plain = json.loads((SAMPLE / "profile.json").read_text(encoding="utf-8"))
    plain["server_clock"] = "utc"
    plain["account"] |= {"login": 7_745_126, "server": "Paper-Demo", **(account or {})}
    (fields,) = plain["symbols"].values()
    fields |= symbol
    other = {**fields, "currency_base": "GBP", "currency_margin": "GBP"}
    plain["symbols"] = {"EURUSD": fields, "GBPUSD": other}
    return BrokerProfile.model_validate(plain)


def paper(profile: BrokerProfile | None = None, script: Iterable[Entry] = ()) -> PaperTerminal:
    """Return a connected subject."""
    series = {"EURUSD": (timeframe("M1"), bars())}
    made = PaperTerminal(profile or broker(), series, ManualClock(START + 1.0), None, script)
    assert made.initialize()
    return made


class Planted:
    """A paper terminal of which one verb's answers are changed.

    Args:
        module: The paper terminal.
        verb: The verb.
        change: Gets the answer and the arguments, returns what is answered.
        error: ``last_error`` when ``change`` returned None for an answer.
    """

    def __init__(
        self,
        module: PaperTerminal,
        verb: str,
        change: Callable[..., Any],
        error: Callable[[tuple[int, str]], tuple[int, str]] = lambda known: known,
    ) -> None:
        self._module, self._verb = module, verb
        self._change, self._error = change, error
        self._newest = ""

    def __getattr__(self, verb: str) -> Any:
        known = getattr(self._module, verb)

        def call(*args: Any, **keywords: Any) -> Any:
            self._newest = verb
            answer = known(*args, **keywords)
            return self._change(answer, *args, **keywords) if verb == self._verb else answer

        return call

    def last_error(self) -> tuple[int, str]:
        known = self._module.last_error()
        return self._error(known) if self._newest == self._verb else known


def found(subject: Any, *, may_trade: bool = True) -> list[Outcome]:
    """Return all outcomes."""
    return list(conform(subject, "EURUSD", ManualClock(0.0), may_trade=may_trade))


def differing(outcomes: Iterable[Outcome]) -> list[str]:
    """Return the names of probes that differ."""
    return [each.probe for each in outcomes if each.verdict is Verdict.DIFFERS]
