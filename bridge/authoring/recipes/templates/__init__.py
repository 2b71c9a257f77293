"""The recipes that ``mt5-onnx model new`` writes, as they run on the sample bars."""
