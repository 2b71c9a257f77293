"""The way to the broker: package, terminal, and how long an answer takes."""

import time
from statistics import median

from bridge.doctor.finding import Finding, fail, ok, warn
from bridge.doctor.ground import Missing, Site
from bridge.errors import NotConnected, WrongAccount
from bridge.mt5.terminal import Terminal

_FAULT = 3
_CALLS = 20
_SLOW_MS = 50.0


def package(site: Site) -> Finding:
    """Say which Python and which package answer."""
    if site.link.about is not None:
        return ok(site.link.about)
    if isinstance(site.link.fault, NotConnected):
        todo = (
            "install MetaTrader5 in a Python on Windows or under Wine, and name its command as "
            "terminal.python"
        )
        return fail(_FAULT, str(site.link.fault), todo)
    raise site.link.fault or Missing("nothing was asked")


def terminal(site: Site) -> Finding:
    """Say which terminal it is, and whether it has a broker."""
    if isinstance(site.link.fault, WrongAccount):
        raise Missing("the terminal shows another account")
    if site.link.about is not None and site.link.fault is not None:
        raise site.link.fault
    info = site.terminal.terminal_info()
    found = f"{info.name} build {info.build}" + (f" at {info.path}" if info.path else "")
    if not info.connected:
        todo = "log it in (File, Login to Trade Account) and wait for the bars at the bottom right"
        return fail(_FAULT, f"{found} has no connection to the broker", todo)
    return ok(f"{found}, connected")


def latency(site: Site) -> Finding:
    """Time a call that the terminal answers by itself."""
    milliseconds = median(_timed(site.terminal) for _ in range(_CALLS))
    ping = site.terminal.terminal_info().ping_last / 1_000
    found = f"a call takes {milliseconds:.2f} ms" + (f", the broker {ping:.0f} ms" if ping else "")
    if milliseconds > _SLOW_MS:
        return warn(
            f"{found}, more than {_SLOW_MS:g} ms",
            "close other programs, or give the computer more cores; fills slip while calls wait",
        )
    return ok(found)


def _timed(terminal: Terminal) -> float:
    # Not the market's clock: what counts is how long this computer really waits.
    begin = time.perf_counter()
    terminal.account_info()
    return (time.perf_counter() - begin) * 1_000
