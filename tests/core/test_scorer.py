"""Tests of the core's `Scorer` against the reference, and of invalid arrays."""

import numpy as np
import pytest

from reference import trees as reference
from support import bridge, strategies


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
        rejects(bridge.make_scorer, {n: arrays[n] for n in arrays if n != name}, **rest, confidence="last")
        rejects(bridge.make_scorer, arrays | {name: arrays[name].astype("f2")}, **rest, confidence="last")
    both[name] = spoil(both[name])
    rejects(bridge.make_scorer, {n: both[n] for n in arrays}, **{n: both[n] for n in rest}, confidence="last")


def test_unknown_names_are_rejected(rejects):
    rejects(bridge.core_options, reference.Options(direction="sideways"))
