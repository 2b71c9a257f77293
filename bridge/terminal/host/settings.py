"""Which interpreter has the package, which terminal it opens, which account is traded."""

from typing import Annotated, Self

from pydantic import (
    BeforeValidator,
    Field,
    JsonValue,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from bridge.errors import ConfigError
from bridge.settings import Frozen, TerminalSettings, first_fault
from bridge.terminal.host.limits import Limits


def _secret(value: object) -> object:
    # pydantic's own error would show the value.
    if value is not None and not isinstance(value, str | SecretStr):
        raise ConfigError(f"password is of type {type(value).__name__}: give it as text")
    return value


class HostSettings(Frozen):
    """A terminal behind the real package, or behind a factory that stands in for it."""

    interpreter: tuple[str, ...] = ()
    """Command of the Python that has the package, such as one under Wine; empty means this one.
    A script that wraps it has to exec it, or a kill reaches the script alone."""
    factory: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")] | None = None
    """``package.module:callable`` whose answer stands in for the package; None imports it."""
    factory_arguments: dict[str, JsonValue] = Field(default_factory=dict)
    """Keyword arguments of the factory."""
    path: str | None = None
    """terminal64.exe; None lets the package find it."""
    portable: bool = False
    """Start the terminal in portable mode."""
    password: Annotated[SecretStr | None, BeforeValidator(_secret)] = None
    """The account's password; None leaves it to the terminal's saved one."""
    server: str | None = None
    """The account's server; None takes the one that the terminal shows."""
    login: Annotated[int | None, Field(gt=0, validate_default=True)] = None
    """The account's number; None takes whatever account the terminal is logged in to."""
    may_switch_account: bool = False
    """Log a terminal in to this account even if it is logged in to another one."""
    limits: Limits = Limits()
    """How long each verb may take."""

    @classmethod
    def of(cls, terminal: TerminalSettings) -> Self:
        """Return what the settings file says of its terminal.

        Raises:
            ConfigError: A password or a server without a login.
        """
        try:
            return cls(
                interpreter=terminal.python or (),
                path=terminal.path,
                password=terminal.password,
                server=terminal.server,
                login=terminal.login,
                may_switch_account=terminal.may_switch_account,
                limits=Limits.within(terminal.timeout_seconds),
            )
        except ValidationError as error:
            raise ConfigError(f"terminal: {first_fault(error)}") from error

    # On login, which is no secret: pydantic's error shows the value of the field it is raised on.
    @field_validator("login")
    @classmethod
    def _names_the_account(cls, login: int | None, info: ValidationInfo) -> int | None:
        if login is None and (info.data.get("password") or info.data.get("server")):
            raise ValueError("server or password is set: set login (MT5_LOGIN) as well")
        return login

    def credentials(self) -> dict[str, int | str]:
        """Return login, password and server as the package takes them; only those that are set."""
        password = None if self.password is None else self.password.get_secret_value()
        fields = {"login": self.login, "password": password, "server": self.server}
        return {name: value for name, value in fields.items() if value is not None}
