"""Centre and scale compared with the reference and with the specification."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree import LHTClassifier
from lhtree.tables import normalise
from lhtree.tables.rows import EncodedRows
from reference import trees as reference
from support import strategies

KINDS = ("robust", "standard", "minmax", None)


def learn_normalisation(X, weight, normalize):
    return normalise.learn_normalisation(EncodedRows.plain(X), weight, normalize)


@given(strategies.problems(), st.sampled_from(KINDS), st.booleans())
def test_centre_and_scale(problem, normalize, is_weighted):
    weight = problem.weight if is_weighted else None
    learned = learn_normalisation(problem.X, weight, normalize)
    ones = np.ones(len(problem.y))
    centre, scale = reference.learn_normalisation(problem.X, ones if weight is None else weight, normalize)
    known = np.nan_to_num(np.abs(problem.X)).max(axis=0)
    assert (np.abs(learned.centre - centre) <= 1e-12 * known).all()
    assert (np.abs(learned.scale - scale) <= np.maximum(1e-12 * known, 1e-9 * scale)).all()
    assert (learned.scale >= np.finfo(np.float64).tiny).all()
    if normalize != "standard":
        np.testing.assert_array_equal(learned.centre, centre)


def test_quantiles_of_many_rows_are_exact_in_any_order():
    n_rows = 1 << 17
    column = np.random.default_rng(0).standard_cauchy(n_rows)
    turns = np.where(np.arange(n_rows) % 8, column, 5.0)  # a sample of every eighth row sees one value
    zeros = np.where(column < 1.0, 0.0, column)
    X = np.stack([column, np.sort(column), turns, zeros, np.round(column), np.full(n_rows, 2.0)], axis=1)
    learned = learn_normalisation(X, None, "robust")
    low, middle, high = np.quantile(X, [0.05, 0.5, 0.95], axis=0, method="inverted_cdf")
    np.testing.assert_array_equal(learned.centre, middle)
    np.testing.assert_allclose(learned.scale[:-1], (high - low)[:-1] / 3.29, 1e-14)


def test_a_rare_value_leaves_the_deviation_and_a_constant_leaves_one():
    X = np.zeros((100, 2))
    X[0, 0] = 10.0
    learned = learn_normalisation(X, None, "robust")
    assert learned.scale.tolist() == [pytest.approx(X[:, 0].std()), 1.0]


@pytest.mark.parametrize("normalize", KINDS)
def test_columns_without_values_stay_as_they_are(normalize):
    X = np.array([[np.nan, 1.0], [np.nan, 3.0], [np.nan, np.nan]])
    learned = learn_normalisation(X, None, normalize)
    assert (learned.centre[0], learned.scale[0]) == (0.0, 1.0)
    some = learn_normalisation(X[:2, 1:], None, normalize)
    assert (learned.centre[1], learned.scale[1]) == (some.centre[0], some.scale[0])


@pytest.mark.parametrize("normalize", ["robust", "standard", "minmax"])
@pytest.mark.parametrize("size", [1e300, 1.7e308, 1e-300])
def test_huge_and_tiny_columns_neither_overflow_nor_vanish(normalize, size):
    X = np.linspace(-1.0, 1.0, 41)[:, None]
    usual, scaled = (learn_normalisation(x, None, normalize) for x in (X, X * size))
    np.testing.assert_allclose(scaled.scale / size, usual.scale, 1e-12)
    np.testing.assert_allclose(scaled.centre / size, usual.centre, 1e-12, 1e-12)


@pytest.mark.parametrize("normalize", ["robust", "standard", "minmax"])
def test_a_subnormal_scale_counts_as_zero(normalize):
    X = np.arange(40)[:, None] * 5e-324
    assert learn_normalisation(X, None, normalize).scale[0] == 1.0


@pytest.mark.parametrize("normalize", KINDS)
def test_many_wide_columns_are_learned_piece_by_piece(normalize):
    # Columns are read some megabytes at a time.
    X = np.random.default_rng(0).normal(size=(40_000, 60)) * np.arange(1, 61)
    learned = learn_normalisation(X, None, normalize)
    alone = [learn_normalisation(X[:, [i]], None, normalize) for i in range(60)]
    np.testing.assert_array_equal(learned.centre, [one.centre[0] for one in alone])
    np.testing.assert_array_equal(learned.scale, [one.scale[0] for one in alone])


def test_infinities_are_named_by_original_rows(rejects):
    X = np.arange(40.0).reshape(20, 2)
    X[4, 1] = np.inf
    weight = np.ones(20)
    weight[0] = 0
    rejects(LHTClassifier().fit, X, np.arange(20) % 2, weight)


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (340, 3), (1000, 3), (1025, 1), (5000, 7), (9, 1500)])
def test_ranges_of_rows_are_those_of_their_columns(shape):
    X = np.random.default_rng(0).normal(size=shape)
    X[np.random.default_rng(1).random(shape) < 0.3] = np.nan
    expected = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    for rows in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(EncodedRows.plain(rows).extremes(), expected)
