"""Explanations of predictions: the facts of every decision on the path of a row."""

from ._counterfactual import Counterfactual
from ._explanation import Explanation
from ._facts import LeafStep, Neighbour, Path, Step, Term
from ._importances import Importances

__all__ = ["Counterfactual", "Explanation", "Importances", "LeafStep", "Neighbour", "Path", "Step", "Term"]
