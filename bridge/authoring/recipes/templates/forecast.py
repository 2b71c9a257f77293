"""Recipe of a forecast: how many points will the price move over the next bars?

    python recipe.py            trains, validates, proves, and writes beside this file

Change FEATURES, HORIZON, fit and the like as you want. Nothing newer than a bar reaches its
features, and nothing of the held-out bars reaches the training.
"""

# ruff: noqa: T201

from pathlib import Path
from typing import Any

from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bridge.authoring import recipes
from bridge.features import named
from bridge.features.expr import Bars
from bridge.features.featureset import FeatureSet

# -- bars: begin
from bridge.market.importer import Stated, load
from bridge.mt5.rates import RatesArray
from bridge.share import share_dir

NAME, CREATED = "eurusd_h1_forecast", "2026-11-30"
SYMBOL, TIMEFRAME, CLOCK, POINT = "EURUSD", "H1", "eet-us", 0.00001


def bars() -> RatesArray:
    """Return the bars, oldest first, in server time."""
    path = share_dir("models/sample_bars") / "EURUSD_H1_2017.csv"
    return load(path, Stated(symbol=SYMBOL, times="server")).rates


# -- bars: end

HORIZON = 12  # bars that a trade is held
COSTS = 7.0  # points of a trade beside its spread: your commission, there and back
HELD_OUT = 0.3  # share of the bars, the newest, never trained on
FOLDS = 4  # of the walk-forward validation
ASKS = 0.2  # share of the bars at which a trade may be asked for

FEATURES = FeatureSet(
    {
        "return1": named.log_return(Bars.close),
        "return12": named.log_return(Bars.close, 12),
        "volatility": named.volatility(Bars.close, 24),
        "zscore": named.zscore(Bars.close, 48),
        "rsi": named.rsi(Bars.close, 10),
        "body": named.body(Bars()),
        "hour_sin": named.hour_sin(),
        "hour_cos": named.hour_cos(),
    }
)


def fit(x: Any, y: Any) -> Any:
    """Return a new estimator, fitted: points, above 0 is up."""
    return make_pipeline(StandardScaler(), Ridge(alpha=100.0)).fit(x, y)


def make(folder: Path) -> str:
    """Train, validate, prove and write into ``folder``."""
    rates = bars()
    trades = recipes.trades_of(rates, horizon=HORIZON, point=POINT, costs=COSTS)
    examples = recipes.Examples(FEATURES.history(rates), trades.move, trades)
    training, held_out = examples.hold_out(HELD_OUT)

    folds = recipes.walk_forward(fit, examples, training, folds=FOLDS)
    open_at = recipes.choose_open_at(folds, asks=ASKS)
    estimator = fit(*examples.at(training))
    last = recipes.asked(estimator, examples, training, held_out)
    scores = {
        f"walk-forward, {FOLDS} folds": recipes.score(examples, folds, open_at),
        "held out": recipes.score(examples, [last], open_at),
    }

    built = recipes.build(FEATURES, estimator)
    contract = built.contract(
        name=NAME,
        symbol=SYMBOL,
        timeframe=TIMEFRAME,
        server_clock=CLOCK,
        unit="points",
        decision={"open_at": open_at, "max_bars": HORIZON, "stop_ranges": 6.0},
        created=CREATED,
        algorithm="ridge regression",
        licence="all rights reserved",
        **recipes.provenance(rates, examples, training, libraries=["scikit-learn", "skl2onnx"]),
    )
    made = recipes.export_built(built, contract=contract, rates=rates, folder=folder)
    recipes.write_card(
        folder,
        made,
        contract,
        about=f"How many points does {SYMBOL} move over the next {HORIZON} bars?",
        label=f"the move in points, from the next bar's open to the open {HORIZON} bars later",
        scores=scores,
        limits="Say here where the bars come from, and what the model must not be used for.",
        again="`python recipe.py`",
    )
    return (folder / "README.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    with recipes.one_sentence():
        print(make(Path(__file__).parent))
