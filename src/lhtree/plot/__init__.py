"""Plots of models with matplotlib: every function takes ``ax=None`` and returns the axes."""

from ._columns import plot_curve, plot_effects, plot_importances
from ._evaluation import plot_comparison, plot_coverage, plot_event, plot_groups, plot_rounds
from ._membership import plot_membership
from ._path import plot_path
from ._tree import plot_block, plot_tree

__all__ = [
    "plot_block",
    "plot_comparison",
    "plot_coverage",
    "plot_curve",
    "plot_effects",
    "plot_event",
    "plot_groups",
    "plot_importances",
    "plot_membership",
    "plot_path",
    "plot_rounds",
    "plot_tree",
]
