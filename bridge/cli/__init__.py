"""The command ``mt5-onnx``: one file a command."""
