"""The account's password: from the environment, or from the system's keyring. Never from a file."""

from collections.abc import Callable, Mapping

VARIABLE = "MT5_PASSWORD"
SERVICE = "mt5-onnx"
"""Name of the service in the keyring; the user is ``login@server``."""

Keyring = Callable[[str, str], str | None]
"""``keyring(service, user)``: the password, or None."""


def no_keyring(service: str, user: str) -> None:
    """Be the keyring of a system that has none."""


def system_keyring(service: str, user: str) -> str | None:
    """Ask the system's keyring through the package ``keyring``; None without either."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        return keyring.get_password(service, user)
    except KeyringError:  # no backend, or it is locked: the terminal's stored password has to do
        return None


def find_password(
    environ: Mapping[str, str], keyring: Keyring, login: int | None, server: str | None
) -> str | None:
    """Return the password; the environment goes before the keyring, empty is absent."""
    if password := environ.get(VARIABLE):
        return password
    if login is None or server is None:
        return None
    return keyring(SERVICE, f"{login}@{server}") or None
