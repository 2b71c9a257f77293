"""Loading: a path becomes a model that has run once in a child, with a contract that fits it.

The order matters: bytes, child process, session, contract.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from bridge.errors import ContractError, ModelError
from bridge.features.operations import OPERATIONS
from bridge.model.contract import Contract, read_contract
from bridge.model.files import read_model_file
from bridge.model.probe import probe as probe_file
from bridge.model.session import ModelSession, check_declared, metadata_of, open_session
from bridge.model.signal import Signal, decode, no_signal
from bridge.mt5.rates import RatesArray
from bridge.settings import SessionSettings

# What brokers hang onto a symbol: a mark and more (.pro, _i, #, -ECN), or a few small letters (m).
_SUFFIX = re.compile(r"[^A-Za-z0-9\s]\w*|[a-z]{1,4}")


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model ready to be asked.

    Attributes:
        sha256: Hash of the file; the model's identity everywhere.
    """

    path: Path
    sha256: str
    contract: Contract
    session: ModelSession

    def signal(self, rates: RatesArray) -> Signal:
        """Return the model's answer to a window.

        Args:
            rates: Shape ``(window,)``, closed bars, oldest first; never empty.
        """
        time, answer = int(rates["time"][-1]), self.session.run(rates)
        if answer.problem is not None:
            return no_signal(self.contract, time, self.sha256, answer.problem)
        return decode(self.contract, time, self.sha256, answer.values)


def load_model(
    path: Path,
    *,
    pin: str | None = None,
    probe: bool = True,
    session: SessionSettings | None = None,
) -> LoadedModel:
    """Return the model at ``path``.

    Args:
        path: Of the .onnx file.
        pin: The hash that the file must have; None takes any.
        probe: Whether a child process tries the file first. Only who has just made the file
            may leave it out: the body's hash is checked there, too.
        session: How the runtime runs it; None is one thread.

    Raises:
        ModelError: The file is unusable.
        ContractError: It has no contract, or one that does not fit its graph.
    """
    file = read_model_file(path, pin=pin)
    if probe and probe_file(path).sha256 != file.sha256:
        raise ModelError(f"{path} changed while it was loaded: load it again once it is written")
    try:
        opened = open_session(file.data, session or SessionSettings())
        contract = read_contract(metadata_of(opened))
        check_declared(opened, contract)
    except ModelError as error:
        raise type(error)(f"{path}: {error}") from error
    return LoadedModel(path, file.sha256, contract, ModelSession(opened, contract))


def check_fits(
    model: LoadedModel,
    *,
    symbol: str,
    timeframe: str,
    alias: str | None = None,
) -> None:
    """Check that ``model`` was made for what it is about to trade.

    Args:
        model: With its contract.
        symbol: The broker's name.
        timeframe: M1 to MN1.
        alias: The contract's name of the symbol, when the broker's differs by more than a suffix.

    Raises:
        ContractError: Another symbol or timeframe.
    """
    contract = model.contract
    if not _same_symbol(symbol, contract.symbol, alias):
        raise ContractError(
            f"{model.path} was made for {contract.symbol}, the settings trade {symbol}"
            f"{f' (alias {alias})' if alias else ''}: only a suffix of the broker passes, a mark "
            "and letters or digits (.pro, _i, #) or up to four small letters (m); set alias = "
            f'"{contract.symbol}" if it is the same market'
        )
    if timeframe != contract.timeframe:
        raise ContractError(
            f"{model.path} was made for {contract.timeframe}, the settings trade {timeframe}: "
            f'set timeframe = "{contract.timeframe}"'
        )


def check_bars(model: LoadedModel, *, count: int, clock: str) -> None:
    """Check that bars are enough for ``model``, and that it reads their hours as they are meant.

    Args:
        model: With its contract.
        count: Bars that there are.
        clock: The rule that their times follow.

    Raises:
        ContractError: Too few bars, or times of another clock than those of the training.
    """
    contract = model.contract
    if count < contract.window:
        raise ContractError(
            f"{model.path} needs {contract.window} closed bars, there are {count}: "
            "load more history"
        )
    if clock != contract.server_clock and reads_time(contract):
        raise ContractError(
            f"{model.path} reads the hours of a server clock {contract.server_clock}, these bars "
            f"follow {clock}: train it on such bars, or name bars of that clock"
        )


def reads_time(contract: Contract) -> bool:
    """Whether answers depend on the hour; without a tree, a time input is taken to mean so."""
    if contract.features is None:
        return any("time" in each.columns for each in contract.inputs)
    nodes = contract.features.get("nodes")
    return isinstance(nodes, list) and any(_is_clocked(node) for node in nodes)


def _is_clocked(node: object) -> bool:
    """Whether a node of a feature tree reads the hour, or makes bars of a longer timeframe."""
    operation = OPERATIONS.get(str(node.get("op"))) if isinstance(node, dict) else None
    return operation is not None and operation.is_clocked


def _same_symbol(symbol: str, made_for: str, alias: str | None) -> bool:
    if alias is not None:
        return alias == made_for
    if symbol == made_for:
        return True
    return symbol.startswith(made_for) and bool(_SUFFIX.fullmatch(symbol[len(made_for) :]))
