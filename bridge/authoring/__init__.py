"""Authoring: features and estimator become one proven .onnx file with a contract."""
