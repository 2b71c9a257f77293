"""The sections of a report. A report is a list of them: others may add their own."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bridge.report import tables
from bridge.report.account import Account
from bridge.report.page import pictures
from bridge.report.page.markup import Html, joined, table, tag
from bridge.report.page.particulars import settings_of
from bridge.report.story import Line, symbols_of
from bridge.report.tester import texts
from bridge.report.tester.words import money

_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()  # noqa: SIM905  one line
_UNKNOWN = "-"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page.

    Attributes:
        name: Of its anchor.
        title: Its heading.
        body: What stands below.
    """

    name: str
    title: str
    body: Html


def sections_of(account: Account) -> list[Section]:
    """Return the usual sections, in order."""
    return [
        Section("account", "Equity and balance", _account(account)),
        Section("prices", "Prices", _prices(account)),
        Section("statistics", "Statistics", _statistics(account)),
        Section("months", "Months", _months(account)),
        Section("trades", "Trades", _trades(account)),
        Section("distributions", "Distributions", _distributions(account)),
        Section("times", "Hours and days", _times(account)),
        Section("costs", "Costs", _costs(account)),
        Section("signals", "Signals", _signals(account)),
        Section("why-not", "Why not", _why_not(account)),
        Section("settings", "Settings", settings_of(account)),
    ]


def _account(account: Account) -> Html:
    note = "Equity and balance when each bar was decided; what was between is not shown."
    return joined(_chart("account", "Equity, balance and drawdown over time"), _note(note))


def _prices(account: Account) -> Html:
    story = account.story
    charts = [
        joined(tag("h3", symbol), _chart(f"price-{symbol}", f"Prices of {symbol} with trades"))
        for symbol in symbols_of(story)
        if any(line.symbol == symbol for line in story.lines)
    ]
    return joined(
        *charts,
        _note(
            "The bid at which each bar was decided: the first one after its close. Triangles are"
            " entries (up is a buy), circles are exits; the line between is green for a profit, red"
            " for a loss."
        ),
    )


def _chart(name: str, label: str) -> Html:
    return tag(
        "figure",
        tag(
            "canvas",
            id=f"chart-{name}",
            data_chart=name,
            tabindex="0",
            role="img",
            aria_label=f"{label}. Keys: left and right move, plus and minus zoom, 0 shows all.",
        ),
        class_="chart",
    )


def _statistics(account: Account) -> Html:
    found = list(texts(account.course))
    cells = [
        tag("div", tag("dt", title, title=meaning), tag("dd", value, class_=_sign(value)))
        for title, value, meaning in found
    ]
    meanings = [joined(tag("dt", title), tag("dd", meaning)) for title, _, meaning in found]
    return joined(
        tag("dl", *cells, class_="statistics"),
        _note(
            "Named and computed as in MetaTrader 5's tester report. What rests on equity or on how"
            " far trades went uses the close of bars, where the tester uses ticks."
        ),
        tag(
            "details",
            tag("summary", "What each of them means"),
            tag("dl", *meanings, class_="meanings"),
        ),
    )


def _sign(value: str) -> str | None:
    return "loss" if value.startswith("-") and len(value) > 1 else None


def _months(account: Account) -> Html:
    found = tables.months(account.course)
    if not found:
        return _nothing("No deal was made.")
    rows: list[list[object]] = []
    for year in dict.fromkeys(month.year for month in found):
        mine = {month.month: month for month in found if month.year == year}
        total, growth = sum(month.net for month in mine.values()), 1.0
        for month in mine.values():
            growth *= 1 + month.share
        cells = [
            _month(mine[n].net, mine[n].share) if n in mine else tag("td", "") for n in range(1, 13)
        ]
        rows.append([str(year), *cells, _month(total, growth - 1)])
    return joined(
        table(["Year", *_MONTHS, "Year"], rows, caption="Net of each month"),
        _note(
            f"Net of all deals of a month, {account.story.currency}, and as a share of the balance"
            " at its beginning; server time."
        ),
    )


def _month(net: float, share: float) -> Html:
    kind = "flat" if not net else "gain" if net > 0 else "loss"
    strength = min(4, 1 + int(abs(share) * 100 / 2.5)) if net else 0
    return tag(
        "td",
        tag("span", f"{share:+.2%}"),
        tag("small", money(net)),
        class_=f"month {kind} tint-{strength}",
    )


def _trades(account: Account) -> Html:
    count = len(account.course.trades)
    if not count:
        return _nothing("No trade was closed.")
    return joined(
        tag(
            "div",
            tag("label", "Search", for_="search"),
            tag(
                "input",
                id="search",
                type="search",
                placeholder="symbol, side, day, comment",
                autocomplete="off",
            ),
            tag("output", f"{count} trades", id="found", for_="search"),
            class_="tools",
        ),
        tag(
            "div",
            tag("table", tag("caption", "Trades", class_="unseen"), id="trade-list"),
            class_="scroll",
            tabindex="0",
            role="region",
            aria_label="Trades",
        ),
        tag(
            "div",
            tag("button", "Previous", id="previous", type="button"),
            tag("span", "", id="page"),
            tag("button", "Next", id="next", type="button"),
            class_="tools pages",
        ),
        tag("noscript", _note("The list of trades needs JavaScript.")),
        _note(
            "A trade is a closing deal. Net is its profit, swap, commission and fee, and its share"
            " of the entry's costs. A row's number shows the trade in its chart. Times are the"
            " server's."
        ),
    )


def _distributions(account: Account) -> Html:
    course = account.course
    if not course.trades:
        return _nothing("No trade was closed.")
    nets, hours = tables.profits(course), tables.holding_hours(course)
    both = [
        (each.worst, trade.net)
        for trade, each in zip(course.trades, course.excursions, strict=False)
        if each is not None
    ]
    currency = account.story.currency
    pictured = [
        _pictured(
            f"Net of a trade, {currency}",
            pictures.bars(
                [f"{each.low:g}" for each in nets],
                [each.count for each in nets],
                title="How many trades had which net",
                signed=False,
            ),
            _numbers([f"from {currency}", "to", "trades"], [_bin(each) for each in nets]),
        ),
        _pictured(
            "Holding time, hours without weekends",
            pictures.bars(
                [f"{each.low:g}" for each in hours],
                [each.count for each in hours],
                title="How many trades were held how long",
                signed=False,
            ),
            _numbers(["from hours", "to", "trades"], [_bin(each) for each in hours]),
        ),
    ]
    if both:
        pictured.append(
            _pictured(
                f"Net (up) by deepest loss meanwhile (MAE, across), {currency}",
                pictures.points(
                    [worst for worst, _ in both],
                    [net for _, net in both],
                    title="Net of each trade by its deepest loss",
                    kinds=["gain" if net >= 0 else "loss" for _, net in both],
                ),
            )
        )
        best = [
            (each.best, trade.net)
            for trade, each in zip(course.trades, course.excursions, strict=False)
            if each is not None
        ]
        pictured.append(
            _pictured(
                f"Net (up) by largest profit meanwhile (MFE, across), {currency}",
                pictures.points(
                    [most for most, _ in best],
                    [net for _, net in best],
                    title="Net of each trade by its largest profit",
                    kinds=["gain" if net >= 0 else "loss" for _, net in best],
                ),
            )
        )
    return tag("div", *pictured, class_="pictures")


def _bin(each: tables.Bin) -> list[object]:
    return [f"{each.low:g}", f"{each.high:g}", each.count]


def _pictured(title: str, picture: Html, *more: Html) -> Html:
    return tag("figure", tag("figcaption", title), picture, *more)


def _numbers(headings: Sequence[str], rows: list[list[object]]) -> Html:
    return tag(
        "details",
        tag("summary", "Numbers"),
        table(list(headings), rows, caption="Numbers of the picture above", narrow=True),
    )


def _times(account: Account) -> Html:
    trades = account.course.trades
    if not trades:
        return _nothing("No trade was closed.")
    currency = account.story.currency
    parts = [
        (f"Net by hour of the entry, {currency}", "hour", tables.by_hour(trades)),
        (f"Net by weekday of the entry, {currency}", "day", tables.by_weekday(trades)),
    ]
    pictured = [
        _pictured(
            title,
            pictures.bars(
                [group.label for group in groups], [group.net for group in groups], title=title
            ),
            _numbers(
                [name, "trades", "won", "net"],
                [
                    [group.label, group.trades, _share(group.won, group.trades), money(group.net)]
                    for group in groups
                ],
            ),
        )
        for title, name, groups in parts
    ]
    return joined(tag("div", *pictured, class_="pictures"), _note("Server time."))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else _UNKNOWN


def _costs(account: Account) -> Html:
    found, course = tables.costs(account.story), account.course
    rows = [("Commission", found.commission), ("Fee", found.fee), ("Swap", found.swap)]
    lines: list[list[object]] = [[name, *_cost(value, account)] for name, value in rows]
    known = found.spread is not None
    lines.append(
        ["Spread, about", *(_cost(found.spread or 0.0, account) if known else [_UNKNOWN] * 2)]
    )
    total = found.commission + found.fee + found.swap
    lines.append(
        ["Net profit without commission, fee and swap", *_cost(_net(course) - total, account)]
    )
    lines.append(["Net profit", *_cost(_net(course), account)])
    return joined(
        table(["", account.story.currency, "a trade"], lines, caption="Costs", narrow=True),
        _note(
            "The spread is inside the prices, so it is in the net profit already: of each trade,"
            " the spread at the close of the bar before its entry."
        ),
    )


def _net(course: Any) -> float:
    return float(course.balance[-1] - course.balance[0])


def _cost(value: float, account: Account) -> list[object]:
    trades = len(account.course.trades)
    return [money(value), money(value / trades) if trades else _UNKNOWN]


def _signals(account: Account) -> Html:
    parts = [_calibrated(line) for line in account.story.lines]
    return joined(
        tag("div", *parts, class_="pictures"),
        _note(
            "Bars in ten groups by the signal, long less short; of each, the share after which the"
            " bid was higher at the next bar's close. A signal that knows something rises to the"
            " right; the dashed line is the share of all bars, and inside the band lies what chance"
            " alone does nineteen times of twenty."
        ),
    )


def _calibrated(line: Line) -> Html:
    found = tables.calibration(line)
    if len(found) < 2:
        return _nothing(f"{line.title}: too few different signals to compare.")
    bars = sum(each.bars for each in found)
    base = sum(each.rose * each.bars for each in found) / bars
    return _pictured(
        f"{line.title}: share of bars that rose (up, %) by signal (across)",
        pictures.points(
            [each.signal for each in found],
            [100 * each.rose for each in found],
            title=f"Share of bars that rose by signal, {line.title}",
            tips=[f"signal {each.signal:.4g}: {each.rose:.1%} of {each.bars}" for each in found],
            level=100 * base,
            # Two deviations of a share of that many bars.
            chance=200 * math.sqrt(base * (1 - base) * len(found) / bars),
            from_zero=False,
        ),
        _numbers(
            ["mean signal", "bars", "rose", "mean move"],
            [
                [f"{each.signal:.4g}", each.bars, f"{each.rose:.1%}", f"{each.move:.3g}"]
                for each in found
            ],
        ),
    )


def _why_not(account: Account) -> Html:
    found = account.story.why_not
    acted = found.decisions - found.flat - found.holding - found.unusable
    rows: list[list[object]] = [
        ["Bars decided", found.decisions, ""],
        ["Nothing held, nothing asked for", *_of(found.flat, found.decisions)],
        ["A position was kept", *_of(found.holding, found.decisions)],
        ["No usable signal", *_of(found.unusable, found.decisions)],
        ["Something was to be done", *_of(acted, found.decisions)],
        *([f"Denied by {rule}", count, ""] for rule, count in found.denied.items()),
        ["Refused by the server", found.rejected, ""],
    ]
    return table(["", "count", "of all"], rows, caption="Why nothing was opened", narrow=True)


def _of(part: int, whole: int) -> list[object]:
    return [part, f"{part / whole:.1%}" if whole else _UNKNOWN]


def _note(words: str) -> Html:
    return tag("p", words, class_="note")


def _nothing(words: str) -> Html:
    return tag("p", words, class_="nothing")
