"""``mt5-onnx model``: looking at model files, and recipes that make them."""

import typer

from bridge.cli.model_bench import bench
from bridge.cli.model_inspect import inspect
from bridge.cli.model_lint import lint
from bridge.cli.model_new import new
from bridge.cli.model_repair import repair
from bridge.cli.model_verify import verify
from bridge.cli.model_wrap import wrap

model = typer.Typer(help="Make model files, look at them, check them.", no_args_is_help=True)
model.command()(inspect)
model.command()(verify)
model.command()(lint)
model.command()(repair)
model.command()(bench)
model.command()(new)
model.command()(wrap)
