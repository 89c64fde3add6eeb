"""Boosting on data that has next to nothing to learn from, or values at the ends of their ranges."""

import numpy as np
import pytest

from lhtree import LHBoostClassifier
from reference.boost import Options
from support import boosting

GENERATOR = np.random.default_rng(0)
NORMAL = GENERATOR.normal(size=(60, 3))
CLASSES = (NORMAL[:, 0] > 0).astype(int)
NOISY = (NORMAL @ [1.0, -1.0, 0.5] + GENERATOR.normal(size=60) > 0).astype(int)
TABLES = {
    "one feature": (NORMAL[:, :1], CLASSES),
    "constant columns": (np.where([1, 0, 0], NORMAL, 7.0), CLASSES),
    "nothing but constants": (np.full((60, 3), 7.0), CLASSES),
    "a column of gaps": (np.where([1, 1, 0], NORMAL, np.nan), CLASSES),
    "nothing but gaps": (np.full((60, 3), np.nan), CLASSES),
    "gaps that say all": (np.where(CLASSES[:, None] == 1, np.nan, 1.0), CLASSES),
    "two rows": (NORMAL[:2], np.array([0, 1])),
    "huge values": (NORMAL * 1e300, CLASSES),
    "tiny values": (NORMAL * 1e-300, CLASSES),
    "huge and tiny values": (10.0 ** (NORMAL * 100), CLASSES),
    "duplicates of either class": (np.tile(NORMAL[:5], (12, 1)), np.repeat([0, 1], 30)),
}


@pytest.mark.parametrize("name", TABLES)
def test_fits_and_predicts(name):
    X, y = TABLES[name]
    model = LHBoostClassifier(12, learning_rate=0.3, min_samples_leaf=1, n_directed=9, subsample=1.0).fit(
        X, y
    )
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, 1e-12)
    trees = model._model.trees
    used = set(trees.hyperplane_feature.tolist())
    constant = [f for f in range(X.shape[1]) if np.isnan(X[:, f]).all() or (X[:, f] == X[0, f]).all()]
    assert used.isdisjoint(constant)
    if name.startswith("nothing but") or name.startswith("duplicates"):
        np.testing.assert_allclose(proba.mean(axis=0), np.bincount(y) / len(y), 1e-4)
    elif name != "two rows":  # half of a row is too little for the least hessian
        assert used
        # Tiny values are equal after normalisation if others are huge.
        assert (model.predict(X) == y).mean() > (0.7 if name == "huge and tiny values" else 0.9)


def test_missing_values_alone_can_split_a_block():
    x = np.where(np.arange(60) % 2 == 0, np.nan, np.arange(60.0))[:, None]
    boosted = boosting.boost(x, np.arange(60) % 2, Options(max_depth=1), n_rounds=1)
    trees = boosted["trees"]
    assert (trees["offset"][0], trees["missing"][0]) == (boosting.BEYOND, 1)
    leaves = boosting.make_scorer(boosted).apply(np.array([[np.nan], [59.0], [1e300], [-1e300]]))
    np.testing.assert_array_equal(leaves[:, 0], [2, 1, 1, 1])


def test_a_thousand_classes():
    X = np.repeat(np.arange(1000.0), 3)[:, None] / 100
    y = np.repeat(np.random.default_rng(0).permutation(1000), 3)
    options = Options(min_samples_leaf=1, l2_regularization=0.0, max_depth=2, learning_rate=1.0)
    boosted = boosting.boost(X, y, options, n_rounds=1, patience=9)
    assert len(boosted["trees"]["target"]) == 1000
    assert boosted["training_loss"][1] < boosted["training_loss"][0]
    proba = boosting.make_scorer(boosted).proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, 1e-12)


@pytest.mark.parametrize("largest", [1e-300, 1e-10, 1e10, 1e300])
def test_weights_of_any_size(largest):
    # All weights times 2^k, l2 and the least weight of a leaf with them: the same trees.
    weight = np.random.default_rng(1).gamma(1.0, 1.0, 60)
    scale = 2.0 ** np.floor(np.log2(largest))
    plain, scaled = (
        boosting.boost(
            NORMAL,
            NOISY,
            Options(l2_regularization=factor, min_samples_leaf=3 * factor),
            weight=weight * factor,
            patience=9,
        )
        for factor in (1.0, scale)
    )
    assert np.isfinite(scaled["trees"]["gain"]).all()
    if largest < 1e-3:  # less than the least hessian of a block
        assert (scaled["trees"]["left"] == -1).all()
        return
    assert plain["trees"]["left"].max() > 3
    for name in ("left", "offset", "intercept", "hyperplane_weight"):
        np.testing.assert_array_equal(scaled["trees"][name], plain["trees"][name])
    np.testing.assert_array_equal(scaled["trees"]["gain"], plain["trees"]["gain"] * scale)
    np.testing.assert_array_equal(scaled["training_loss"], plain["training_loss"])


def test_small_weights_are_regularised_as_others():
    # One heavy row sets the unit of weights; the others must not lose l2_regularization to it.
    x, y = np.arange(40.0)[:, None] / 10, (np.arange(40) >= 20).astype(int)
    options = Options(l2_regularization=1e6, max_depth=1, learning_rate=1.0)
    trees = boosting.boost(x, y, options, weight=np.full(40, 1.5), n_rounds=1)["trees"]
    np.testing.assert_allclose(trees["intercept"][1:], [-15.0 / 1e6, 15.0 / 1e6], 1e-4)


@pytest.mark.parametrize(
    "given",
    [
        {"weight": np.zeros(60)},
        {"held": np.ones(60, dtype=np.uint8)},
        {"weight": np.ones(59)},
        {"first": np.zeros(2)},
    ],
)
def test_arguments_of_other_sizes_are_rejected(given, rejects):
    rejects(boosting.boost, NORMAL, CLASSES, **given)


@pytest.mark.parametrize("change", ["ptr", "value", "missing", "edge"])
def test_bins_that_do_not_fit_are_refused(change, rejects):
    bins = boosting.boost(NORMAL, CLASSES, n_rounds=0)["bins"]
    bad = {
        "ptr": np.where(np.arange(4) == 1, 2**32 - 1, bins["ptr"]),
        "value": np.full_like(bins["value"], -(2**31)),
        "missing": bins["missing"][:-1],
        "edge": bins["edge"][:-1],
    }
    rejects(boosting.boost, NORMAL, CLASSES, bins=bins | {change: bad[change]})


@pytest.mark.parametrize("change", ["missing", "hyperplane_weight"])
def test_earlier_trees_of_a_forest_are_rejected(change, rejects):
    boosted = boosting.boost(NORMAL, CLASSES)
    trees = boosted["trees"]
    bad = {"missing": np.empty(0, np.int8), "hyperplane_weight": 2 * trees["hyperplane_weight"]}
    rejects(boosting.boost, NORMAL, CLASSES, earlier=trees | {change: bad[change]}, bins=boosted["bins"])


def test_an_infinity_is_reported():
    X = NORMAL.copy()
    X[3, 1] = np.inf
    assert boosting.boost(X, CLASSES) is None
    assert (
        boosting.boost(NORMAL, np.append(CLASSES, 0), X_val=X[3:4], held=np.eye(1, 61, 60, np.uint8)[0])
        is None
    )
