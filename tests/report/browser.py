"""A real browser for tests: headless Chromium, spoken to over a pipe by its own protocol."""

import base64
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars
--disable-background-networking --disable-component-update --disable-sync --disable-extensions
--remote-debugging-pipe"""


def executable() -> str | None:
    """Return a browser, or None; its pipe is a thing of POSIX."""
    if os.name != "posix":
        return None
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One tab. What its page said, asked for and threw is kept.

    Attributes:
        complaints: Texts of console errors and exceptions.
        requests: Addresses asked for.
    """

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = os.fdopen(read, "rb", 0), os.fdopen(write, "wb", 0)
        self._numbers, self._rest = itertools.count(1), b""
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._loaded = 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **fields: Any) -> dict[str, Any]:
        """Return the answer to a call."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": fields}
        if self._session:
            message["sessionId"] = self._session
        self._write.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                found: dict[str, Any] = answer["result"]
                return found

    def open(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Load a file in a window of that size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        before = self._loaded
        self.call("Page.navigate", url=path.resolve().as_uri())
        while self._loaded == before:
            self._next()
        # The charts draw in the frame after they were laid out.
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, script: str) -> Any:
        """Return what a script comes to."""
        answer = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def shot(self, path: Path, *, whole: bool = True) -> None:
        """Write a picture of the page."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = self._read.read(1 << 16)
            assert data, "the browser has gone"
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, said: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loaded += 1
        elif method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(said["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning"):
            self.complaints.append(str(said["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(said["entry"]["text"])


@contextmanager
def browsing(profile: Path) -> Iterator[Browser]:
    """Start a browser with an empty profile, and end it."""
    program = executable()
    assert program
    (to_read, from_us), (from_it, to_write) = os.pipe(), os.pipe()
    # The protocol's pipe is file 3 to read and 4 to write.
    shell = f'exec "$0" "$@" 3<&{to_read} 4>&{to_write}'
    command = ["bash", "-c", shell, program, *FLAGS.split(), f"--user-data-dir={profile}"]
    process = subprocess.Popen(
        command, pass_fds=(to_read, to_write), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    os.close(to_read)
    os.close(to_write)
    browser = Browser(from_it, from_us)
    try:
        yield browser
        browser._session = None
        browser.call("Browser.close")
    finally:
        browser._read.close()
        browser._write.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
