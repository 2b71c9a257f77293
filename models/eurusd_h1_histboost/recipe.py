"""Make the model of this folder: histogram gradient boosting.

    python models/eurusd_h1_histboost/recipe.py [FOLDER]

Needs the extra ``authoring``. Run twice in one environment it writes the same bytes.
"""

import sys
from pathlib import Path
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier

from bridge.authoring.export import Exported
from bridge.authoring.recipes.shipped import Shipped, make_shipped
from bridge.features import named
from bridge.features.expr import Bars
from bridge.features.featureset import FeatureSet

_bars, _close = Bars(), Bars.close
FEATURES = FeatureSet(
    {
        "parkinson": named.parkinson(_bars, 24),
        "garman_klass": named.garman_klass(_bars, 96),
        "volatility_ratio": named.volatility_ratio(_close, 12, 96),
        "bollinger": named.bollinger_position(_close, 24),
        "bollinger_width": named.bollinger_width(_close, 24),
        "keltner": named.keltner_position(_bars, 10),
        "donchian_width": named.donchian_width(_bars, 48),
        "drawdown": named.drawdown(_close, 96),
        "rsi": named.rsi(_close, 10),
        "cci": named.cci(_bars, 20),
        "hour_sin": named.hour_sin(),
        "hour_cos": named.hour_cos(),
        "friday": named.weekday(5),
    }
)


def fit(x: Any, y: Any) -> Any:
    """Return the estimator, trained."""
    estimator = HistGradientBoostingClassifier(
        max_iter=40,
        learning_rate=0.05,
        max_leaf_nodes=8,
        min_samples_leaf=50,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=0,
    )
    return estimator.fit(x, y)


RECIPE = Shipped(
    name="eurusd_h1_histboost",
    about="""Does buying or selling EURUSD pay over the next 12 hours? Histogram gradient boosting on bands and volatility:
how wide the market swings, and where in its swing it stands.""",
    features=FEATURES,
    fit=fit,
    horizon=12,
    algorithm="histogram gradient boosting, scikit-learn",
)


def make(folder: Path) -> Exported:
    """Train, validate, prove and write into ``folder``."""
    return make_shipped(RECIPE, folder)


if __name__ == "__main__":
    made = make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
    print("\n".join(str(check) for check in made.checks))
    print(f"written: {made.size} bytes, sha256 {made.sha256}")
