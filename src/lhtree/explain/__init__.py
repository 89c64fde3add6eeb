"""Explanations of predictions: the facts of every decision on the path of a row."""

from ._columns import Effect, Effects, Importances
from ._counterfactual import Counterfactual, Counterfactuals
from ._explanation import Explanation
from ._paths import LeafStep, Neighbour, Path, Step, Term, ValueLeaf, ValueStep

__all__ = [
    "Counterfactual",
    "Counterfactuals",
    "Effect",
    "Effects",
    "Explanation",
    "Importances",
    "LeafStep",
    "Neighbour",
    "Path",
    "Step",
    "Term",
    "ValueLeaf",
    "ValueStep",
]
