"""Exports of ensembles give the predictions of the model up to rounding."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from lhtree import (
    LHBoostClassifier,
    LHEnsembleClassifier,
    LHEnsembleRegressor,
    LHForestClassifier,
    export_sql,
)
from lhtree.export import sql
from support import exports, hostile
from support.boosted import boosted_model
from support.clouds import make_clouds


def make_table(n_classes, n_rows=120):
    X, y = make_clouds(n_rows, 3, n_classes)
    return np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X), y


def fit(n_classes):
    X, y = make_table(max(n_classes, 2))
    if n_classes:
        return LHEnsembleClassifier(6, n_estimators=4, cv=2, random_state=0).fit(X, y), X
    y = np.nan_to_num(X).sum(axis=1)
    return LHEnsembleRegressor(6, n_estimators=4, cv=2, random_state=0).fit(X, y), X


@pytest.mark.parametrize("n_classes", [0, 2, 4])
@pytest.mark.parametrize("run", [exports.run_c, exports.run_onnx])
def test_exports_predict_as_the_model(n_classes, run, tmp_path):
    if run is exports.run_c and exports.COMPILER is None:
        pytest.skip("no C compiler")
    model, X = fit(n_classes)
    encoded = model._read().encode(X)
    result = run(model, encoded, tmp_path)
    if not n_classes:
        np.testing.assert_allclose(result.label, model.predict(X), rtol=1e-12)
        return
    np.testing.assert_array_equal(result.label, model.predict(X))
    np.testing.assert_allclose(result.proba, model.predict_proba(X), rtol=1e-9, atol=1e-15)


def test_small_memberships_of_a_forest_are_bounded_before_any_division(tmp_path):
    case = hostile.make_case("ensemble", 1794998686)
    membership = case.model.forest_.predict_membership(case.rows)
    assert membership.min() < 1e-6
    assert not np.allclose(membership.sum(axis=1), 1.0)
    hostile.check(case, tmp_path, dialects=())


def test_categories_are_looked_up(tmp_path):
    if exports.COMPILER is None:
        pytest.skip("no C compiler")
    X, y = make_table(3)
    names = ["root", "walk", "child"]  # words of the generated file
    X = pd.DataFrame(X, columns=names).assign(shop=[f"shop {i % 30}" for i in range(len(X))])
    model = LHEnsembleClassifier(4, n_estimators=2, cv=2, random_state=0).fit(X, y)
    result = exports.run_c(model, model._read().encode(X), tmp_path)
    np.testing.assert_allclose(result.proba, model.predict_proba(X), rtol=1e-9, atol=1e-15)
    text = (tmp_path / "model.c").read_text()
    assert '"root",' in text


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("n_classes", [0, 2, 4])
def test_sql_predicts_as_the_model_to_the_bit(n_classes):
    model, X = fit(n_classes)
    assert_sql_is_equal(model, exports.spoil(X))


@pytest.mark.usefixtures("server")
def test_sql_reads_forests_of_all_classes_and_free_boosted_trees():
    X, y = make_table(3)
    model = LHEnsembleClassifier(6, n_estimators=4, cv=2, random_state=0).fit(X, y)
    forest = LHForestClassifier(4, direction="mixed", multi_class="one_tree", random_state=0).fit(X, y)
    boost = LHBoostClassifier(6, growth="free", min_samples_leaf=5, random_state=0).fit(X, y)
    pool = replace(model._model.pool, forest=forest._model)
    model._model = replace(boost._model, pool=pool)
    assert_sql_is_equal(model, exports.spoil(X))


def assert_sql_is_equal(model, X):
    has_classes = bool(model._model.head.labels)
    runs = [exports.run_sqlite, exports.run_duckdb]
    runs += [partial(exports.run_postgresql, where=server) for server in exports.SERVER]
    for run in runs:
        result = run(model, X)
        np.testing.assert_array_equal(result.label, model.predict(X))
        if has_classes:
            np.testing.assert_array_equal(result.proba, model.predict_proba(X))


def test_sql_computes_logarithms_of_all_memberships_to_the_bit():
    """The tree of one leaf has a membership that is a linear function of x, from below the least one to 1."""
    powers = 2.0 ** -np.linspace(0.0, 20.5, 700)
    x = np.concatenate([powers, 1.0 - powers, [0.0, -1.0, 1.0, 2.0, 1e-6, 0.5**0.5]])[:, None]
    model = LHEnsembleClassifier(2, n_estimators=1, cv=2, random_state=0).fit(x, np.arange(len(x)) % 2)
    pool = model._model.pool
    leaf = boosted_model(np.random.default_rng(0), 1, 2, 1, 0, n_slopes=1, clip=1e30)
    trees = replace(
        leaf.trees, intercept=np.zeros(1), membership_slope=np.ones(1), low=np.zeros(1), high=np.ones(1)
    )
    forest = replace(pool.forest, trees=trees, normalisation=exports.one_to_one(1))
    model._model = replace(model._model, pool=replace(pool, forest=forest))
    assert len(np.unique(model.forest_.predict_membership(x)[:, 1])) > 1000
    assert_sql_is_equal(model, x)


def test_sql_refuses_forests_of_too_many_blocks(monkeypatch, rejects):
    model, _ = fit(2)
    monkeypatch.setattr(sql, "_MOST_SECONDS", 0.01)
    rejects(export_sql, model)
    assert export_sql(model, force=True).startswith("WITH")
