"""Features: one expression tree over bars, evaluated in numpy or emitted as ONNX nodes."""
