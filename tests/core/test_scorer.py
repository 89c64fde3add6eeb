"""Tests of the core's `Scorer` against the reference, and of invalid arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import scoring as reference_scoring
from reference import trees as reference
from support import bridge, strategies

MODES = ("last", "path", None)


@st.composite
def models(draw):
    """Some trees per class, grown on grids; rows to score; a prior that need not fit."""
    problem = draw(strategies.grid_problems(max_rows=30, max_classes=4))
    options = draw(strategies.options())
    n_classes = int(problem.y.max()) + 1
    targets = ([1] if n_classes == 2 else list(range(n_classes))) * draw(st.integers(1, 3))
    forest = None
    for number, target in enumerate(targets):
        block = strategies.as_normalised(problem._replace(y=problem.y == target))
        arrays, _ = bridge.grow(block, options, key=number)
        arrays["target"][:] = target
        forest = arrays if forest is None else join(forest, arrays)
    rows = problem.X + draw(st.sampled_from([0.0, 0.125, -30.0]))
    return forest, targets, n_classes, rows


def join(first, second):
    """Return the concatenated arrays of two models; a tree that is a leaf has no shares of the gain."""
    return {
        name: np.concatenate(
            [first[name], first[name][-1] + second[name][1:]]
            if name.endswith("_ptr")
            else [first[name], second[name]]
        )
        for name in first
        if name in second
    }


@given(models(), st.sampled_from(MODES), st.integers(1, 3))
def test_scores_match_the_reference(model, mode, n_threads):
    arrays, targets, n_classes, X = model
    m = X.shape[1]
    centre, scale = np.linspace(-0.5, 0.5, m), np.linspace(0.5, 2.0, m)
    prior = np.arange(1.0, n_classes + 1) / sum(range(1, n_classes + 1))
    scorer = bridge.make_scorer(arrays, centre, scale, prior, mode)
    assert (scorer.n_features, scorer.n_classes, scorer.n_trees) == (m, n_classes, len(targets))
    Z = reference.normalise(X, centre, scale)
    trees = [bridge.as_tree(arrays, tree) for tree in range(len(targets))]
    given_trees = trees, targets, n_classes, Z
    same = np.testing.assert_array_equal  # the core takes the same sums in the same order
    same(scorer.apply(X, n_threads), [[reference_scoring.leaf(tree, z) for tree in trees] for z in Z])
    same(scorer.wolf(X, n_threads), reference_scoring.wolf(*given_trees, mode))
    same(scorer.membership(X, n_threads), reference_scoring.mean_membership(*given_trees))
    same(scorer.confidence(X, n_threads), reference_scoring.mean_confidence(*given_trees, mode))
    same(scorer.predict(X, n_threads), reference_scoring.predict(*given_trees, mode, prior))
    proba = scorer.proba(X, n_threads)
    np.testing.assert_allclose(proba, reference_scoring.predict_proba(*given_trees, mode, prior), 1e-14)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, 1e-14)


def leaf_model(intercepts, prior):
    """Trees that are one leaf each."""
    n = len(intercepts)
    zeros = np.zeros(n + 1, dtype=np.int64)
    arrays = {
        "target": np.arange(n, dtype=np.int32),
        "block_ptr": np.arange(n + 1),
        "left": np.full(n, -1, dtype=np.int32),
        "offset": np.zeros(n),
        "intercept": np.array(intercepts, dtype=np.float64),
        "hyperplane_ptr": zeros,
        "hyperplane_feature": np.empty(0, dtype=np.int32),
        "hyperplane_weight": np.empty(0, dtype=np.float32),
        "membership_ptr": zeros.copy(),
        "membership_feature": np.empty(0, dtype=np.int32),
        "membership_slope": np.empty(0),
    }
    return bridge.make_scorer(arrays, np.zeros(1), np.ones(1), np.array(prior), "last")


def test_rows_of_zeros_fall_back_on_the_prior():
    scorer = leaf_model([0.0, -2.0, 0.0], [0.2, 0.5, 0.3])
    X = np.zeros((2, 1))
    np.testing.assert_array_equal(scorer.wolf(X), np.zeros((2, 3)))
    np.testing.assert_array_equal(scorer.proba(X), [[0.2, 0.5, 0.3]] * 2)
    np.testing.assert_array_equal(scorer.predict(X), [1, 1])


def test_the_first_class_wins_exact_ties():
    scorer = leaf_model([0.25, 0.5, 0.5], [0.1, 0.1, 0.8])
    np.testing.assert_array_equal(scorer.predict(np.zeros((1, 1))), [1])
    np.testing.assert_array_equal(scorer.confidence(np.zeros((1, 1))), [[1.0, 1.0, 1.0]])


def test_rows_of_zeros_fall_back_on_the_memberships():
    # A row on the hyperplane itself has confidence 0.
    block = strategies.Problem(
        np.array([[0.0], [1.0], [2.0], [2.0]], dtype=np.float32),
        np.array([0, 0, 1, 0], dtype=np.uint8),
        np.ones(4),
    )
    arrays, tree = bridge.grow(block, reference.Options())
    assert tree.offset[0] == 1.5
    scorer = bridge.make_scorer(arrays, np.zeros(1), np.ones(1), np.array([0.9, 0.1]), "last")
    X = np.array([[1.5]])
    np.testing.assert_array_equal(scorer.wolf(X), [[0.0, 0.0]])
    np.testing.assert_array_equal(scorer.proba(X), [[0.5, 0.5]])


FAULTS = [
    ("block_ptr", lambda values: values + 1),
    ("block_ptr", lambda values: values[:-1]),
    ("target", lambda values: values + 5),
    ("target", lambda values: values - 5),
    ("target", lambda values: values * 0),
    ("left", lambda values: np.where(values >= 0, 0, values).astype(np.int32)),
    ("left", lambda values: np.where(values >= 0, 10**6, values).astype(np.int32)),
    ("left", lambda values: values * 0 - 1),
    ("left", lambda values: values[:-1]),
    ("offset", lambda values: values * np.nan),
    ("offset", lambda values: values[:-1]),
    ("intercept", lambda values: values + np.inf),
    ("hyperplane_ptr", lambda values: values[::-1].copy()),
    ("hyperplane_ptr", lambda values: values[:-1]),
    ("hyperplane_feature", lambda values: values + 100),
    ("hyperplane_feature", lambda values: values - 100),
    ("hyperplane_feature", lambda values: values * 0),
    ("hyperplane_feature", lambda values: values[:-1]),
    ("hyperplane_weight", lambda values: values * np.float32(np.nan)),
    ("membership_ptr", lambda values: values + 1),
    ("membership_feature", lambda values: values[::-1].copy()),
    ("membership_feature", lambda values: values[:-1]),
    ("membership_slope", lambda values: values * np.inf),
    ("centre", lambda values: values[:-1]),
    ("scale", lambda values: values[:-1]),
    ("prior", lambda values: values[:1]),
]


@pytest.mark.parametrize(("name", "spoil"), FAULTS)
def test_invalid_arrays_are_rejected(name, spoil, rejects):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(80, 3)).astype(np.float32)
    block = strategies.Problem(X, (X[:, 0] * X[:, 1] > 0).astype(np.uint8), np.ones(80))
    arrays, _ = bridge.grow(block, reference.Options(gamma=20.0))
    rest = {"centre": np.zeros(3), "scale": np.ones(3), "prior": np.array([0.5, 0.5])}
    assert bridge.make_scorer(arrays, **rest, confidence="last").n_trees == 1
    both = arrays | rest
    if name in ("target", "offset", "membership_slope"):
        with rejects:
            bridge.make_scorer({n: arrays[n] for n in arrays if n != name}, **rest, confidence="last")
        with rejects:
            bridge.make_scorer(arrays | {name: arrays[name].astype("f2")}, **rest, confidence="last")
    both[name] = spoil(both[name])
    with rejects:
        bridge.make_scorer({n: both[n] for n in arrays}, **{n: both[n] for n in rest}, confidence="last")


def test_unknown_names_are_rejected(rejects):
    with rejects:
        bridge.core_options(reference.Options(direction="sideways"))


@pytest.mark.parametrize("method", ["proba", "wolf", "membership", "confidence", "predict", "apply"])
@pytest.mark.parametrize("n_rows", [1, 5, 100, 40_000])
def test_infinities_and_wrong_widths_are_rejected(method, n_rows, rejects):
    ask = getattr(leaf_model([0.5, 0.5, 0.5], [0.2, 0.5, 0.3]), method)
    X = np.zeros((n_rows, 1))
    assert len(ask(X, 2)) == n_rows
    X[-1] = np.inf
    assert ask(X, 2) is None
    with rejects:
        ask(np.zeros((n_rows, 2)), 2)
