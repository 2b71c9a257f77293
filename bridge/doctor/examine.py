"""All checks, in order of importance, each on its own: none can keep another from its answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from bridge.clock import Clock
from bridge.doctor import account, clock, link, model, orders, profile, setup, symbol
from bridge.doctor.finding import Finding, fail, skipped
from bridge.doctor.ground import Connect, Connection, Missing, Site, Subject
from bridge.engine.strategy import load_strategy
from bridge.errors import BridgeError
from bridge.settings import BridgeSettings

_T = TypeVar("_T")
_SETUP: Mapping[str, Callable[[BridgeSettings, Path], Finding]] = {
    "settings": setup.settings_read,
    "state folder": setup.state_folder,
    "disk space": setup.free_space,
}
_SITE: Mapping[str, Callable[[Site], Finding]] = {
    "package": link.package,
    "terminal": link.terminal,
    "latency": link.latency,
    "account": account.account,
    "account type": account.account_type,
    "margin mode": account.margin_mode,
    "AutoTrading": account.autotrading,
    "Python API": account.python_api,
    "account trading": account.account_trading,
    "expert trading": account.expert_trading,
    "broker profile": profile.profile,
}
# What is asked of a symbol is asked once, however many strategies trade it.
_MARKET: Mapping[str, Callable[[Subject], Finding]] = {
    "symbol {symbol}": symbol.symbol,
    "sides {title}": symbol.sides,
    "history {title}": symbol.history,
}
_STRATEGY: Mapping[str, Callable[[Subject], Finding]] = {
    "quote {symbol}": clock.quote,
    "clock {symbol}": clock.clock,
    "filling {symbol}": orders.filling,
    "stops {title}": orders.stops,
    "volume {title}": orders.volume,
    "model {title}": model.model,
    "model age {title}": model.age,
    "model hours {title}": model.hours,
    "positions {title}": model.positions,
}
_NEXT_STEP = {
    2: "correct what it names",
    3: "look at the terminal, then ask the doctor again",
    4: "correct the model or its settings",
}


def examine(
    settings: BridgeSettings, connect: Connect, clock: Clock, file: Path
) -> Iterator[Finding]:
    """Look at everything that a run needs, and say what to do.

    Nothing is sent or changed, but that symbols are put into Market Watch.

    Args:
        settings: What ``file`` says.
        connect: Opens and closes the way to the terminal.
        clock: The computer's.
        file: Named in findings.
    """
    for name, check in _SETUP.items():
        yield _find(name, partial(check, settings, file))
    with ExitStack() as stack:
        opened = _attempt(lambda: stack.enter_context(connect()))
        if isinstance(opened, Exception):
            opened = Connection(clock=clock, fault=opened)
        yield from _examine_site(Site(settings, opened, clock))
    yield _find("halt file", partial(setup.halt_file, settings, file))


def _examine_site(site: Site) -> Iterator[Finding]:
    for name, check in _SITE.items():
        yield _find(name, partial(check, site))
    subjects = [
        Subject(site, each, _attempt(partial(load_strategy, each)))
        for each in site.settings.strategy
    ]
    yield from _examine_each(subjects, _MARKET)
    # Asked now: the symbols that there are, are in Market Watch.
    site = replace(site, detection=_attempt(partial(clock.detect, site)))
    yield from _examine_each([replace(each, site=site) for each in subjects], _STRATEGY)


def _examine_each(
    subjects: Sequence[Subject], checks: Mapping[str, Callable[[Subject], Finding]]
) -> Iterator[Finding]:
    for pattern, check in checks.items():
        named: dict[str, Subject] = {}
        for each in subjects:
            named.setdefault(pattern.format(symbol=each.name, title=each.settings.title), each)
        for name, each in named.items():
            yield _find(name, partial(check, each))


def _find(name: str, look: Callable[[], Finding]) -> Finding:
    seen = _attempt(look)
    return replace(_judged(seen) if isinstance(seen, Exception) else seen, check=name)


def _attempt(ask: Callable[[], _T]) -> _T | Exception:
    try:
        return ask()
    except Exception as error:  # noqa: BLE001  a doctor that falls ill examines no further
        return error


def _judged(error: Exception) -> Finding:
    if isinstance(error, Missing):
        return skipped(str(error), "see what was found before")
    if isinstance(error, BridgeError):
        return fail(
            error.exit_code, str(error), _NEXT_STEP.get(error.exit_code, "report it, please")
        )
    return fail(
        BridgeError.exit_code,
        f"unexpected {type(error).__name__}: {error}",
        "report it, please",
    )
