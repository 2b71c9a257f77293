"""How onnxruntime runs a strategy's model."""

from typing import Annotated

from pydantic import Field

from bridge.settings.values import Frozen


class SessionSettings(Frozen):
    """Options of the runtime's session. They change what an answer costs, not the answer.

    ``mt5-onnx model bench`` measures them on a computer, and writes them with ``--write``.
    """

    threads: Annotated[int, Field(ge=1, le=16)] = 1
    """Threads of one answer; they sleep between two answers. More than one pays for large
    networks only."""
    arena: bool = True
    """Whether memory of an answer is kept for the next one; false saves memory, costs time."""
