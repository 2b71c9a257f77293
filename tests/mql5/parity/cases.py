"""The cases of the full table: every model that ships, and settings that shape a trade."""

from dataclasses import replace

from mql5.parity.table import Case

# Each with the template that trades what it answers.
_MODELS = {
    "eurusd_h1_direction": "Classifier",
    "eurusd_h1_sma_cross": "Forecast",
    "eurusd_h1_logistic": "Classifier",
    "eurusd_h1_histboost": "Classifier",
    "eurusd_h1_lightgbm": "Classifier",
    "eurusd_h1_mlp": "Classifier",
    "eurusd_h1_lstm": "Classifier",
    "eurusd_h1_forecast": "Forecast",
}
_BARS = 5_300
_SYMBOLS = ("EURUSD", "XAUUSD")
_ACCOUNTS = ("hedging", "netting")

_PLAIN = tuple(
    Case(model, template, symbol, margin_mode, _BARS)
    for model, template in _MODELS.items()
    for symbol in _SYMBOLS
    for margin_mode in _ACCOUNTS
)
_BASE = Case("eurusd_h1_direction", "Classifier", "EURUSD", "netting", _BARS)

# The same in words of bridge.toml and of the EA's inputs.
_SETTINGS = (
    replace(
        _BASE,
        what="trailing, break-even, part",
        tables={
            "strategy": {
                "manage": {
                    "trail_points": 300,
                    "trail_after_points": 100,
                    "trail_step_points": 20,
                    "breakeven_after_points": 80,
                    "breakeven_plus_points": 5,
                    "partial_at_points": 150,
                    "partial_share": 0.5,
                }
            }
        },
        inputs={
            "InpTrailPoints": 300.0,
            "InpTrailAfter": 100.0,
            "InpTrailStep": 20.0,
            "InpBreakevenAfter": 80.0,
            "InpBreakevenPlus": 5.0,
            "InpPartialAt": 150.0,
            "InpPartialShare": 0.5,
        },
    ),
    # Equity falls so far inside a bar only, and is back before the next entry.
    replace(
        _BASE,
        what="halted by a fall",
        tables={"strategy": {"risk": {"max_drawdown_share": 0.001}}},
        inputs={"InpMaxDrawdown": 0.001},
    ),
    replace(
        _BASE,
        what="sized by risk, in hours, flat at the weekend",
        tables={
            "strategy": {
                "risk": {"risk_share": 0.01, "max_volume": 5.0},
                "hours": {
                    "weekdays": ["mon", "tue", "thu", "fri"],
                    "windows": ["07:00-12:30", "22:00-02:00"],
                    "rollover": "23:30-00:30",
                    "friday_until": "18:00",
                },
                "manage": {"trail_ranges": 2.5, "flat_before_weekend": "20:00"},
            }
        },
    ),
    replace(
        _BASE,
        symbol="XAUUSD",
        margin_mode="hedging",
        what="losses of day, week and row",
        tables={
            "limits": {"daily_loss_share": 0.003, "max_losses_in_row": 2},
            "strategy": {
                "risk": {"weekly_loss_share": 0.005, "max_drawdown_share": None},
                "decision": {"take_points": 900, "take_ranges": None},
            },
        },
    ),
    replace(
        _BASE,
        symbol="XAUUSD",
        what="prop firm",
        tables={
            "limits": {
                "prop_firm": {
                    "start_balance": 20_000.0,
                    "daily_loss_share": 0.003,
                    "daily_from": "balance",
                    "total_loss_share": 0.03,
                    "profit_target_share": 0.04,
                }
            }
        },
    ),
)

CASES = (*_PLAIN, *_SETTINGS)
