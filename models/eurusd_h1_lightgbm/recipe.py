"""Make the model of this folder: trees of LightGBM.

    python models/eurusd_h1_lightgbm/recipe.py [FOLDER]

Needs the extra ``authoring``. Run twice in one environment it writes the same bytes.
"""

import sys
from pathlib import Path
from typing import Any

from lightgbm import LGBMClassifier

from bridge.authoring.export import Exported
from bridge.authoring.recipes.shipped import Shipped, make_shipped
from bridge.features import named
from bridge.features.expr import Bars
from bridge.features.featureset import FeatureSet

_bars, _close = Bars(), Bars.close
FEATURES = FeatureSet(
    {
        "return1": named.log_return(_close),
        "return1_lag1": named.log_return(_close).lag(1),
        "return1_lag2": named.log_return(_close).lag(2),
        "return6": named.log_return(_close, 6),
        "body": named.body(_bars),
        "upper_wick": named.upper_wick(_bars),
        "lower_wick": named.lower_wick(_bars),
        "close_location": named.close_location(_bars),
        "range_ratio": named.range_ratio(_bars, 24),
        "engulfing": named.engulfing(_bars),
        "inside": named.inside_bar(_bars),
        "gap": named.gap(_bars),
        "since_open": named.since_open(_bars, "D1", of="H1"),
        "position_so_far": named.position_so_far(_bars, "D1", of="H1"),
        "london": named.session(9, 17),
    }
)


def fit(x: Any, y: Any) -> Any:
    """Return the estimator, trained."""
    estimator = LGBMClassifier(
        n_estimators=40,
        num_leaves=7,
        learning_rate=0.05,
        min_child_samples=50,
        subsample=0.7,
        subsample_freq=1,
        n_jobs=1,
        random_state=0,
        deterministic=True,
        force_row_wise=True,
        verbose=-1,
    )
    return estimator.fit(x, y)


RECIPE = Shipped(
    name="eurusd_h1_lightgbm",
    about="""Does buying or selling EURUSD pay over the next 6 hours? Trees of LightGBM on the shapes of the last candles and
on where the day stands so far.""",
    features=FEATURES,
    fit=fit,
    horizon=6,
    algorithm="gradient boosting, LightGBM",
    libraries=("lightgbm", "onnxmltools"),
)


def make(folder: Path) -> Exported:
    """Train, validate, prove and write into ``folder``."""
    return make_shipped(RECIPE, folder)


if __name__ == "__main__":
    made = make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
    print("\n".join(str(check) for check in made.checks))
    print(f"written: {made.size} bytes, sha256 {made.sha256}")
