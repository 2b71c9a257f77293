"""How a recipe ends that can't go on: with a sentence, as commands do."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bridge.errors import BridgeError


@contextmanager
def one_sentence() -> Iterator[None]:
    """End the program with the sentence and the exit code of an error that is raised inside."""
    try:
        yield
    except BridgeError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(error.exit_code) from error
