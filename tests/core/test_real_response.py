"""Trees of a response that is any number, block by block against the reference."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree import _core, _pieces
from reference import trees as reference
from support import bridge, strategies
from support.strategies import Problem

DIRECTIONS = ("mean_difference", "fisher", "mixed")


@st.composite
def real_blocks(draw):
    """Normalised rows with a response of few values, of many, far from 0, or linear in the features."""
    block = draw(strategies.grid_blocks())
    noise = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).normal(size=len(block.y))
    few = draw(strategies.indices(len(block.y), 5)) / 4 - 0.5
    linear = block.X.astype(np.float64).sum(axis=1) + 0.125
    return block._replace(y=draw(st.sampled_from([few, noise, noise + 1e6, linear])))


def real_options():
    """Options; no ratio of two covariances on a small grid is exactly one of the values of beta."""
    betas = {0.1: 0.1043, 0.5: 0.4871}
    return strategies.options().map(
        lambda options: replace(options, offset="gini", beta=betas.get(options.beta, options.beta))
    )


def grow_real(problem, options, key=0):
    """Grow in the core, 0 and 1 as any number."""
    arrays, leaf_of_row = _pieces.grow(
        problem.X, problem.y.astype(np.float64), problem.weight, bridge.core_options(options), key
    )
    return arrays, bridge.as_tree(arrays, 0, leaf_of_row)


def check_facts(problem, rows, grown, block, options):
    """Counts, range and membership of a block."""
    z, response, weight = problem.X[rows].astype(np.float64), problem.y[rows], problem.weight[rows]
    near = 1e-7 * np.ptp(response) + 1e-12 * np.abs(response).max()
    assert (grown.n_samples[block], grown.weight[block]) == (len(rows), weight.sum())
    assert grown.n_target[block] == pytest.approx((weight * response).sum(), abs=near * weight.sum())
    assert (grown.low[block], grown.high[block]) == (response.min(), response.max())
    active = reference.active_features(z, weight, options.alpha)
    slopes, intercept = reference.fit_real_membership(z, response, weight, active, options)
    assert list(grown.slopes[block]) == list(slopes)
    np.testing.assert_allclose(list(grown.slopes[block].values()), list(slopes.values()), 1e-6, near)
    np.testing.assert_allclose(grown.intercept[block], intercept, 1e-9, 10 * near)
    return active


def check_hyperplane(problem, rows, grown, block, options, taken):
    """Direction and offset of a block, or that it must be a leaf."""
    z, response, weight = problem.X[rows].astype(np.float64), problem.y[rows], problem.weight[rows]

    def cut(weights):
        sums = reference.feature_sum(weights, z)
        return reference.least_squares_cuts(sums, response, weight, options.min_samples_leaf)

    candidates = reference.find_real_directions(z, response, weight, taken, options)
    if grown.left[block] == -1:
        assert not any(map(cut, candidates))
        return
    ours = grown.weights[block]
    assert any(
        list(w) == list(ours) and np.allclose(list(w.values()), list(ours.values()), 1e-4, 1e-4)
        for w in candidates
    )
    costs = {offset: cost for cost, offset in cut(ours)}
    alone = [{i: np.float32(1)} for i in taken] if options.direction == "mixed" else []
    least = min([*costs.values(), *(cost for weights in alone for cost, _ in cut(weights))])
    assert costs[grown.offset[block]] <= least + 1e-7 * reference.scatter(response, response, weight)


@given(real_blocks(), real_options(), strategies.keys())
def test_blocks_match_the_reference(problem, options, key):
    _, grown = grow_real(problem, options, key)
    keys = {0: key}
    for block, rows in enumerate(bridge.rows_by_block(grown, len(problem.y))):
        active = check_facts(problem, rows, grown, block, options)
        if reference.must_stop(problem.y[rows], problem.weight[rows], grown.depth[block], options):
            assert grown.left[block] == -1
        else:
            taken = reference.take_features(active, problem.X.shape[1], options.max_features, keys[block])
            check_hyperplane(problem, rows, grown, block, options, taken)
        if grown.left[block] >= 0:
            goes_left = reference.feature_sum(grown.weights[block], problem.X[rows]) < grown.offset[block]
            assert grown.n_samples[grown.left[block]] == goes_left.sum()
            keys[grown.left[block]] = reference.derive(keys[block], 0)
            keys[grown.right[block]] = reference.derive(keys[block], 1)


def make_rows(n_rows, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 6)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + generator.normal(size=n_rows) * 0.5 > 0).astype(np.uint8)
    return X, y


@pytest.mark.parametrize("n_rows", [300, 9000])  # one chunk, and several
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_zero_and_one_grown_as_numbers_give_the_classifiers_tree(direction, is_weighted, n_rows):
    X, y = make_rows(n_rows)
    # Eighths: their sums are exact. With any weights, cuts that are equally good differ by rounding in either tree.
    weight = np.random.default_rng(1).integers(4, 17, n_rows) / 8 if is_weighted else np.ones(n_rows)
    options = reference.Options(direction=direction, offset="gini", min_samples_split=8.0, max_features=4)
    _, classes = bridge.grow(Problem(X, y, weight), options, key=5)
    _, numbers = grow_real(Problem(X, y, weight), options, key=5)
    assert len(classes.left) > 40
    np.testing.assert_array_equal(numbers.leaf_of_row, classes.leaf_of_row)
    for ours, theirs in zip(numbers.weights, classes.weights, strict=True):
        assert list(ours) == list(theirs)
        np.testing.assert_allclose(list(ours.values()), list(theirs.values()), 0, 1e-6)
    np.testing.assert_allclose(numbers.n_target, classes.n_target, rtol=1e-12)
    np.testing.assert_allclose(numbers.offset, classes.offset, 0, 1e-5)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_float_response_of_zero_and_one_is_grown_as_classes(direction):
    X, y = make_rows(400)
    classes, numbers = (
        grow_forest(X, responses, direction=direction) for responses in (y[None], y[None].astype(np.float64))
    )
    bridge.assert_same_bits(classes, numbers)
    assert "low" not in numbers


def grow_forest(X, responses, n_threads=1, **options):
    """Three trees per response, half of the rows each."""
    n_rows, n_features = X.shape
    return _core.grow_forest(
        X, np.zeros(n_features), np.ones(n_features), responses, np.arange(len(responses), dtype=np.int32), None,
        bridge.core_options(reference.Options(offset="gini", **options)), np.zeros(3), 7, 0,
        np.zeros(n_rows, dtype=np.int32), np.array([n_rows // 2]), False, False, n_threads,
    )  # fmt: skip


def test_regression_forest_equals_its_trees():
    X, _ = make_rows(600)
    response = X[:, 0].astype(np.float64) * 3.0
    arrays = grow_forest(X, response[None], direction="mixed", min_samples_leaf=5.0)
    bridge.assert_same_bits(
        arrays, grow_forest(X, response[None], 3, direction="mixed", min_samples_leaf=5.0)
    )
    options = bridge.core_options(reference.Options(offset="gini", direction="mixed", min_samples_leaf=5.0))
    for tree in range(3):
        rows, _ = _core.draw_rows(np.zeros(600, dtype=np.int32), np.array([300]), False, 7, tree)
        alone, _ = _pieces.grow(X[rows], response[rows], None, options, reference.forest_key(7, tree, 0))
        begin, end = arrays["block_ptr"][tree : tree + 2]
        for name in ("left", "n_target", "offset", "intercept", "low", "high"):
            np.testing.assert_array_equal(arrays[name][begin:end], alone[name])
    # Estimates of trees, which the scorer clips to the range of the leaf.
    scorer = bridge.make_scorer(arrays, np.zeros(6), np.ones(6), np.empty(0), None, link="mean")
    estimate = scorer.per_tree(X)[0].mean(axis=1)
    assert estimate.min() >= response.min()
    assert estimate.max() <= response.max()
    assert ((estimate - response) ** 2).mean() < 0.1 * response.var()


def test_invalid_options_of_a_numeric_response_are_rejected(rejects):
    X, y = make_rows(20)
    response = y * 2.0
    rejects(_pieces.grow, X, response, None, bridge.core_options(reference.Options(offset="purity")), 0)
    for value in (np.nan, np.inf):
        response[3] = value
        rejects(_pieces.grow, X, response, None, bridge.core_options(reference.Options(offset="gini")), 0)
