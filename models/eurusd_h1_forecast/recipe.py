"""Make the model of this folder: a forest that forecasts.

    python models/eurusd_h1_forecast/recipe.py [FOLDER]

Needs the extra ``authoring``. Run twice in one environment it writes the same bytes.
"""

import sys
from pathlib import Path
from typing import Any

from sklearn.ensemble import RandomForestRegressor

from bridge.authoring.export import Exported
from bridge.authoring.recipes.shipped import Shipped, make_shipped
from bridge.features import named
from bridge.features.expr import Bars
from bridge.features.featureset import FeatureSet

_bars, _close = Bars(), Bars.close
FEATURES = FeatureSet(
    {
        "return6": named.log_return(_close, 6),
        "return24": named.log_return(_close, 24),
        "return96": named.log_return(_close, 96),
        "volatility": named.volatility(_close, 24),
        "macd": named.macd(_close, 6, 18),
        "sma100": named.sma_ratio(_close, 100),
        "williams_r": named.williams_r(_bars, 48),
        "ultimate": named.ultimate(_bars),
        "awesome": named.awesome(_bars),
        "higher_body": named.higher_body(_bars, "D1", of="H1"),
    }
)


def fit(x: Any, y: Any) -> Any:
    """Return the estimator, trained."""
    forest = RandomForestRegressor(
        40, max_depth=4, min_samples_leaf=60, max_features=0.5, random_state=0
    )
    return forest.fit(x, y)


RECIPE = Shipped(
    name="eurusd_h1_forecast",
    about="""How many points does EURUSD move over the next 24 hours? A random forest that answers with a number; a trade is
asked for where the number is large.""",
    features=FEATURES,
    fit=fit,
    horizon=24,
    is_forecast=True,
    algorithm="random forest, scikit-learn",
)


def make(folder: Path) -> Exported:
    """Train, validate, prove and write into ``folder``."""
    return make_shipped(RECIPE, folder)


if __name__ == "__main__":
    made = make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
    print("\n".join(str(check) for check in made.checks))
    print(f"written: {made.size} bytes, sha256 {made.sha256}")
