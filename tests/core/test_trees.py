"""Whole trees and whole models against the reference."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lhtree import LHTClassifier
from reference import scoring as reference_scoring
from reference import trees as reference
from support import bridge, strategies

SHARED = ("direction", "membership", "alpha", "shrinkage")


@given(strategies.grid_blocks(), strategies.options(directions=["mean_difference"]), strategies.keys())
def test_mean_difference_trees_are_the_same_to_the_last_bit(block, options, key):
    _, grown = bridge.grow(block, options, key)
    expected = reference.grow(block.X, block.y, block.weight, options, key)
    bridge.assert_same_shape(grown, expected)
    bridge.assert_same_memberships(grown, expected)
    np.testing.assert_array_equal(grown.leaf_of_row, expected.leaf_of_row)


def test_trees_with_many_blocks_are_the_same():
    # Blocks of one chunk and of several, features beyond one set of lanes, ties everywhere.
    generator = np.random.default_rng(7)
    X = generator.integers(0, 6, (5000, 11)).astype(np.float32)
    y = (X.sum(axis=1) + generator.normal(size=5000) * 4 > 27).astype(np.uint8)
    block = strategies.Problem(X, y, np.ones(5000))
    options = reference.Options(gamma=4.0, min_samples_split=4.0, max_features=6)
    _, grown = bridge.grow(block, options, key=99)
    expected = reference.grow(X, y, block.weight, options, 99)
    assert len(grown.left) > 200
    bridge.assert_same_shape(grown, expected)
    bridge.assert_same_memberships(grown, expected)


def check_block(problem, rows, grown, block, options, key):
    """Check a tree of the core against the reference, up to the rounding of solved equations."""
    z, weight = problem.X[rows].astype(np.float64), problem.weight[rows]
    is_target = problem.y[rows] == 1
    active = reference.active_features(z, weight, options.alpha)
    slopes, intercept = reference.fit_membership(z, is_target, weight, active, options)
    assert list(grown.slopes[block]) == list(slopes)
    np.testing.assert_allclose(list(grown.slopes[block].values()), list(slopes.values()), 1e-6, 1e-8)
    np.testing.assert_allclose(grown.intercept[block], intercept, 1e-6, 1e-8)
    if reference.must_stop(is_target, weight, grown.depth[block], options):
        assert grown.left[block] == -1
        return
    taken = reference.take_features(active, z.shape[1], options.max_features, key)
    candidates = reference.find_directions(z, is_target, weight, taken, options)
    if grown.left[block] == -1:
        assert reference.find_hyperplane(z, is_target, weight, taken, options) is None
        return
    ours = grown.weights[block]
    near = [
        w
        for w in candidates
        if list(w) == list(ours) and np.allclose(list(w.values()), list(ours.values()), 1e-4, 1e-4)
    ]
    assert near
    sums = reference.feature_sum(ours, z)
    if options.offset == "purity":
        assert grown.offset[block] == reference.purity_offset(sums, is_target, weight, options.gamma)
        return
    cost, offset = reference.gini_cut(sums, is_target, weight, options.min_samples_leaf)
    assert grown.offset[block] == offset
    if options.direction == "mixed":
        alone = [reference.gini_cut(z[:, i], is_target, weight, options.min_samples_leaf) for i in taken]
        assert cost <= min((cut[0] for cut in alone if cut is not None), default=np.inf)
        if ours == {min(ours): 1.0}:  # the first of the single features that cut as well
            as_good = [i for i, cut in zip(taken, alone, strict=True) if cut is not None and cut[0] == cost]
            assert list(ours) in (as_good[:1], list(candidates[0]))


@given(strategies.grid_blocks(), strategies.options(directions=["fisher", "mixed"]), strategies.keys())
def test_every_block_of_solved_trees_is_the_references(block, options, key):
    _, grown = bridge.grow(block, options, key)
    keys = {0: key}
    for number, rows in enumerate(bridge.rows_by_block(grown, len(block.y))):
        check_block(block, rows, grown, number, options, keys[number])
        if grown.left[number] >= 0:
            goes_left = reference.feature_sum(grown.weights[number], block.X[rows]) < grown.offset[number]
            assert (grown.n_samples[grown.left[number]], len(rows)) == (
                goes_left.sum(),
                grown.n_samples[number],
            )
            keys[grown.left[number]] = reference.derive(keys[number], 0)
            keys[grown.right[number]] = reference.derive(keys[number], 1)


@given(strategies.grid_blocks(), strategies.options(), strategies.keys())
def test_memberships_of_branching_blocks_can_be_left_out(block, options, key):
    _, full = bridge.grow(block, options, key)
    _, lean = bridge.grow(block, options, key, branching_membership=False)
    bridge.assert_same_shape(lean, full)
    for number, left in enumerate(full.left):
        slopes = full.slopes[number] if left < 0 else {}
        assert lean.slopes[number] == slopes
        if left >= 0:
            assert lean.intercept[number] == full.n_target[number] / full.weight[number]


def reference_options(model, n_features, total):
    """Tests of the parameters of the estimator (sections 3 and 4, and the table of defaults)."""
    is_paper = model.direction == "mean_difference"
    gamma = model.gamma * total if isinstance(model.gamma, float) else model.gamma
    split = (gamma if is_paper else 2) if model.min_samples_split == "auto" else model.min_samples_split
    return reference.Options(
        **{name: getattr(model, name) for name in SHARED},
        offset=("purity" if is_paper else "gini") if model.offset == "auto" else model.offset,
        beta=0.0 if model.beta == "auto" else model.beta,
        gamma=gamma,
        min_samples_split=split,
        min_samples_leaf=1 if model.min_samples_leaf == "auto" else model.min_samples_leaf,
        max_depth=model.max_depth,
        max_features=None if model.max_features in ("auto", None) else model.max_features,
    )


@given(st.data(), strategies.grid_problems(max_rows=40))
def test_models_are_the_references(data, problem):
    arguments = data.draw(strategies.estimator_arguments(problem.X.shape[1]))
    arguments |= {"direction": "mean_difference", "offset": data.draw(strategies.offsets("fisher"))}
    seed = data.draw(st.integers(0, 2**32 - 1))
    X = problem.X.copy()
    is_missing = data.draw(strategies.indices(X.size, 8)).reshape(X.shape) == 0
    X[is_missing & data.draw(st.booleans())] = np.nan
    assume(problem.weight.max() >= 1)
    model = LHTClassifier(**arguments, random_state=seed).fit(X, problem.y, problem.weight)

    centre, scale = reference.learn_normalisation(X, problem.weight, model.normalize)
    np.testing.assert_allclose(model._model.normalisation.centre, centre, 1e-14, 1e-300)
    np.testing.assert_allclose(model._model.normalisation.scale, scale, 1e-14)
    Z = reference.normalise(X, *model._model.normalisation)  # rounding of the statistics aside
    n_classes = problem.y.max() + 1
    targets = [1] if n_classes == 2 else list(range(n_classes))
    options = reference_options(model, X.shape[1], problem.weight.sum())
    key = reference.derive(reference.derive(np.random.RandomState(seed).randint(2**31 - 1), 0), 2)
    expected = [
        reference.grow(
            Z, (problem.y == target).astype(np.uint8), problem.weight, options, reference.derive(key, i)
        )
        for i, target in enumerate(targets)
    ]
    assert model._model.trees.target.tolist() == targets
    for ours, theirs in zip(bridge.trees_of(model), expected, strict=True):
        bridge.assert_same_shape(ours, theirs)
        bridge.assert_same_memberships(ours, theirs)
    mode = "last" if model.confidence == "auto" else model.confidence
    prior = np.bincount(problem.y, weights=problem.weight) / problem.weight.sum()
    near = pytest.approx
    assert model.predict_wolf(X) == near(
        reference_scoring.wolf(expected, targets, n_classes, Z, mode), abs=1e-9
    )
    assert model.predict_membership(X) == near(
        reference_scoring.mean_membership(expected, targets, n_classes, Z), abs=1e-9
    )
    confidence = reference_scoring.mean_confidence(expected, targets, n_classes, Z, mode)
    assert model.predict_confidence(X) == near(confidence, abs=1e-9)
    own = bridge.trees_of(model)
    assert model.predict_proba(X) == near(
        reference_scoring.predict_proba(own, targets, n_classes, Z, mode, prior), abs=1e-9
    )
    leaves = [[reference_scoring.leaf(tree, z) for tree in expected] for z in Z]
    np.testing.assert_array_equal(model.apply(X), leaves)


def test_among_equal_cuts_mixed_takes_fisher_and_then_the_first_feature():
    options = reference.Options(direction="mixed", offset="gini")
    # One feature that falls with the target: Fisher has the weight -1, the feature alone 1, and both part the classes.
    falling = strategies.Problem(np.array([[0], [1]], np.float32), np.array([1, 0], np.uint8), np.ones(2))
    assert bridge.grow(falling, options)[1].weights[0] == {0: -1.0}
    # The means are equal, so there is no Fisher; the features are copies.
    copies = np.repeat(np.array([[0], [1], [2]], np.float32), 3, axis=1)
    problem = strategies.Problem(copies, np.array([0, 1, 0], np.uint8), np.ones(3))
    assert bridge.grow(problem, options)[1].weights[0] == {0: 1.0}
