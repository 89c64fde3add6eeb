"""Every function of the core against its slow twin."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree import _core, _pieces
from reference import trees as reference
from support import bridge, strategies


def big_block(n_rows=10_000, n_features=9, seed=3):
    """More rows of either class than a chunk holds."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_features)).astype(np.float32)
    y = (generator.random(n_rows) < 0.45).astype(np.uint8)
    return strategies.Problem(X, y, generator.uniform(0.1, 3.0, n_rows))


@st.composite
def weighted_rows(draw):
    """Rows with weights for some of their features."""
    n, m = draw(st.integers(1, 20)), draw(st.integers(1, 40))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    Z = (generator.normal(size=(n, m)) * 10.0 ** generator.integers(-30, 30, (n, m))).astype(np.float32)
    features = np.flatnonzero(generator.random(m) < draw(st.sampled_from([0.2, 0.7, 1.0])))
    return Z, {int(f): np.float32(generator.uniform(-1, 1)) for f in features}


@given(weighted_rows())
def test_feature_sums_have_the_same_bits(rows):
    Z, weights = rows
    fast = _pieces.feature_sums(Z, list(weights), list(weights.values()))
    portable = _pieces.feature_sums(Z, list(weights), list(weights.values()), portable=True)
    assert fast.tobytes() == portable.tobytes()
    np.testing.assert_array_equal(fast, reference.feature_sum(weights, Z))


def test_feature_sums_of_all_lengths():
    generator = np.random.default_rng(0)
    Z = generator.normal(size=(3, 70)).astype(np.float32)
    for size in range(1, 71):
        weights = {f: np.float32(generator.normal()) for f in range(70 - size, 70)}
        sums = _pieces.feature_sums(Z, list(weights), list(weights.values()))
        np.testing.assert_array_equal(sums, reference.feature_sum(weights, Z))


def test_feature_sums_reject_features_out_of_range(rejects):
    Z = np.zeros((2, 3), dtype=np.float32)
    rejects(_pieces.feature_sums, Z, [3], [1.0])
    rejects(_pieces.feature_sums, Z, [0, 1], [1.0])


def check_moments(problem, weight, rtol):
    weights = np.ones(len(problem.y)) if weight is None else weight
    for cls, moments in enumerate(_pieces.measure(problem.X, problem.y, weight)):
        own = problem.y == cls
        z, w = problem.X[own].astype(np.float64), weights[own]
        assert moments["weight"] == pytest.approx(math.fsum(w), rel=1e-12)
        for i, x in enumerate(z.T):
            size = math.fsum(w * np.abs(x))
            assert moments["sum"][i] == pytest.approx(math.fsum(w * x), rel=1e-12, abs=1e-12 * size)
            squares = reference.scatter(x, x, w)
            spread = math.fsum(w * x * x)
            assert moments["squares"][i] == pytest.approx(squares, rel=rtol, abs=1e-25 * spread)
            assert (moments["low"][i], moments["high"][i]) == (x.min(), x.max())


@given(strategies.blocks(), st.booleans())
def test_moments_match_the_reference(block, is_weighted):
    check_moments(block, block.weight if is_weighted else None, 1e-9)


@pytest.mark.parametrize("is_weighted", [True, False])
def test_moments_of_several_chunks(is_weighted):
    block = big_block()
    check_moments(block, block.weight if is_weighted else None, 1e-11)


def test_moments_far_from_zero_keep_their_variance():
    # A textbook sum of squares would have lost all of it.
    block = big_block(9000, 2)
    far = strategies.Problem((block.X + np.float32(30_000)).astype(np.float32), block.y, block.weight)
    check_moments(far, far.weight, 1e-9)


@given(strategies.grid_blocks(), strategies.options(), st.booleans())
def test_direction_matches_the_reference(block, options, fisher):
    names, values = _pieces.direction(
        block.X, block.y, block.weight, options.alpha, options.beta, fisher, options.shrinkage
    )
    z, is_target = block.X.astype(np.float64), block.y == 1
    active = reference.active_features(z, block.weight, options.alpha)
    kept = reference.keep_features(
        reference.mean_differences(z, is_target, block.weight, active), options.beta
    )
    if fisher and kept:
        kept = reference.fisher_direction(z, is_target, block.weight, kept, options.shrinkage)
    expected = {i: np.float32(w) for i, w in reference.divide_by_largest(kept).items()}
    assert names == list(expected)
    if fisher:
        np.testing.assert_allclose(values, list(expected.values()), 1e-4, 1e-5)
    else:
        assert values == list(expected.values())


@pytest.mark.parametrize("fisher", [False, True])
def test_direction_of_several_chunks(fisher):
    block = big_block()
    z, is_target = block.X.astype(np.float64), block.y == 1
    names, values = _pieces.direction(block.X, block.y, block.weight, 0.0, 0.3, fisher, 1e-3)
    kept = reference.keep_features(reference.mean_differences(z, is_target, block.weight, range(9)), 0.3)
    assert 1 < len(kept) < 9
    if fisher:
        kept = reference.fisher_direction(z, is_target, block.weight, kept, 1e-3)
    assert names == list(kept)
    np.testing.assert_allclose(values, list(reference.divide_by_largest(kept).values()), 1e-6)


@pytest.mark.parametrize("n_features", [512, 600])
@pytest.mark.parametrize("is_real", [False, True])
@pytest.mark.parametrize("beta", [0.0, 0.05])
def test_more_features_than_rows_are_solved_in_the_space_of_rows(n_features, is_real, beta):
    generator = np.random.default_rng(4)
    Z = generator.normal(size=(20, n_features)).astype(np.float32)
    weight = generator.uniform(0.1, 3.0, 20)
    response = Z[:, 0] + generator.normal(size=20) if is_real else (np.arange(20) % 2).astype(np.float64)
    options = bridge.core_options(
        reference.Options("fisher", "gini", "least_squares", beta=beta, max_depth=1)
    )
    arrays, _ = _pieces.grow(Z, response, weight, options, 0)
    if not is_real:
        arrays, _ = _pieces.grow(Z, response.astype(np.uint8), weight, options, 0)
    root = bridge.as_tree(arrays)
    far = np.sqrt(weight)[:, None] * (Z - np.average(Z.astype(np.float64), axis=0, weights=weight))
    r = np.sqrt(weight) * (response - np.average(response, weights=weight))

    def check(found, kept, explained):
        D = far[:, kept]
        ridge = 1e-3 * ((D**2).sum() - explained(D)) / len(kept)
        direct = np.linalg.solve(D.T @ D + ridge * np.eye(len(kept)), D.T @ r)
        in_rows = reference.solve_in_rows(D, r, ridge)
        np.testing.assert_allclose(in_rows, direct, 1e-6, 1e-9 * np.abs(direct).max())
        assert list(found) == kept
        return np.array(list(found.values())), direct

    slopes, direct = check(root.slopes[0], list(range(n_features)), lambda D: 0.0)
    np.testing.assert_allclose(slopes, direct, 1e-6, 1e-9 * np.abs(direct).max())
    weights, direct = check(
        root.weights[0], list(root.weights[0]), lambda D: ((D.T @ r) ** 2).sum() / (r @ r)
    )
    assert (len(weights) < n_features) == (beta > 0)
    direct /= np.abs(direct).max()
    np.testing.assert_allclose(weights, direct, 1e-6, 1e-7)


@pytest.mark.parametrize("direction", ["fisher", "mixed"])
def test_many_features_need_no_square_matrix(direction):
    # A matrix of 50,000 x 50,000 would take 20 GB and hours.
    generator = np.random.default_rng(5)
    y = (np.arange(50) % 2).astype(np.uint8)
    Z = generator.normal(size=(50, 50_000)).astype(np.float32)
    options = bridge.core_options(reference.Options(direction, "gini", "least_squares"))
    _, leaf_of_row = _pieces.grow(Z, y, None, options, 0)
    bridge.assert_same_partition(leaf_of_row, y)


def test_equal_features_keep_their_mean_differences():
    # Every feature is the class itself: nothing scatters within the classes.
    y = (np.arange(20) % 2).astype(np.uint8)
    Z = np.repeat(y[:, None], 600, axis=1).astype(np.float32)
    options = bridge.core_options(reference.Options("fisher", "gini", "least_squares", shrinkage=0.0))
    root = bridge.as_tree(_pieces.grow(Z, y, None, options, 0)[0])
    assert set(root.weights[0].values()) == {1.0}
    assert set(root.slopes[0].values()) == {1.0}


def test_fisher_direction_uses_correlations():
    # Both features differ by 1 in the mean; they are so correlated that only their difference counts.
    generator = np.random.default_rng(1)
    shared, own = generator.normal(size=4000) * 5, generator.normal(size=4000) * 0.1
    y = (np.arange(4000) % 2).astype(np.uint8)
    Z = np.column_stack([shared + y, shared + own]).astype(np.float32)
    _, (first, second) = _pieces.direction(Z, y, None, 0.0, 0.0, True, 1e-6)
    assert (first, second) == pytest.approx((1.0, -1.0), abs=0.02)


def test_a_direction_needs_both_classes(rejects):
    rejects(_pieces.direction, np.zeros((2, 1), np.float32), np.ones(2, np.uint8), None, 0.0, 0.0, False, 0.0)


@st.composite
def summed(draw):
    """Feature sums with many ties, or none; classes; weights."""
    n = draw(st.integers(2, 60))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_values = draw(st.sampled_from([2, 4, 9, 1000]))
    sums = generator.integers(0, n_values, n) / 4 if draw(st.booleans()) else generator.normal(size=n)
    y = (generator.random(n) < draw(st.sampled_from([0.1, 0.5, 0.8]))).astype(np.uint8)
    y[draw(st.permutations(range(n)))[:2]] = [0, 1]
    if draw(st.booleans()):
        sums = sums + y * draw(st.sampled_from([0.5, 2.0, 300.0]))  # sets that a cut takes off pure
    weight = draw(st.one_of(st.none(), strategies.weights(n)))
    return sums, y, weight


@given(summed(), strategies.options())
def test_cuts_match_the_reference(problem, options):
    sums, y, weight = problem
    weights = np.ones(len(y)) if weight is None else weight
    Z = np.zeros((len(y), 1), dtype=np.float32)
    is_target, least = y == 1, options.min_samples_leaf
    cut = _pieces.cut(Z, y, weight, sums, "gini", options.gamma, least)
    expected = reference.gini_cut(sums, is_target, weights, least)
    assert cut == (None if expected is None else (expected[1], expected[0]))

    cut = _pieces.cut(Z, y, weight, sums, "purity", options.gamma, least)
    offset = reference.purity_offset(sums, is_target, weights, options.gamma)
    sides = [] if offset is None else [weights[sums < offset].sum(), weights[sums >= offset].sum()]
    assert cut == ((offset, 0.0) if sides and min(sides) >= least else None)


def test_cut_between_adjacent_numbers_is_the_upper_one():
    low = 1.0
    high = np.nextafter(low, 2.0)
    arguments = np.zeros((2, 1), np.float32), np.array([0, 1], np.uint8), None, np.array([low, high])
    assert _pieces.cut(*arguments, "gini", 1.0, 1.0)[0] == high
    assert _pieces.cut(*arguments, "purity", 1.0, 1.0)[0] == high


@given(strategies.problems(), st.sampled_from(["float64", "float32"]), st.integers(1, 3))
def test_normalise_matches_the_formula(problem, dtype, n_threads):
    with np.errstate(over="ignore"):
        X = problem.X.astype(dtype)
    X[np.isinf(X)] = np.finfo(dtype).max
    centre, scale = reference.learn_normalisation(X, problem.weight, "robust")
    for given_as in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X[::-1][::-1]):
        Z = _core.normalise(given_as, centre, scale, n_threads)
        assert Z.dtype == np.float32
        np.testing.assert_array_equal(Z, reference.normalise(X, centre, scale))


def test_normalise_does_not_depend_on_threads():
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    Z = _core.normalise(X, np.zeros(3), np.ones(3), 3)
    np.testing.assert_array_equal(Z, X.astype(np.float32))
    X[17_000, 1] = np.inf
    assert _core.normalise(X, np.zeros(3), np.ones(3), 3) is None
    assert _core.normalise(X[:17_000], np.zeros(3), np.ones(3)) is not None


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normalise_rejects_infinity(value, dtype):
    X = np.zeros((5, 9), dtype=dtype)
    for column in range(9):
        X[3] = np.nan
        X[3, column] = value
        assert _core.normalise(X, np.zeros(9), np.ones(9)) is None


def test_equal_gini_cuts_go_by_gap_then_balance_then_sum():
    # With the weights 1, 4, 3, 2 of classes 0, 1, 0, 1 every cut costs 2: 0 + 6·3/9, 4/5 + 6/5, 16/8 + 0.
    y, weight = np.array([0, 1, 0, 1], np.uint8), np.array([1.0, 4.0, 3.0, 2.0])

    def cut(y, weight, *sums):
        Z = np.zeros((len(y), 1), dtype=np.float32)
        return _pieces.cut(Z, y, weight, np.array(sums, dtype=np.float64), "gini", 1.0, 1.0)

    assert cut(y, weight, 0, 1, 2, 3) == (1.5, 2.0)  # 5 on either side
    assert cut(y, weight, 0, 1, 2, 4) == (3.0, 2.0)  # a gap of 2
    assert cut(y, weight, 0, 2, 3, 4) == (1.0, 2.0)
    assert cut(y[:3], None, 0, 1, 2) == (0.5, 0.5)  # alike in all but the sum
