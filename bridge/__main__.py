"""``python -m bridge`` is ``mt5-onnx``."""

from bridge.cli.main import main

main()
