"""The inputs of an EA, from settings of a strategy: the values behind the ``SET_`` constants."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bridge.mql.literals import Choice, Long, Value
from bridge.settings import DecisionSettings, LimitSettings, PropFirmSettings, StrategySettings

_SIDES = {"both": 0, "long": 1, "short": 2}
_DAY_STARTS = {"larger": 0, "balance": 1, "equity": 2}
_WITHOUT_STOP = {"close": 0, "keep": 1}


@dataclass(frozen=True, slots=True)
class Settings:
    """What an EA is told.

    Attributes:
        strategy: Of ``bridge.toml``, or made of defaults.
        decision: The contract's with the strategy's changes.
        limits: Of the account.
    """

    strategy: StrategySettings
    decision: DecisionSettings
    limits: LimitSettings


def _choice(prefix: str, numbers: Mapping[str, int], value: str) -> Choice:
    return Choice(f"{prefix}_{value.upper()}", numbers[value])


def _off(value: float | None) -> float:
    return 0.0 if value is None else float(value)


def _count(value: int | None) -> int:
    return value or 0


def _stricter(first: float | None, second: float | None) -> float:
    """Return the smaller of two limits, of which any may be off."""
    return min((each for each in (first, second) if each is not None), default=0.0)


def _joined(values: tuple[str, ...] | None) -> str:
    return " ".join(values or ())


def _prop(settings: Settings) -> PropFirmSettings:
    # Without a prop firm its shares are the defaults, and the starting balance is off.
    return settings.limits.prop_firm or PropFirmSettings(start_balance=1.0)


_VALUES: Mapping[str, Callable[[Settings], Value]] = MappingProxyType(
    {
        "SET_SYMBOL_ALIAS": lambda s: s.strategy.alias or "",
        "SET_MAGIC": lambda s: Long(s.strategy.magic),
        "SET_OPEN_AT": lambda s: float(s.decision.open_at),
        "SET_CLOSE_AT": lambda s: float(s.decision.close_at),
        "SET_REVERSE": lambda s: s.decision.reverse,
        "SET_SIDES": lambda s: _choice("SIDES", _SIDES, s.decision.sides.value),
        "SET_MAX_BARS": lambda s: _count(s.decision.max_bars),
        "SET_STOP_POINTS": lambda s: _off(s.decision.stop_points),
        "SET_STOP_RANGES": lambda s: _off(s.decision.stop_ranges),
        "SET_TAKE_POINTS": lambda s: _off(s.decision.take_points),
        "SET_TAKE_RANGES": lambda s: _off(s.decision.take_ranges),
        "SET_RANGE_BARS": lambda s: s.decision.range_bars,
        "SET_VOLUME": lambda s: _off(s.strategy.risk.volume),
        "SET_RISK_SHARE": lambda s: _off(s.strategy.risk.risk_share),
        "SET_REQUIRE_STOP": lambda s: s.strategy.risk.require_stop,
        "SET_MAX_POSITIONS": lambda s: s.strategy.risk.max_positions,
        "SET_MAX_VOLUME": lambda s: float(s.strategy.risk.max_volume),
        "SET_MAX_SPREAD_POINTS": lambda s: _off(s.strategy.risk.max_spread_points),
        "SET_MAX_QUOTE_AGE": lambda s: _off(s.limits.max_quote_age_seconds),
        "SET_MAX_BAR_AGE": lambda s: _off(s.limits.max_bar_age_seconds),
        "SET_MAX_ORDERS_PER_MINUTE": lambda s: _count(s.limits.max_orders_per_minute),
        "SET_DAILY_LOSS": lambda s: _stricter(
            s.strategy.risk.daily_loss_share, s.limits.daily_loss_share
        ),
        "SET_WEEKLY_LOSS": lambda s: _stricter(
            s.strategy.risk.weekly_loss_share, s.limits.weekly_loss_share
        ),
        "SET_MAX_DRAWDOWN": lambda s: _stricter(
            s.strategy.risk.max_drawdown_share, s.limits.max_drawdown_share
        ),
        "SET_MAX_LOSSES_IN_ROW": lambda s: int(
            _stricter(s.strategy.risk.max_losses_in_row, s.limits.max_losses_in_row)
        ),
        "SET_MIN_MARGIN_LEVEL": lambda s: _off(s.limits.min_margin_level),
        "SET_PROP_START": lambda s: float(
            s.limits.prop_firm.start_balance if s.limits.prop_firm else 0.0
        ),
        "SET_PROP_DAILY_LOSS": lambda s: _off(_prop(s).daily_loss_share),
        "SET_PROP_DAILY_FROM": lambda s: _choice(
            "DAY_START", _DAY_STARTS, _prop(s).daily_from.value
        ),
        "SET_PROP_TOTAL_LOSS": lambda s: _off(_prop(s).total_loss_share),
        "SET_PROP_TARGET": lambda s: _off(_prop(s).profit_target_share),
        "SET_WEEKDAYS": lambda s: _joined(s.strategy.hours.weekdays),
        "SET_WINDOWS": lambda s: _joined(s.strategy.hours.windows),
        "SET_ROLLOVER": lambda s: s.strategy.hours.rollover or "",
        "SET_FRIDAY_UNTIL": lambda s: s.strategy.hours.friday_until or "",
        "SET_TRAIL_POINTS": lambda s: _off(s.strategy.manage.trail_points),
        "SET_TRAIL_RANGES": lambda s: _off(s.strategy.manage.trail_ranges),
        "SET_TRAIL_AFTER": lambda s: float(s.strategy.manage.trail_after_points),
        "SET_TRAIL_STEP": lambda s: float(s.strategy.manage.trail_step_points),
        "SET_BREAKEVEN_AFTER": lambda s: _off(s.strategy.manage.breakeven_after_points),
        "SET_BREAKEVEN_PLUS": lambda s: float(s.strategy.manage.breakeven_plus_points),
        "SET_PARTIAL_AT": lambda s: _off(s.strategy.manage.partial_at_points),
        "SET_PARTIAL_SHARE": lambda s: float(s.strategy.manage.partial_share),
        "SET_FLAT_BEFORE_WEEKEND": lambda s: s.strategy.manage.flat_before_weekend or "",
        "SET_DEVIATION": lambda s: s.strategy.execution.deviation_points,
        "SET_COMMENT": lambda s: s.strategy.execution.comment,
        "SET_TRIES": lambda s: s.strategy.execution.tries,
        "SET_WIDEN_STOPS": lambda s: s.strategy.execution.widen_stops,
        "SET_RETRY_EXITS": lambda s: s.strategy.execution.retry_exits,
        "SET_STOP_TRIES": lambda s: s.strategy.execution.stop_tries,
        "SET_WITHOUT_STOP": lambda s: _choice(
            "WITHOUT_STOP", _WITHOUT_STOP, s.strategy.execution.without_stop.value
        ),
    }
)

# Limits over several strategies: an EA knows its own only.
_WITHOUT_INPUT: Mapping[str, Callable[[LimitSettings], object]] = MappingProxyType(
    {
        "limits.max_positions": lambda limits: limits.max_positions,
        "limits.max_symbol_volume": lambda limits: limits.max_symbol_volume,
        "limits.max_currency_exposure": lambda limits: limits.max_currency_exposure,
        "limits.news_csv": lambda limits: limits.news_csv,
        "limits.flatten_on": lambda limits: limits.flatten_on,
    }
)


def values_of(settings: Settings) -> dict[str, Value]:
    """Return each ``SET_`` constant's value; 0 and the empty text are off."""
    return {name: value(settings) for name, value in _VALUES.items()}


def left_out(settings: Settings) -> tuple[str, ...]:
    """Return the keys that are set and have no input in an EA."""
    return tuple(name for name, value in _WITHOUT_INPUT.items() if value(settings.limits))
