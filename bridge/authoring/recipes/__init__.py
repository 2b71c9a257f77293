"""What recipes are made of: labels that cost something, splits that keep the future out, a card.

::

    trades = trades_of(rates, horizon=12, point=0.00001, costs=7.0)
    examples = Examples(x, sides_of(trades), trades)
    training, held_out = examples.hold_out(0.3)
    folds = walk_forward(fit, examples, training, folds=4)
"""

from bridge.authoring.build import build
from bridge.authoring.export import export_built
from bridge.authoring.recipes.card import provenance, write_card
from bridge.authoring.recipes.ending import one_sentence
from bridge.authoring.recipes.examples import Examples
from bridge.authoring.recipes.score import Score, choose_open_at, score
from bridge.authoring.recipes.trades import SIDES, Trades, sides_of, trades_of
from bridge.authoring.recipes.validate import Fold, asked, walk_forward

__all__ = [
    "SIDES",
    "Examples",
    "Fold",
    "Score",
    "Trades",
    "asked",
    "build",
    "choose_open_at",
    "export_built",
    "one_sentence",
    "provenance",
    "score",
    "sides_of",
    "trades_of",
    "walk_forward",
    "write_card",
]
