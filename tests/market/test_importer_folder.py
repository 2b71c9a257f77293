"""Every file of bars and ticks that the test data has, as its notes describe it."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge.errors import DataError
from bridge.market.importer import Side, Stated, load
from bridge.mt5.servertime import text

FOLDER = Path(os.environ.get("BRIDGE_TEST_DATA") or "none") / "bars"
needs_data = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="BRIDGE_TEST_DATA names no folder of real data"
)
UTC = "the times say that they are UTC, and programs write so of the server's clock, too"


@dataclass(frozen=True)
class Known:
    """What is known of a file, how it is asked for, and what is said where nothing is stated.

    Gaps are steps longer than one bar, weekends among them.
    """

    of: str
    digits: int
    bars: int
    first: str
    last: str
    close: float
    gaps: int
    flat: int
    weekend: int
    stated: dict[str, Any] = field(default_factory=dict)
    refused: str | None = None


KNOWN = {
    "copy_rates_csv/EURUSD_H1_realvolume.csv.gz": Known(
        "H1", 5, 50000, "2017.05.01 10:00", "2025.05.16 23:00", 1.11619, 431, 1, 0),
    "copy_rates_csv/GOLD_M1.csv.gz": Known(
        "M1", 2, 40000, "2026.03.12 18:16", "2026.04.23 19:32", 4725.57, 29, 0, 0),
    "copy_rates_csv/NAS100_H1.csv.gz": Known(
        "H1", 2, 9998, "2024.08.30 07:00", "2026.07.09 20:00", 29756.5, 400, 2, 0),
    "copy_rates_csv/US30_D1_labelled.csv": Known(
        "D1", 2, 2000, "2018.04.13 00:00", "2026.01.09 00:00", 49510.3, 412, 0, 0),
    "copy_rates_csv/USDJPY_H1.csv.gz": Known(
        "H1", 3, 9998, "2024.11.27 05:00", "2026.07.09 20:00", 162.285, 93, 0, 0),
    "copy_rates_csv/USDJPY_M5_tz.csv.gz": Known(
        "M5", 3, 10000, "2025.07.21 06:40", "2025.09.05 23:55", 147.401, 6, 6, 0,
        stated={"times": "server"}, refused=UTC),
    "fxcm/USDJPY_M1_ask_2013-02.csv.gz": Known(
        "M1", 3, 28761, "2013.02.01 00:00", "2013.03.01 00:00", 92.538, 38, 116, 479,
        stated={"times": "utc", "clock": "utc", "side": Side.ASK, "spread": 2}, refused=UTC),
    "fxcm/USDJPY_M1_bid_2013-02.csv.gz": Known(
        "M1", 3, 28761, "2013.02.01 02:00", "2013.03.01 02:00", 92.539, 38, 0, 0,
        stated={"times": "utc", "clock": "eet-us"}, refused=UTC),
    "fxpack/EURUSD_H1_2021_2026.csv.gz": Known(
        "H1", 5, 30694, "2021.09.07 02:00", "2026.08.12 01:00", 1.15423, 261, 0, 0),
    "fxpack/XAUUSD_H1_2021_2026.csv.gz": Known(
        "H1", 2, 29155, "2021.09.07 02:00", "2026.08.12 01:00", 4376.48, 1273, 0, 0),
    "icm/EURUSD_D1_2025.parquet": Known(
        "D1", 5, 259, "2025.01.02 00:00", "2025.12.31 00:00", 1.17456, 53, 0, 0),
    "icm/EURUSD_H1_2025.parquet": Known(
        "H1", 5, 6193, "2025.01.02 00:00", "2025.12.31 00:00", 1.17458, 53, 0, 0),
    "icm/EURUSD_H4_2025.parquet": Known(
        "H4", 5, 1549, "2025.01.02 00:00", "2025.12.31 00:00", 1.17427, 53, 0, 0),
    "icm/EURUSD_M15_2025.parquet": Known(
        "M15", 5, 24769, "2025.01.02 00:00", "2025.12.31 00:00", 1.17477, 53, 1, 0),
    "icm/EURUSD_M1_2025.parquet": Known(
        "M1", 5, 371123, "2025.01.02 00:00", "2025.12.31 00:00", 1.17432, 287, 2934, 0),
    "icm/EURUSD_M30_2025.parquet": Known(
        "M30", 5, 12385, "2025.01.02 00:00", "2025.12.31 00:00", 1.17477, 53, 0, 0),
    "icm/EURUSD_M5_2023_2024.parquet": Known(
        "M5", 5, 149429, "2023.01.02 00:00", "2024.12.31 23:55", 1.03527, 118, 119, 0),
    "icm/EURUSD_M5_2025.parquet": Known(
        "M5", 5, 74305, "2025.01.02 00:00", "2025.12.31 00:00", 1.17432, 53, 47, 0),
    "icm/EURUSD_MN1_2025.parquet": Known(
        "MN1", 5, 12, "2025.01.01 00:00", "2025.12.01 00:00", 1.17456, 0, 0, 0),
    "icm/EURUSD_W1_2025.parquet": Known(
        "W1", 5, 52, "2025.01.05 00:00", "2025.12.28 00:00", 1.17194, 0, 0, 0),
    "icm/USDCAD_H1_2025Q4.parquet": Known(
        "H1", 5, 1537, "2025.10.01 00:00", "2025.12.31 00:00", 1.36946, 14, 0, 0),
    "icm/USDCAD_M1_2025Q4.parquet": Known(
        "M1", 5, 92062, "2025.10.01 00:00", "2025.12.31 00:00", 1.36928, 67, 1229, 0),
    "icm/XAUUSD_M1_2024-10_2025-01.parquet": Known(
        "M1", 2, 97406, "2024.10.01 01:00", "2025.01.09 23:58", 2670.34, 70, 4, 0),
    "icm/original/EURUSD_M1_2025-01.parquet": Known(
        "M1", 5, 31631, "2025.01.02 00:00", "2025.01.31 23:56", 1.03578, 36, 171, 0,
        stated={"times": "server"}, refused=UTC),
    "mt5_export/ADAUSD_H1.csv": Known(
        "H1", 4, 5090, "2025.06.21 01:00", "2026.01.21 10:00", 0.3554, 31, 0, 1456),
    "mt5_export/BRENT_H1.csv": Known(
        "H1", 2, 3200, "2025.06.23 01:00", "2026.01.21 10:00", 63.21, 150, 0, 0),
    "mt5_export/EURUSD_H1.csv": Known(
        "H1", 5, 3608, "2025.06.23 00:00", "2026.01.21 10:00", 1.17099, 32, 0, 0),
    "mt5_export/SILVER_H1.csv": Known(
        "H1", 3, 3444, "2025.06.23 01:00", "2026.01.21 10:00", 94.924, 150, 0, 0),
    "odd/AAPL_D1_ochl.csv": Known(
        "D1", 2, 86, "2021.05.05 00:00", "2021.09.03 00:00", 154.3, 17, 0, 0,
        stated={"times": "server"}, refused=UTC),
    "odd/BTCUSD_D1_ochl.csv": Known(
        "D1", 2, 124, "2021.05.05 00:00", "2021.09.05 00:00", 51773.63, 0, 0, 36,
        stated={"times": "server"}, refused=UTC),
    "odd/EURUSD_D1_scaled.csv": Known(
        "D1", 5, 2400, "2012.12.04 00:00", "2022.03.04 00:00", 1.09305, 490, 0, 0,
        stated={"scale": 1e-05, "digits": 5},
        refused='prices are whole numbers with noise of floating point, as th'),
    "odd/EURUSD_H1_dukascopy_ask.csv": Known(
        "H1", 5, 6225, "2017.01.01 22:00", "2017.12.29 21:00", 1.20075, 52, 0, 137,
        stated={"side": Side.BID},
        refused="the file's name speaks of ask prices, and a terminal's bars "),
    "odd/EURUSD_H1_usdate.csv": Known(
        "H1", 5, 12000, "2012.12.28 19:00", "2014.12.03 03:00", 1.23845, 104, 2, 270),
    "odd/EURUSD_M15_headerless.csv": Known(
        "M15", 5, 19999, "2018.10.12 12:15", "2019.08.02 12:15", 1.10996, 44, 1, 421,
        stated={"skip_lines": 1},
        refused="line 1: '-(2018-10-12' is no date"),
    "odd/EURUSD_M15_tabplain.csv": Known(
        "M15", 5, 12000, "2018.06.11 13:30", "2018.12.03 14:15", 1.1342, 25, 0, 280),
    "odd/EURUSD_M1_indicator_export.csv": Known(
        "M1", 5, 100, "2025.10.15 23:08", "2025.10.16 00:52", 1.16436, 1, 8, 0),
    "odd/MSFT_D1_ochl.csv": Known(
        "D1", 2, 86, "2021.05.05 00:00", "2021.09.03 00:00", 301.14, 17, 0, 0,
        stated={"times": "server"}, refused=UTC),
    "odd/USDJPY_W1_sunday.csv": Known(
        "W1", 3, 2887, "1971.01.03 00:00", "2026.05.10 00:00", 156.856, 1, 10, 0),
    "ticks/EURUSD_ticks_2025-09-22_2025-09-30.parquet": Known(
        "M1", 5, 10066, "2025.09.22 00:00", "2025.09.30 23:57", 1.17333, 7, 78, 0),
    "ticks/EURUSD_ticks_2025-12-01_00h.parquet": Known(
        "M1", 5, 59, "2025.12.01 00:00", "2025.12.01 00:58", 1.15965, 0, 15, 0),
    "ticks/USDJPY_truefx_2013-01-01.csv": Known(
        "M1", 3, 33, "2013.01.01 22:00", "2013.01.01 22:34", 86.836, 2, 2, 0,
        stated={"times": "utc", "clock": "utc"}, refused=UTC),
}  # fmt: skip


@needs_data
def test_every_file_is_known() -> None:
    there = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    assert there == set(KNOWN)


@needs_data
@pytest.mark.parametrize("name", KNOWN)
def test_a_file_gives_its_bars(name: str) -> None:
    known = KNOWN[name]
    if known.refused:
        with pytest.raises(DataError) as said:
            load(FOLDER / name, Stated())
        assert known.refused in str(said.value)
    found = load(FOLDER / name, Stated(**known.stated))
    report = found.report
    assert found.symbol == (None if "truefx" in name else Path(name).name.split("_")[0])
    assert (found.timeframe.name, found.digits) == (known.of, known.digits)
    assert (report.bars, len(found.rates)) == (known.bars, known.bars)
    assert text(int(found.rates["time"][0]))[:16] == known.first
    assert text(int(found.rates["time"][-1]))[:16] == known.last
    assert found.rates["close"][-1] == known.close
    assert (len(report.gaps), report.flat, report.weekend) == (
        known.gaps,
        known.flat,
        known.weekend,
    )


@needs_data
def test_volumes_and_holes_that_are_known() -> None:
    volumes = load(FOLDER / "copy_rates_csv/EURUSD_H1_realvolume.csv.gz", Stated()).rates
    assert volumes["real_volume"].max() == 11_534_483_000
    assert (volumes["real_volume"] > 2**31 - 1).sum() == 461
    gaps = load(FOLDER / "copy_rates_csv/NAS100_H1.csv.gz", Stated()).report.gaps
    longest = max(gaps, key=lambda gap: gap.bars)
    assert (text(longest.first), text(longest.last)) == (
        "2025.07.16 11:00:00",
        "2025.09.09 13:00:00",
    )
    ticks = load(FOLDER / "ticks/EURUSD_ticks_2025-09-22_2025-09-30.parquet", Stated()).ticks
    assert ticks is not None
    assert len(ticks) == 434_926


@needs_data
def test_ticks_make_the_bars_that_the_terminal_made() -> None:
    made = load(FOLDER / "ticks/EURUSD_ticks_2025-09-22_2025-09-30.parquet", Stated()).rates
    bars = load(FOLDER / "icm/EURUSD_M1_2025.parquet", Stated()).rates
    same = bars[np.isin(bars["time"], made["time"])]
    assert len(same) == len(made) == 10_066
    for name in ("open", "high", "low", "close"):
        wrong = made["time"][made[name] != same[name]].tolist()
        # That bar was recorded while it formed.
        assert [text(time) for time in wrong] in ([], ["2025.09.22 01:43:00"])


@needs_data
def test_ask_bars_become_bid_bars_by_the_spread() -> None:
    ask, bid = (FOLDER / f"fxcm/USDJPY_M1_{side}_2013-02.csv.gz" for side in ("ask", "bid"))
    with pytest.raises(DataError, match="say --side ask and the usual --spread"):
        load(ask, Stated(times="server"))
    with pytest.raises(DataError, match="by the spread: say --spread, in points"):
        load(ask, Stated(times="server", side=Side.ASK))
    moved = load(ask, Stated(times="server", side=Side.ASK, spread=2)).rates
    real = load(bid, Stated(times="server")).rates
    assert moved["open"][0] == real["open"][0] == 91.715
    assert set(moved["spread"].tolist()) == {2}
