"""Stored training rows (prototypes) and the range of every feature."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine

from lhtree import LHForestClassifier, LHTClassifier
from lhtree.model.model import read
from support import strategies

MAKERS = [LHTClassifier, lambda **params: LHForestClassifier(3, **params)]


@pytest.mark.parametrize("make", MAKERS)
def test_no_rows_are_stored_by_default(make):
    X, y = load_wine(return_X_y=True)
    assert read(make().fit(X, y)).prototypes is None
    assert read(make(keep_prototypes=np.False_).fit(X, y)).prototypes is None


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("wanted", [True, 178, 1000])
def test_all_rows_are_kept(make, wanted):
    X, y = load_wine(return_X_y=True)
    given_X = X.copy()
    prototypes = read(make(keep_prototypes=wanted).fit(given_X, y)).prototypes
    given_X[:] = 0.0  # the model has a copy
    np.testing.assert_array_equal(prototypes.X, X)
    np.testing.assert_array_equal(prototypes.codes, y)
    np.testing.assert_array_equal(prototypes.given, np.arange(178))


@given(strategies.problems(), st.integers(0, 70), st.integers(0, 9))
def test_some_rows_are_drawn_by_class(problem, more, seed):
    weight = problem.weight.copy()
    weight[::3] = 0.0  # left out
    used = np.unique(problem.y[weight > 0])
    assume(len(used) > 1)
    assume(weight.max() >= 1)
    wanted = len(used) + more
    model = LHTClassifier(keep_prototypes=wanted, random_state=seed).fit(problem.X, problem.y, weight)
    prototypes = read(model).prototypes
    assert len(prototypes.X) == min(wanted, (weight > 0).sum())
    assert len(np.unique(prototypes.given)) == len(prototypes.given)
    assert (weight[prototypes.given] > 0).all()
    np.testing.assert_array_equal(prototypes.X, problem.X[prototypes.given])
    np.testing.assert_array_equal(used[prototypes.codes], problem.y[prototypes.given])
    assert set(prototypes.codes) == set(range(len(used)))


def test_draw_depends_on_the_seed():
    X, y = load_wine(return_X_y=True)
    draws = [
        tuple(read(LHTClassifier(keep_prototypes=30, random_state=seed).fit(X, y)).prototypes.given)
        for seed in (0, 0, 1)
    ]
    assert draws[0] == draws[1] != draws[2]
    assert np.bincount(y[list(draws[0])]).tolist() == [10, 12, 8]  # of 59, 71 and 48


def test_invalid_numbers_are_rejected_before_growth(monkeypatch, rejects):
    monkeypatch.setattr(LHForestClassifier, "_grow", lambda *arguments: pytest.fail("trees were grown"))
    rejects(LHForestClassifier(3, keep_prototypes=-1).fit, *load_wine(return_X_y=True))


@pytest.mark.parametrize("make", MAKERS)
def test_prototypes_do_not_change_the_model(make):
    X, y = load_wine(return_X_y=True)
    plain, keeping = make(random_state=0).fit(X, y), make(random_state=0, keep_prototypes=50).fit(X, y)
    np.testing.assert_array_equal(plain.predict_proba(X), keeping.predict_proba(X))
    assert clone(keeping).keep_prototypes == 50
    assert "keep_prototypes" in make().set_params(keep_prototypes=7).get_params()


def test_trees_of_a_forest_share_its_prototypes(rejects):
    X, y = load_wine(return_X_y=True)
    model = LHForestClassifier(3, keep_prototypes=True).fit(X, y)
    tree = model.estimators_[1]
    assert tree.keep_prototypes is True
    assert read(tree).prototypes is read(model).prototypes
    np.testing.assert_array_equal(read(tree).span.high, X.max(axis=0))
    rejects(read(model).estimator, 3)


@given(strategies.hostile_problems(), st.sampled_from(["robust", "standard", "minmax", None]))
def test_range_ignores_rows_without_weight(problem, normalize):
    weight = problem.weight.copy()
    weight[len(weight) // 2 :: 4] = 0.0
    rest = problem.X[weight > 0]
    assume(len(np.unique(problem.y[weight > 0])) > 1)
    fitted = read(LHTClassifier(normalize=normalize).fit(problem.X, problem.y, weight))
    np.testing.assert_array_equal(fitted.span.low, np.fmin.reduce(rest, axis=0))
    np.testing.assert_array_equal(fitted.span.high, np.fmax.reduce(rest, axis=0))


def test_warm_start_widens_the_range():
    X, y = load_wine(return_X_y=True)
    model = LHForestClassifier(2, beta=0, warm_start=True, keep_prototypes=True).fit(X[::2], y[::2])
    model.set_params(n_estimators=3).fit(X[1::2], y[1::2])
    fitted = read(model)
    np.testing.assert_array_equal(fitted.span.low, X.min(axis=0))
    np.testing.assert_array_equal(fitted.span.high, X.max(axis=0))
    np.testing.assert_array_equal(fitted.prototypes.X, X[1::2])
    assert model.explain(X[0]).n_estimators == 3
