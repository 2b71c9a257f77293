"""A socket for rpyc whose reads and writes end in time; rpyc's own wait for ever."""

import socket
import time

from rpyc.core.stream import SocketStream

from bridge.terminal.remote.address import Address


class TimedStream(SocketStream):  # type: ignore[misc]  # rpyc has no types
    """A stream that is closed when a message is not through by the deadline.

    Attributes:
        until: The deadline, ``time.monotonic()`` seconds.
    """

    __slots__ = ("until",)

    def __init__(self, sock: socket.socket, until: float) -> None:
        super().__init__(sock)
        self.until = until

    @classmethod
    def to(cls, address: Address, limit: float) -> "TimedStream":
        """Connect within ``limit`` seconds, which are the first messages' as well.

        Raises:
            OSError: Nobody listens there, or not in time.
        """
        until = time.monotonic() + limit
        sock = socket.create_connection((address.host, address.port), limit)
        # On one side only it makes rpyc slower, so the server's side is set as well.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(sock, until)

    def read(self, count: int) -> bytes:
        """Return exactly ``count`` bytes.

        Raises:
            TimeoutError: Not by the deadline.
            EOFError: The other side has gone.
        """
        chunks: list[bytes] = []
        while count > 0:
            chunk = self._within_time().recv(min(self.MAX_IO_CHUNK, count))
            if not chunk:
                self.close()
                raise EOFError("the server closed the connection")
            chunks.append(chunk)
            count -= len(chunk)
        return b"".join(chunks)

    def write(self, data: bytes) -> None:
        """Send all of ``data``.

        Raises:
            TimeoutError: Not by the deadline.
            EOFError: The other side has gone.
        """
        self._within_time().sendall(data)

    def _within_time(self) -> "socket.socket":
        # A closed stream's socket is rpyc's, which raises EOFError at whatever is asked of it.
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("no time left")
        self.sock.settimeout(left)
        sock: socket.socket = self.sock
        return sock
