"""Make the model of this folder: a recurrent network over sequences of features.

    python models/eurusd_h1_lstm/recipe.py [FOLDER]

Needs the extra ``authoring`` and PyTorch (pip install torch); the file itself needs neither. Run twice in one environment it writes the same bytes.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from bridge.authoring.export import Exported
from bridge.authoring.recipes.shipped import Shipped, make_shipped
from bridge.features import named
from bridge.features.expr import Bars, maximum
from bridge.features.featureset import FeatureSet

STEPS = 24
_bars, _close = Bars(), Bars.close
# About -1 to 1 each: the network sees them as they are.
FEATURES = FeatureSet(
    {
        "move": named.log_return(_close) / maximum(named.volatility(_close, 48), 1e-6) / 3.0,
        "zscore": named.zscore(_close, 48) / 3.0,
        "range": named.range_ratio(_bars, 48) / 3.0,
        "body": named.body(_bars),
        "hour_sin": named.hour_sin(),
        "hour_cos": named.hour_cos(),
    }
)


def fit(x: Any, y: Any) -> Any:
    """Return the network, trained: 0 down, 1 flat, 2 up."""
    import torch
    from torch import nn

    class Network(nn.Module):  # type: ignore[misc]
        """Twelve cells that read the bars in order, and what they say after the last."""

        def __init__(self) -> None:
            super().__init__()
            self.cells = nn.LSTM(x.shape[2], 12, batch_first=True)
            self.drop = nn.Dropout(0.2)
            self.head = nn.Linear(12, 3)

        def forward(self, rows: Any) -> Any:
            return self.head(self.drop(self.cells(rows)[0][:, -1]))

    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = Network()
    rows, wanted = torch.from_numpy(np.array(x)), torch.from_numpy(np.array(y))
    steps = torch.optim.AdamW(network.parameters(), lr=0.005, weight_decay=0.01)
    for _ in range(12):
        for batch in torch.randperm(len(rows)).split(128):
            steps.zero_grad()
            nn.functional.cross_entropy(network(rows[batch]), wanted[batch]).backward()
            steps.step()
    return network


RECIPE = Shipped(
    name="eurusd_h1_lstm",
    about="""Does buying or selling EURUSD pay over the next 12 hours? An LSTM network that reads the features of the last 24
hours in order. Its weights are in the file as ONNX's own LSTM operator: whoever runs it needs no PyTorch.""",
    features=FEATURES,
    fit=fit,
    horizon=12,
    sequence=STEPS,
    algorithm="LSTM network, PyTorch",
    libraries=("torch",),
    needs="the extra `authoring` and PyTorch (`pip install torch`)",
)


def make(folder: Path) -> Exported:
    """Train, validate, prove and write into ``folder``."""
    return make_shipped(RECIPE, folder)


if __name__ == "__main__":
    made = make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
    print("\n".join(str(check) for check in made.checks))
    print(f"written: {made.size} bytes, sha256 {made.sha256}")
