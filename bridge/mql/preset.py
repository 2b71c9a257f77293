"""Presets and tester runs: the files that a terminal loads inputs and settings from."""

import re
from dataclasses import dataclass

from bridge.mql.literals import Long, Value, field

_GROUP = re.compile(r'^input group "([^"]*)"')
_INPUT = re.compile(r"^s?input\s+\w+\s+(Inp\w+)=([^;]+);")
_PLAIN = {"true": "true", "false": "false", '""': ""}
# Inputs that an optimisation may move, and the step of each; three steps either way are tried.
_STEPS = {
    "SET_OPEN_AT": 0.02,
    "SET_MAX_BARS": 1.0,
    "SET_STOP_RANGES": 0.5,
    "SET_TAKE_RANGES": 0.5,
}
_SHARE_OF_VALUE = ("SET_STOP_POINTS", "SET_TAKE_POINTS")
_REACH = 3


@dataclass(frozen=True, slots=True)
class RunOfTester:
    """What a run of the Strategy Tester is about.

    Attributes:
        program: Path below ``Experts``, without its ending.
        deposit: Account currency.
    """

    name: str
    program: str
    symbol: str
    timeframe: str
    deposit: float = 10_000.0


def preset(name: str, model: str, library: str, values: dict[str, Value], *, steps: bool) -> str:
    """Return the text of ``OnnxBridge_NAME.set``.

    Args:
        name: Of the program.
        model: Its name.
        library: Text of ``Inputs.mqh``, whose order and groups are kept.
        values: Of the ``SET_`` constants.
        steps: Whether ``open_at`` is a share, so that it has a usual step.
    """
    lines = [
        f"; OnnxBridge_{name}.set: inputs of OnnxBridge for {model}",
        "; name=value||start||step||stop||Y to optimise",
    ]
    for line in library.splitlines():
        if group := _GROUP.match(line):
            lines.append(f"; {group[1]}")
        elif found := _INPUT.match(line):
            lines.append(f"{found[1]}={_text(found[2], values, steps=steps)}")
    return "\n".join(lines) + "\n"


def _text(default: str, values: dict[str, Value], *, steps: bool) -> str:
    if default not in values:
        return _PLAIN.get(default, default)
    value = values[default]
    text = field(default, value)
    step = _step(default, value, steps=steps)
    if step is None or isinstance(value, Long) or not isinstance(value, int | float) or not value:
        return text
    low, high = value - _REACH * step, value + _REACH * step
    return f"{text}||{max(low, step):.6g}||{step:.6g}||{high:.6g}||N"


def _step(name: str, value: Value, *, steps: bool) -> float | None:
    if name in _SHARE_OF_VALUE or (name == "SET_OPEN_AT" and not steps):
        return value / 10 if isinstance(value, float) else None
    return _STEPS.get(name)


def ini_of(run: RunOfTester, *, optimises: bool) -> str:
    """Return the text of a tester run."""
    name = f"OnnxBridge_{run.name}{'_Optimize' if optimises else ''}"
    chosen = "\n; in it an input moves once its last N is a Y" if optimises else ""
    return f"""; {name}.ini: a run of the Strategy Tester
; terminal64.exe /config:C:\\path\\{name}.ini
; OnnxBridge_{run.name}.set has to lie in MQL5\\Profiles\\Tester of that terminal{chosen}
[Tester]
Expert={run.program}
ExpertParameters=OnnxBridge_{run.name}.set
Symbol={run.symbol}
Period={run.timeframe}
; 0 every tick, 1 one-minute OHLC, 2 open prices only, 4 every tick based on real ticks
Model={2 if optimises else 1}
ExecutionMode=0
; 0 off, 1 slow complete, 2 fast genetic; OnTester's number is criterion 6
Optimization={2 if optimises else 0}
OptimizationCriterion=6
FromDate=2024.01.01
ToDate=2025.01.01
ForwardMode=0
Deposit={run.deposit:.15g}
Currency=USD
Leverage=1:100
UseLocal=1
UseRemote=0
UseCloud=0
Visual=0
Report=reports\\{name}
ReplaceReport=1
ShutdownTerminal=1
"""
