"""The broker of a dry run, made at each start of what the real terminal says of its own."""

from collections.abc import Iterator, Mapping, Sequence

from bridge.errors import ConfigError
from bridge.mt5.constants import SYMBOL_TRADE_MODE_DISABLED
from bridge.mt5.records import AccountInfo, SymbolInfo
from bridge.terminal.dryrun.source import Source
from bridge.terminal.paper.convert import FOREX, HUB, whole
from bridge.terminal.paper.money import currencies_of
from bridge.terminal.paper.profile import BrokerProfile

Pairs = Mapping[tuple[str, str], str]
"""Base and profit currency -> symbol."""


def symbols_needed(
    offered: Sequence[SymbolInfo], traded: Sequence[str], currency: str
) -> tuple[str, ...]:
    """Return the symbols whose prices the account depends on: those traded, and pairs to convert.

    Args:
        offered: All that the broker has.
        traded: By the strategies; the broker has them.
        currency: Of the account.

    Raises:
        ConfigError: No pair of the broker connects a currency with the account's.
    """
    by_name = {info.name: info for info in offered}
    pairs, found = _pairs(offered, traded), dict.fromkeys(traded)
    target = whole(currency)[0]
    for symbol in traded:
        for each in currencies_of(by_name[symbol]):
            found |= dict.fromkeys(_way(pairs, symbol, whole(each)[0], target))
    return tuple(found)


def _pairs(offered: Sequence[SymbolInfo], traded: Sequence[str]) -> Pairs:
    """Return one symbol a pair of currencies: a traded one, or one that is shown, if there is."""

    def worth(info: SymbolInfo) -> tuple[bool, bool, bool, str]:
        is_off = info.trade_mode == SYMBOL_TRADE_MODE_DISABLED
        return (info.name not in traded, not info.select, is_off, info.name)

    found: dict[tuple[str, str], str] = {}
    for info in sorted(offered, key=worth):
        if info.trade_calc_mode in FOREX:
            found.setdefault((info.currency_base, info.currency_profit), info.name)
    return found


def _way(pairs: Pairs, symbol: str, source: str, target: str) -> Iterator[str]:
    """Yield the pairs that turn ``source`` into ``target``: none, one, or two with USD."""
    if source == target:
        return
    if direct := _pair(pairs, source, target):
        yield direct
        return
    for legs in ((source, HUB), (HUB, target)):
        if not (leg := _pair(pairs, *legs)):
            raise ConfigError(
                f"{symbol} has money in {source}, and no pair of the broker turns it into "
                f"{target}, the account's currency: leave {symbol} out of a dry run"
            )
        yield leg


def _pair(pairs: Pairs, one: str, other: str) -> str | None:
    return pairs.get((one, other)) or pairs.get((other, one))


def broker_of(
    real: Source,
    symbols: Sequence[str],
    *,
    server_clock: str,
    deposit: float | None,
    costs: BrokerProfile | None,
) -> BrokerProfile:
    """Return the broker and the account that a dry run trades on.

    Args:
        real: Asked for account and specifications.
        symbols: That the account depends on, selected and with prices.
        server_clock: The broker's clock rule.
        deposit: Money that a new account begins with; None takes what the real one has.
        costs: Says what no terminal tells: commission, days of swap, sessions.

    Raises:
        ConfigError: A symbol or an account that can't be played, or costs in another currency.
        TerminalError: The terminal does not answer.
    """
    account = real.account_info()
    _check_costs(account, costs)
    money = account.balance if deposit is None else deposit
    if money <= 0:
        raise ConfigError(
            f"account {account.login} at {account.server} has no money to begin a dry run with "
            f"({account.balance:g} {account.currency}): name an amount as paper.deposit"
        )
    made = BrokerProfile.from_dump(
        account._asdict(),
        [real.symbol_info(symbol)._asdict() for symbol in symbols],
        real.terminal_info()._asdict(),
        server_clock=server_clock,
        deposit=money,
    )
    # Nothing is sent, so no permission is needed: an investor's password is enough.
    terms: dict[str, object] = {"login": account.login, "trade_expert": True}
    extra: dict[str, object] = {}
    if costs is not None:
        terms["commission"] = costs.account.commission
        for field in ("swap_days", "sessions"):
            known = getattr(costs, field)
            extra[field] = {name: known[name] for name in symbols if name in known}
    return made.model_copy(update={"account": made.account.model_copy(update=terms), **extra})


def _check_costs(account: AccountInfo, costs: BrokerProfile | None) -> None:
    if costs is not None and costs.account.currency != account.currency:
        raise ConfigError(
            f"paper.profile {costs.name} counts in {costs.account.currency}, the account "
            f"{account.login} at {account.server} in {account.currency}: name a profile of the "
            "same currency, or none"
        )
