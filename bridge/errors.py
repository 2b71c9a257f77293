"""Every error that the bridge raises on purpose, and the exit code that each one means.

    BridgeError                    1  unexpected
    +- JournalError                1  the journal can't be written; nothing may be sent
    +- ConfigError                 2  usage or settings
    +- DataError                   2  bars or a file of bars that can't be used
    +- TerminalError               3  terminal or connection
    |  +- NotConnected
    |  |  +- NoPackage                 no MetaTrader5 package; trying again does not help
    |  +- WrongAccount
    +- ModelError                  4  the .onnx file
    |  +- ContractError                its contract, or what it is used for
    |  +- ProofError                   an export that is not what was trained
    +- RiskHalt                    5  risk halt or kill switch
    +- StateMismatch               6  a person has to look

A message is one sentence that names the thing, the value, the limit and the next step.
A market outcome (a retcode, a denial) is a value, never an exception.
"""


class BridgeError(Exception):
    """Base of all; caught once, in ``cli/main.py``, which prints it and exits."""

    exit_code = 1


class JournalError(BridgeError):
    """The journal can't be written, so nothing may be sent."""


class ConfigError(BridgeError):
    """Settings or arguments are unusable; nothing has been started yet."""

    exit_code = 2


class DataError(BridgeError):
    """Bars are unusable; they are never repaired silently."""

    exit_code = 2


class TerminalError(BridgeError):
    """A call to the terminal failed.

    Args:
        call: The verb, as the MetaTrader5 package names it.
        code: ``last_error()[0]``.
        text: ``last_error()[1]``, or a sentence with the next step.
    """

    exit_code = 3

    def __init__(self, call: str, code: int, text: str) -> None:
        super().__init__(f"{call} failed with {code}: {text}")
        self.call = call
        self.code = code
        self.text = text


class NotConnected(TerminalError):
    """There is no connection to the terminal; reads may be tried again."""


class NoPackage(NotConnected):
    """The Python that is to talk to the terminal does not start, or lacks the package."""


class WrongAccount(TerminalError):
    """The terminal is logged in to another account than the settings name; nothing is sent."""


class ModelError(BridgeError):
    """A model file can't be read, is not allowed or does not run."""

    exit_code = 4


class ContractError(ModelError):
    """The contract is absent, malformed, or does not fit what it is used for."""


class ProofError(ModelError):
    """An export does not reproduce its estimator; nothing was written."""


class RiskHalt(BridgeError):
    """A limit or the kill switch ended the run."""

    exit_code = 5


class StateMismatch(BridgeError):
    """Journal and terminal disagree in a way that a person has to judge."""

    exit_code = 6
