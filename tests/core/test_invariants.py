"""The invariants of ALGORITHM.md, each on every kind of problem."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree import LHTClassifier
from reference import scoring as reference_scoring
from support import bridge, strategies


@st.composite
def fitted(draw, problems=strategies.problems, **fixed):
    """(model, problem) with any arguments."""
    problem = draw(problems())
    arguments = draw(strategies.estimator_arguments(problem.X.shape[1])) | fixed
    model = LHTClassifier(**arguments, random_state=draw(st.integers(0, 2**32 - 1)))
    return model.fit(problem.X, problem.y, problem.weight), problem


@given(strategies.blocks(), strategies.options(), strategies.keys())
def test_children_are_not_empty_and_make_up_their_parent(block, options, key):
    _, tree = bridge.grow(block, options, key)
    assert tree.n_samples[0] == len(block.y)
    assert options.max_depth is None or max(tree.depth) <= options.max_depth
    for left, right, *own in zip(
        tree.left, tree.right, tree.n_samples, tree.weight, tree.n_target, strict=True
    ):
        if left < 0:
            continue
        assert min(tree.n_samples[left], tree.n_samples[right]) >= 1
        assert tree.n_samples[left] + tree.n_samples[right] == own[0]
        assert tree.weight[left] + tree.weight[right] == pytest.approx(own[1], rel=1e-12)
        assert tree.n_target[left] + tree.n_target[right] == pytest.approx(own[2], rel=1e-12, abs=1e-12)
        assert min(tree.weight[left], tree.weight[right]) >= options.min_samples_leaf * (1 - 1e-12)


@given(fitted())
def test_apply_sends_training_rows_to_the_leaf_they_were_grown_in(case):
    model, problem = case
    leaves = model.apply(problem.X)
    assert leaves.shape == (len(problem.y), len(model.trees_))
    for tree, leaf in zip(model.trees_, leaves.T, strict=True):
        count = np.bincount(leaf, minlength=tree.n_blocks)
        np.testing.assert_array_equal(count[tree.is_leaf], tree.n_samples[tree.is_leaf])
        assert not count[~tree.is_leaf].any()
        targets = np.bincount(leaf, weights=problem.y == tree.target, minlength=tree.n_blocks)
        weighted = np.bincount(
            leaf, weights=(problem.y == tree.target) * problem.weight, minlength=tree.n_blocks
        )
        assert (targets <= count).all()
        if problem.weight.max() >= 1:
            np.testing.assert_allclose(tree.n_target[tree.is_leaf], weighted[tree.is_leaf], 1e-12, 1e-12)


@given(fitted())
def test_scores_are_within_bounds_and_probabilities_sum_to_one(case):
    model, problem = case
    wolf, membership = model.predict_wolf(problem.X), model.predict_membership(problem.X)
    confidence, proba = model.predict_confidence(problem.X), model.predict_proba(problem.X)
    for values in (wolf, membership, confidence, proba):
        assert values.shape == (len(problem.y), len(model.classes_))
        assert ((values >= 0) & (values <= 1)).all()
    assert (wolf <= membership).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, 1e-12)
    np.testing.assert_array_equal(model.predict(problem.X), model.classes_[proba.argmax(axis=1)])


@given(
    fitted(lambda: st.one_of(strategies.grid_problems(), strategies.wide_problems()), normalize="robust"),
    st.data(),
)
def test_columns_times_powers_of_two_give_the_same_trees(case, data):
    model, problem = case
    normalize = data.draw(st.sampled_from(["robust", "standard", "minmax"]))
    exponents = data.draw(
        st.lists(st.integers(-60, 60), min_size=problem.X.shape[1], max_size=problem.X.shape[1])
    )
    scaled = np.ldexp(problem.X, exponents)
    model = LHTClassifier(**model.get_params()).set_params(normalize=normalize)
    first = model.fit(problem.X, problem.y, problem.weight)
    second = LHTClassifier(**model.get_params()).fit(scaled, problem.y, problem.weight)
    bridge.assert_same_trees(first, second)
    assert first.predict_proba(problem.X).tobytes() == second.predict_proba(scaled).tobytes()


@given(st.data(), strategies.options())
def test_swapped_labels_mirror_the_tree(data, options):
    # Drawn features hang on the path, which is mirrored too; without ties no rule for ties is asked.
    problem = data.draw(strategies.wide_problems(max_classes=2))
    problem = strategies.as_normalised(problem._replace(weight=np.ones(len(problem.y))))
    options = replace(options, max_features=None)
    first, tree = bridge.grow(problem, options)
    second, mirrored = bridge.grow(problem._replace(y=1 - problem.y), options)
    bridge.assert_same_partition(tree.leaf_of_row, mirrored.leaf_of_row)
    m = problem.X.shape[1]
    scorers = [
        bridge.make_scorer(arrays, np.zeros(m), np.ones(m), np.array([0.5, 0.5]), None)
        for arrays in (first, second)
    ]
    scores = [scorer.membership(problem.X) for scorer in scorers]
    np.testing.assert_allclose(scores[0], 1 - scores[1], 1e-6, 1e-6)


def deep_problem(n_rows=1500, seed=0):
    """Classes that take turns along a line, at uneven distances: every pure cut takes off one row."""
    X = np.cumsum(np.random.default_rng(seed).uniform(0.5, 1.5, n_rows))[:, None]
    return X, np.arange(n_rows) % 2


@pytest.mark.parametrize("confidence", ["last", "path"])
def test_deep_trees_need_no_recursion(confidence):
    X, y = deep_problem()
    model = LHTClassifier(gamma=1, confidence=confidence, normalize=None).fit(X, y)
    assert model.depth_ >= 500
    view = model.trees_[0]
    assert view.depth.max() == model.depth_
    assert len(view.to_frame()) == view.n_blocks
    leaves = model.apply(X)[:, 0]
    np.testing.assert_array_equal(
        np.bincount(leaves, minlength=view.n_blocks)[view.is_leaf], view.n_samples[view.is_leaf]
    )
    path, _ = model.decision_path(X)
    np.testing.assert_array_equal(np.asarray(path.sum(axis=1)).ravel(), view.depth[leaves] + 1)
    Z = X.astype(np.float32)
    tree = bridge.trees_of(model)[0]
    some = slice(None, None, 97)
    np.testing.assert_array_equal(leaves[some], [reference_scoring.leaf(tree, z) for z in Z[some]])
    np.testing.assert_array_equal(
        model.predict_wolf(X[some]), reference_scoring.wolf([tree], [1], 2, Z[some], confidence)
    )
    assert model.score(X, y) > 0.99


def test_a_large_model_is_the_same_for_any_number_of_threads():
    """Large blocks are shared by the threads, small subtrees are grown by one each."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 16))  # scales, too, are learned by several threads
    y = (X[:, 0] + rng.normal(size=len(X)) > 0.5).astype(int) + (X[:, 1] > 1)
    models = [LHTClassifier(gamma=100, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 3)]
    for model in models[1:]:
        bridge.assert_same_trees(models[0], model)
