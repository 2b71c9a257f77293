"""``mt5-onnx model``: looking at model files."""

import typer

from bridge.cli.model_inspect import inspect
from bridge.cli.model_verify import verify

model = typer.Typer(help="Look at model files, and check them.", no_args_is_help=True)
model.command()(inspect)
model.command()(verify)
