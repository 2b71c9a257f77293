"""All questions to both terminals, one by one, and what came of each."""

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from bridge.clock import Clock, ManualClock
from bridge.conformance.desk import Desk, Skip
from bridge.conformance.probe import Facts, Probe, Reach
from bridge.conformance.reads import READS
from bridge.conformance.reference import reference_of
from bridge.conformance.refusals import REFUSALS
from bridge.conformance.trades import TRADES
from bridge.errors import BridgeError, StateMismatch
from bridge.mt5 import constants as mt5

PROBES: Sequence[Probe] = (*READS, *REFUSALS, *TRADES)
"""In the order in which they are asked."""
_TICKET = re.compile(r"(?<![\d.])\d{5,}(?![\d.])")


class Verdict(StrEnum):
    """What became of a probe."""

    SAME = "same"
    DIFFERS = "DIFFERS"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one probe found.

    Attributes:
        probe: Its name.
        terminal: What the terminal says, only where they differ.
        paper: What the paper terminal says there.
        why: Why it was skipped.
    """

    probe: str
    verdict: Verdict
    terminal: str = ""
    paper: str = ""
    why: str = ""


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """Return 0 when nothing differs, else that of a mismatch."""
    differs = any(each.verdict is Verdict.DIFFERS for each in outcomes)
    return StateMismatch.exit_code if differs else 0


def conform(
    module: Any, symbol: str, clock: Clock, *, may_trade: bool
) -> Generator[Outcome, None, None]:
    """Ask a terminal and its paper twin all questions.

    Whatever was opened is closed when the iterator ends or is closed.

    Args:
        module: The package, or what answers like it, connected.
        symbol: Name; it is put into Market Watch.
        clock: Times the waits for the server.
        may_trade: Whether small orders are sent.

    Raises:
        ConfigError: An account that is not for practice; nothing was sent. Or a symbol that the
            paper terminal can't play.
        TerminalError: A call that everything builds on failed.
        StateMismatch: Something that was opened could not be closed.
    """
    subject = Desk(module=module, symbol=symbol, clock=clock, price=0.0)
    subject.check_account()
    subject.call("symbol_select", symbol, True)
    paper, other = reference_of(module, symbol)
    try:
        twin = Desk(module=paper, symbol=symbol, clock=ManualClock(0.0), price=0.0)
        # Right after it was selected a symbol may have no tick yet.
        ask = partial(subject.call, "symbol_info_tick", symbol)
        subject.settled(ask, lambda tick: tick is not None and tick.bid > 0)
        subject.price = twin.price = float(subject.tick.bid)
        subject.other = twin.other = other
        yield from _asked(subject, twin, may_trade=may_trade)
    finally:
        paper.close()


def _asked(subject: Desk, twin: Desk, *, may_trade: bool) -> Generator[Outcome, None, None]:
    hindrance = {
        Reach.READ: "",
        Reach.REFUSAL: _switched_off(subject),
        Reach.TRADE: _hindrance(subject, may_trade=may_trade),
    }
    both = _secrets(subject) | _secrets(twin)
    # The longest first: a name may be a part of a server's.
    secrets = {secret: both[secret] for secret in sorted(both, key=len, reverse=True)}
    try:
        for probe in PROBES:
            if why := hindrance[probe.reach]:
                yield Outcome(probe=probe.name, verdict=Verdict.SKIPPED, why=why)
            else:
                yield _compared(probe, subject, twin, secrets)
    finally:
        _tidy(subject)


def _tidy(subject: Desk) -> None:
    try:
        left = subject.tidy()
    except BridgeError as error:
        known = ", ".join(f"{word} {number}" for word, number in subject.tickets.items())
        raise StateMismatch(
            f"LOOK AT THE TERMINAL: it can't be asked what is still open ({error}); what was "
            f"opened: {known or 'nothing'}"
        ) from error
    if left:
        raise StateMismatch(
            f"STILL OPEN: {', '.join(left)} could not be closed: close it by hand in the terminal"
        )


def _switched_off(desk: Desk) -> str:
    """Return why nothing can be sent; empty when it can."""
    terminal, account = desk.need("terminal_info"), desk.need("account_info")
    if not terminal.trade_allowed or terminal.tradeapi_disabled:
        return "algo trading is switched off in the terminal"
    if not account.trade_allowed or not account.trade_expert:
        return "the account may not trade, or not by programs"
    return ""


def _hindrance(desk: Desk, *, may_trade: bool) -> str:
    """Return why nothing may be opened; empty when it may."""
    if not may_trade:
        return "not asked for: add --trade"
    hedging = desk.need("account_info").margin_mode == mt5.ACCOUNT_MARGIN_MODE_RETAIL_HEDGING
    if not hedging and desk.need("positions_get", symbol=desk.symbol):
        return f"{desk.symbol} has a position, and the account is a netting one"
    return _switched_off(desk)


def _compared(probe: Probe, subject: Desk, twin: Desk, secrets: dict[str, str]) -> Outcome:
    # The twin is asked even when the subject has nothing to say: later probes build on both.
    seen, expected = _facts(probe, subject), _facts(probe, twin)
    for facts, whose in ((seen, ""), (expected, "the paper terminal: ")):
        if isinstance(facts, Skip):
            return Outcome(probe=probe.name, verdict=Verdict.SKIPPED, why=f"{whose}{facts}")
    terminal, paper = _redacted(seen, secrets), _redacted(expected, secrets)
    if _is_closed(terminal) and not _is_closed(paper):
        why = "the market is closed"
        return Outcome(probe=probe.name, verdict=Verdict.SKIPPED, why=why)
    names = [
        name
        for name in {**terminal, **paper}
        if terminal.get(name, _NONE) != paper.get(name, _NONE)
    ]
    if not names:
        return Outcome(probe=probe.name, verdict=Verdict.SAME)
    return Outcome(
        probe=probe.name,
        verdict=Verdict.DIFFERS,
        terminal=_told(terminal, names),
        paper=_told(paper, names),
    )


_NONE = object()


def _facts(probe: Probe, desk: Desk) -> Any:
    try:
        return probe.ask(desk)
    except Skip as skip:
        return skip


def _is_closed(facts: Facts) -> bool:
    return facts.get("retcode") == mt5.TRADE_RETCODE_MARKET_CLOSED


def _told(facts: Facts, names: Sequence[str]) -> str:
    return ", ".join(f"{name} {facts.get(name, 'absent')!r}" for name in names)


def _secrets(desk: Desk) -> dict[str, str]:
    account = desk.need("account_info")
    named = {str(account.login): "LOGIN", account.name: "NAME", account.server: "SERVER"}
    named[account.company] = "COMPANY"
    return {secret: word for secret, word in named.items() if len(secret) > 1}


def _redacted(facts: Facts, secrets: dict[str, str]) -> dict[str, Any]:
    """Return the facts without what tells whose they are; tickets are numbered from 1."""
    known: dict[str, str] = {}

    def hidden(value: Any) -> Any:
        if isinstance(value, list):
            return [hidden(each) for each in value]
        if not isinstance(value, str):
            return value
        for secret, word in secrets.items():
            value = value.replace(secret, word)
        return _TICKET.sub(lambda one: known.setdefault(one[0], f"TICKET-{len(known) + 1}"), value)

    return {name: hidden(value) for name, value in facts.items()}
