"""Every head and calibration in every SQL engine, with names that a query could confuse with its own."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import lhtree
from lhtree.model.records import CALIBRATORS
from support.calibrations import give_calibration
from support.clouds import make_clouds
from support.hostile import Case, run_sql

FOREST = {"direction": "mixed", "min_samples_leaf": 5, "random_state": 0}
CLASSIFIERS = {
    "tree": lhtree.LHTClassifier(min_samples_leaf=5),
    "forest": lhtree.LHForestClassifier(2, **FOREST),
    "forest of all classes": lhtree.LHForestClassifier(2, multi_class="one_tree", **FOREST),
    "boosted": lhtree.LHBoostClassifier(3, min_samples_leaf=5, random_state=0),
    "boosted by class": lhtree.LHBoostClassifier(
        3, multi_class="one_per_class", min_samples_leaf=5, random_state=0
    ),
}
REGRESSORS = {
    "tree regressor": lhtree.LHTRegressor(min_samples_leaf=5),
    "forest regressor": lhtree.LHForestRegressor(2, random_state=0),
    "compact regressor": lhtree.CompactLHTRegressor(penalty=0.1),
    "compact linear regressor": lhtree.CompactLHTRegressor(penalty=0.1, membership="linear"),
    "boosted regressor": lhtree.LHBoostRegressor(max_iter=3, random_state=0),
    "boosted quantiles": lhtree.LHBoostRegressor(
        "quantile", quantile=[0.4, 0.5, 0.6], max_iter=3, random_state=0
    ),
    "boosted poisson regressor": lhtree.LHBoostRegressor("poisson", max_iter=3, random_state=0),
}


def list_models():
    """Return (name, estimator, number of classes or 0 for a regressor, kind of calibration or None)."""
    for name, model in CLASSIFIERS.items():
        for n_classes in (2, 3):
            for kind in (None, *CALIBRATORS):
                yield f"{name}, {n_classes} classes, {kind}", model, n_classes, kind
    for n_classes in (2, 3):
        yield f"compact, {n_classes} classes", lhtree.CompactLHTClassifier(penalty=0.1), n_classes, None
    yield "compact linear", lhtree.CompactLHTClassifier(penalty=0.1, membership="linear"), 2, None
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
    assert {link for link, _ in found} == set(lhtree._core.LINKS)
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
    "estimator", [lhtree.LHTClassifier(), lhtree.CompactLHTClassifier(penalty=0.1, min_samples_leaf=1)]
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
    model = lhtree.LHTClassifier().fit(pd.DataFrame(X, columns=["", "b"]), y)
    rejects(lhtree.export_sql, model, dialect=dialect)
    other = lhtree.LHTClassifier().fit(pd.DataFrame(X, columns=["a", "b"]), y)
    rejects(lhtree.export_sql, other, keys=[""], dialect=dialect)


def test_sqlite_reads_columns_without_a_name():
    X, y = make_clouds(40, 2, 2)
    X = pd.DataFrame(X, columns=["", "b"])
    for model in (lhtree.LHTClassifier(), lhtree.CompactLHTClassifier()):
        result = run_sql(Case(model.fit(X, y), X, "data"), "sqlite")
        np.testing.assert_array_equal(result.proba, model.predict_proba(X))


def test_ignored_columns_may_have_no_name(rejects):
    X, y = make_clouds(80, 1, 2)
    X = pd.DataFrame({"": [f"row {i}" for i in range(80)], "x": X[:, 0]})
    with rejects.warning():
        model = lhtree.LHTClassifier().fit(X, y)
    assert lhtree.export_sql(model, dialect="duckdb").startswith("WITH")
