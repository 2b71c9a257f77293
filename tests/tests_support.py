"""Records for tests: neutral ones of the real types, with the fields that a test cares about."""

from typing import Any

from bridge.mt5.records import AccountInfo, Record, SymbolInfo, Tick, TradePosition


def record(kind: type[Any], fields: dict[str, Any]) -> Any:
    """Return a record whose fields not given are 0, 0.0, False or empty."""
    types = kind.__annotations__
    assert set(fields) <= set(types), set(fields) - set(types)
    assert issubclass(kind, Record)
    return kind(fields[name] if name in fields else of() for name, of in types.items())


def symbol_info(**fields: Any) -> SymbolInfo:
    """Return EURUSD as a broker with five digits shows it."""
    eurusd = {
        "name": "EURUSD",
        "digits": 5,
        "point": 0.00001,
        "trade_tick_size": 0.00001,
        "trade_contract_size": 100_000.0,
        "trade_mode": 4,
        "trade_exemode": 2,
        "filling_mode": 3,
        "volume_min": 0.01,
        "volume_step": 0.01,
        "volume_max": 100.0,
    }
    found: SymbolInfo = record(SymbolInfo, eurusd | fields)
    return found


def tick(bid: float = 1.08500, ask: float = 1.08512, **fields: Any) -> Tick:
    """Return a tick."""
    found: Tick = record(Tick, {"bid": bid, "ask": ask, "time": 1_490_000_000} | fields)
    return found


def account(equity: float = 10_000.0, **fields: Any) -> AccountInfo:
    """Return an account without positions that may trade."""
    plain = {
        "equity": equity,
        "balance": equity,
        "currency": "USD",
        "trade_allowed": True,
        "trade_expert": True,
    }
    found: AccountInfo = record(AccountInfo, plain | fields)
    return found


def position(**fields: Any) -> TradePosition:
    """Return a long position of 0.1 lots with magic 7."""
    plain = {"ticket": 55, "magic": 7, "volume": 0.1, "symbol": "EURUSD", "price_open": 1.085}
    found: TradePosition = record(TradePosition, plain | fields)
    return found
