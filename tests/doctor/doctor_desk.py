"""What the doctor looks at in tests: real paper terminals, with one thing made wrong on purpose."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from models_support import write_last_move

from bridge.clock import Clock, ManualClock
from bridge.doctor.clock import detect
from bridge.doctor.examine import examine
from bridge.doctor.finding import Finding
from bridge.doctor.ground import Connection, Site, Subject
from bridge.engine.strategy import Strategy
from bridge.market.barfile import read_bars
from bridge.model.load import load_model
from bridge.mt5.rates import RatesArray
from bridge.mt5.records import AccountInfo, SymbolInfo, TerminalInfo, Tick
from bridge.mt5.servertime import parse, server_clock
from bridge.mt5.timeframes import timeframe
from bridge.settings import BridgeSettings, decision_settings
from bridge.share import share_dir
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal

H1 = timeframe("H1")
FILE = Path("bridge.toml")


@cache
def sample() -> RatesArray:
    """Return the EURUSD H1 bars of 2017 on an eet-us clock."""
    return read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")


def between(first: str, last: str) -> RatesArray:
    """Return the sample bars that open from ``first`` to before ``last``, server time."""
    times = sample()["time"]
    return sample()[(times >= parse(first)) & (times < parse(last))]


def broker(*, rule: str = "eet-us", symbol: str = "EURUSD", **changes: Any) -> BrokerProfile:
    """Return the shipped broker; changes are fields of its symbol, or ``account`` as a dict."""
    path = share_dir("models/sample_bars") / "profile.json"
    plain = json.loads(path.read_text(encoding="utf-8"))
    account = plain["account"] | changes.pop("account", {})
    symbols = {symbol: plain["symbols"]["EURUSD"] | changes}
    whole = plain | {"server_clock": rule, "account": account, "symbols": symbols}
    return BrokerProfile.model_validate(whole)


class Odd(ModuleTerminal):
    """A paper terminal's answers, some fields of which are what a real terminal's may be.

    Args:
        module: The paper terminal.
        odd: Verb -> fields of its answer.
    """

    def __init__(self, module: PaperTerminal, odd: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(module)
        self._odd = odd

    def _changed(self, verb: str, record: Any) -> Any:
        fields = self._odd.get(verb, {})
        names = type(record).__annotations__
        assert set(fields) <= set(names)
        return type(record)(fields.get(name, getattr(record, name)) for name in names)

    def terminal_info(self) -> TerminalInfo:
        found: TerminalInfo = self._changed("terminal_info", super().terminal_info())
        return found

    def account_info(self) -> AccountInfo:
        found: AccountInfo = self._changed("account_info", super().account_info())
        return found

    def symbol_info(self, symbol: str) -> SymbolInfo:
        found: SymbolInfo = self._changed("symbol_info", super().symbol_info(symbol))
        return found

    def symbol_info_tick(self, symbol: str) -> Tick:
        found: Tick = self._changed("symbol_info_tick", super().symbol_info_tick(symbol))
        return found


@dataclass(kw_only=True)
class Patient:
    """A settings file and the terminal that it meets; without changes all is well.

    Attributes:
        folder: For model and state.
        profile: The broker.
        bars: Of its symbol.
        odd: Verb -> fields that differ from the paper terminal's answer.
        now: The computer's clock; by default the open of the last bar.
        top: Keys of the settings file.
        strategy: Keys of its strategy.
        contract: Fields of the model's contract.
        window: Of the model.
        kind: Of the terminal.
    """

    folder: Path
    profile: BrokerProfile = field(default_factory=broker)
    bars: RatesArray = field(default_factory=sample)
    odd: dict[str, dict[str, Any]] = field(default_factory=dict)
    now: float | None = None
    top: dict[str, Any] = field(default_factory=dict)
    strategy: dict[str, Any] = field(default_factory=dict)
    contract: dict[str, Any] = field(default_factory=dict)
    window: int = 2
    kind: type[Odd] = Odd

    def settings(self) -> BridgeSettings:
        """Return the settings; mode live, since it asks for most."""
        model = self.folder / "model.onnx"
        write_last_move(model, self.window, **{"created": "2017-12-01", **self.contract})
        strategy = {
            "name": "mover",
            "model": str(model),
            "symbol": "EURUSD",
            "timeframe": "H1",
            "magic": 7,
            **self.strategy,
        }
        plain = {
            "mode": "live",
            "state": str(self.folder / "state"),
            "terminal": {"login": 1, "server": "Paper-Demo"},
            "strategy": [strategy],
        }
        return BridgeSettings.model_validate(plain | self.top)

    def module(self, clock: Clock) -> PaperTerminal:
        """Return the broker's terminal, connected."""
        symbol = next(iter(self.profile.symbols))
        paper = PaperTerminal(self.profile, {symbol: (H1, self.bars)}, clock, None)
        assert paper.initialize()
        return paper

    def link(self) -> Connection:
        """Return a connection; the terminal has the right time even if the computer has not."""
        rule = server_clock(self.profile.server_clock)
        last = rule.to_utc(int(self.bars["time"][-1]))
        right = ManualClock(last)
        seen = right if self.now is None else ManualClock(self.now)
        terminal = self.kind(self.module(right), self.odd)
        return Connection(clock=seen, about="Python 3, package 5", terminal=terminal)

    def site(self, settings: BridgeSettings | None = None) -> Site:
        """Return what checks of the terminal stand on."""
        link = self.link()
        return Site(settings or self.settings(), link, link.clock)

    def subject(self, site: Site | None = None) -> Subject:
        """Return what checks of the strategy stand on; its model was written a moment ago."""
        site = site or self.site()
        [chosen] = site.settings.strategy
        loaded = load_model(Path(chosen.model), probe=False)
        strategy = Strategy(
            chosen,
            loaded,
            timeframe(chosen.timeframe),
            decision_settings(loaded.contract.decision, chosen.decision),
        )
        return Subject(replace(site, detection=detect(site)), chosen, strategy)

    def examined(self, settings: BridgeSettings | None = None) -> dict[str, Finding]:
        """Return all findings by name."""
        link, chosen = self.link(), settings or self.settings()

        @contextmanager
        def connect() -> Iterator[Connection]:
            yield link

        return {each.check: each for each in examine(chosen, connect, link.clock, FILE)}
