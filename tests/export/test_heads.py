"""Every head and calibration in every SQL engine, with names that a query could confuse with its own."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from lhtree import (
    CompactLHTClassifier,
    CompactLHTRegressor,
    LHBoostClassifier,
    LHBoostRegressor,
    LHForestClassifier,
    LHForestRegressor,
    LHTClassifier,
    LHTRegressor,
    _core,
    export_sql,
)
from lhtree.model.records import CALIBRATORS
from support.calibrations import give_calibration
from support.clouds import make_clouds
from support.hostile import Case, run_sql

FOREST = {"direction": "mixed", "min_samples_leaf": 5, "random_state": 0}
CLASSIFIERS = {
    "tree": LHTClassifier(min_samples_leaf=5),
    "forest": LHForestClassifier(2, **FOREST),
    "forest of all classes": LHForestClassifier(2, multi_class="one_tree", **FOREST),
    "boosted": LHBoostClassifier(3, min_samples_leaf=5, random_state=0),
    "boosted by class": LHBoostClassifier(3, multi_class="one_per_class", min_samples_leaf=5, random_state=0),
}
REGRESSORS = {
    "tree regressor": LHTRegressor(min_samples_leaf=5),
    "forest regressor": LHForestRegressor(2, random_state=0),
    "compact regressor": CompactLHTRegressor(penalty=0.1),
    "compact linear regressor": CompactLHTRegressor(penalty=0.1, membership="linear"),
    "boosted regressor": LHBoostRegressor(max_iter=3, random_state=0),
    "boosted quantiles": LHBoostRegressor("quantile", quantile=[0.4, 0.5, 0.6], max_iter=3, random_state=0),
    "boosted poisson regressor": LHBoostRegressor("poisson", max_iter=3, random_state=0),
}


def list_models():
    """Return (name, estimator, number of classes or 0 for a regressor, kind of calibration or None)."""
    for name, model in CLASSIFIERS.items():
        for n_classes in (2, 3):
            for kind in (None, *CALIBRATORS):
                yield f"{name}, {n_classes} classes, {kind}", model, n_classes, kind
    for n_classes in (2, 3):
        yield f"compact, {n_classes} classes", CompactLHTClassifier(penalty=0.1), n_classes, None
    yield "compact linear", CompactLHTClassifier(penalty=0.1, membership="linear"), 2, None
    for name, model in REGRESSORS.items():
        yield name, model, 0, None


@pytest.fixture(scope="module")
def models():
    fitted = {}
    for name, model, n_classes, kind in list_models():
        X, y = make_clouds(90, 2, max(n_classes, 2))
        y = np.where(np.random.default_rng(0).random(90) < 0.2, 0, y) if n_classes else np.abs(3.0 * X[:, 0])
        X = pd.DataFrame(X, columns=["true", "both"])
        own = clone(model).fit(X, y.astype(bool) if n_classes == 2 else y)
        fitted[name] = give_calibration(own, kind) if kind else own, X
    return fitted


def test_models_have_all_links_and_calibrations(models):
    found = {
        (model._model.head.link, model._model.calibration and model._model.calibration.kind)
        for model, _ in models.values()
    }
    assert {link for link, _ in found} == set(_core.LINKS)
    for link in ("wolf", "logistic", "softmax"):
        assert {kind for one, kind in found if one == link} == {None, *CALIBRATORS}


@pytest.mark.parametrize("table", ["orders_", "both"])
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgresql"])
def test_every_head_in_every_engine(models, dialect, table, request):
    server = request.getfixturevalue("postgresql") if dialect == "postgresql" else None
    for name, (model, X) in models.items():
        result = run_sql(Case(model, X, table), dialect, server)
        np.testing.assert_array_equal(result.label, model.predict(X), err_msg=name)
        if model._model.head.labels:
            np.testing.assert_array_equal(result.proba, model.predict_proba(X), err_msg=name)


@pytest.mark.parametrize(
    "estimator", [LHTClassifier(), CompactLHTClassifier(penalty=0.1, min_samples_leaf=1)]
)
def test_boolean_categories_beside_a_column_named_true(estimator):
    """SQLite reads TRUE as a column if there is one of that name."""
    married = pd.Categorical([False, True] * 20)
    X = pd.DataFrame({"true": np.arange(40.0) % 5, "false": 1.0, "married": married})
    model = clone(estimator).fit(X, np.arange(40) % 2 == 1)
    for dialect in ("sqlite", "duckdb"):
        result = run_sql(Case(model, X, "data"), dialect)
        np.testing.assert_array_equal(result.proba, model.predict_proba(X), err_msg=dialect)
        assert result.label.astype(bool).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("dialect", ["duckdb", "postgresql"])
def test_columns_without_a_name_are_rejected(dialect, rejects):
    X, y = make_clouds(40, 2, 2)
    model = LHTClassifier().fit(pd.DataFrame(X, columns=["", "b"]), y)
    with rejects:
        export_sql(model, dialect=dialect)
    other = LHTClassifier().fit(pd.DataFrame(X, columns=["a", "b"]), y)
    with rejects:
        export_sql(other, keys=[""], dialect=dialect)


def test_sqlite_reads_columns_without_a_name():
    X, y = make_clouds(40, 2, 2)
    X = pd.DataFrame(X, columns=["", "b"])
    for model in (LHTClassifier(), CompactLHTClassifier()):
        result = run_sql(Case(model.fit(X, y), X, "data"), "sqlite")
        np.testing.assert_array_equal(result.proba, model.predict_proba(X))


def test_ignored_columns_may_have_no_name(rejects):
    X, y = make_clouds(80, 1, 2)
    X = pd.DataFrame({"": [f"row {i}" for i in range(80)], "x": X[:, 0]})
    with rejects.warning():
        model = LHTClassifier().fit(X, y)
    assert export_sql(model, dialect="duckdb").startswith("WITH")
