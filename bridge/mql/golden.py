"""Golden rows: bars and the answers that a program has to give to them before it trades."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bridge.errors import DataError, ModelError
from bridge.journal.schema import input_sha256
from bridge.model.contract import Contract
from bridge.model.load import LoadedModel
from bridge.mt5.rates import RATES_DTYPE, RatesArray, rates_of
from bridge.mt5.servertime import parse
from bridge.mt5.timeframes import timeframe

GOLDEN = "golden.csv"
_ROWS = 3
_BARS = 60_000
TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class GoldenRow:
    """One window and its answer.

    Attributes:
        bars: Shape ``(window,)``, oldest first.
        outputs: As many as the output is wide.
    """

    bars: RatesArray
    outputs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Golden:
    """The rows of a program.

    Attributes:
        bars: Where the bars are from, in words.
        by_estimator: Whether the answers are the estimator's own; else the graph's, where the
            program was written.
    """

    rows: tuple[GoldenRow, ...]
    bars: str
    by_estimator: bool


def tolerance_of(contract: Contract, golden: Golden) -> float:
    """Return how far an answer may be off: of a forecast, a millionth of the largest."""
    if contract.output.kind != "forecast":
        return TOLERANCE
    largest = max(abs(value) for row in golden.rows for value in row.outputs)
    return float(f"{TOLERANCE * largest:.3g}") if largest > 0.0 else TOLERANCE


def golden_rows(model: LoadedModel, rates: RatesArray | None, bars: str) -> Golden:
    """Return the golden rows of ``model``.

    The estimator's own answers, in ``golden.csv`` beside the model, are taken for the windows that
    are among ``rates``; without any, the graph's answers on this computer are.

    Args:
        model: With its contract.
        rates: Bars of its timeframe, oldest first; None makes some up.
        bars: What they are, in words.

    Raises:
        DataError: There are too few bars, or ``golden.csv`` is malformed.
        ModelError: The graph does not give the answers of ``golden.csv``, or has none.
    """
    contract = model.contract
    if rates is None:
        rates, bars = made_up(contract), "made-up bars"
    if len(rates) < contract.window:
        raise DataError(
            f"{bars} hold {len(rates)} bars, one answer of {model.path} needs {contract.window}: "
            "name more of them with --bars"
        )
    count = max(1, min(_ROWS, _BARS // contract.window))
    own = _of_estimator(model, rates)
    if own:
        chosen = [own[at] for at in _places(len(own), count)]
        golden = Golden(tuple(chosen), bars, by_estimator=True)
    else:
        ends = _places(len(rates) - contract.window + 1, count)
        rows = tuple(_asked(model, rates[end : end + contract.window]) for end in ends)
        golden = Golden(rows, bars, by_estimator=False)
    check_answers(model, golden)
    return golden


def check_answers(model: LoadedModel, golden: Golden) -> None:
    """Check that the graph gives the golden answers on this computer.

    Raises:
        ModelError: It does not.
    """
    limit = tolerance_of(model.contract, golden)
    for row in golden.rows:
        found = _asked(model, row.bars).outputs
        worst = max(abs(a - b) for a, b in zip(found, row.outputs, strict=True))
        if not worst <= limit:
            raise ModelError(
                f"{model.path} answers {worst:.3g} off its golden row, the limit is {limit:g}: "
                "export model and golden.csv again, together"
            )


def _places(count: int, wanted: int) -> list[int]:
    return sorted({round(place) for place in np.linspace(0, count - 1, wanted)})


def _asked(model: LoadedModel, bars: RatesArray) -> GoldenRow:
    answer = model.session.run(bars)
    if answer.problem is not None:
        raise ModelError(
            f"{model.path} has no answer to a golden row ({answer.problem}): name other --bars"
        )
    return GoldenRow(bars, tuple(float(f"{value:.9g}") for value in answer.values))


def _of_estimator(model: LoadedModel, rates: RatesArray) -> list[GoldenRow]:
    path, window = model.path.parent / GOLDEN, model.contract.window
    if not path.is_file():
        return []
    found = []
    for time, sha256, outputs in _read(path, model.contract):
        end = int(np.searchsorted(rates["time"], time)) + 1
        bars = rates[max(0, end - window) : end]
        if len(bars) == window and input_sha256(bars) == sha256:
            found.append(GoldenRow(bars, outputs))
    return found


def _read(path: Path, contract: Contract) -> list[tuple[int, str, tuple[float, ...]]]:
    names = [each.name for each in contract.output.classes] or [contract.output.name]
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [
                (parse(row["bar"]), row["window_sha256"], tuple(float(row[n]) for n in names))
                for row in csv.DictReader(file)
            ]
    except (KeyError, ValueError, TypeError, OSError) as error:
        raise DataError(
            f"{path} is no file of golden rows ({error!r}): make it again with the model, or move "
            "it away"
        ) from error


def made_up(contract: Contract) -> RatesArray:
    """Return possible bars for a model whose market is not at hand: they walk around 1.1."""
    seconds, state, price = timeframe(contract.timeframe).seconds, 1, 1.1
    start = 1_704_153_600 - 1_704_153_600 % seconds
    rows = []
    for i in range(2 * contract.window + 1):
        moves = []
        for _ in range(3):
            state = (state * 1_103_515_245 + 12_345) % 2**31
            moves.append(round((state / 2**31 - 0.5) * 0.002, 5))
        close = round(price + moves[0], 5)
        high = round(max(price, close) + abs(moves[1]), 5)
        low = round(min(price, close) - abs(moves[2]), 5)
        rows.append((start + i * seconds, price, high, low, close, 100 + state % 900, 10, 0))
        price = close
    return rates_of(rows).astype(RATES_DTYPE)
