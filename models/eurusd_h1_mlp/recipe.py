"""Make the model of this folder: a small neural network.

    python models/eurusd_h1_mlp/recipe.py [FOLDER]

Needs the extra ``authoring``. Run twice in one environment it writes the same bytes.
"""

import sys
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
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
        "move1": named.scaled_return(_close, 4),
        "move2": named.scaled_return(_close, 12),
        "move3": named.scaled_return(_close, 48),
        "zscore24": named.zscore(_close, 24),
        "zscore96": named.zscore(_close, 96),
        "stochastic": named.stochastic(_bars, 24),
        "rsi": named.rsi(_close, 10),
        "cmo": named.cmo(_close, 24),
        "vortex": named.vortex(_bars, 24),
        "hour_sin": named.hour_sin(),
        "hour_cos": named.hour_cos(),
    }
)


def fit(x: Any, y: Any) -> Any:
    """Return the estimator, trained."""
    network = MLPClassifier((12, 6), activation="tanh", alpha=1.0, max_iter=40, random_state=0)
    with catch_warnings():
        # It is stopped early on purpose: trained to the end it knows the noise by heart.
        simplefilter("ignore", ConvergenceWarning)
        return make_pipeline(StandardScaler(), network).fit(x, y)


RECIPE = Shipped(
    name="eurusd_h1_mlp",
    about="""Does buying or selling EURUSD pay over the next 12 hours? A neural network with two small layers on oscillators,
their scaling inside the file.""",
    features=FEATURES,
    fit=fit,
    horizon=12,
    algorithm="multi-layer perceptron, scikit-learn",
)


def make(folder: Path) -> Exported:
    """Train, validate, prove and write into ``folder``."""
    return make_shipped(RECIPE, folder)


if __name__ == "__main__":
    made = make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
    print("\n".join(str(check) for check in made.checks))
    print(f"written: {made.size} bytes, sha256 {made.sha256}")
