"""Exports of ensembles give the predictions of the model up to rounding."""

import numpy as np
import pandas as pd
import pytest

from lhtree import LHEnsembleClassifier, LHEnsembleRegressor, export_sql
from support import exports, hostile
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


def test_sql_is_rejected(rejects):
    rejects(export_sql, fit(2)[0])
