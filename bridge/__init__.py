"""MetaTrader 5 bridge for ONNX-driven expert advisors."""

__version__ = "0.1.0"
