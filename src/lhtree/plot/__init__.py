"""Pictures of models, drawn with matplotlib: every function takes ``ax=None`` and returns the axes."""

from ._membership import plot_membership
from ._regions import plot_decision_regions
from ._tree import plot_tree
from ._weights import plot_importances, plot_weights

__all__ = ["plot_decision_regions", "plot_importances", "plot_membership", "plot_tree", "plot_weights"]
