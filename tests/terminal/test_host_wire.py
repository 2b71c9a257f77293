"""Frames and values survive the wire; what is no frame is refused."""

import io
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.terminal.host.wire import decode, encode, read_frame, write_frame

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)


def refuse(*parts: Any) -> Any:
    raise AssertionError(parts)


def crossed(value: Any) -> Any:
    raw = bytearray()
    pipe = io.BytesIO()
    write_frame(pipe, {"value": encode(value, raw)}, bytes(raw))
    pipe.seek(0)
    frame = read_frame(pipe)
    assert frame is not None
    assert read_frame(pipe) is None
    return decode(frame[0]["value"], frame[1], refuse, refuse)


@given(VALUES)
def test_plain_values_and_their_types_survive(value: Any) -> None:
    assert repr(crossed(value)) == repr(value)


def test_the_edges_of_numbers_survive() -> None:
    edges = (0.1 + 0.2, -0.0, 5e-324, math.inf, -math.inf, 2**63, -(2**70), True)
    assert repr(crossed(edges)) == repr(edges)
    assert math.isnan(crossed(math.nan))


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", 1j, [lambda: 0]])
def test_other_kinds_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="can't cross to the terminal"):
        encode(value, bytearray())


def test_a_frame_cut_short_is_the_end() -> None:
    pipe = io.BytesIO()
    write_frame(pipe, {"n": 1}, b"12345678")
    whole = pipe.getvalue()
    for length in range(len(whole)):
        assert read_frame(io.BytesIO(whole[:length])) is None


@pytest.mark.parametrize(
    "noise", [b"wine: created a folder\n", b"\0\0\0\2\0\0\0\0[]", b"\0\0\0\1\0\0\0\0{"]
)
def test_noise_is_no_frame(noise: bytes) -> None:
    with pytest.raises(ValueError, match=r"not a frame|not an object|Expecting"):
        read_frame(io.BytesIO(noise))
