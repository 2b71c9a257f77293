"""``mt5-onnx init``: a folder in which ``mt5-onnx run`` works at once."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

TEMPLATE = """\
# Settings of mt5-onnx run. Relative paths are taken from this file's folder.
# Write Windows paths in single quotes: 'C:\\Program Files\\MetaTrader 5\\terminal64.exe'.

mode = "paper"          # recorded bars, paper orders; "live" trades a terminal
state = "state"         # journal, log, paper account and halt file
server_clock = "auto"   # the broker's clock: found in its history; or utc, eet-eu, eet-us, utc+3

# For mode = "live". The password stands in MT5_PASSWORD or in the system's keyring, never here.
# [terminal]
# login = 12345678
# server = 'Broker-Demo'
# path = 'C:\\Program Files\\MetaTrader 5\\terminal64.exe'

[limits]                # of the whole account
daily_loss_share = 0.05     # share of the day's first equity: no more entries that day
max_drawdown_share = 0.25   # share of the highest equity: everything is halted
max_quote_age_seconds = 60  # nothing is opened on an older quote
max_bar_age_seconds = 60    # nor on a bar that closed longer ago

[paper]
profile = "profile.json"    # the broker that is played: symbols, account, costs
# speed = 3600              # replay seconds a second; without it, as fast as it goes

[[paper.bars]]
symbol = "EURUSD"
timeframe = "H1"
path = "EURUSD_H1_2017.csv"     # as MetaTrader exports bars

[[strategy]]
name = "direction"
model = "eurusd_h1_direction.onnx"
symbol = "EURUSD"
timeframe = "H1"
magic = 20170101        # marks the strategy's orders; each strategy needs its own

[strategy.risk]
volume = 0.1            # lots; or size by risk: risk_share = 0.01 (share of equity at the stop)
max_spread_points = 30
"""


def init(
    folder: Annotated[Path, typer.Argument(help="Folder to make; it must be empty or absent.")],
) -> None:
    """Make a folder with a commented bridge.toml, a model, bars and a broker."""
    from bridge.cli.config import SETTINGS
    from bridge.errors import ConfigError
    from bridge.share import share_dir

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder} can't be made ({error}): name another folder") from error
    if any(folder.iterdir()):
        raise ConfigError(f"{folder} is not empty: name another folder, nothing is overwritten")
    sample = share_dir("models/sample_bars")
    for source, name in (
        (share_dir("models/eurusd_h1_direction") / "model.onnx", "eurusd_h1_direction.onnx"),
        (sample / "EURUSD_H1_2017.csv", "EURUSD_H1_2017.csv"),
        (sample / "profile.json", "profile.json"),
    ):
        shutil.copyfile(source, folder / name)
    (folder / SETTINGS).write_text(TEMPLATE, encoding="utf-8")
    typer.echo(f"made {folder / SETTINGS}; now: mt5-onnx run -c {folder / SETTINGS}")
