"""Make vectors.txt: what twins have to answer, computed a third way.

    python tests/mql5/vectors/make.py

Numbers are exact fractions and decimals here, rounded to a double once, at the end; words are
written by hand. Neither side's code is imported. A line is ``function|expected|ulps|arguments``:
the answer may be so many units in the last place away, and both sides have to agree to the bit.
"""

import hashlib
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

NAN, INF = math.nan, math.inf
_LINES: list[str] = []


def text(value: object) -> str:
    """Return a value as a field: doubles with all their digits, arrays with spaces."""
    if isinstance(value, tuple | list):
        return " ".join(text(each) for each in value)
    return repr(value) if isinstance(value, float) else str(value)


def case(function: str, expected: object, *arguments: object, ulps: int = 0) -> None:
    """Add a line."""
    fields = (function, text(expected), str(ulps), *(text(each) for each in arguments))
    _LINES.append("|".join(fields))


def decimal(number: float) -> Fraction:
    """Return a double as the decimal number that its writer meant."""
    return Fraction(Decimal(repr(number)))


def numbers() -> None:
    """Rounding."""
    for value in (0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 1e15 + 0.5, 5e15, 7.2, -7.8):
        case("round_even", float(round(Fraction(value))), value)
    # Ties of half a tick go to the even tick; decimals that no double holds stay decimals.
    for price, tick, digits in (
        (1.085004999, 0.00001, 5),
        (1.08501, 0.00001, 5),
        (1.0850149, 0.00001, 5),
        (149.9996, 0.001, 3),
        (4512.37, 0.25, 2),
        (4512.375, 0.25, 2),
        (4512.125, 0.25, 2),
        (1951.07, 0.1, 1),
        (38_105.4, 5.0, 0),
        (0.00000123, 0.00000001, 8),
    ):
        ticks = round(decimal(price) / decimal(tick))
        case("to_tick", float(ticks * decimal(tick)), price, tick, digits)
    for price in (NAN, INF, -INF):
        case("to_tick", "refused", price, 0.00001, 5)
    case("to_tick", "refused", 1.085, 0.0, 5)


def _floored(lots: float, step: float, most: float) -> Fraction:
    wanted = min(decimal(lots), decimal(most)) / decimal(step) + Fraction(1, 10**9)
    return math.floor(wanted) * decimal(step)


def volumes() -> None:
    """Lots: always down, to whole steps."""
    for lots, step, most in (
        (0.3, 0.1, 100.0),
        (0.29999999999, 0.1, 100.0),
        (0.2999, 0.1, 100.0),
        (0.07, 0.01, 100.0),
        (1.15, 0.01, 100.0),
        (0.0, 0.01, 100.0),
        (250.0, 0.01, 100.0),
        (7.77, 0.25, 50.0),
        (12.0, 5.0, 100.0),
        (4.35, 0.001, 100.0),
    ):
        case("floor_to_step", float(_floored(lots, step, most)), lots, step, most)
    case("floor_to_step", 100.0, INF, 0.01, 100.0)
    for lots, least in ((0.1, 0.01), (0.005, 0.01), (0.019, 0.01), (0.09, 0.1)):
        volume = _floored(lots, 0.01, 100.0)
        case("fixed_volume", float(volume if volume >= decimal(least) else 0), lots, least, 0.01)
    case("fixed_volume", 0.0, 0.0, 0.01, 0.01)
    case("fixed_volume", 100.0, INF, 0.01, 0.01)
    for equity, share, loss in (
        (10_000.0, 0.01, 250.0),
        (10_000.0, 0.01, 333.33),
        (10_000.0, 1.0, 0.01),
        (123.45, 0.005, 71.5),
        (0.0, 0.01, 100.0),
        (-50.0, 0.01, 100.0),
        (987_654.32, 0.0025, 61.7),
    ):
        wanted = max(Fraction(0), decimal(equity) * decimal(share)) / decimal(loss)
        steps = math.floor(min(wanted, Fraction(100)) * 100 + Fraction(1, 10**9))
        case("volume_for_risk", float(Fraction(steps, 100)), equity, share, loss)
    for equity, share, loss in (
        (NAN, 0.01, 100.0),
        (INF, 0.01, 100.0),
        (10_000.0, 0.0, 100.0),
        (10_000.0, 1.5, 100.0),
        (10_000.0, NAN, 100.0),
        (10_000.0, 0.01, 0.0),
        (10_000.0, 0.01, INF),
        (10_000.0, 0.01, NAN),
    ):
        case("volume_for_risk", "refused", equity, share, loss)


def prices() -> None:
    """Levels, filling modes and a broker's distances."""
    for mask in range(8):
        for execution in range(4):
            mode = 0 if mask & 1 else 1 if mask & 2 else 2 if execution == 3 else 0
            case("filling", mode, mask, execution)
    bid, ask, point = 1.08500, 1.08512, 0.00001
    for side, points in (("long", 200.0), ("short", 200.0), ("long", -300.0), ("short", 137.6)):
        sign, opening = (1, ask) if side == "long" else (-1, bid)
        level = decimal(opening) - sign * decimal(points) * decimal(point)
        ticks = round(level / decimal(point))
        case("stop_price", float(ticks * decimal(point)), side, points, bid, ask, point, point, 5)
    for points, price in ((NAN, bid), (INF, bid), (200.0, NAN), (200.0, -INF)):
        case("stop_price", "refused", "short", points, price, ask, point, point, 5)
    case("stop_price", ask, "long", 0.0, bid, ask, point, point, 5)
    for stop, take, stops in ((100.0, 100.0, 0), (5.0, 5.0, 30), (50.0, 10.0, 30), (0.0, 0.0, 0)):
        spread = (decimal(ask) - decimal(bid)) / decimal(point)
        least = stops + Fraction(1, 2)
        wide = (
            float(max(decimal(stop), least + spread)),
            float(max(decimal(take), least - spread)),
        )
        case("wide", wide, stop, take, stops, bid, ask, point, ulps=100_000)
    for expected, side, sl, tp, new, stops, freeze in (
        ("", "long", 1.08, 1.09, 1.084, 0, 0),
        ("near", "long", 1.08, 1.09, 1.085, 0, 0),
        ("", "long", 1.08, 1.09, 1.08499, 0, 0),
        ("near", "long", 1.08, 1.09, 1.08481, 20, 0),
        ("", "long", 1.08, 1.09, 1.0848, 20, 0),
        ("frozen", "long", 1.08495, 1.09, 1.084, 0, 10),
        ("frozen", "long", 1.08, 1.08505, 1.084, 0, 10),
        ("", "long", 1.0848, 1.09, 1.084, 0, 10),
        ("", "long", 0.0, 0.0, 1.084, 0, 10),
        ("near", "short", 1.09, 1.08, 1.08512, 0, 0),
        ("", "short", 1.09, 1.08, 1.08513, 0, 0),
        ("near", "short", 0.0, 0.0, 1.084, 0, 0),
    ):
        case("level_fault", expected, side, sl, tp, new, bid, ask, point, stops, freeze)
    for side, sl, stops, widened in (
        ("long", 1.0849, 20, 1.0848),
        ("long", 1.0847, 20, 1.0847),
        ("short", 1.0852, 20, 1.08532),
        ("short", 1.086, 20, 1.086),
    ):
        case("widened", widened, side, sl, stops, bid, ask, point)


def recent() -> None:
    """Ranges, bars since, opens of bars."""
    # Differences of prices between two powers of two add up without error, in any order. Only
    # wild prices, whose power changes, show the order of adding.
    wild = ((9, 4), (24, 6), (24, 7), (57, 8), (130, 9), (300, 10))
    for bars, start in ((1, 1), (7, 1), (8, 1), (24, 3), (130, 2), *wild):
        highs, lows, closes, seed = [], [], [], start
        for _ in range(bars + 1):
            seed = (1_103_515_245 * seed + 12_345) % 2**31
            middle = 1.05 + (seed // 64 % 5_000) / 100_000
            middle *= 10.0 ** (seed // 2_048 % 5 - 2) if (bars, start) in wild else 1.0
            highs.append(round(middle + (seed // 256 % 97) / 100_000, 5))
            lows.append(round(middle - (seed // 512 % 89) / 100_000, 5))
            closes.append(round(middle + (seed // 1_024 % 31 - 15) / 100_000, 5))
        ranges = [
            Fraction(max(highs[i], closes[i - 1])) - Fraction(min(lows[i], closes[i - 1]))
            for i in range(1, bars + 1)
        ]
        mean = sum(ranges) / bars / Fraction(0.00001)
        case("range_points", float(mean), bars, 0.00001, highs, lows, closes, ulps=1_000)
    flat = [1.05] * 4
    case("range_points", 0.0, 3, 0.00001, flat, flat, flat)
    times = (3_600, 7_200, 14_400, 18_000)
    for opened, count in ((0, 4), (7_200, 3), (7_201, 2), (10_800, 2), (18_000, 1), (18_001, 0)):
        case("bars_since", count, opened, times)
    for time, frame, opens in (
        (1_490_000_000, "M1", 1_489_999_980),
        (1_490_000_000, "H1", 1_489_996_800),
        (1_490_000_000, "H4", 1_489_996_800),
        (1_490_000_000, "D1", 1_489_968_000),
        (1_490_000_000, "W1", 1_489_881_600),
        (1_489_881_600, "W1", 1_489_881_600),
        (1_489_881_599, "W1", 1_489_276_800),
        (1_490_000_000, "MN1", 1_488_326_400),
    ):
        case("open_of", opens, time, frame)
    for expected, time, span in (
        ("yes", 8 * 3_600, "08:00-12:00"),
        ("no", 12 * 3_600, "08:00-12:00"),
        ("no", 8 * 3_600 - 1, "08:00-12:00"),
        ("yes", 23 * 3_600, "22:00-02:00"),
        ("yes", 86_400, "22:00-02:00"),
        ("no", 2 * 3_600, "22:00-02:00"),
        ("yes", 86_399, "12:00-24:00"),
        ("yes", 5, "10:00-10:00"),
    ):
        case("in_span", expected, time, span)


def decisions() -> None:
    """What a model's numbers mean, and what is done about them: by hand."""
    sides = "short none long"
    for expected, kind, values in (
        ("0.7 0.2", "shares", (0.2, 0.1, 0.7)),
        ("problem", "shares", (0.2, 0.1, 0.6)),
        ("problem", "shares", (-0.1, 0.1, 1.0)),
        ("problem", "shares", (NAN, 0.5, 0.5)),
        ("problem", "shares", (INF, 0.5, 0.5)),
        ("problem", "shares", (0.5, 0.5)),
        ("0.0 0.0", "shares", (0.0, 1.0, 0.0)),
        ("-0.0004 1.0004", "shares", (1.0004, 0.0, -0.0004)),
    ):
        case("decode", expected, kind, 3, sides, values)
    for expected, kind, value in (
        ("0.25 0.0", "target", 0.25),
        ("0.0 1.0", "target", -1.0),
        ("0.0 0.0", "target", 0.0),
        ("1.0005 0.0", "target", 1.0005),
        ("problem", "target", 1.5),
        ("problem", "target", NAN),
        ("0.0 12.5", "forecast", -12.5),
        ("problem", "forecast", -INF),
        ("3000.0 0.0", "forecast", 3_000.0),
    ):
        case("decode", expected, kind, 1, "long", (value,))
    # long, short, problem; held side and bars; open_at, close_at, reverse, sides, max_bars;
    # stop points and ranges, take points and ranges; recent range; declined side.
    plain = (0.5, 0.2, 1, "both", 10, 0.0, 2.0, 300.0, 0.0, 100.0, "none")
    for expected, signal, held, settings in (
        ("hold none - -", (0.4, 0.3, ""), ("none", 0), plain),
        ("open long 200.0 300.0", (0.5, 0.3, ""), ("none", 0), plain),
        ("open short 200.0 300.0", (0.3, 0.6, ""), ("none", 0), plain),
        ("hold none - -", (0.6, 0.6, ""), ("none", 0), plain),
        ("hold none - -", (0.0, 0.0, "x"), ("none", 0), plain),
        ("hold none - -", (0.6, 0.1, ""), ("none", 0), (*plain[:-1], "long")),
        ("open short 200.0 300.0", (0.1, 0.6, ""), ("none", 0), (*plain[:-1], "long")),
        ("hold none - -", (0.1, 0.6, ""), ("none", 0), (*plain[:3], "long", *plain[4:])),
        ("open long 200.0 300.0", (0.6, 0.1, ""), ("none", 0), (*plain[:3], "long", *plain[4:])),
        ("hold none - -", (0.6, 0.1, ""), ("long", 3), plain),
        ("close none - -", (0.6, 0.1, ""), ("long", 10), plain),
        ("close none - -", (0.0, 0.0, "x"), ("long", 11), plain),
        ("hold none - -", (0.0, 0.0, "x"), ("long", 3), plain),
        ("close none - -", (0.19, 0.1, ""), ("long", 3), plain),
        ("hold none - -", (0.2, 0.1, ""), ("long", 3), plain),
        ("reverse short 200.0 300.0", (0.1, 0.6, ""), ("long", 3), plain),
        ("reverse long 200.0 300.0", (0.6, 0.1, ""), ("short", 3), plain),
        ("close none - -", (0.6, 0.1, ""), ("short", 3), (*plain[:2], 0, *plain[3:])),
        ("close none - -", (0.45, 0.1, ""), ("short", 3), plain),
        (
            "open long - -",
            (0.6, 0.1, ""),
            ("none", 0),
            (*plain[:5], 0.0, 0.0, 0.0, 0.0, 100.0, "none"),
        ),
        (
            "open long 0.0 -",
            (0.6, 0.1, ""),
            ("none", 0),
            (*plain[:5], 0.0, 2.0, 0.0, 0.0, 0.0, "none"),
        ),
        (
            "open short 150.0 -",
            (0.1, 0.6, ""),
            ("none", 0),
            (*plain[:5], 150.0, 0.0, 0.0, 0.0, 9.0, "none"),
        ),
        ("open long 200.0 300.0", (INF, 0.1, ""), ("none", 0), plain),
    ):
        case("decide", expected, *signal, *held, *settings)


def care() -> None:
    """Where the stop of a kept position goes: exact, from the words of the settings."""
    point, opened = 0.00001, 1.085
    settings = {
        "trail": (200.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5),
        "late": (200.0, 0.0, 100.0, 50.0, 0.0, 0.0, 0.0, 0.5),
        "ranges": (0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5),
        "even": (0.0, 0.0, 0.0, 0.0, 150.0, 10.0, 0.0, 0.5),
        "both": (100.0, 0.0, 0.0, 0.0, 150.0, 120.0, 80.0, 0.25),
        "off": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5),
    }
    # What is wanted, as points from the open in the position's favour; "-" leaves the stop.
    for name, best, close, stop, wanted, share in (
        ("trail", 300, 250, None, 100, 0.0),
        ("trail", 300, 250, 100, "-", 0.0),
        ("trail", 300, 250, 99, 100, 0.0),
        ("trail", -50, -60, -200, "-", 0.0),
        ("trail", 50, 0, -200, -150, 0.0),
        ("late", 99, 90, -200, "-", 0.0),
        ("late", 100, 90, -200, -100, 0.0),
        ("late", 100, 90, -149, "-", 0.0),
        ("ranges", 300, 250, None, 54, 0.0),
        ("even", 149, 140, None, "-", 0.0),
        ("even", 150, 140, None, 10, 0.0),
        ("even", 400, 140, 10, "-", 0.0),
        ("both", 160, 70, None, 120, 0.0),
        ("both", 300, 90, None, 200, 0.25),
        ("both", 60, 80, -40, "-", 0.25),
        ("off", 900, 900, None, "-", 0.0),
    ):
        for side, sign in (("long", 1), ("short", -1)):

            def price(points: float, sign: int = sign) -> float:
                return float(decimal(opened) + sign * Fraction(points) * decimal(point))

            sl = 0.0 if stop is None else price(stop)
            level = "-" if wanted == "-" else price(float(wanted))
            arguments = (side, opened, sl, price(best), price(close), 0, *settings[name])
            case("care", (level, share), *arguments, 123.0, point, ulps=8)
    case("care", ("-", 0.0), "long", opened, 1.09, 1.0, 1.086, 1, *settings["both"], 9.0, point)
    for expected, time, at in (
        ("no", 1_490_000_000, "20:00"),
        ("no", 1_490_313_600 + 71_999, "20:00"),
        ("yes", 1_490_313_600 + 72_000, "20:00"),
        ("yes", 1_490_400_000, "20:00"),
        ("no", 1_490_486_400, "20:00"),
        ("no", 1_490_313_600 + 80_000, "off"),
    ):
        case("weekend", expected, time, at)


def _baselines(steps: list[tuple[str, float, float, float]]) -> tuple[object, ...]:
    """Return what is known after looks ("see", time, equity, balance) and payments ("pay")."""
    day, low, first, balance, peak = -1, NAN, NAN, NAN, NAN
    week, week_low, paid = NAN, NAN, 0.0
    for kind, time, equity, money in steps:
        if kind == "pay":
            first, low, balance, peak = (
                first + equity,
                low + equity,
                balance + equity,
                peak + equity,
            )
            week, week_low = week + equity, week_low + equity
            paid += equity if equity > 0 else 0.0
            continue
        today = int(time) // 86_400
        if equity == equity:
            peak = equity if day < 0 else (equity if equity > peak else peak)
        if today < day:
            continue
        if today == day:
            if equity == equity:
                low = equity if equity < low else low
                week_low = equity if equity < week_low else week_low
            continue
        # 1970-01-04 was a Sunday.
        is_new = day < 0 or (today - 3) // 7 > (day - 3) // 7
        week = equity if is_new else week
        week_low = equity if is_new else min(week_low, equity)
        day, low, first, balance = today, equity, equity, money
    return (day, first, peak, low, balance, week, week_low, paid)


def losses() -> None:
    """Baselines in quarters of a unit, which doubles add without error; shares of them."""
    day = 17_245 * 86_400  # a Monday
    first = ("see", day, 10_000.0, 10_000.0)
    many: list[list[tuple[str, float, float, float]]] = [
        [first],
        [first, ("see", day + 60, 9_400.25, 9_500.0)],
        [first, ("see", day + 60, 9_400.25, 0.0), ("see", day + 90, 9_900.0, 0.0)],
        [first, ("see", day + 86_400, 10_400.5, 10_300.0)],
        [first, ("see", day + 90_000, 9_000.0, 8_000.0), ("see", day + 99, 11_000.0, 1.0)],
        [first, ("see", day + 6 * 86_400, 9_500.75, 9_400.0)],
        [first, ("pay", 0, 500.25, 0), ("see", day + 5, 10_400.0, 10_500.25)],
        [first, ("pay", 0, -500.25, 0), ("see", day + 5, 9_400.0, 9_400.0)],
        [first, ("see", day + 5, NAN, 10_000.0), ("see", day + 6, 9_999.0, 1.0)],
        [first, ("see", day + 5, -250.0, 10_000.0)],
        [first, ("see", day + 5, INF, 10_000.0)],
    ]
    for steps in many:
        case("baselines", _baselines(steps), ";".join(text(step) for step in steps))
    for origin, low, week, week_low, peak, equity in (
        (10_000.0, 9_700.0, 10_500.0, 9_600.0, 11_000.0, 9_900.0),
        (10_000.0, 9_700.0, 10_500.0, 9_600.0, 11_000.0, 9_500.0),
        (10_000.0, 10_000.0, 10_000.0, 10_000.0, 12_000.0, 12_000.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (-5.0, -5.0, -5.0, -5.0, -5.0, 10.0),
        (10_000.0, 10_000.0, 10_000.0, 10_000.0, 10_000.0, NAN),
        (10_000.0, 10_000.0, 10_000.0, 10_000.0, 10_000.0, -INF),
    ):
        if math.isfinite(equity):
            day_loss = _share(origin - min(equity, low), origin)
            week_loss = _share(week - min(equity, low, week_low), week)
            fall = _share(peak - equity, peak)
            expected = (float(day_loss), float(week_loss), float(fall))
        else:
            expected = (NAN, NAN, NAN) if math.isnan(equity) else (INF, INF, INF)
        case("shares", expected, origin, low, week, week_low, peak, equity, ulps=2)
    for start, paid, balance, began, low, equity, since in (
        (100_000.0, 0.0, 101_000.0, 100_500.0, 99_000.0, 99_500.0, "larger"),
        (100_000.0, 0.0, 101_000.0, 100_500.0, 99_000.0, 99_500.0, "balance"),
        (100_000.0, 0.0, 101_000.0, 100_500.0, 99_000.0, 98_500.0, "equity"),
        (100_000.0, 25_000.0, 125_000.0, 126_000.0, 126_000.0, 131_000.0, "larger"),
    ):
        day_start = {"larger": max(balance, began), "balance": balance, "equity": began}[since]
        whole = Fraction(start) + Fraction(paid)
        expected = (
            float((Fraction(day_start) - Fraction(min(equity, low))) / whole),
            float((whole - Fraction(min(equity, low))) / whole),
            float((Fraction(equity) - whole) / whole),
        )
        case("prop", expected, start, paid, balance, began, low, equity, since, ulps=2)
    money = (100_000.0, 0.0, 101_000.0, 100_500.0, 99_000.0)
    case("prop", (NAN, NAN, NAN), *money, NAN, "larger")
    case("prop", (INF, INF, -INF), *money, -INF, "larger")


def halts() -> None:
    """What ends entries for good, from the highest equity and a prop firm's start: by hand."""
    # peak, the day's lowest, paid in, prop firm's start (0 is off), equity now.
    for expected, numbers_ in (
        ("", (10_000.0, 10_000.0, 0.0, 0.0, 10_000.0)),
        ("", (10_000.0, 7_000.0, 0.0, 0.0, 7_500.25)),
        ("drawdown", (10_000.0, 7_500.0, 0.0, 0.0, 7_500.0)),
        ("drawdown", (10_000.0, 10_000.0, 0.0, 0.0, NAN)),
        ("drawdown", (10_000.0, 10_000.0, 0.0, 0.0, -INF)),
        ("", (10_000.0, 10_000.0, 0.0, 0.0, INF)),
        ("drawdown", (0.0, 0.0, 0.0, 0.0, 0.0)),
        ("", (10_000.0, 9_000.25, 0.0, 10_000.0, 9_500.0)),
        ("prop_total_loss", (10_000.0, 9_000.0, 0.0, 10_000.0, 9_500.0)),
        ("prop_total_loss", (10_000.0, 9_900.0, 500.0, 10_500.0, 9_900.0)),
        ("", (10_000.0, 9_900.25, 500.0, 10_500.0, 9_900.25)),
        ("drawdown", (14_000.0, 8_000.0, 0.0, 10_000.0, 8_000.0)),
    ):
        case("halting", expected, *numbers_)


def streaks() -> None:
    """Losses in a row, by hand: those of the last day's end, and the longest of the asked day."""
    for expected, closed, day in (
        ("1 1", ((5, -0.25),), 5),
        ("0 0", ((5, 0.0),), 5),
        ("2 2", ((5, -1.0), (5, 0.0), (5, -1.0)), 5),
        ("0 2", ((5, -1.0), (5, -1.0), (5, 0.5)), 5),
        ("1 1", ((5, -1.0), (5, -1.0), (6, -1.0)), 6),
        ("1 0", ((5, -1.0), (5, -1.0), (6, -1.0)), 5),
        ("2 2", ((6, -1.0), (5, 9.0), (6, -1.0)), 6),
        ("2 2", ((6, -INF), (6, -1.0)), 6),
        ("0 1", ((6, -1.0), (6, INF)), 6),
        ("0 1", ((6, -1.0), (6, NAN)), 6),
    ):
        case("streak", expected, ";".join(text(one) for one in closed), day)


def bars() -> None:
    """Bars that can't be: by hand."""
    good = (1_490_000_400, 1.085, 1.086, 1.084, 1.0855, 0)
    when = "the bar of 2017.03.20 09:00:00"
    number = f"{when} has a price that is not a positive number"
    for expected, at, value in (
        ("", 1, good[1]),
        (number, 1, NAN),
        (number, 2, INF),
        (number, 3, 0.0),
        (number, 3, -INF),
        (number, 4, -1.0855),
        (f"{when} has a high below another of its prices", 2, 1.0849),
        (f"{when} has a high below another of its prices", 2, 1.08549),
        (f"{when} has a low above another of its prices", 3, 1.08501),
        (f"{when} has a negative spread", 5, -1),
        (f"{when} stands twice", 0, good[0]),
        ("the bar of 2017.03.20 08:59:59 is older than the bar before it", 0, good[0] - 1),
    ):
        rows = [list(good), list(good)]
        rows[1][0] = good[0] + 3600
        # What is wrong with a bar alone is wrong with the first one.
        rows[0 if at else 1][at] = value
        case("bars", expected, ";".join(text(row) for row in rows))


def leases() -> None:
    """Name of the lock that EA and daemon share, from the words that both are documented with."""
    for symbol, magic, login, server in (
        ("EURUSD", 26001, 12345678, "Broker-Demo"),
        ("XAUUSD.pro", 2**63 - 1, 1, "A B"),
    ):
        words = f"magic {magic} on {symbol} of {login} at {server}"
        name = hashlib.sha256(words.encode()).hexdigest()[:32]
        case("lease", name, symbol, magic, login, server)


def _share(loss: float, of: float) -> Fraction:
    return Fraction(loss) / Fraction(of) if of > 0 else Fraction(1)


def rules() -> None:
    """The first rule that denies an entry: by hand, from one that passes them all."""
    for expected, changed in (
        ("", ""),
        ("state", "state=reducing"),
        ("state", "state=halted bid=nan"),
        ("alarms", "alarms=margin_level"),
        ("unresolved", "unresolved=1"),
        ("quote", "bid=nan"),
        ("quote", "ask=inf"),
        ("quote", "bid=0.0"),
        ("quote", "bid=1.08513"),
        ("quote_age", "quote_age=60.1"),
        ("", "quote_age=60.0"),
        ("", "quote_age=-900.0"),
        ("quote_age", "quote_age=-900.1"),
        ("", "quote_age=1000.0 max_quote_age=0"),
        ("bar_age", "bar_age=60.5"),
        ("", "bar_age=60.0"),
        ("account", "trade_allowed=0"),
        ("account", "trade_expert=0"),
        ("trade_mode", "trade_mode=0"),
        ("", "trade_mode=1"),
        ("trade_mode", "trade_mode=1 side=short sl=1.087 tp=1.082"),
        ("", "trade_mode=2 side=short sl=1.087 tp=1.082"),
        ("trade_mode", "trade_mode=3"),
        ("hours", "windows=09:00-12:00"),
        ("", "windows=08:00-09:00;08:30-10:00"),
        ("hours", "weekdays=tue;wed"),
        ("", "weekdays=sun;mon"),
        ("rollover", "rollover=08:30-09:00"),
        ("weekend", "friday=08:53 time=1490345600"),
        ("", "friday=08:54 time=1490345600"),
        ("weekend", "friday=08:54 time=1490400000"),
        ("spread", "ask=1.08531 max_spread=30"),
        ("", "ask=1.0853 max_spread=30"),
        ("", "ask=1.09 max_spread=0 sl=1.08 tp=1.1"),
        ("positions", "positions=1"),
        ("", "positions=1 max_positions=2"),
        ("volume", "positions=1 max_positions=2 lots=0.95"),
        ("", "positions=1 max_positions=2 lots=0.9"),
        ("volume", "positions=1 max_positions=2 lots=nan"),
        ("orders_per_minute", "recent=60"),
        ("", "recent=59"),
        ("", "recent=500 max_orders=0"),
        ("stop", "sl=none"),
        ("", "sl=none require_stop=0"),
        ("stop", "sl=1.085"),
        ("stop", "sl=1.086"),
        ("", "sl=1.08499"),
        ("stop", "sl=1.08481 stops_level=20"),
        ("", "sl=1.0848 stops_level=20"),
        ("take", "tp=1.0849"),
        ("", "tp=none"),
        ("take", "tp=1.08519 stops_level=20"),
        ("daily_loss", "equity=9500.0"),
        ("", "equity=9500.01"),
        ("daily_loss", "day_low=9400.0"),
        ("", "equity=9500.0 daily=0"),
        ("daily_loss halts", "equity=nan"),
        ("weekly_loss", "week_low=9000.0 weekly=0.08"),
        ("", "week_low=9000.0"),
        ("drawdown halts", "peak=14000.0"),
        ("", "peak=13333.0"),
        ("state halts", "state=reducing peak=14000.0"),
        ("losses_in_row", "losses=3 max_losses=3"),
        ("", "losses=2 max_losses=3"),
        ("prop_daily_loss", "prop=10000.0 day_balance=10600.0"),
        ("prop_total_loss halts", "prop=11200.0 day_balance=10000.0"),
        ("prop_profit_target", "prop=9000.0"),
        ("", "prop=9500.0"),
    ):
        case("entry", expected, changed)


def retcodes() -> None:
    """The trade server's answers, by their meaning in the reference."""
    outcomes = {10008: "placed", 10009: "done", 10010: "partial", 10012: "unresolved"}
    outcomes |= {10031: "unresolved", 10000: "unresolved", 10047: "unresolved", 99: "unresolved"}
    unused = (10001, 10002, 10003, 10005, 10037, 10048)
    for code in (99, *range(10_000, 10_049)):
        if code in unused:
            outcomes[code] = "unresolved"
        again = "again" if code in (10004, 10020, 10021) else "once"
        case("retcode", f"{outcomes.get(code, 'rejected')} {again}", code)


def names() -> None:
    """A broker's suffixes."""
    for expected, symbol, made_for, alias in (
        ("yes", "EURUSD", "EURUSD", ""),
        ("yes", "EURUSD.pro", "EURUSD", ""),
        ("yes", "EURUSDm", "EURUSD", ""),
        ("yes", "EURUSD_i", "EURUSD", ""),
        ("yes", "EURUSD#", "EURUSD", ""),
        ("yes", "EURUSDmicr", "EURUSD", ""),
        ("no", "EURUSDmicro", "EURUSD", ""),
        ("no", "EURUSDM", "EURUSD", ""),
        ("no", "EURUSD2", "EURUSD", ""),
        ("no", "EURUSD.a-b", "EURUSD", ""),
        ("no", "mEURUSD", "EURUSD", ""),
        ("no", "GBPUSD", "EURUSD", ""),
        ("yes", "EURO", "EURUSD", "EURUSD"),
        ("no", "EURUSD", "EURUSD", "GBPUSD"),
    ):
        case("same_symbol", expected, symbol, made_for, alias)


def lines() -> list[str]:
    """Return all lines."""
    _LINES.clear()
    for make in (
        numbers,
        volumes,
        prices,
        recent,
        decisions,
        care,
        losses,
        halts,
        streaks,
        bars,
        leases,
        rules,
        retcodes,
        names,
    ):
        make()
    return list(_LINES)


if __name__ == "__main__":
    Path(__file__).with_name("vectors.txt").write_text("\n".join(lines()) + "\n", encoding="ascii")
