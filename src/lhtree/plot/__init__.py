"""Plots of models with matplotlib: every function takes ``ax=None`` and returns the axes."""

from ._block import plot_block
from ._curves import plot_coverage, plot_rounds
from ._decisions import plot_comparison, plot_event, plot_groups
from ._effects import plot_effects
from ._importances import plot_importances
from ._membership import plot_membership
from ._path import plot_path
from ._terms import plot_curve
from ._tree import plot_tree

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
