"""The rows that reach a branching block: their feature sums and sides."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._parameters import is_integer, refuse
from ..draw.style import SMALL, fit
from ..draw.take import take_tree
from ..model.model import read
from ..model.views import TreeView


class Reached(NamedTuple):
    """Rows in a block of a tree."""

    view: TreeView
    row: NDArray[np.int64]  # numbers of the rows in X
    feature_sum: NDArray[np.float64]  # infinite where a single feature is missing and has a side to go to
    goes_left: NDArray[np.bool_]
    n_rows: int  # of X


def reach_block(model: Any, X: Any, block: int, tree: int) -> Reached:
    """The rows of X that reach a block."""
    fitted, view = read(model, takes_numbers=True), take_tree(model, tree)
    branching = np.flatnonzero(view.left >= 0)
    if not is_integer(block) or block not in branching:
        known = ", ".join(map(str, branching[:20])) + (", …" if len(branching) > 20 else "")
        raise refuse("block", block, f"a branching block of the tree: {known or 'it has none'}")
    rows = fitted.encode(X)
    estimator, target = divmod(range(fitted.trees.n_trees)[tree], fitted.n_targets)
    ptr, passed, value = fitted.estimator(estimator).ask("trace", rows)
    way = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    at = np.flatnonzero((passed == block) & (way % fitted.n_targets == target))
    goes_left = passed[at + 1] == view.left[block]
    return Reached(view, way[at] // fitted.n_targets, value[at], goes_left, len(rows))


def name_children(view: TreeView, block: int) -> tuple[str, str]:
    """Names of the blocks below a block."""
    left, right = (
        f"{'leaf' if view.is_leaf[b] else 'block'} {b}" for b in (view.left[block], view.right[block])
    )
    return left, right


def say_missing(view: TreeView, block: int, n_rows: int) -> str:
    """How many rows have no feature sum, in words."""
    if not n_rows:
        return ""
    side = "left" if view.missing[block] < 0 else "right"
    name = fit(view.conditions(block).subject, 120.0, SMALL)
    return f"; not drawn: {n_rows} row{'s' * (n_rows > 1)} to the {side}, where {name} is missing"
