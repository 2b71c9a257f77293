"""``mt5-onnx ea``: expert advisors for MQL5, written, checked, and held to the daemon."""

import typer

from bridge.cli.ea_new import check, new
from bridge.cli.ea_parity import parity

ea = typer.Typer(
    help="Write MQL5 programs that run a model, and compare their decisions with the daemon's.",
    no_args_is_help=True,
)
ea.command()(new)
ea.command()(check)
ea.command()(parity)
