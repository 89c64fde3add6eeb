"""Drift against plain loops and SciPy; the summary of the training table does not depend on where rows are stored."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import lhtree
from lhtree import LHBoostClassifier, LHBoostRegressor, LHForestClassifier, evaluate, monitor
from lhtree.evaluation.drift import compare_counts, find_psi, find_tail
from lhtree.model.profile import profile_numbers
from support.bridge import assert_same


def make_table(n_rows=800, seed=0):
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"a": generator.normal(size=n_rows), "b": generator.integers(0, 4, n_rows).astype(float)}
    )
    X["c"] = generator.choice(["x", "y", "z"], n_rows, p=[0.6, 0.3, 0.1])
    X["d"] = generator.choice([f"k{i}" for i in range(40)], n_rows)
    X.loc[::10, "a"] = np.nan
    y = (X["a"].fillna(0) + (X["c"] == "x") + generator.normal(size=n_rows) > 0.6).astype(int)
    return X, y


@pytest.fixture(scope="module")
def model():
    return LHBoostClassifier(30, random_state=0).fit(*make_table())


@given(st.floats(0.0, 500.0), st.integers(1, 60))
def test_tail_of_chi_squared_is_that_of_scipy(statistic, n_free):
    assert find_tail(statistic, n_free) == pytest.approx(
        stats.chi2.sf(statistic, n_free), rel=1e-9, abs=1e-300
    )


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=12))
def test_comparison_of_counts_is_that_of_scipy(pairs):
    before, counts = np.array(pairs).T
    table = np.array(pairs).T[:, np.array(pairs).sum(axis=1) > 0]
    if not before.sum() or not counts.sum() or table.shape[1] < 2:
        return
    expected = stats.chi2_contingency(table, correction=False)
    assert compare_counts(before.astype(float), counts) == pytest.approx(
        (expected.statistic, expected.pvalue), rel=1e-9, abs=1e-12
    )


@given(st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0, 7.0, np.nan]), min_size=1, max_size=80))
def test_bins_of_numbers_cover_all_rows(values):
    values = np.array(values)
    profile, known = profile_numbers(values), values[~np.isnan(values)]
    counts = profile.count_rows(values)
    assert counts.sum() == len(values)
    assert counts[-1] == np.isnan(values).sum()
    if len(known):
        np.testing.assert_allclose(counts[:-1] / len(known), profile.shares, atol=1e-6)
        assert (counts[:-1] > 0).all()


def test_psi_and_shares_are_those_of_plain_loops(model):
    X, _ = make_table(400, seed=1)
    X["a"] += 1.0
    X.loc[:100, "c"] = "new"
    drift = monitor(model, X)
    found = {one.column: one for one in drift.columns}
    trained, _ = make_table()
    edges = [-np.inf, *model._model.profile.columns[0].edges, np.inf]
    psi = 0.0
    for low, high in pairwise(edges):
        p = ((trained["a"] > low) & (trained["a"] <= high)).mean()
        q = ((X["a"] > low) & (X["a"] <= high)).mean()
        psi += (q - p) * np.log(max(q, 0.5 / 400) / max(p, 1e-4))
    assert found["a"].psi == pytest.approx(psi, rel=1e-3)  # shares are stored with six digits
    assert (found["a"].level, found["b"].level) == ("large", "stable")
    assert found["a"].missing == pytest.approx(0.1)
    assert found["a"].outside == pytest.approx((X["a"] > trained["a"].max()).mean())
    assert found["c"].new_categories == ("new",)
    assert found["c"].outside == pytest.approx(101 / 400)
    assert found["c"].missing == 0.0
    assert find_psi(np.array([0.5, 0.5]), np.array([10, 10])) == 0.0


def test_rows_of_the_same_kind_are_stable(model):
    assert monitor(model, make_table(600, seed=7)[0]).level == "stable"
    drift = monitor(model, make_table(600, seed=7)[0], holdout=make_table(600, seed=3))
    assert (drift.basis, drift.level, drift.score.level) == ("hold-out", "stable", "stable")


def test_performance_is_compared_with_the_holdout(model):
    X, y = make_table(600, seed=2)
    drift = monitor(model, X, y, holdout=make_table(600, seed=3))
    now = {one.measure: one for one in drift.performance}
    assert now["roc_auc"].value == pytest.approx(evaluate(model, X, y).roc_auc)
    assert now["roc_auc"].before == pytest.approx(evaluate(model, *make_table(600, seed=3)).roc_auc)
    assert not any(one.is_worse for one in drift.performance)
    worse = monitor(model, X, np.random.default_rng(0).permutation(y), holdout=(X, y))
    assert {one.measure for one in worse.performance if one.is_worse} >= {"accuracy", "roc_auc"}
    assert worse.level == "large"


def test_summary_is_the_same_in_batches_and_files(tmp_path):
    X, y = make_table()
    X.assign(y=y).to_parquet(tmp_path / "table.parquet")
    whole = LHBoostClassifier(5, random_state=0).fit(X, y)
    parts = LHBoostClassifier(5, random_state=0).fit_batches(
        tmp_path / "table.parquet", target="y", batch_rows=100
    )
    lhtree.save(whole, tmp_path / "model.lht")
    read = lhtree.load(tmp_path / "model.lht")
    assert_same(parts._model.summary, whole._model.summary)
    assert_same(read._model.summary, whole._model.summary)
    assert whole._model.profile.columns[3].codes  # target statistics keep their categories
    assert read._model.provenance == whole._model.provenance
    assert whole._model.provenance.target == "y" or y.name is None


def test_summary_describes_the_rows_of_the_fit():
    """It is computed when it is first read, although the caller may change the table before."""
    X, y = np.random.default_rng(0).normal(size=(300, 3)), np.arange(300) % 2
    model, other = (LHForestClassifier(3, random_state=0).fit(X, y)._model for _ in range(2))
    profile = model.profile
    X[:] = 0.0
    assert_same(other.summary, model.summary)
    assert model.profile is profile  # not computed again
    assert_same(pickle.loads(pickle.dumps(other)).summary, model.summary)


def test_models_keep_their_settings_and_rows():
    X, y = make_table()
    provenance = [LHForestClassifier(3, random_state=0).fit(X, y)._model.provenance for _ in range(2)]
    assert provenance[0] == provenance[1]
    other = LHForestClassifier(3, random_state=0).fit(X, 1 - y)._model.provenance
    assert other.fingerprint != provenance[0].fingerprint
    settings = LHBoostClassifier(5, random_state=0).fit(X, y)._model.provenance.settings
    assert settings["learning_rate"] == LHBoostClassifier(5, random_state=0).fit(X, y).learning_rate_
    assert "auto" not in settings.values()


def test_a_regression_and_arrays_have_a_summary_too():
    X, _ = make_table()
    numbers = X[["a", "b"]].to_numpy()
    model = LHBoostRegressor(max_iter=10, random_state=0).fit(numbers, X["b"])
    drift = monitor(model, numbers, X["b"])
    assert drift.level == "stable"
    assert [one.measure for one in drift.performance] == ["rmse"]


def test_models_without_a_summary_are_refused(model, rejects):
    scorer = lhtree.load_scorer("tests/models/boosted.lht")
    rejects(monitor, scorer, np.zeros((3, 4)))
    rejects(monitor, model, make_table()[0], holdout=3)
