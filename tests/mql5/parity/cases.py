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
)

CASES = (*_PLAIN, *_SETTINGS)
