"""Put the page together: head, sections, data and script in one file that asks for nothing else."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from bridge import __version__
from bridge.mt5.servertime import text
from bridge.report.account import Account, period
from bridge.report.page.charts import account_chart, price_chart
from bridge.report.page.markup import Html, tag
from bridge.report.page.packing import embedded
from bridge.report.page.sections import Section, sections_of
from bridge.report.story import symbols_of
from bridge.report.tester import STATISTICS, Statistic, falls, gains
from bridge.report.tester.words import money
from bridge.report.trades import Trade, open_volume

_HERE = Path(__file__).resolve().parent


def page(account: Account, more: Sequence[Section] = ()) -> str:
    """Return the report as HTML.

    Args:
        account: What it shows.
        more: Sections of others, such as a stress test; they stand before the settings.
    """
    usual = sections_of(account)
    sections = [*usual[:-1], *more, usual[-1]]
    style, script = _asset("page.css"), _asset("page.js")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{_title(account)}: report"),
        tag("style", Html(style)),
    )
    body = tag(
        "body",
        tag("a", "Skip to the report", href="#main", class_="skip"),
        _header(account),
        _contents(sections),
        tag("main", *(_section(each) for each in sections), id="main"),
        _footer(account),
        tag("script", Html(embedded(_data(account))), type="application/json", id="data"),
        tag("script", Html(script)),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


@cache
def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Allow exactly the page's own style and script, and no request at all."""
    return (
        f"default-src 'none'; style-src '{_sha256(style)}'; script-src '{_sha256(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _sha256(asset: str) -> str:
    digest = hashlib.sha256(asset.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _title(account: Account) -> str:
    names = [f"{line.symbol} {line.timeframe}" for line in account.story.lines]
    return ", ".join(dict.fromkeys(names))


def _header(account: Account) -> Html:
    story, (first, last) = account.story, period(account.story)
    bars = sum(len(line.time) for line in story.lines)
    still = open_volume(story.course.deals)
    models = ", ".join(model.contract.name for model in account.models if model.contract)
    facts = [
        models,
        f"mode {story.mode}",
        f"{text(first)[:16]} to {text(last)[:16]}, server time",
        f"{bars:,} bars",
        f"{still:g} lots still open, in the equity only" if still else "",
    ]
    return tag(
        "header",
        tag("h1", _title(account)),
        tag("p", " · ".join(fact for fact in facts if fact), class_="facts"),
        _warning(account),
        tag("dl", *(_card(*card) for card in _cards(account)), class_="cards"),
    )


def _warning(account: Account) -> Html:
    if account.trained is None:
        words = (
            "The model's file was not found, so it is not known which of these bars it was trained"
            " on: name it with --model."
        )
        return tag("p", words, class_="warning")
    if account.trained > 0:
        words = (
            f"{account.trained:.0%} of these bars are bars the model was trained on (grey in the"
            " charts): what it earned there says nothing about the future."
        )
        return tag("p", words, class_="warning")
    return Html("")


def _cards(account: Account) -> list[tuple[str, str, str, str | None]]:
    course, currency = account.course, account.story.currency
    won = gains.total_net_profit(course)
    fall = falls.equity_drawdown_relative(course) or falls.balance_drawdown_relative(course)
    profits = gains.profit_trades(course)
    growth = won / course.deposit if course.deposit > 0 else 0.0
    return [
        (
            f"Net profit, {currency}",
            f"{won:+,.2f}".replace(",", "\u2009"),
            f"{growth:+.2%}",
            _sign(won),
        ),
        (
            f"Balance, {currency}",
            money(float(course.balance[-1])),
            f"from {money(course.deposit)}",
            None,
        ),
        ("Largest drawdown", f"{fall.share:.2%}", money(fall.money), None),
        (
            "Profit factor",
            _text(account, gains.profit_factor),
            f"payoff {_text(account, gains.expected_payoff)}",
            None,
        ),
        (
            "Trades",
            str(len(course.trades)),
            "" if profits.share is None else f"{profits.share:.1%} won",
            None,
        ),
        (
            "Sharpe ratio",
            _text(account, falls.sharpe_ratio),
            f"recovery {_text(account, falls.recovery_factor)}",
            None,
        ),
    ]


def _text(account: Account, of: Any) -> str:
    statistic: Statistic = next(each for each in STATISTICS if each.of is of)
    return statistic.text(account.course)


def _sign(value: float) -> str | None:
    return "gain" if value > 0 else "loss" if value < 0 else None


def _card(title: str, value: str, more: str, kind: str | None) -> Html:
    return tag(
        "div", tag("dt", title), tag("dd", value, class_=kind), tag("dd", more, class_="more")
    )


def _contents(sections: Sequence[Section]) -> Html:
    links = (tag("li", tag("a", each.title, href=f"#{each.name}")) for each in sections)
    return tag("nav", tag("ul", *links), aria_label="Sections")


def _section(each: Section) -> Html:
    heading = tag("h2", each.title, id=f"{each.name}-title")
    return tag("section", heading, each.body, id=each.name, aria_labelledby=f"{each.name}-title")


def _footer(account: Account) -> Html:
    words = (
        f"Made by mt5-onnx-bridge {__version__} from the journal. The past says little about the"
        " future: this shows what happened, and is no evidence of profit."
    )
    return tag("footer", tag("p", words))


def _data(account: Account) -> dict[str, Any]:
    story = account.story
    charts = [account_chart(story, account.spans)]
    found = (price_chart(story, symbol, account.spans) for symbol in symbols_of(story))
    charts += [chart for chart in found if chart is not None]
    return {
        "currency": story.currency,
        "charts": charts,
        "trades": [
            _row(number, trade, account) for number, trade in enumerate(account.course.trades)
        ],
    }


def _row(number: int, trade: Trade, account: Account) -> list[Any]:
    """Return a trade as ``page.js`` lists it."""
    far = account.course.excursions[number] if account.course.excursions else None
    return [
        trade.opened,
        trade.closed,
        trade.symbol,
        "buy" if trade.side > 0 else "sell",
        trade.volume,
        None if trade.price_open is None else round(trade.price_open, 8),
        trade.price_close,
        round(trade.net, 2),
        round(trade.costs + trade.entry_costs, 2),
        round(trade.swap, 2),
        None if far is None else round(far.best, 2),
        None if far is None else round(far.worst, 2),
        trade.comment,
    ]
