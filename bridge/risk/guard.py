"""The guard: the last stop before the terminal. It approves exactly what is sent.

Entries fail closed: every rule has to answer yes, and a rule that raises says no and halts.
A request that reduces risk is stopped only by an unresolved order on its own ticket or by a
missing quote. The rules stand in :mod:`bridge.risk.rules`.
"""

from bridge.mt5.request import Request
from bridge.risk.facts import Bounds, Facts, TradingState
from bridge.risk.rules import ENTRY_RULES, REDUCING_RULES
from bridge.risk.rules.moment import LONGEST_AHEAD
from bridge.risk.ruling import Denial, Rule, Ruling, Verdict

__all__ = [
    "LONGEST_AHEAD",
    "Bounds",
    "Denial",
    "Facts",
    "Rule",
    "Ruling",
    "TradingState",
    "Verdict",
    "check",
]


def check(request: Request, facts: Facts, bounds: Bounds) -> Ruling:
    """Ask every rule that applies to ``request``."""
    rules = ENTRY_RULES if request.is_entry else REDUCING_RULES
    verdicts = []
    for name, rule in rules.items():
        try:
            verdict = rule(request, facts, bounds)
        except Exception as error:  # noqa: BLE001  a broken rule lets no entry out, keeps no exit in
            value = f"raised {type(error).__name__}: {error}"
            verdict = Verdict(name, not request.is_entry, value, "none", halts=True)
        verdicts.append(verdict)
    return Ruling(tuple(verdicts))
