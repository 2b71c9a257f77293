"""The steps of a recipe on the sample bars: how the models that ship with the project are made."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.authoring import recipes
from bridge.authoring.build import build
from bridge.authoring.convert import Kind
from bridge.authoring.export import Exported, export_built
from bridge.authoring.recipes.validate import Fit
from bridge.features.featureset import FeatureSet, sequences
from bridge.market.barfile import read_bars
from bridge.mt5.rates import RatesArray
from bridge.share import share_dir

SYMBOL, TIMEFRAME, CLOCK, POINT = "EURUSD", "H1", "eet-us", 0.00001
CREATED = "2026-11-30"
COSTS = 7.0
"""Points of a trade beside its spread: the sample broker's commission, 7 USD a lot and trade."""
HELD_OUT = 0.3
"""Share of the bars that no shipped model is trained on: what the demo trades."""
FOLDS = 4
_LIMITS = """The spread of the sample bars is one figure for the whole year, and its volumes are no
counts of ticks, so no feature reads them. The hours are those of a server clock with New York's
dates. The model has seen eight months of one market."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """What one model differs in from another.

    Attributes:
        about: What it is, a paragraph of its card.
        features: What it sees.
        fit: Makes the estimator.
        horizon: Bars that a trade is held.
        is_forecast: Whether it forecasts the move in points; else it gives shares of three sides.
        sequence: Rows of features that one answer sees; None is one.
        asks: Share of the bars at which it may ask for a trade.
        algorithm: For the contract.
        libraries: That made it, beside onnx and numpy.
        needs: What its recipe needs installed, in words.
    """

    name: str
    about: str
    features: FeatureSet
    fit: Fit
    horizon: int
    is_forecast: bool = False
    sequence: int | None = None
    asks: float = 0.2
    algorithm: str
    libraries: Sequence[str] = ("scikit-learn", "skl2onnx")
    needs: str = "the extra `authoring`"

    @property
    def label(self) -> str:
        """What is learned, a phrase."""
        if self.is_forecast:
            return f"the move, points, from the next bar's open to the open {self.horizon} bars on"
        return f"what pays its costs over {self.horizon} bars: buying (up), selling (down), neither"


def make_shipped(recipe: Shipped, folder: Path) -> Exported:
    """Train on the older part of the sample bars, validate, prove, and write into ``folder``.

    Raises:
        ProofError: A check failed; nothing is written.
    """
    rates = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")
    examples = examples_of(recipe, rates)
    training, held_out = examples.hold_out(HELD_OUT)
    folds = recipes.walk_forward(recipe.fit, examples, training, folds=FOLDS)
    open_at = recipes.choose_open_at(folds, asks=recipe.asks)
    estimator = recipe.fit(*examples.at(training))
    last = recipes.asked(estimator, examples, training, held_out)

    kind: Kind = "forecast" if recipe.is_forecast else "shares"
    built = build(recipe.features, estimator, kind=kind, sequence=recipe.sequence)
    contract = built.contract(
        name=recipe.name,
        symbol=SYMBOL,
        timeframe=TIMEFRAME,
        server_clock=CLOCK,
        classes=() if recipe.is_forecast else recipes.SIDES,
        unit="points" if recipe.is_forecast else None,
        decision={"open_at": open_at, "max_bars": recipe.horizon, "stop_ranges": 6.0},
        created=CREATED,
        algorithm=recipe.algorithm,
        licence="MIT",
        **recipes.provenance(rates, examples, training, libraries=recipe.libraries),
    )
    made = export_built(built, contract=contract, rates=rates, folder=folder)
    recipes.write_card(
        folder,
        made,
        contract,
        about=recipe.about,
        label=recipe.label,
        scores={
            f"walk-forward, {FOLDS} folds": recipes.score(examples, folds, open_at),
            "held out": recipes.score(examples, [last], open_at),
        },
        limits=_LIMITS,
        again=f"`python models/{recipe.name}/recipe.py`, with {recipe.needs}",
    )
    return made


def examples_of(recipe: Shipped, rates: RatesArray) -> recipes.Examples:
    """Return what may be learned from ``rates``."""
    x = recipe.features.history(rates)
    trades = recipes.trades_of(rates, horizon=recipe.horizon, point=POINT, costs=COSTS)
    return recipes.Examples(
        x if recipe.sequence is None else sequences(x, recipe.sequence),
        trades.move if recipe.is_forecast else recipes.sides_of(trades),
        trades,
    )
