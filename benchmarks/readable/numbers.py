"""How many numbers of a fitted model a person has to read to predict a row by hand."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from lhtree.model.model import read


class Size(NamedTuple):
    """Leaves of a model's trees, None if it has no trees, and its numbers.

    A number is a weight, an offset, a slope, an intercept or a share that the model writes down. The block of a single
    feature is one number, its bound; shares of K classes are K - 1 numbers.
    """

    leaves: int | None
    numbers: int


def count_numbers(name: str, model: Any, n_classes: int) -> Size:
    """Return the size of a fitted model of the benchmark."""
    if name == "logistic":
        line = model[-1]
        return Size(None, line.coef_.size + line.intercept_.size)
    if name == "ebm":
        return Size(None, _count_curves(model))
    if name in ("compact", "readable_tree"):
        return _count_blocks(model)
    if name == "figs":
        leaves, trees = _count_figs(model.trees_)
    else:
        leaves, trees = _count_leaves(name, model), 1
    return Size(leaves, leaves - trees + leaves * (n_classes - 1))


def _count_leaves(name: str, model: Any) -> int:
    """Return the leaves of one tree of single features."""
    chosen = getattr(model, "best_estimator_", model)
    return int(chosen.tree_.n_leaves if name.startswith("cart") else chosen.get_n_leaves())


def _count_figs(roots: Any) -> tuple[int, int]:
    """Return leaves and trees of a sum of trees."""

    def walk(node: Any) -> Iterator[Any]:
        yield node
        for below in (node.left, node.right):
            if below is not None:
                yield from walk(below)

    return sum(node.left is None for root in roots for node in walk(root)), len(roots)


def _count_curves(model: Any) -> int:
    """Return the steps of all curves and surfaces of an EBM, with their bounds, and the intercepts."""
    numbers = np.size(model.intercept_)
    for features, scores in zip(model.term_features_, model.term_scores_, strict=True):
        # The first and the last place of every axis are for missing and unknown values.
        steps = scores[tuple(slice(1, -1) for _ in features)]
        if len(features) == 1:  # neighbours of one height are one step
            is_new = (np.diff(steps, axis=0) != 0).reshape(len(steps) - 1, -1).any(axis=1)
            n_steps = 1 + int(is_new.sum())
            numbers += n_steps - 1 + n_steps * (steps[0].size)
        else:
            numbers += steps.size + sum(n - 1 for n in steps.shape[: len(features)])
    return int(numbers)


def _count_blocks(model: Any) -> Size:
    """Return the size of one of our models."""
    learned = read(model)
    trees = learned.trees
    n_weights, n_slopes = np.diff(trees.hyperplane_ptr), np.diff(trees.membership_ptr)
    is_leaf = trees.left < 0
    in_branching = np.where(n_weights == 1, 1, n_weights + 1)[~is_leaf].sum()
    in_leaves = is_leaf.sum() * (learned.n_classes - 1 if trees.is_joint else 1) + n_slopes[is_leaf].sum()
    return Size(int(is_leaf.sum()), int(in_branching + in_leaves))
