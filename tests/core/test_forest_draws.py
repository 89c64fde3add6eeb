"""Rows and betas of the trees of a forest: out-of-bag scores, warm starts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree import LHForestClassifier, _core, _pieces
from lhtree.grow.forest import count_rows
from reference import trees as reference
from support import bridge, strategies
from support.bridge import training_weights
from support.clouds import make_clouds

DIRECTIONS = strategies.DIRECTIONS
PAPER = {"direction": "mean_difference"}


def core_draws(strata, counts, bootstrap, seed, tree):
    strata = np.asarray(strata, dtype=np.int32)
    rows, times = _core.draw_rows(strata, np.asarray(counts, dtype=np.int64), bootstrap, seed, tree)
    return np.repeat(rows, times) if bootstrap else rows


def settle(max_samples, sizes, *, auto=0.8, bootstrap=False):
    return count_rows(max_samples, np.asarray(sizes), auto=auto, bootstrap=bootstrap)


@given(st.data(), st.booleans(), strategies.keys(), st.integers(0, 10**6))
def test_drawn_rows_match_the_reference(data, bootstrap, seed, tree):
    n_classes = data.draw(st.integers(1, 5))
    strata = data.draw(strategies.classes(data.draw(st.integers(n_classes, 60)), n_classes))
    sizes = np.bincount(strata)
    counts = [data.draw(st.integers(1, 90 if bootstrap else size)) for size in sizes.tolist()]
    times = reference.draw_rows(strata, counts, bootstrap, seed, tree)
    rows = core_draws(strata, counts, bootstrap, seed, tree)
    np.testing.assert_array_equal(rows, np.repeat(np.arange(len(times)), times))
    np.testing.assert_array_equal(np.bincount(strata, weights=times), counts)  # every class is there
    assert bootstrap or times.max() == 1


def test_drawn_rows_depend_on_seed_and_tree():
    strata = np.arange(60) % 3
    seen = {tuple(core_draws(strata, [9, 9, 9], False, seed, tree)) for seed in range(9) for tree in range(9)}
    assert len(seen) == 81
    together = [core_draws(strata, [9, 9, 9], False, 5, tree) for tree in range(400)]
    np.testing.assert_allclose(np.bincount(np.concatenate(together)) / 400, 9 / 20, atol=0.12)


@pytest.mark.parametrize(
    ("strata", "counts"),
    [([0, 1, 2], [1, 1]), ([0, -1], [1, 1]), ([0, 1], [1, 2]), ([0, 1], [1, 0]), ([0, 0], [1, 1])],
)
def test_invalid_draws_are_rejected(strata, counts, rejects):
    rejects(core_draws, strata, counts, False, 0, 0)


@given(st.lists(st.integers(1, 300), min_size=2, max_size=6), st.floats(0.001, 0.999), st.booleans())
def test_shares_are_kept_as_well_as_whole_rows_allow(sizes, share, bootstrap):
    counts = settle(share, sizes, bootstrap=bootstrap)
    assert counts.tolist() == reference.count_rows(sizes, share)
    assert ((counts >= 1) & (counts <= sizes)).all()
    assert ((np.abs(counts - share * np.array(sizes)) < 1) | (counts == 1)).all()
    assert counts.sum() >= round(share * sum(sizes))


@given(st.lists(st.integers(1, 300), min_size=2, max_size=6), st.data())
def test_counts_of_rows(sizes, data):
    wanted = data.draw(st.integers(1, sum(sizes)))
    counts = settle(wanted, sizes)
    if wanted == sum(sizes):
        assert counts is None  # every tree sees all rows
    else:
        assert max(wanted, len(sizes)) <= counts.sum() <= wanted + len(sizes) - 1
        assert counts.tolist() == reference.count_rows(sizes, wanted / sum(sizes))


def test_max_samples_become_counts_per_class():
    assert settle("auto", [50, 50]).tolist() == [40, 40]
    for max_samples in ("auto", 1.0, 100):
        assert settle(max_samples, [50, 50], auto=1.0) is None
        assert settle(max_samples, [50, 50], auto=1.0, bootstrap=True).tolist() == [50, 50]
    assert settle(300, [50, 50], bootstrap=True).tolist() == [150, 150]
    assert settle(1, [50, 50]).tolist() == [1, 1]
    assert settle(np.int64(10), [70, 20, 10]).tolist() == [7, 2, 1]
    assert settle(np.float32(0.5), [70, 20, 10]).tolist() == [35, 10, 5]
    assert settle(0.5, [3, 3]).tolist() == [2, 1]  # halves: the first class has the odd row


def options_of(model, beta, max_features):
    is_paper = model.direction == "mean_difference"
    return reference.Options(
        direction=model.direction,
        offset="purity" if is_paper else "gini",
        gamma=10.0,
        beta=beta,
        min_samples_split=10.0 if is_paper else 2.0,
        max_features=max_features,
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "setting",
    [
        PAPER,
        {"direction": "mixed"},
        {"direction": "fisher", "bootstrap": True},
        {"max_samples": 50},
        {"bootstrap": True, "max_samples": 0.4},
        {"class_weight": "balanced_subsample"},
        {"direction": "mixed", "class_weight": "balanced_subsample"},
        {"beta": "schedule", "direction": "fisher"},
        {"beta": 0.3, "max_samples": 1.0},
    ],
)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_forest_equals_trees_grown_one_by_one(setting, n_classes, is_weighted):
    X, y = make_clouds(150, 6, n_classes)
    y[:40] = 0
    weight = np.random.default_rng(0).integers(1, 4, 150).astype(float) if is_weighted else None
    model = LHForestClassifier(5, **setting, min_samples_leaf=1, random_state=1).fit(X, y, weight)
    is_paper = model.direction == "mean_difference"
    is_scheduled = model.beta == "schedule" or (is_paper and model.beta == "auto")
    centre, scale = reference.learn_normalisation(X, np.ones(150) if weight is None else weight, "robust")
    Z = reference.normalise(X, centre, scale)
    targets = [1] if n_classes == 2 else range(n_classes)
    arrays = bridge.arrays_of(model)
    for number in range(5):
        beta = number / 5 if is_scheduled else 0.3 if model.beta == 0.3 else 0.0
        options = bridge.core_options(
            options_of(model, beta, None if is_paper else 3), branching_membership=False
        )
        own = training_weights(model, y, number, weight)
        seen = own > 0
        for place, target in enumerate(targets):
            expected, _ = _pieces.grow(
                Z[seen],
                (y[seen] == target).astype(np.uint8),
                own[seen],
                options,
                reference.forest_key(model._model.seed, number, place),
            )
            grown = bridge.as_tree(arrays, number * len(targets) + place)
            assert grown == bridge.as_tree(expected)
            assert arrays["target"][number * len(targets) + place] == target


@settings(max_examples=30)
@given(strategies.grid_problems(max_rows=40, max_classes=4), st.booleans(), st.sampled_from([None, 1, 2]))
def test_forests_match_the_reference(problem, bootstrap, max_features):
    model = LHForestClassifier(
        3, bootstrap=bootstrap, normalize=None, gamma=2, max_features=max_features, random_state=0
    )
    weight = 8 * problem.weight  # whole numbers, none of which is scaled to mean 1
    model.fit(problem.X, problem.y, weight)
    n_targets = 1 if problem.y.max() == 1 else int(problem.y.max()) + 1
    X = problem.X.astype(np.float32)
    for i, tree in enumerate(bridge.trees_of(model)):
        number, place = divmod(i, n_targets)
        own = training_weights(model, problem.y, number, weight)
        options = reference.Options(
            gamma=2.0, min_samples_split=2.0, beta=number / 3, max_features=max_features
        )
        target, seen = 1 if n_targets == 1 else place, own > 0
        key = reference.forest_key(model._model.seed, number, place)
        expected = reference.grow(X[seen], problem.y[seen] == target, own[seen], options, key)
        bridge.assert_same_shape(tree, expected)


@pytest.mark.parametrize("n_features", [1, 2, 3, 9, 14, 15, 30, 63, 64, 100])
def test_automatic_max_features_follow_the_formula(n_features):
    X, y = make_clouds(60, n_features, 2)
    expected = min(n_features, max(2, min(7, -(-n_features // 2)), int(np.sqrt(n_features))))
    auto = LHForestClassifier(3, direction="fisher", random_state=0).fit(X, y)
    same = LHForestClassifier(3, direction="fisher", random_state=0, max_features=expected).fit(X, y)
    bridge.assert_same_trees(auto, same)
    assert np.diff(auto._model.trees.hyperplane_ptr).max() == expected
    paper = LHForestClassifier(1, max_samples=1.0).fit(X, y)
    assert np.diff(paper._model.trees.hyperplane_ptr).max() == n_features
