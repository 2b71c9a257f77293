"""Where the server listens."""

from dataclasses import dataclass

from bridge.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a TCP port."""

    host: str
    port: int

    @classmethod
    def of(cls, text: str) -> "Address":
        """Return the address that ``host:port`` or ``[ipv6]:port`` names.

        Raises:
            ConfigError: It names none.
        """
        host, _, port = text.rpartition(":")
        bare = host.removeprefix("[").removesuffix("]")
        is_port = port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16
        if not bare or not is_port or (":" in bare) != host.startswith("["):
            raise ConfigError(
                f'terminal.remote {text!r} is no address: write host:port, as "127.0.0.1:18812"'
            )
        return cls(bare, int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
