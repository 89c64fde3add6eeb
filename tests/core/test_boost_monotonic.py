"""Monotonic constraints hold everywhere, for single features and hyperplanes."""

from dataclasses import replace

import numpy as np
import pytest

from reference.boost import Options
from support import boosting


def make_rows(seed, n=1500):
    """Feature 0 rises with the class, feature 1 falls, both with waves that a free model follows."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 5)) * 2
    score = X[:, 0] + 2 * np.sin(3 * X[:, 0]) - X[:, 1] + 2 * np.cos(2 * X[:, 1]) + X[:, 2] * X[:, 3]
    X[generator.random(X.shape) < 0.05] = np.nan
    return X, (score + generator.normal(size=n) > 0).astype(int)


def largest_fall(scorer, X, feature, sign, offsets):
    """The largest step against the constraint, over a grid that has every offset of the feature on either side."""
    grid = np.sort(np.concatenate([np.linspace(-12, 12, 300), offsets, [-1e20, 1e20]]))
    rows = X[:25].repeat(len(grid), axis=0)
    rows[:, feature] = np.tile(grid, 25)
    raw = sign * scorer.raw_score(rows).reshape(25, -1)
    return max(0.0, -np.diff(raw, axis=1).min())


@pytest.mark.parametrize("n_directed", [0, 2, 4])
@pytest.mark.parametrize(("max_features", "leaf"), [(1.0, "constant"), (0.3, "constant"), (0.5, "linear")])
def test_no_step_against_the_constraints(n_directed, max_features, leaf):
    signs = (1, -1, 0, 0, 1)
    X, y = make_rows(n_directed)
    options = Options(
        max_depth=5,
        min_samples_leaf=5,
        learning_rate=0.3,
        n_directed=n_directed,
        max_features=max_features,
        leaf=leaf,
    )
    falls = {}
    for name, chosen in (("free", options), ("constrained", replace(options, monotonic=signs))):
        boosted = boosting.boost(X, y, chosen, n_rounds=12)
        trees, scorer = boosted["trees"], boosting.make_scorer(boosted)
        single = np.flatnonzero(np.diff(trees["hyperplane_ptr"]) == 1)
        of_single = trees["hyperplane_feature"][trees["hyperplane_ptr"][single]]
        offsets = {f: trees["offset"][single[of_single == f]] for f in range(5)}
        falls[name] = [
            largest_fall(scorer, X, f, sign, offsets[f][np.abs(offsets[f]) < 1e30])
            for f, sign in enumerate(signs)
            if sign
        ]
        weights, features = trees["hyperplane_weight"], trees["hyperplane_feature"]
        oblique = np.repeat(np.diff(trees["hyperplane_ptr"]), np.diff(trees["hyperplane_ptr"])) > 1
        wrong = oblique & (weights * np.array(signs)[features] < 0)
        assert wrong.any() == (name == "free" and n_directed > 0)
        assert oblique.any() == (n_directed > 0)
        against = trees["membership_slope"] * np.array(signs)[trees["membership_feature"]] < 0
        assert against.any() == (name == "free" and leaf == "linear")
        assert (len(against) > 0) == (leaf == "linear")
    assert min(falls["free"]) > 0.05
    # Values of a tree never fall; their sum, in the same order for all rows, cannot either.
    assert falls["constrained"] == [0.0, 0.0, 0.0]


def test_constraints_cost_little_where_the_data_obey_them():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1000, 3))
    y = (X @ [1.0, -1.0, 0.0] + generator.normal(size=1000) > 0).astype(int)
    losses = [
        boosting.boost(X, y, Options(monotonic=signs), n_rounds=20, patience=99)["training_loss"][-1]
        for signs in (None, (1, -1, 0), (-1, 1, 0))
    ]
    assert losses[0] <= losses[1] < losses[0] * 1.1
    assert losses[2] > 0.6  # only feature 2 is left, which is noise
