"""Files as people have reported them: each case of area E of the list of public problems."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bridge.errors import DataError
from bridge.market.importer import DateOrder, Loaded, Stated, load
from bridge.market.store import BarStore, Series
from bridge.mt5.servertime import server_clock, text
from bridge.mt5.timeframes import timeframe

MT5 = "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>"
HOURS = """\
2025.06.23	00:00:00	1.14560	1.14601	1.14547	1.14569	316	0	20
2025.06.23	01:00:00	1.14569	1.14601	1.14568	1.14581	741	0	7
2025.06.23	02:00:00	1.14581	1.14583	1.14508	1.14528	665	0	7
2025.06.23	03:00:00	1.14528	1.14557	1.14507	1.14520	722	0	7
2025.06.23	04:00:00	1.14520	1.14561	1.14485	1.14519	641	0	7
2025.06.23	05:00:00	1.14519	1.14544	1.14487	1.14501	567	0	7
2025.06.23	06:00:00	1.14501	1.14508	1.14465	1.14490	395	0	7
2025.06.23	07:00:00	1.14490	1.14559	1.14450	1.14547	443	0	7
2025.06.23	08:00:00	1.14547	1.14670	1.14517	1.14626	764	0	7
2025.06.23	09:00:00	1.14626	1.14700	1.14607	1.14682	225	0	7
2025.06.23	10:00:00	1.14682	1.14708	1.14672	1.14692	177	0	7
2025.06.23	11:00:00	1.14692	1.14737	1.14665	1.14703	791	0	7""".splitlines()
# Open, high, low, close and volume of each minute from 10:00, in points above 1.08000.
MINUTES = {
    0: (800, 808, 800, 807, 216),
    1: (807, 818, 807, 813, 281),
    2: (813, 814, 808, 809, 838),
    3: (809, 812, 797, 800, 872),
    4: (800, 807, 799, 806, 884),
    5: (806, 812, 804, 811, 391),
    6: (811, 818, 808, 816, 478),
    9: (816, 819, 810, 813, 493),
    10: (813, 819, 812, 817, 148),
    11: (817, 817, 809, 809, 296),
    12: (809, 811, 798, 802, 569),
    13: (802, 803, 797, 797, 521),
    14: (797, 798, 791, 794, 400),
    15: (794, 805, 793, 803, 389),
    16: (803, 803, 796, 798, 74),
    17: (798, 803, 793, 800, 741),
    18: (800, 803, 797, 802, 523),
    19: (802, 804, 799, 799, 94),
    20: (799, 804, 786, 789, 888),
    21: (789, 792, 783, 786, 393),
    22: (786, 788, 778, 779, 635),
    26: (759, 768, 757, 767, 646),
    27: (767, 778, 763, 775, 644),
    28: (775, 782, 772, 777, 439),
    29: (777, 784, 773, 781, 108),
    30: (781, 787, 779, 784, 486),
    31: (784, 787, 780, 784, 94),
    32: (784, 789, 780, 788, 164),
    33: (788, 791, 781, 786, 167),
    34: (786, 793, 785, 789, 818),
    35: (789, 790, 778, 782, 455),
    36: (782, 784, 770, 773, 887),
    37: (773, 779, 769, 777, 452),
    38: (777, 785, 777, 780, 277),
    39: (780, 787, 777, 785, 338),
    40: (785, 791, 780, 787, 521),
    42: (792, 797, 780, 784, 864),
    43: (784, 789, 771, 775, 86),
    44: (775, 786, 770, 781, 845),
    45: (781, 787, 776, 783, 292),
    46: (783, 786, 781, 782, 519),
    47: (782, 782, 782, 782, 463),
    48: (782, 786, 781, 781, 621),
    49: (781, 786, 772, 777, 781),
    50: (777, 779, 770, 771, 110),
    51: (771, 775, 768, 768, 858),
    52: (768, 771, 768, 769, 453),
    53: (769, 775, 768, 773, 457),
    54: (773, 777, 762, 766, 304),
    55: (766, 768, 762, 767, 666),
    56: (767, 772, 763, 765, 414),
    57: (765, 769, 763, 765, 663),
    58: (765, 775, 760, 770, 319),
    59: (770, 775, 766, 769, 499),
    60: (769, 776, 766, 773, 368),
}


def loaded(tmp_path: Path, *lines: str, end: str = "\r\n", **stated: object) -> Loaded:
    path = tmp_path / "bars.csv"
    path.write_bytes((end.join(lines) + (end if lines else "")).encode())
    return load(path, replace(Stated(), **stated))  # type: ignore[arg-type]


def times(found: Loaded) -> list[str]:
    return [text(int(time)) for time in found.rates["time"]]


def test_e01_a_plain_export(tmp_path: Path) -> None:
    found = loaded(tmp_path, MT5, *HOURS)
    assert (len(found.rates), found.timeframe.name, found.digits) == (12, "H1", 5)
    assert (times(found)[0], times(found)[-1]) == ("2025.06.23 00:00:00", "2025.06.23 11:00:00")
    assert found.rates["close"][-1] == 1.14703
    assert found.rates["tick_volume"].sum() == 6447
    assert found.rates["spread"][0] == 20
    first_utc = server_clock("utc+3").to_utc(int(found.rates["time"][0]))
    assert text(first_utc) == "2025.06.22 21:00:00"
    assert [*found.report.notes()] == []


def test_e02_a_daily_export_has_no_time(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        MT5.replace("<TIME>\t", ""),
        "2024.01.01\t37760.0\t37825.3\t37661.1\t37676.6\t40460\t0\t70",
        "2024.01.02\t37676.6\t37827.1\t37646.8\t37820.4\t40684\t0\t71",
        "2024.01.03\t37820.4\t37848.2\t37806.3\t37825.9\t40497\t0\t72",
    )
    assert (found.timeframe.name, found.digits) == ("D1", 1)
    assert times(found)[0] == "2024.01.01 00:00:00"
    assert found.rates["open"][0] == 37760.0


def test_e04_a_mark_before_the_first_header(tmp_path: Path) -> None:
    lines = [",".join(["-".join(line.split("\t")[0].split(".")) + " " + line.split("\t")[1],
                       *line.split("\t")[2:7]]) for line in HOURS]  # fmt: skip
    found = loaded(tmp_path, "\ufefftime,open,high,low,close,volume", *lines)
    assert len(found.rates) == 12
    assert np.array_equal(found.rates["close"], loaded(tmp_path, MT5, *HOURS).rates["close"])


def test_e06_two_exports_glued_together(tmp_path: Path) -> None:
    glued = (MT5, *HOURS[:7], MT5, *HOURS[5:])
    found = loaded(tmp_path, *glued)
    assert np.array_equal(found.rates, loaded(tmp_path, MT5, *HOURS).rates)
    assert (found.report.rows, found.report.duplicates, found.report.headers) == (14, 2, 1)
    assert "2 duplicates left out" in [*found.report.notes()]
    other = HOURS[6].replace("1.14490", "1.14480")
    with pytest.raises(
        DataError,
        match=r"csv, line 11: the bar of 2025\.06\.23 06:00:00 contradicts that in line 8",
    ):
        loaded(tmp_path, MT5, *HOURS[:7], MT5, HOURS[5], other, *HOURS[7:])


def test_e08_no_header_and_six_decimals(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        "2024.07.01,17:00,1.306600,1.306720,1.306560,1.306670,196",
        "2024.07.01,17:01,1.306670,1.306750,1.306640,1.306730,888",
        "2024.07.01,17:02,1.306730,1.306760,1.306690,1.306710,121",
        end="\n",
    )
    assert times(found)[0] == "2024.07.01 17:00:00"
    assert (len(found.rates), found.digits, found.timeframe.name) == (3, 6, "M1")


LOCAL = (
    "Local time,Open,High,Low,Close,Volume",
    "26.10.2025 02:00:00.000 GMT+0200,67000.0,67044.4,66901.2,66917.0,31.9",
    "26.10.2025 02:30:00.000 GMT+0200,66917.0,66991.7,66915.0,66970.7,71.3",
    "26.10.2025 02:00:00.000 GMT+0100,66970.7,67014.3,66848.1,66870.5,43.3",
    "26.10.2025 02:30:00.000 GMT+0100,66870.5,66952.7,66819.3,66896.0,16.0",
    "26.10.2025 03:00:00.000 GMT+0100,66896.0,66934.2,66866.9,66901.1,20.6",
    "26.10.2025 03:30:00.000 GMT+0100,66901.1,67038.4,66867.3,67011.0,68.1",
)


def test_e11_local_time_over_the_autumn_change(tmp_path: Path) -> None:
    found = loaded(tmp_path, *LOCAL, clock="utc")
    assert [time[11:16] for time in times(found)] == [
        "00:00",
        "00:30",
        "01:00",
        "01:30",
        "02:00",
        "02:30",
    ]
    assert times(found)[0] == "2025.10.26 00:00:00"
    assert times(loaded(tmp_path, *LOCAL, clock="utc+3"))[0] == "2025.10.26 03:00:00"
    with pytest.raises(DataError, match=r"another clock than the server's: say .* --clock"):
        loaded(tmp_path, *LOCAL)
    bare = [line.replace(" GMT+0200", "").replace(" GMT+0100", "") for line in LOCAL]
    with pytest.raises(DataError, match="called local, and where is not said"):
        loaded(tmp_path, *bare, clock="utc")
    with pytest.raises(DataError, match=r"line 6: the clock eet-eu shows .* twice"):
        loaded(tmp_path, *bare, times="eet-eu", clock="utc")
    with pytest.raises(
        DataError, match=r"line 4: .* contradicts that in line 2.* clock was set back"
    ):
        loaded(tmp_path, *bare, times="server", clock="utc")


def test_e12_a_dump_with_epoch_seconds_and_empty_columns(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        ",time,open,high,low,close,tick_volume,spread,real_volume,M9,ADX",
        "0,1636940340,1.1443,1.14434,1.14426,1.1443,418,5,0,,",
        "1,1636940400,1.1443,1.14431,1.14422,1.14423,726,5,0,,",
        "2,1636940460,1.14423,1.14426,1.14417,1.1442,320,5,0,,",
        end="\n",
    )
    assert times(found)[0] == "2021.11.15 01:39:00"
    assert len(found.rates) == 3
    assert found.report.left_out == ("M9", "ADX")


def test_e13_minutes_that_are_missing(tmp_path: Path) -> None:
    lines = [
        f"2025.02.03\t{10 + minute // 60}:{minute % 60:02}:00\t"
        + "\t".join(f"1.0{8000 + points}" for points in row[:4])
        + f"\t{row[4]}\t0\t7"
        for minute, row in MINUTES.items()
    ]
    found = loaded(tmp_path, MT5, *lines)
    assert len(found.rates) == 55
    gaps = [(text(gap.first)[11:16], text(gap.last)[11:16], gap.bars) for gap in found.report.gaps]
    assert gaps == [("10:07", "10:08", 2), ("10:23", "10:25", 3), ("10:41", "10:41", 1)]
    assert found.report.missing == 6
    store = BarStore(tmp_path / "store")
    store.add(Series("Broker", "EURUSD", timeframe("M1"), "eet-eu", found.digits), found.rates)
    (hour,) = store.read("Broker", "EURUSD", "H1").rates.tolist()  # that of 11:00 has not ended
    assert text(hour[0]) == "2025.02.03 10:00:00"
    assert hour[1:6] == (1.08800, 1.08819, 1.08757, 1.08769, 25834)


def test_e16_ticks_with_fewer_cells(tmp_path: Path) -> None:
    lines = (
        "<DATE>\t<TIME>\t<BID>\t<ASK>\t<LAST>\t<VOLUME>",
        "2024.09.02\t00:00:00.000\t145.123\t145.125",
        "2024.09.02\t00:00:01.123\t145.124\t145.126\t\t0",
        "2024.09.02\t00:00:02.456\t145.125\t145.127\t0.00\t0",
    )
    found = loaded(tmp_path, *lines, end="\n")
    assert found.ticks is not None
    assert len(found.ticks) == found.report.ticks == 3
    assert np.round(found.ticks["ask"] - found.ticks["bid"], 9).tolist() == [0.002] * 3
    assert found.ticks["last"].tolist() == [0, 0, 0]
    assert found.ticks["time_msc"][1] % 1000 == 123
    assert len(found.rates) == 0  # no tick shows that the minute has ended
    later = "2024.09.02\t00:01:00.000\t\t145.128"
    more = loaded(tmp_path, *lines, later, end="\n")
    assert more.rates.tolist() == [(1725235200, 145.123, 145.125, 145.123, 145.125, 3, 2, 0)]
    assert more.report.carried == 1


def test_e17_volumes_beyond_32_bit(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        MT5,
        "2025.01.10\t00:00:00\t67850.25\t67866.17\t67819.86\t67825.61\t8589934592\t8589934593\t1200",
        "2025.01.10\t01:00:00\t67825.61\t67874.74\t67822.52\t67862.43\t3000000000\t9007199254740993\t1200",
        "2025.01.10\t02:00:00\t67862.43\t67903.80\t67861.19\t67878.00\t4294967296\t4294967297\t1200",
    )
    assert found.rates["tick_volume"].tolist() == [8589934592, 3000000000, 4294967296]
    assert found.rates["real_volume"].tolist() == [8589934593, 9007199254740993, 4294967297]
    assert found.rates["spread"][0] / 10**found.digits == 12.00


def test_e20_newest_first(tmp_path: Path) -> None:
    found = loaded(tmp_path, MT5, *HOURS[::-1])
    assert np.array_equal(found.rates, loaded(tmp_path, MT5, *HOURS).rates)
    assert [*found.report.notes()] == ["the file begins with the newest: sorted"]


def test_e21_day_and_month_can_not_be_told_apart(tmp_path: Path) -> None:
    lines = (
        "Date,Time,Open,High,Low,Close,Volume",
        "03/04/2024,10:00,1.14560,1.14601,1.14547,1.14569,316",
        "04/04/2024,10:00,1.14569,1.14601,1.14568,1.14581,741",
        "05/04/2024,10:00,1.14581,1.14583,1.14508,1.14528,665",
        "06/04/2024,10:00,1.14528,1.14557,1.14507,1.14520,722",
        "07/04/2024,10:00,1.14520,1.14561,1.14485,1.14519,641",
        "08/04/2024,10:00,1.14519,1.14544,1.14487,1.14501,567",
    )
    with pytest.raises(
        DataError, match=r"03/04/2024 is day or month first can't be told.*--date-order"
    ):
        loaded(tmp_path, *lines)
    days = loaded(tmp_path, *lines, date_order=DateOrder.DAY_FIRST, timeframe="H1")
    assert [time[:10] for time in times(days)] == [f"2024.04.0{day}" for day in range(3, 9)]
    months = loaded(tmp_path, *lines, date_order=DateOrder.MONTH_FIRST, timeframe="H1")
    assert [time[:10] for time in times(months)] == [f"2024.0{month}.04" for month in range(3, 9)]
    later = lines[1].replace("03/04", "13/04")
    with pytest.raises(
        DataError, match="line 8: the date 13/04/2024 has no month 13, and --date-order"
    ):
        loaded(tmp_path, *lines, later, date_order=DateOrder.MONTH_FIRST, timeframe="H1")
    assert times(loaded(tmp_path, *lines, later, timeframe="H1"))[-1] == "2024.04.13 10:00:00"


@pytest.mark.parametrize("lines", [(), (MT5,), ("",)])
def test_e22_nothing_in_it(tmp_path: Path, lines: tuple[str, ...]) -> None:
    with pytest.raises(DataError, match=r"^no bars in .*bars\.csv: "):
        loaded(tmp_path, *lines)
