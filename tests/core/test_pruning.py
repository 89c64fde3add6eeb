"""Pruned trees against the reference, block by block."""

from dataclasses import replace

import numpy as np
import pytest

from lhtree import LHTRegressor
from reference import pruning as reference_pruning
from support import bridge


def make_rows(n_rows=250, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = np.where(X[:, 0] > 0.3, X[:, 1], -X[:, 1]) + 0.3 * X[:, 2] + 0.2 * rng.normal(size=n_rows)
    return X, y, rng.integers(1, 4, n_rows).astype(np.float64)


def leaves_of(tree):
    """The leaves by the number of rows, weight, mean response and slopes that say which they are."""
    return sorted(
        (
            tree.n_samples[b],
            tree.weight[b],
            tree.n_target[b],
            tuple(tree.slopes[b].items()),
            tree.intercept[b],
        )
        for b in range(len(tree.left))
        if tree.left[b] < 0
    )


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("cost", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("direction", ["mixed", "fisher", "mean_difference"])
def test_pruned_trees_match_the_reference(direction, cost, is_weighted):
    X, y, weight = make_rows()
    given = weight if is_weighted else None
    settings = {"direction": direction, "min_samples_leaf": 8}
    whole = LHTRegressor(**settings, pruning=0).fit(X, y, given)
    pruned = LHTRegressor(**settings, pruning=cost).fit(X, y, given)
    tree, ours = (bridge.trees_of(model)[0] for model in (whole, pruned))
    Z = whole._model.normalise(X)
    used = weight if is_weighted else np.ones(len(y))
    _, leaves, linear = reference_pruning.judge(tree, 0, list(range(len(y))), Z, y, used, cost)
    assert cost < 1.0 or len(leaves) < whole.n_leaves_
    expected = sorted(
        (
            tree.n_samples[b], tree.weight[b], tree.n_target[b], tuple(tree.slopes[b].items()) if b in linear else (),
            tree.intercept[b] if b in linear else tree.n_target[b] / tree.weight[b],
        )
        for b in leaves
    )  # fmt: skip
    assert leaves_of(ours) == expected
    assert pruned.n_leaves_ == len(leaves)


def test_the_larger_the_cost_the_smaller_the_tree():
    X, y, _ = make_rows()
    sizes = [
        LHTRegressor(min_samples_leaf=4, pruning=cost).fit(X, y).n_leaves_ for cost in (0, 0.5, 1.0, 4.0, 1e6)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 2 * sizes[2] > sizes[-1] == 1


def test_a_pruned_tree_is_a_tree():
    X, y, _ = make_rows()
    model = LHTRegressor(min_samples_leaf=4).fit(X, y)
    assert model.apply(X).max() < model._model.trees.n_blocks
    tree = bridge.trees_of(model)[0]
    rows = bridge.rows_by_block(replace(tree, leaf_of_row=model.apply(X)[:, 0]), len(y))
    for block, own in enumerate(rows):
        assert tree.n_samples[block] == len(own)
        assert (tree.low[block], tree.high[block]) == (y[own].min(), y[own].max())
