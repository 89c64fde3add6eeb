"""Boosted models to the bit: threads, chunks, layouts, weights, rounds added later, rows held back."""

import numpy as np
import pytest

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


@pytest.mark.parametrize(
    ("n_classes", "leaf", "is_weighted"), [(2, "constant", False), (2, "linear", True), (3, "constant", True)]
)
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
