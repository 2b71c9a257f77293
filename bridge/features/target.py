"""What a graph is written for: the versions that a runtime still reads."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """Versions stamped on a file.

    Attributes:
        opset: Of the standard operators.
        ir: Version of the file format; always set by us, never left to the library.
        ml: Opset of ai.onnx.ml, the domain of trees and linear models.
    """

    name: str
    opset: int
    ir: int
    ml: int


MT5 = Target("mt5", opset=15, ir=8, ml=1)
"""Read by onnxruntime 1.10 and newer; the terminal documents kernels of 1.14."""
LEGACY = Target("legacy", opset=12, ir=7, ml=1)
"""Read by onnxruntime 1.8.1 and newer."""
