"""What a terminal can't run, said before a program is written."""

import re

from bridge.errors import ConfigError, ContractError, ModelError
from bridge.model.contract import Contract
from bridge.model.load import LoadedModel
from bridge.model.probe import Report

IR = 8
OPSETS = {"ai.onnx": 18, "ai.onnx.ml": 3}
"""Highest versions that the runtime of every terminal with ONNX reads (onnxruntime 1.14)."""
# Limits of the library: Contract.mqh and OnnxModel.mqh.
_INPUTS, _OUTPUTS, _CLASSES = 2, 2, 16
_LAYOUTS = ("batch,window,columns", "batch,window")
# Golden rows of one window: more makes an include of several MB.
_WINDOW = 20_000
# The reference of #resource.
_PATH = 63
_NAME = re.compile(r"[A-Za-z0-9_-]+")
# Windows takes these for devices, whatever stands behind a dot.
_DEVICE = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9])", re.IGNORECASE)
_DECIDES = ("tensor(float)", "tensor(double)")


def check_runs(model: LoadedModel, report: Report) -> None:
    """Check that an EA can run ``model``.

    Args:
        model: With its contract.
        report: Of the probe, on the same file.

    Raises:
        ModelError: Its versions are above those that terminals read, or its outputs can't be taken.
        ContractError: Its contract has what the library of EAs does not.
    """
    try:
        _check_versions(report)
        _check_inputs(model.contract)
        _check_outputs(model.contract, report)
    except ModelError as error:
        raise type(error)(f"{model.path}: {error}") from error


def _check_versions(report: Report) -> None:
    if report.ir > IR:
        raise ModelError(
            f"its IR version is {report.ir}, terminals read up to {IR}: export it with "
            f"ir_version {IR}"
        )
    for domain, limit in OPSETS.items():
        found = report.opsets.get(domain, 0)
        if found > limit:
            raise ModelError(
                f"its opset of {domain} is {found}, terminals read up to {limit}: export it with "
                "target opset 15 (ai.onnx.ml 1)"
            )


def _check_inputs(contract: Contract) -> None:
    if len(contract.inputs) > _INPUTS:
        raise ContractError(
            f"it has {len(contract.inputs)} inputs, an EA fills at most {_INPUTS}: put columns "
            "together into one"
        )
    for each in contract.inputs:
        if each.layout not in _LAYOUTS:
            raise ContractError(
                f"its input {each.name} has the layout {each.layout}, an EA fills "
                f"{_LAYOUTS[0]}: transpose it inside the graph"
            )
        if not (each.name.isascii() and each.name.isprintable()):
            raise ContractError(
                f"its input {each.name!r} is not named in ASCII, as MQL5 sources are: rename it"
            )
    if contract.window > _WINDOW:
        raise ContractError(
            f"its window is {contract.window} bars, of which a program would carry golden rows of "
            f"many MB; the limit is {_WINDOW}: train it on a shorter one"
        )


def _check_outputs(contract: Contract, report: Report) -> None:
    if len(report.outputs) > _OUTPUTS:
        raise ModelError(
            f"it has {len(report.outputs)} outputs, an EA takes at most {_OUTPUTS}: drop those "
            f"beside {contract.output.name} from the graph"
        )
    if contract.output.width > _CLASSES:
        raise ContractError(
            f"it has {contract.output.width} classes, an EA knows at most {_CLASSES}: train it on "
            "fewer"
        )
    kinds = {name: kind.split(" ")[0] for name, kind in report.outputs.items()}
    for name, kind in kinds.items():
        if kind == "tensor(string)":
            raise ModelError(
                f"its output {name} is text, which MQL5 can't take: export it with whole numbers "
                "as classes"
            )
    if kinds[contract.output.name] not in _DECIDES:
        raise ModelError(
            f"its output {contract.output.name} is {kinds[contract.output.name]}, only float and "
            "double decide in MQL5: cast it inside the graph"
        )


def program_name(asked: str | None, contract: Contract, suffix: str) -> str:
    """Return the name of program and files.

    Args:
        asked: By the user; None makes it of the contract's name and ``suffix``.
        contract: The model's.
        suffix: Of the template, such as ``_shadow``.

    Raises:
        ConfigError: MQL5 or a file system can't hold it.
    """
    name = asked or re.sub(r"[^A-Za-z0-9_-]+", "_", contract.name) + suffix
    if not _NAME.fullmatch(name):
        raise ConfigError(f"the name {name!r} holds more than letters, digits, _ and -: change it")
    if _DEVICE.fullmatch(name):
        raise ConfigError(f"the name {name!r} is a device of Windows, no file: change it")
    path = f"{name}.onnx"
    if len(path) > _PATH:
        raise ConfigError(
            f"the resource {path} has {len(path)} characters, MQL5 takes {_PATH}: give the program "
            "a shorter --name"
        )
    return name
