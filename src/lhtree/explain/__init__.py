"""Explanations of predictions: the facts of every decision on the path of a row."""

from ._counterfactual import Counterfactual
from ._explanation import Explanation
from ._facts import BoostedLeaf, BoostedStep, LeafStep, Neighbour, Path, Step, Term
from ._importances import Importances

__all__ = [
    "BoostedLeaf",
    "BoostedStep",
    "Counterfactual",
    "Explanation",
    "Importances",
    "LeafStep",
    "Neighbour",
    "Path",
    "Step",
    "Term",
]
