"""Make the model of this folder: logistic regression.

    python models/eurusd_h1_logistic/recipe.py [FOLDER]

Needs the extra ``authoring``. Run twice in one environment it writes the same bytes.
"""

import sys
from pathlib import Path
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bridge.authoring.export import Exported
from bridge.authoring.recipes.shipped import Shipped, make_shipped
from bridge.features import named
from bridge.features.expr import Bars
from bridge.features.featureset import FeatureSet

_bars, _close = Bars(), Bars.close
FEATURES = FeatureSet(
    {
        "return24": named.log_return(_close, 24),
        "return96": named.log_return(_close, 96),
        "sma20": named.sma_ratio(_close, 20),
        "sma100": named.sma_ratio(_close, 100),
        "slope24": named.slope(_close, 24),
        "aroon25": named.aroon(_bars, 25),
        "donchian48": named.donchian_position(_bars, 48),
        "efficiency24": named.efficiency_ratio(_close, 24),
        "volatility_ratio": named.volatility_ratio(_close, 12, 96),
    }
)


def fit(x: Any, y: Any) -> Any:
    """Return the estimator, trained."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.02, max_iter=500)).fit(x, y)


RECIPE = Shipped(
    name="eurusd_h1_logistic",
    about="""Does buying or selling EURUSD pay over the next 24 hours? Logistic regression on nine measures of trend: a weight
for each, and nothing else. The plainest model that learns; what is more complicated has to beat it.""",
    features=FEATURES,
    fit=fit,
    horizon=24,
    algorithm="logistic regression, scikit-learn",
)


def make(folder: Path) -> Exported:
    """Train, validate, prove and write into ``folder``."""
    return make_shipped(RECIPE, folder)


if __name__ == "__main__":
    made = make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
    print("\n".join(str(check) for check in made.checks))
    print(f"written: {made.size} bytes, sha256 {made.sha256}")
