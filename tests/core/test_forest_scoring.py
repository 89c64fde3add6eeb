"""Scores of forests against the reference, for every way the scorer lays out and walks trees."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree import LHForestClassifier
from reference import scoring as reference_scoring
from reference import trees as reference
from support import bridge, strategies
from support.clouds import make_clouds

MODES = ("last", "path", None)
LAYOUTS = (1, 2, 4, 5, 6, 8, 12, 16, 40)  # most weights of a block; trees of more have no fixed room


def assert_as_reference(model, X):
    """All scores to the last bit: the core takes the same sums in the same order."""
    Z = reference.normalise(X, model._model.normalisation.centre, model._model.normalisation.scale)
    trees, targets = bridge.trees_of(model), model._model.trees.target.tolist()
    every = trees, targets, len(model.classes_), Z
    mode, prior = model._model.confidence, model._model.prior
    same = np.testing.assert_array_equal
    same(model.apply(X), [[reference_scoring.leaf(tree, z) for tree in trees] for z in Z])
    same(model.predict_wolf(X), reference_scoring.wolf(*every, mode))
    same(model.predict_membership(X), reference_scoring.mean_membership(*every))
    same(model.predict_confidence(X), reference_scoring.mean_confidence(*every, mode))
    same(model.predict(X), model.classes_[reference_scoring.predict(*every, mode, prior)])
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba, reference_scoring.predict_proba(*every, mode, prior), 1e-13, 1e-300)
    scorer = model._model.scorer
    same(scorer.settle(scorer.wolf(X), scorer.membership(X)), proba)
    membership, confidence = scorer.per_tree(X)
    same(membership, [[reference_scoring.membership(tree, z) for tree in trees] for z in Z])
    same(confidence, [[reference_scoring.confidence(tree, z, mode) for tree in trees] for z in Z])
    ways = [reference_scoring.trace(tree, z) for z in Z for tree in trees]
    ptr, block, value = scorer.trace(X)
    same(np.diff(ptr, prepend=0), [0, *(len(blocks) for blocks, _ in ways)])
    same(block, np.concatenate([blocks for blocks, _ in ways]))
    same(value, np.concatenate([values for _, values in ways]))


@settings(max_examples=40)
@given(st.data(), strategies.problems(max_rows=25), st.sampled_from(MODES), st.integers(1, 4))
def test_scores_match_the_reference(data, problem, mode, n_estimators):
    arguments = data.draw(strategies.estimator_arguments(problem.X.shape[1]))
    model = LHForestClassifier(n_estimators, **{**arguments, "confidence": mode}, random_state=0)
    model.fit(problem.X, problem.y, problem.weight)
    assert_as_reference(model, problem.X[:8])
    assert_as_reference(model, problem.X[:4] + 0.125)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("n_features", LAYOUTS)
def test_scores_of_every_layout_match_the_reference(n_features, n_classes, mode):
    X, y = make_clouds(60, n_features, n_classes)
    for width in (0, 1, 3):  # blocks one or three weights short of the layout take it too
        if width >= n_features:
            continue
        setting = {"beta": 0.0, "max_features": n_features - width or None, "confidence": mode}
        model = LHForestClassifier(2, **setting, random_state=0).fit(X, y)
        assert np.diff(model._model.trees.hyperplane_ptr).max() == n_features - width
        assert_as_reference(model, X[:5] * 1.25)


@pytest.fixture(
    scope="module", params=[{}, {"direction": "mixed", "beta": "schedule", "max_features": 13}], ids=str
)
def mixture(request):
    """A forest whose trees have many layouts, in no order, and rows of float32."""
    X, y = make_clouds(400, 20, 3)
    model = LHForestClassifier(30, **request.param, random_state=0).fit(X, y)
    most = [max(map(len, tree.weights)) for tree in bridge.trees_of(model)]
    assert len(set(most)) > 5
    assert most != sorted(most)
    return model, make_clouds(3000, 20, 3, seed=1)[0].astype(np.float32)


@pytest.mark.parametrize("method", bridge.MODEL_METHODS)
def test_a_row_has_the_same_bits_in_every_batch(mixture, method):
    model, rows = mixture
    ask = getattr(model, method)
    everything = ask(rows)
    for n_rows in (1, 2, 11, 12, 13, 100):
        for begin in (0, 1500, 3000 - n_rows):
            batch = slice(begin, begin + n_rows)
            assert ask(rows[batch]).tobytes() == everything[batch].tobytes()
    one_by_one = np.concatenate([ask(rows[[row]]) for row in range(60)])
    assert one_by_one.tobytes() == everything[:60].tobytes()
    for same in (rows.astype(np.float64), np.asfortranarray(rows), np.repeat(rows, 2, axis=1)[:, ::2]):
        assert ask(same).tobytes() == everything.tobytes()
        assert ask(same[:12]).tobytes() == everything[:12].tobytes()
    backwards = ask(rows[::-1])
    assert np.ascontiguousarray(backwards[::-1]).tobytes() == everything.tobytes()
    model.set_params(n_jobs=2)
    assert ask(rows).tobytes() == everything.tobytes()
    model.set_params(n_jobs=None)


def test_every_tree_has_the_same_bits_in_every_batch(mixture):
    scorer, rows = mixture[0]._model.scorer, mixture[1]
    for ask in (scorer.per_tree, scorer.trace):
        everything = ask(rows[:400])
        for found in (ask(rows[:400], 3), ask(np.asfortranarray(rows[:400]))):
            assert all(a.tobytes() == b.tobytes() for a, b in zip(found, everything, strict=True))
        one_by_one = zip(*(ask(rows[[row]])[-2:] for row in range(400)), strict=True)
        for found, expected in zip(one_by_one, everything[-2:], strict=True):
            assert np.concatenate(found).tobytes() == expected.tobytes()


def test_settle_falls_back_on_memberships_and_then_on_the_prior(mixture, rejects):
    scorer = mixture[0]._model.scorer
    wolf = np.array([[1.0, 0.0, 3.0], [0.0, 0.0, 0.0], [0.0, -0.0, 0.0]])
    membership = np.array([[1.0, 1.0, 1.0], [0.0, 3.0, 1.0], [0.0, 0.0, 0.0]])
    expected = [[0.25, 0.0, 0.75], [0.0, 0.75, 0.25], mixture[0]._model.prior]
    np.testing.assert_allclose(scorer.settle(wolf, membership), expected, rtol=1e-15)
    assert wolf[1].tolist() == [0.0, 0.0, 0.0]  # as it was given
    for wrong in (wolf[:2], wolf[:, :2].copy()):
        rejects(scorer.settle, wolf, wrong)
        rejects(scorer.settle, wrong, membership)


def test_leaf_ranges_limit_memberships():
    model = LHForestClassifier(4, random_state=0).fit(*make_clouds(100, 5, 3))
    arrays, X = bridge.arrays_of(model), make_clouds(50, 5, 3, seed=1)[0]
    low = np.random.default_rng(0).uniform(0.0, 0.75, len(arrays["left"]))
    arrays |= {"low": low, "high": low + 0.25}
    scorer = bridge.make_scorer(
        arrays, *model._model.normalisation, model._model.prior, model._model.confidence
    )
    Z = reference.normalise(X, *model._model.normalisation)
    trees = [bridge.as_tree(arrays, tree) for tree in range(12)]
    expected = np.array([[reference_scoring.membership(tree, z) for tree in trees] for z in Z])
    np.testing.assert_array_equal(scorer.per_tree(X)[0], expected)
    assert expected.max() > 0.75
    np.testing.assert_array_equal(
        scorer.membership(X), reference_scoring.mean_membership(trees, arrays["target"], 3, Z)
    )


def test_trees_of_all_classes_without_values_are_rejected(rejects):
    arrays = bridge.arrays_of(LHForestClassifier(2, random_state=0).fit(*make_clouds(60, 3, 3)))
    arrays["target"] = np.full(6, -1, dtype=np.int32)
    rejects(bridge.make_scorer, arrays, np.zeros(3), np.ones(3), np.ones(3) / 3, None)


def test_scores_of_mixed_layouts_match_the_reference(mixture):
    model, rows = mixture
    assert_as_reference(model, rows[:3])


def test_single_leaves_among_other_trees_are_scored():
    X, y = make_clouds(200, 3, 3)
    model = LHForestClassifier(5, random_state=0).fit(X, y)
    leaves = LHForestClassifier(4, min_samples_split=10**6, random_state=0).fit(X, y)
    assert (np.diff(leaves._model.trees.block_ptr) == 1).all()
    np.testing.assert_array_equal(leaves.predict_confidence(X), np.ones((200, 3)))
    assert_as_reference(leaves, X[:15])
    both = LHForestClassifier(14)
    trees = model._model.trees + leaves._model.trees + model._model.trees
    both._model = replace(model._model, trees=trees)
    for n_rows in (1, 5, 15, 200):  # below and above the number of walks at once
        np.testing.assert_array_equal(both.predict_wolf(X[:15])[:n_rows], both.predict_wolf(X[:n_rows])[:15])
    assert_as_reference(both, X[:15])
