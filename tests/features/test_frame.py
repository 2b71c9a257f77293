"""Bars in a DataFrame: what is taken, what comes back, and what is refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from markets import SAMPLE

from bridge.errors import DataError
from bridge.features import named
from bridge.features.expr import Bars
from bridge.features.featureset import FeatureSet

BARS = Bars()
FEATURES = FeatureSet(
    {
        "rsi": named.rsi(BARS.close, 5),
        "volume": named.volume_ratio(BARS, 5),
        "hour": named.hour_sin(),
        "day": named.since_open(BARS),
    }
)
RATES = SAMPLE[:300]
FRAME = pd.DataFrame(RATES)
DATES = pd.to_datetime(FRAME["time"], unit="s")


def refused(frame: pd.DataFrame, message: str, features: FeatureSet = FEATURES) -> None:
    with pytest.raises(DataError, match=message):
        features.history(frame)


@pytest.mark.parametrize(
    "frame",
    [
        FRAME,
        FRAME.assign(time=DATES),
        FRAME.assign(time=DATES.astype("datetime64[ns]")).set_index("time"),
        FRAME[["close", "time", "tick_volume", "open"]],
        FRAME.astype({"tick_volume": "float64"}).assign(real_volume="none"),
    ],
)
def test_a_frame_gives_what_the_array_gives_under_its_own_index(frame: pd.DataFrame) -> None:
    found = FEATURES.history(frame)
    assert found.index.equals(frame.index)
    assert tuple(found.columns) == FEATURES.names
    assert set(map(str, found.dtypes)) == {"float32"}
    assert found.to_numpy().tobytes() == FEATURES.history(RATES).tobytes()


def test_only_the_columns_that_features_use_are_asked_for() -> None:
    assert FEATURES.columns == ("open", "close", "tick_volume", "time")
    rsi = FeatureSet({"rsi": named.rsi(BARS.close, 5)})
    assert rsi.columns == ("close",)
    found = rsi.history(FRAME[["close"]].set_index(pd.RangeIndex(5, 305)))
    assert found.to_numpy().tobytes() == rsi.history(RATES).tobytes()
    refused(FRAME[["close"]], "no column 'open', which a feature uses: its columns are close")
    refused(FRAME.drop(columns="time"), "the frame has no times")


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("close", np.nan, r"row 7 of the frame has the close nan: it has to be a number"),
        ("open", np.inf, r"row 7 of the frame has the open inf"),
        ("tick_volume", 1.5, r"has the tick_volume 1.5: it has to be a whole number"),
        ("tick_volume", -1.0, r"has the tick_volume -1.0"),
        ("tick_volume", np.nan, r"has the tick_volume nan"),
        ("time", FRAME["time"][6], "row 7 of the frame has no time later than the one before"),
        ("time", FRAME["time"][3], "row 7 of the frame has no time later than the one before"),
    ],
)
def test_what_is_no_bar_is_refused_with_its_row(column: str, value: Any, message: str) -> None:
    frame = FRAME.astype({"tick_volume": "float64"})
    frame.loc[7, column] = value
    refused(frame, message)


def test_times_with_a_zone_are_refused_since_bars_have_none() -> None:
    for frame in (
        FRAME.assign(time=DATES.dt.tz_localize("UTC")),
        FRAME.assign(time=DATES.dt.tz_localize("UTC")).set_index("time"),
    ):
        refused(frame, "wall clock: convert them")


def test_text_is_refused_with_the_way_out() -> None:
    refused(FRAME.assign(time=DATES.astype(str)), "column 'time' holds .*pandas.to_datetime")
    refused(FRAME.assign(close="1.1a"), "column 'close' holds .*pandas.to_numeric")
    refused(FRAME.assign(time=FRAME["time"].astype("float64").where(FRAME.index > 3)), "time nan")
    refused(FRAME.assign(time=DATES.where(FRAME.index > 0)), "row 0 of the frame has no time")
