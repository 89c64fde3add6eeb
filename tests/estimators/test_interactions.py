"""Columns on a path of a boosted tree, and in a surface, are of one group of ``interaction_cst``."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from lhtree import AdditiveLHTRegressor, LHBoostClassifier, LHBoostRegressor

FAST = {"max_iter": 12, "random_state": 0}


def make_rows(n=400):
    """Return rows of numbers and a category with gaps, and a product of columns that may not interact."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(n, 5)), columns=list("abcde"))
    X["f"] = pd.Categorical(random.choice(["u", "v", "w"], n))
    X.loc[random.random(n) < 0.1, "b"] = np.nan
    y = X["a"] * X["c"] + X["b"].fillna(0) * X["d"] + X["e"] * (X["f"] == "u")
    return X, y.to_numpy() + random.normal(0, 0.1, n)


def list_paths(model):
    """Return the columns of every path from a root to a leaf, including the columns of linear leaves."""
    fitted, paths = model._model, []
    trees, column = fitted.trees, fitted.encoding.column
    for tree in range(trees.n_trees):
        begin = int(trees.block_ptr[tree])
        open_blocks = [(begin, frozenset())]
        while open_blocks:
            block, above = open_blocks.pop()
            for ptr, features in (
                (trees.hyperplane_ptr, trees.hyperplane_feature),
                (trees.membership_ptr, trees.membership_feature),
            ):
                above |= {int(column[f]) for f in features[ptr[block] : ptr[block + 1]]}
            if trees.left[block] < 0:
                paths.append(above)
            else:
                left = begin + int(trees.left[block])
                open_blocks += [(left, above), (left + 1, above)]
    return paths


GROUPS = [["a", "c", "b"], ["b", "d"]]  # "e" and "f" are a group of their own
ALLOWED = [{0, 1, 2}, {1, 3}, {4, 5}]


@pytest.mark.parametrize("growth", ["symmetric", "free"])
@pytest.mark.parametrize("direction", ["mixed", "single"])
@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_no_path_has_columns_of_different_groups(growth, direction, leaf):
    X, y = make_rows()
    options = {"growth": growth, "direction": direction, "leaf": leaf, "max_depth": 4, **FAST}
    model = LHBoostRegressor(interaction_cst=GROUPS, **options).fit(X, y)
    paths = list_paths(model)
    assert all(any(path <= group for group in ALLOWED) for path in paths)
    assert max(map(len, paths)) > 1
    free = list_paths(LHBoostRegressor(**options).fit(X, y))
    assert not all(any(path <= group for group in ALLOWED) for path in free)


@pytest.mark.parametrize(("constraint", "most"), [("pairwise", 2), ("no_interactions", 1)])
def test_names_of_constraints_limit_the_columns_of_a_path(constraint, most):
    X, y = make_rows()
    model = LHBoostClassifier(interaction_cst=constraint, **FAST).fit(X, np.digitize(y, [-0.5, 0.5]))
    assert max(map(len, list_paths(model))) == most


def test_a_group_of_all_columns_changes_nothing_but_draws():
    X, y = make_rows()
    model = LHBoostRegressor(interaction_cst=[list(X.columns)], direction="single", **FAST).fit(X, y)
    plain = LHBoostRegressor(direction="single", **FAST).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_columns_in_no_group_are_a_group_as_in_scikit_learn():
    X, y = make_rows()
    numbers = X[list("abcd")].fillna(0).to_numpy()
    groups = [[0, 1]]
    theirs = HistGradientBoostingRegressor(interaction_cst=groups, max_iter=20).fit(numbers, y)
    ours = LHBoostRegressor(interaction_cst=groups, **FAST).fit(numbers, y)
    for model in (theirs, ours):
        change = np.tile(numbers[:1], (4, 1))
        change[[1, 3], 0], change[[2, 3], 2] = 1.5, -1.5
        alone, first, second, both = model.predict(change)
        np.testing.assert_allclose(both - alone, (first - alone) + (second - alone), atol=1e-9)


@pytest.mark.parametrize("n_batches", [1, 3])
def test_batches_give_the_same_model(n_batches):
    X, y = make_rows()
    parts = np.array_split(np.arange(len(X)), n_batches)
    model = LHBoostRegressor(interaction_cst=GROUPS, **FAST)
    batched = model.fit_batches(lambda: iter([(X.iloc[part], y[part]) for part in parts]))
    one = LHBoostRegressor(interaction_cst=GROUPS, **FAST).fit(X, y)
    np.testing.assert_array_equal(batched.predict(X), one.predict(X))


def test_surfaces_are_of_one_group():
    X, y = make_rows()
    fast = {"n_bags": 3, "max_iter": 60, "n_iter_no_change": 10, "random_state": 0}
    model = AdditiveLHTRegressor(interactions=20, interaction_cst=GROUPS, **fast).fit(X, y)
    names = list(X.columns)
    pairs = [{names.index(name) for name in surface.names} for surface in model.surfaces_]
    assert pairs
    assert all(any(pair <= group for group in ALLOWED) for pair in pairs)
    alone = AdditiveLHTRegressor(interactions=20, interaction_cst="no_interactions", **fast).fit(X, y)
    assert not alone.surfaces_


@pytest.mark.parametrize("constraint", ["some", 3, ["a", "b"], [["a", "z"]], [[0, 9]], {"a": 1}])
def test_unsuitable_constraints_are_rejected(rejects, constraint):
    X, y = make_rows(60)
    rejects(LHBoostRegressor(interaction_cst=constraint, **FAST).fit, X, y)
