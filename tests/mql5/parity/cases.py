"""The cases of the full table."""

from mql5.parity.table import Case

_MODELS = {"eurusd_h1_direction": "Classifier", "eurusd_h1_sma_cross": "Forecast"}
_BARS = 5_300

CASES = tuple(
    Case(model, template, symbol, margin_mode, _BARS)
    for model, template in _MODELS.items()
    for symbol in ("EURUSD", "XAUUSD")
    for margin_mode in ("hedging", "netting")
)
