"""What the command line changes of a settings file, and where a back-test's files go."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bridge.cli.backtest_run import Plan
from bridge.cli.recording import Recording, beginning, load_recording
from bridge.cli.state import ACCOUNT, JOURNAL, new_run_folder
from bridge.engine.strategy import load_strategies
from bridge.errors import ConfigError
from bridge.mt5.rates import RatesArray, sealed
from bridge.mt5.servertime import parse, text
from bridge.settings import BridgeSettings, PaperPrices, StrategySettings
from bridge.terminal.paper.specification import complete

RESULT = "result.json"
"""Name of the file that holds what a back-test came to; it marks the folder as one's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Options that replace settings; None leaves what the file says.

    Attributes:
        since, until: Server times: bars that open from the first on and before the other are
            decided.
        symbol: Only the strategies of this symbol.
        model: Path of another model for the only strategy.
        profile: The broker that is played, a file or a shipped one's name.
        deposit: Money at the beginning, account currency.
        spread: Of all bars, points.
        prices: How bars are played.
    """

    since: str | None = None
    until: str | None = None
    symbol: str | None = None
    model: Path | None = None
    profile: str | None = None
    deposit: float | None = None
    spread: int | None = None
    prices: PaperPrices | None = None


def make_plan(settings: BridgeSettings, changes: Changes) -> Plan:
    """Return what is to be tested, with everything loaded.

    Raises:
        ConfigError: An option does not fit, or files can't be read.
        DataError: Bars are unusable.
        ModelError: A model is unusable.
    """
    settings = _changed(settings, changes)
    recording = _priced(load_recording(settings), settings)
    since, until = _moment(changes.since), _moment(changes.until)
    if since is not None and until is not None and since >= until:
        raise ConfigError(f"--from {text(since)} is not before --to {text(until)}: change one")
    if until is not None:
        recording = recording.up_to(until)
    loaded = load_strategies(settings.strategy)
    # Before a folder is made: what is wrong with bars and models leaves nothing behind.
    recording.check(loaded)
    beginning(loaded, recording, since=since)
    return Plan(
        settings=settings, recording=recording, strategies=lambda recording: loaded, since=since
    )


def _moment(written: str | None) -> int | None:
    return None if written is None else parse(written)


def _changed(settings: BridgeSettings, changes: Changes) -> BridgeSettings:
    backtest = {"deposit": changes.deposit, "spread_points": changes.spread}
    paper = {"profile": changes.profile, "prices": changes.prices}
    return settings.model_copy(
        update={
            "strategy": _strategies(settings.strategy, changes),
            "backtest": settings.backtest.model_copy(update=_given(backtest)),
            "paper": settings.paper.model_copy(update=_given(paper)),
        }
    )


def _given(options: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in options.items() if value is not None}


def _strategies(
    strategies: Sequence[StrategySettings], changes: Changes
) -> tuple[StrategySettings, ...]:
    kept = [each for each in strategies if changes.symbol in (None, each.symbol)]
    if not kept:
        known = ", ".join(dict.fromkeys(each.symbol for each in strategies))
        raise ConfigError(f"no strategy trades --symbol {changes.symbol}: name one of {known}")
    if changes.model is not None:
        if len(kept) > 1:
            raise ConfigError(
                f"--model replaces the model of one strategy, and there are {len(kept)}: choose "
                "one with --symbol, or change the settings file"
            )
        # The pin is of the file's own model.
        kept[0] = kept[0].model_copy(update={"model": str(changes.model), "sha256": None})
    return tuple(kept)


def _priced(recording: Recording, settings: BridgeSettings) -> Recording:
    """Return the recording with the deposit and the spread that the settings ask for."""
    deposit, points = settings.backtest.deposit, settings.backtest.spread_points
    if deposit is not None:
        recording = with_account(recording, deposit=deposit)
    if points is not None:
        recording = with_spread(recording, lambda symbol, spread: np.full(len(spread), points))
    return recording


def with_account(recording: Recording, **terms: object) -> Recording:
    """Return the recording with other terms of the broker's account."""
    profile = recording.profile
    account = profile.account.model_copy(update=terms)
    return replace(recording, profile=profile.model_copy(update={"account": account}))


def with_spread(recording: Recording, spread: Callable[[str, np.ndarray], np.ndarray]) -> Recording:
    """Return the recording with other spreads.

    Args:
        recording: What is changed.
        spread: Given a symbol and the spreads of its bars or ticks in points, those of the
            specification where a bar has none, returns others. None is smaller than a point: a bar
            can't tell it.
    """

    def change(symbol: str, bars: RatesArray) -> RatesArray:
        changed = bars.copy()
        changed["spread"] = np.maximum(np.rint(spread(symbol, spreads_of(recording, symbol))), 1)
        return sealed(changed)

    def change_ticks(symbol: str, ticks: RatesArray) -> RatesArray:
        terms, changed = recording.terms(symbol), ticks.copy()
        points = np.rint((ticks["ask"] - ticks["bid"]) / terms.point)
        wider = np.maximum(np.rint(spread(symbol, points)), 1) * terms.point
        changed["ask"] = np.round(ticks["bid"] + wider, terms.digits)
        return sealed(changed)

    return recording.map(change, change_ticks)


def spreads_of(recording: Recording, symbol: str) -> np.ndarray:
    """Return the spread of each bar of ``symbol``, points, as the paper terminal plays it."""
    known = recording.bars[symbol][1]["spread"]
    usual = complete(symbol, recording.profile.symbols[symbol]).spread
    return np.where(known > 0, known, usual).astype(np.float64)


def make_folder(settings: BridgeSettings, named: Path | None, *, force: bool) -> Path:
    """Return an empty folder for a back-test: the next one with a number, or the one named.

    Raises:
        ConfigError: The named one holds something, and is not to be replaced, or can't be.
    """
    if named is None:
        return new_run_folder(Path(settings.backtest.folder), "backtest")
    if named.resolve() == Path(settings.state).resolve():
        raise ConfigError(f"--out {named} is the state folder of runs: name another")
    if named.exists() and not named.is_dir():
        raise ConfigError(f"--out {named} is a file: name a folder")
    if named.exists() and any(named.iterdir()):
        _empty(named, force=force)
    try:
        named.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out {named} can't be made ({error}): name another") from error
    return named


def _empty(folder: Path, *, force: bool) -> None:
    """Take away what a back-test has left in ``folder``; nothing else is ever touched."""
    if not force:
        raise ConfigError(
            f"--out {folder} is not empty: name another, or replace its back-test with --force"
        )
    if not (folder / RESULT).is_file():
        raise ConfigError(
            f"--out {folder} holds no finished back-test (no {RESULT}), so nothing in it is "
            "replaced: name another folder"
        )
    for place in (folder, *folder.glob("stress-*")):
        for name in (JOURNAL, ACCOUNT, RESULT):
            for each in place.glob(f"{name}*"):
                each.unlink()
