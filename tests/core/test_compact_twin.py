"""The core of compact trees against its slow twin: a block's problem, a pass over a tree, growth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree import _core, _pieces
from reference.compact import Data, Line, Problem, solve
from reference.compact_tree import Block, grow, make_pass, objective, route

seeds = st.integers(0, 2**32 - 1)


def make_rows(random, n_rows, n_features):
    """Normal values, some columns of few distinct ones, some cells missing, which are 0."""
    z = random.normal(size=(n_rows, n_features)).astype(np.float32)
    z[:, random.random(n_features) < 0.3] = random.integers(-2, 3, size=(n_rows, 1))
    z[random.random(z.shape) < 0.05] = 0.0
    return z


def make_classes(random, z, n_classes):
    """Classes by an oblique line and some noise; all of them are there."""
    total = z @ random.normal(size=z.shape[1]) + 0.5 * random.normal(size=len(z))
    classes = np.digitize(total, np.quantile(total, np.arange(1, n_classes) / n_classes)).astype(np.int32)
    classes[:n_classes] = np.arange(n_classes)
    return classes


def make_data(seed, n_classes, **options):
    random = np.random.default_rng(seed)
    z = make_rows(random, int(random.integers(20, 50)), int(random.integers(1, 6)))
    weight = random.integers(1, 4, size=len(z)).astype(np.float64)
    classes = make_classes(random, z, n_classes)
    prior = np.bincount(classes, weight) / weight.sum()
    return random, Data(z, weight, classes, prior, **options)


def draw_line(random, data):
    """A line that parts the rows near their middle."""
    m = data.z.shape[1]
    features = np.sort(random.choice(m, size=random.integers(1, m + 1), replace=False))
    weights = random.normal(size=len(features)).astype(np.float32)
    weights /= np.abs(weights).max()
    line = Line(tuple(features.tolist()), tuple(weights))
    return Line(line.features, line.weights, float(np.quantile(line.sums(data.z), random.uniform(0.3, 0.7))))


def to_core(line):
    return (
        ([], [], 0.0) if line is None else (list(line.features), list(map(float, line.weights)), line.offset)
    )


def check_solution(data, gain, present, is_quick=False):
    """Check the line that the core finds for a block against the reference."""
    slow = solve(Problem(data, np.arange(len(gain)), gain), present, is_quick)
    line, (wrong, value) = _pieces.solve_compact(
        data.z,
        data.weight,
        gain,
        to_core(present),
        data.penalty,
        data.min_samples_leaf,
        data.max_terms,
        is_quick,
    )
    assert (slow.line is None) == (not line[0])
    if slow.line is not None:
        assert value == pytest.approx(slow.value, rel=1e-6)
        assert wrong == pytest.approx(slow.wrong, rel=1e-9, abs=1e-9)
        assert tuple(line[0]) == slow.line.features
        np.testing.assert_allclose(line[1], slow.line.weights, rtol=1e-5, atol=1e-6)
        assert line[2] == pytest.approx(slow.line.offset, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("is_quick", [False, True])
@settings(max_examples=40)
@given(seed=seeds, has_present=st.booleans(), penalty=st.sampled_from([0.0, 0.1, 1.0]))
def test_solved_blocks_match_the_reference(is_quick, seed, has_present, penalty):
    random, data = make_data(seed, 2, penalty=penalty, min_samples_leaf=2.0, max_terms=4)
    gain = data.weight * np.round(random.normal(size=len(data.z)) + data.z[:, 0], 2)
    gain[random.random(len(gain)) < 0.1] = 0.0
    present = draw_line(random, data) if has_present else None
    check_solution(data, gain, present, is_quick)


@pytest.mark.parametrize("is_exact", [True, False])
@settings(max_examples=4)
@given(seed=seeds, has_ties=st.booleans())
def test_blocks_of_many_rows_match_the_reference(is_exact, seed, has_ties):
    """Sums of more rows than the core sorts at once are sorted by bucket."""
    random, n_rows = np.random.default_rng(seed), 600
    z = random.normal(size=(n_rows, 3)).astype(np.float32)
    z = np.round(z, 1) if has_ties else z
    z[:5] *= 1000.0  # far beyond all buckets
    weight = random.integers(1, 3, size=n_rows).astype(np.float64)
    data = Data(z, weight, penalty=0.1, min_samples_leaf=5.0, max_terms=3)
    gain = weight * np.round(z[:, 0] - np.abs(z[:, 1]) + random.normal(size=n_rows), 1)
    if is_exact:
        gain = np.round(4.0 * gain) / 4.0
    check_solution(data, gain, Line((0, 1), (np.float32(1.0), np.float32(-0.5)), 0.1))


def grow_at_random(random, data, n_leaves):
    root = Block(np.arange(len(data.z)))
    while len(root.leaves) < n_leaves:
        leaf = root.leaves[random.integers(len(root.leaves))]
        leaf.line, leaf.left, leaf.right = draw_line(random, data), Block(None), Block(None)
    route(root, root.rows, data)
    return root


def list_lines(block):
    """Lines of all blocks, parents first, left before right, None of a leaf."""
    return [None] if block.is_leaf else [block.line, *list_lines(block.left), *list_lines(block.right)]


@pytest.mark.parametrize("n_classes", [2, 4])
@settings(max_examples=20)
@given(seed=seeds, n_leaves=st.integers(2, 6))
def test_passes_match_the_reference(n_classes, seed, n_leaves):
    random, data = make_data(seed, n_classes, penalty=0.1, min_samples_leaf=2.0, max_terms=3)
    root = grow_at_random(random, data, n_leaves)
    lines = [to_core(line) for line in list_lines(root)]
    found, value = _pieces.pass_compact(
        data.z,
        data.weight,
        data.classes,
        data.prior,
        lines,
        data.penalty,
        data.min_samples_leaf,
        data.max_terms,
    )
    make_pass(root, data)
    assert value == pytest.approx(objective(root, data), rel=1e-9)
    slow = list_lines(root)
    assert [tuple(line[0]) for line in found] == [() if line is None else line.features for line in slow]
    assert [line[2] for line in found] == pytest.approx(
        [0.0 if line is None else line.offset for line in slow], rel=1e-5, abs=1e-6
    )


def grow_fast(data, **options):
    return _core.grow_compact(
        data.z,
        weight=data.weight,
        classes=data.classes,
        prior=data.prior,
        response=data.response,
        penalty=data.penalty,
        min_samples_leaf=data.min_samples_leaf,
        max_leaf_nodes=data.max_leaf_nodes,
        max_terms=data.max_terms,
        max_passes=data.max_passes,
        **options,
    )


OPTIONS = {"penalty": 0.3, "min_samples_leaf": 3.0, "max_leaf_nodes": 4, "max_terms": 3, "max_passes": 4}


@pytest.mark.parametrize("n_classes", [2, 3])
@settings(max_examples=4)
@given(seed=seeds)
def test_trees_match_the_reference(n_classes, seed):
    data = make_data(seed, n_classes, **OPTIONS)[1]
    root, objectives = grow(data)
    fast = grow_fast(data)
    assert fast["objective"] == pytest.approx(objectives, rel=1e-9)
    leaves = np.empty(len(data.z), dtype=np.int64)
    for number, leaf in enumerate(root.leaves):
        leaves[leaf.rows] = number
    # Both trees group the rows alike.
    pairs = set(zip(leaves.tolist(), fast["leaf"].tolist(), strict=True))
    assert len(pairs) == len(root.leaves) == (fast["left"] < 0).sum()


@settings(max_examples=4)
@given(seed=seeds)
def test_regression_trees_match_the_reference(seed):
    data = make_data(seed, 2, **OPTIONS)[1]
    response = data.z[:, 0] + np.sin(3.0 * data.z[:, -1].astype(np.float64))
    response = response - np.average(response, weights=data.weight)
    response /= 2.0 * np.sqrt(np.average(response**2, weights=data.weight)) or 1.0
    data = Data(data.z, data.weight, response=response, **OPTIONS)
    assert grow_fast(data)["objective"] == pytest.approx(grow(data)[1], rel=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@settings(max_examples=30)
@given(seed=seeds)
def test_the_objective_never_rises_and_rows_are_in_their_leaves(n_classes, seed):
    data = make_data(seed, n_classes, penalty=0.1, min_samples_leaf=2.0)[1]
    fast = grow_fast(data)
    assert (np.diff(fast["objective"]) <= 1e-9 * data.weight.sum()).all()
    for row, leaf in enumerate(fast["leaf"].tolist()):
        block = 0
        while fast["left"][block] >= 0:
            some = slice(*fast["hyperplane_ptr"][block : block + 2])
            line = Line(
                fast["hyperplane_feature"][some], fast["hyperplane_weight"][some], fast["offset"][block]
            )
            block = fast["left"][block] + int(line.is_right(data.z[[row]])[0])
        assert block == leaf


@settings(max_examples=30)
@given(seed=seeds)
def test_swapped_classes_give_the_same_leaves(seed):
    data = make_data(seed, 2, penalty=0.1, min_samples_leaf=2.0)[1]
    swapped = Data(
        data.z, data.weight, 1 - data.classes, data.prior[::-1].copy(), penalty=0.1, min_samples_leaf=2.0
    )
    one, other = grow_fast(data), grow_fast(swapped)
    assert one["objective"] == pytest.approx(other["objective"], rel=1e-9)
    np.testing.assert_array_equal(one["leaf"], other["leaf"])
