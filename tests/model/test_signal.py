"""What a model's numbers mean; golden values worked out by hand, NaN, infinity and 0 included."""

import math

import pytest
from model.model_files import contract

from bridge.model.contract import Contract
from bridge.model.signal import decode

SHARES = contract()
FORECAST = contract(output={"name": "out", "kind": "forecast", "unit": "points"})
TARGET = contract(output={"name": "out", "kind": "target"})
TWO_UP = contract(
    output={
        "name": "out",
        "kind": "shares",
        "classes": [
            {"name": "up", "side": "long"},
            {"name": "down", "side": "short"},
            {"name": "far up", "side": "long"},
        ],
    }
)


@pytest.mark.parametrize(
    ("promise", "outputs", "long", "short"),
    [
        (SHARES, [0.25, 0.25, 0.5], 0.5, 0.25),
        (SHARES, [0.0, 1.0, 0.0], 0.0, 0.0),
        (SHARES, [0.0, 0.0, 1.0009], 1.0009, 0.0),
        (TWO_UP, [0.5, 0.25, 0.25], 0.75, 0.25),
        (FORECAST, [12.5], 12.5, 0.0),
        (FORECAST, [-3.0], 0.0, 3.0),
        (FORECAST, [0.0], 0.0, 0.0),
        (FORECAST, [-0.0], 0.0, 0.0),
        (TARGET, [-1.0], 0.0, 1.0),
        (TARGET, [0.25], 0.25, 0.0),
        (TARGET, [0.0], 0.0, 0.0),
        (TARGET, [-0.0], 0.0, 0.0),
    ],
)
def test_usable_answers(promise: Contract, outputs: list[float], long: float, short: float) -> None:
    signal = decode(promise, 5, "hash", outputs)
    # As they are written: -0.0 would make a reason read "short -0".
    assert (repr(signal.long), repr(signal.short)) == (repr(long), repr(short))
    assert signal.problem is None
    assert (signal.time, signal.sha256, signal.kind) == (5, "hash", promise.output.kind)
    assert signal.values == tuple(outputs)


@pytest.mark.parametrize(
    ("promise", "outputs", "words"),
    [
        (SHARES, [math.nan, 0.5, 0.5], "holds nan"),
        (SHARES, [0.5, math.inf, 0.5], "holds inf"),
        (SHARES, [0.5, 0.5, 0.5], "sum to 1.5, not to 1"),
        (SHARES, [0.0, 0.0, 0.0], "sum to 0, not to 1"),
        (SHARES, [-0.5, 0.5, 1.0], "the share -0.5, below 0"),
        (SHARES, [0.5, 0.5], "has 2 numbers, the contract says 3"),
        (FORECAST, [-math.inf], "holds -inf"),
        (FORECAST, [math.nan], "holds nan"),
        (FORECAST, [], "has 0 numbers, the contract says 1"),
        (TARGET, [1.5], "1.5 is outside -1 to 1"),
    ],
)
def test_unusable_answers_give_a_reason_and_no_side(
    promise: Contract, outputs: list[float], words: str
) -> None:
    signal = decode(promise, 5, "hash", outputs)
    assert words in str(signal.problem)
    assert (signal.long, signal.short) == (0.0, 0.0)
    assert len(signal.values) == len(outputs)
