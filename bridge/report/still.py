"""The report as one picture that does not move: curves, drawdown, months. Needs matplotlib."""

import io
from typing import Any

import numpy as np

from bridge.errors import ConfigError
from bridge.mt5.servertime import text
from bridge.report import tables
from bridge.report.account import Account, period
from bridge.report.tester import texts
from bridge.report.tester.falls import drawdowns

_EQUITY, _BALANCE, _LOSS, _GAIN, _SOFT = "#1d5fd1", "#7b8798", "#c02a36", "#0b7a4b", "#566375"
_SIZE, _DOTS = (12.0, 8.0), 110
_SHOWN = (
    "Total Net Profit",
    "Profit Factor",
    "Recovery Factor",
    "Sharpe Ratio",
    "Equity Drawdown Relative",
    "Total Trades",
)


def picture(account: Account) -> bytes:
    """Return a PNG of 1320 x 880 pixels.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigError(
            "--png needs matplotlib, which is not installed: "
            "pip install 'mt5-onnx-bridge[report]', or leave --png out"
        ) from error
    figure = Figure(figsize=_SIZE, dpi=_DOTS, layout="constrained")
    parts = figure.subplots(3, 1, height_ratios=(5, 2, 2))
    _curves(parts[0], account)
    _drawdown(parts[1], account)
    _months(parts[2], account)
    figure.suptitle(_title(account), x=0.01, ha="left", fontsize=13, fontweight="bold")
    words = {title: value for title, value, _ in texts(account.course)}
    line = "   ".join(f"{title}: {words[title]}" for title in _SHOWN)
    figure.supxlabel(line.replace("\u2009", " "), x=0.01, ha="left", fontsize=8.5, color=_SOFT)
    target = io.BytesIO()
    canvas: Any = FigureCanvasAgg(figure)
    canvas.print_png(target)
    return target.getvalue()


def _title(account: Account) -> str:
    names = dict.fromkeys(f"{line.symbol} {line.timeframe}" for line in account.story.lines)
    first, last = period(account.story)
    return f"{', '.join(names)}   {text(first)[:10]} to {text(last)[:10]}, server time"


def _curves(axes: Any, account: Account) -> None:
    story = account.story
    days = story.time.astype("datetime64[s]")
    axes.plot(days, story.balance, color=_BALANCE, linewidth=1, label="Balance")
    axes.plot(days, story.equity, color=_EQUITY, linewidth=1, label="Equity")
    for span in account.spans:
        if len(story.time) and span.first <= story.time[-1] and span.last >= story.time[0]:
            first, last = np.clip([span.first, span.last], story.time[0], story.time[-1])
            axes.axvspan(
                first.astype("datetime64[s]"),
                last.astype("datetime64[s]"),
                color=_BALANCE,
                alpha=0.2,
                label="trained on",
            )
    axes.legend(frameon=False, loc="best", fontsize=9)
    _plain(axes, account.story.currency)


def _drawdown(axes: Any, account: Account) -> None:
    story = account.story
    peaks = np.maximum.accumulate(story.equity) if len(story.equity) else story.equity
    falls = np.divide(drawdowns(story.equity), peaks, out=np.zeros_like(peaks), where=peaks > 0)
    days = story.time.astype("datetime64[s]")
    axes.fill_between(days, -100 * falls, color=_LOSS, alpha=0.3, linewidth=0)
    axes.plot(days, -100 * falls, color=_LOSS, linewidth=0.8)
    _plain(axes, "drawdown, %")


def _months(axes: Any, account: Account) -> None:
    found = tables.months(account.course)
    labels = [f"{month.year}-{month.month:02}" for month in found]
    colours = [_GAIN if month.net >= 0 else _LOSS for month in found]
    places = np.arange(len(found))
    axes.bar(places, [100 * month.share for month in found], color=colours)
    every = max(1, len(found) // 12)
    axes.set_xticks(places[::every], labels[::every])
    axes.axhline(0, color=_SOFT, linewidth=0.8)
    _plain(axes, "month, %")


def _plain(axes: Any, label: str) -> None:
    axes.set_ylabel(label, fontsize=9, color=_SOFT)
    axes.grid(alpha=0.3)
    axes.tick_params(labelsize=8.5, colors=_SOFT)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
