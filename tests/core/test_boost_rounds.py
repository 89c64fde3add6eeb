"""Boosted models to the bit: threads, chunks, layouts, weights, rounds added later, rows held back."""

import numpy as np
import pytest

from lhtree import LHBoostClassifier
from reference.boost import Classes, Options, mean_loss
from support import boosting


def make_rows(n=300, n_features=5, n_classes=2, seed=0, gaps=0.05):
    """Rows of values with few digits, some missing, and classes that depend on them."""
    generator = np.random.default_rng(seed)
    X = np.round(generator.normal(size=(n, n_features)), 2)
    score = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * generator.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    X[generator.random(X.shape) < gaps] = np.nan
    return X, y


@pytest.mark.parametrize(("n_classes", "leaf"), [(2, "constant"), (2, "linear"), (3, "constant")])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_threads_and_chunks_make_no_difference(n_classes, leaf, is_weighted):
    X, y = make_rows(70_000, 5, n_classes)  # a thread takes some 16,000 rows, a chunk at most 65,536
    held = (np.arange(len(y)) % 10 == 0).astype(np.uint8)
    weight = np.random.default_rng(1).gamma(1.0, 1.0, len(y)) if is_weighted else None
    options = Options(max_depth=5, subsample=0.7, max_features=0.5, leaf=leaf)
    one, *others = (
        boosting.boost(X, y, options, n_rounds=2, weight=weight, held=held, patience=5, n_threads=n_threads)
        for n_threads in (1, 2, 7)
    )
    assert one["trees"]["left"].max() > 20
    for other in others:
        boosting.assert_same_model(one, other)


def test_layouts_and_types_make_no_difference():
    X, y = make_rows(seed=3)
    X = X.astype(np.float32)
    expected = boosting.boost(X, y)
    wide = np.zeros((len(X), 11), dtype=np.float64)
    wide[:, 1::2] = X
    for same in (X.astype(np.float64), np.asfortranarray(X), wide[:, 1::2], wide[::-1, 1::2][::-1]):
        boosting.assert_same_model(boosting.boost(same, y), expected)


@pytest.mark.parametrize("quarter", [1.0, 0.25])
@pytest.mark.parametrize("max_bins", [255, 12])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_weights_are_repetitions(leaf, n_classes, max_bins, quarter):
    X, y = make_rows(n_classes=n_classes, seed=4)
    counts = np.random.default_rng(2).integers(0, 5, len(y))
    options = Options(max_bins=max_bins, min_samples_leaf=5 * quarter, max_depth=4, leaf=leaf)
    weighted = boosting.boost(X, y, options, weight=counts * quarter, patience=9)
    repeated = boosting.boost(
        X.repeat(counts, axis=0), y.repeat(counts), options, weight=np.full(counts.sum(), quarter), patience=9
    )
    assert weighted["trees"]["n_samples"][0] < repeated["trees"]["n_samples"][0]
    for name in ("training_loss", "validation_loss", "first"):
        np.testing.assert_array_equal(weighted[name], repeated[name])
    for name, values in weighted["trees"].items():
        if name != "n_samples":
            np.testing.assert_array_equal(values, repeated["trees"][name])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_rounds_can_be_added_later(leaf, n_classes):
    X, y = make_rows(n_classes=n_classes, seed=5)
    held = (np.arange(len(y)) % 7 == 0).astype(np.uint8)
    options = Options(subsample=0.7, max_features=0.5, max_depth=4, leaf=leaf)
    given = {"held": held, "patience": 99, "seed": 8}
    whole = boosting.boost(X, y, options, n_rounds=30, **given)
    begun = boosting.boost(X, y, options, n_rounds=12, **given)
    rest = boosting.boost(
        X, y, options, n_rounds=18, earlier=begun["trees"], first=begun["first"], bins=begun["bins"], **given
    )
    names = ["left", "offset", "intercept", "gain", "hyperplane_weight", "hyperplane_feature", "missing"]
    names += ["membership_feature", "membership_slope", "low", "high"]
    assert (len(whole["trees"]["membership_slope"]) > 0) == (leaf == "linear")
    for name in names:
        joined = np.concatenate([begun["trees"][name], rest["trees"][name]])
        assert joined.tobytes() == whole["trees"][name].tobytes(), name
    for name in ("training_loss", "validation_loss"):
        assert np.concatenate([begun[name], rest[name][1:]]).tobytes() == whole[name].tobytes()
        assert rest[name][0] == begun[name][-1]


def test_rows_held_back_change_no_tree():
    X, y = make_rows(seed=6)
    held = np.random.default_rng(7).random(len(y)) < 0.2
    weight = np.random.default_rng(8).gamma(1.0, 1.0, len(y))
    changed = [X.copy(), y.copy(), weight.copy()]
    changed[0][held] *= 9.0
    changed[1][held] = 1 - y[held]
    changed[2][held] *= 1e10
    given = {"held": held.astype(np.uint8), "patience": 99, "n_rounds": 8}
    one = boosting.boost(X, y, weight=weight, **given)
    other = boosting.boost(*changed[:2], weight=changed[2], **given)
    alone = boosting.boost(X[~held], y[~held], weight=weight[~held], patience=99, n_rounds=8)
    assert (one["validation_loss"] != other["validation_loss"]).all()
    for same in (other, alone):
        boosting.assert_same_model(one, same | {"validation_loss": one["validation_loss"]})
    # Rows of their own are the same as rows of X that are held back.
    order = np.concatenate([y[~held], y[held]])
    apart = boosting.boost(
        X[~held],
        order,
        weight=np.concatenate([weight[~held], weight[held]]),
        X_val=X[held],
        held=np.sort(held).astype(np.uint8),
        patience=99,
        n_rounds=8,
    )
    boosting.assert_same_model(one, apart)


def test_boosting_stops_after_rounds_without_gain():
    X, y = make_rows(400, seed=9)
    held = (np.arange(len(y)) % 4 == 0).astype(np.uint8)
    options = Options(learning_rate=0.3, max_depth=4)
    stopped = boosting.boost(X, y, options, n_rounds=60, held=held, patience=4)
    whole = boosting.boost(X, y, options, n_rounds=60, held=held, patience=60)
    losses = stopped["validation_loss"]
    best = int(np.argmin(losses))
    assert 0 < best == len(losses) - 1 - 4 < 50
    assert len(stopped["trees"]["target"]) == len(losses) - 1
    np.testing.assert_array_equal(losses, whole["validation_loss"][: len(losses)])
    # A tolerance makes small gains none.
    strict = boosting.boost(X, y, options, n_rounds=60, held=held, patience=2, tol=10.0)
    assert len(strict["validation_loss"]) == 3


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_rows_of_representatives_go_where_they_were_grown(leaf, n_classes):
    X, y = make_rows(600, 6, n_classes, seed=10)
    X = np.clip(X * 1.5, -7.9, 7.9)
    held = (np.arange(len(y)) % 5 == 0).astype(np.uint8)
    options = Options(max_depth=5, max_bins=60, min_samples_leaf=3, leaf=leaf)
    boosted = boosting.boost(X, y, options, n_rounds=6, held=held, patience=99)
    trees, scorer = boosted["trees"], boosting.make_scorer(boosted)
    rows = boosting.representatives(boosted, X)
    leaves = scorer.apply(rows)[held == 0]
    for tree in range(len(trees["target"])):
        part = slice(*trees["block_ptr"][tree : tree + 2])
        is_leaf = trees["left"][part] < 0
        counts = np.bincount(leaves[:, tree], minlength=len(is_leaf))
        np.testing.assert_array_equal(counts[is_leaf], trees["n_samples"][part][is_leaf])
    assert (trees["missing"] == 0)[trees["left"] >= 0].any()
    raw = scorer.raw_score(rows).tolist()
    for name, is_held in (("training_loss", 0), ("validation_loss", 1)):
        chosen = np.flatnonzero(held == is_held)
        expected = mean_loss(chosen.tolist(), Classes(y, n_classes), raw, [1] * len(y))
        # The scorer adds up slopes in another order.
        assert abs(boosted[name][-1] - expected) <= (0.0 if leaf == "constant" else 1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_estimator_keeps_the_best_round(n_classes):
    # Cuts at single features send rows and their codes to the same leaves, so both have the same losses.
    X, y = make_rows(500, 4, n_classes, seed=12, gaps=0.0)
    model = LHBoostClassifier(
        80,
        direction="single",
        learning_rate=0.3,
        min_samples_leaf=3,
        early_stopping=True,
        n_iter_no_change=5,
        random_state=0,
    )
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    scores = model.validation_score_
    assert 0 < model.n_iter_ == np.argmax(scores) == len(scores) - 1 - 5
    for name, rows in (("train_score_", slice(300)), ("validation_score_", slice(300, None))):
        proba = model.predict_proba(X[rows])[np.arange(len(y[rows])), y[rows]]
        np.testing.assert_allclose(getattr(model, name)[model.n_iter_], np.log(proba).mean(), 1e-9)
