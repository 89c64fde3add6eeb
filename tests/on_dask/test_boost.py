"""Dask boosting gives the same models as one machine, to the bit."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import lhtree
from lhtree import dask as lhdask
from lhtree.grow import race
from support.cluster import assert_same, cut, draw_rows

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
SETTINGS = {"max_iter": 2, "max_depth": 2, "min_samples_leaf": 5, "random_state": 0}


def to_dask(sizes, *columns):
    return [da.from_array(values, chunks=(sizes, *values.shape[1:])) for values in columns]


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_workers_and_partitions_change_nothing(cluster, tmp_path, n_workers):
    cluster.use(n_workers)
    X, y, _ = draw_rows()
    y = y > 0
    local = lhtree.LHBoostClassifier(**SETTINGS).fit(X, y)
    for n_parts in (1, 2, 3, 7):
        fitted = lhdask.DaskLHBoostClassifier(**SETTINGS).fit(*to_dask(cut(len(X), n_parts), X, y))
        assert_same(fitted, local, tmp_path)
    assert not cluster.find_left()


@pytest.mark.parametrize(
    ("settings", "weight"),
    [
        ({"loss": "squared_error", "early_stopping": True, "max_iter": 4, "n_iter_no_change": 1}, None),
        ({"loss": "quantile", "quantile": 0.3}, 0.37),
    ],
)
def test_regressors(cluster, tmp_path, settings, weight):
    """Parts of very different sizes, one of them empty; rows held out; linear leaves, and quantiles."""
    X, _, response = draw_rows()
    columns = [X, response]
    if weight is not None:
        columns.append(np.random.default_rng(0).integers(0, 3, len(X)) * weight)
    fitted = lhdask.DaskLHBoostRegressor(**SETTINGS | settings).fit(*to_dask((1, 0, 237, 2), *columns))
    local = lhtree.LHBoostRegressor(**SETTINGS | settings).fit(*columns)
    assert_same(fitted, local, tmp_path)


@pytest.mark.parametrize("most_raced", [race.MOST_RACED, 1010])
def test_a_race_chooses_the_same_settings(cluster, tmp_path, monkeypatch, most_raced):
    """All rows race, and a sample of them; weights, rows held out, partitions without some classes, and few rows."""
    monkeypatch.setattr(race, "MOST_RACED", most_raced)
    X, y, response = draw_rows(1200)
    weight = 1.0 + np.random.default_rng(0).integers(0, 3, len(X))
    order = np.argsort(y, kind="stable")
    raced = {"max_iter": 40, "random_state": 0}
    for estimator, settings, n_settings, columns in (
        ("LHBoostRegressor", {}, 5, [X, response, weight]),
        ("LHBoostClassifier", {"early_stopping": True}, 4, [X[order], y[order]]),
        ("LHBoostClassifier", {}, 4, [X[:500], y[:500], weight[:500]]),
    ):
        fitted = getattr(lhdask, f"Dask{estimator}")(**raced, **settings)
        fitted.fit(*to_dask((1, 399, 0, len(columns[0]) - 400), *columns))
        local = getattr(lhtree, estimator)(**raced, **settings).fit(*columns)
        assert len(local.chosen_["race"]) == n_settings
        assert fitted.to_local().chosen_ == local.chosen_
        assert_same(fitted, local, tmp_path)


def test_several_outputs(cluster, tmp_path):
    X, _, response = draw_rows()
    both = np.stack([response, 1e3 * response**2], axis=1)
    quantiles = {"loss": "quantile", "quantile": [0.1, 0.9]}
    for settings, y in ((quantiles, response), ({"multi_output": "one_tree"}, both)):
        X_parts, y_parts = to_dask((100, len(X) - 100), X, y)
        fitted = lhdask.DaskLHBoostRegressor(**SETTINGS | settings).fit(X_parts, y_parts)
        local = lhtree.LHBoostRegressor(**SETTINGS | settings).fit(X, y)
        assert_same(fitted, local, tmp_path)
        np.testing.assert_array_equal(fitted.predict(X_parts).compute(), local.predict(X))


def make_frame():
    """Categories in the order of the rows, so that partitions have different ones; many of another column."""
    X, y, _ = draw_rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["colour"] = np.repeat(["red", "green", None, "blue"], len(X) // 4)
    frame["shop"] = np.random.default_rng(0).choice([f"shop {number}" for number in range(40)], len(X))
    frame["size"] = pd.Categorical(
        np.where(X[:, 0] > 0, "large", "small"), categories=["small", "large", "none"]
    )
    return frame, pd.Series(np.array(["no", "perhaps", "yes"])[y])


@pytest.mark.parametrize("kind", ["Boost", "Forest"])
def test_tables(cluster, tmp_path, kind):
    frame, y = make_frame()
    order = np.argsort(y.to_numpy(), kind="stable")  # so that most partitions lack a class
    frame, y = frame.iloc[order].reset_index(drop=True), y.iloc[order].reset_index(drop=True)
    settings = SETTINGS if kind == "Boost" else {"n_estimators": 3, "random_state": 0, "direction": "mixed"}
    settings = settings | {"min_samples_leaf": 5}
    fitted = getattr(lhdask, f"DaskLH{kind}Classifier")(**settings)
    given = dd.from_pandas(frame, npartitions=3)
    fitted.fit(given, dd.from_pandas(y, npartitions=3), client=cluster.client)
    local = getattr(lhtree, f"LH{kind}Classifier")(**settings).fit(frame, y)
    assert_same(fitted, local, tmp_path)
    probabilities = fitted.predict_proba(given)
    assert probabilities.npartitions == given.npartitions
    assert probabilities.columns.tolist() == ["no", "perhaps", "yes"]
    np.testing.assert_array_equal(probabilities.compute(), local.predict_proba(frame))
    np.testing.assert_array_equal(fitted.predict(given).compute(), local.predict(frame))


def test_categories_whose_types_differ_between_partitions(cluster, tmp_path):
    frame, y = make_frame()
    frame = frame.assign(shop=frame["shop"].astype("category"))
    parts = [frame[:100], frame[100:]]
    parts = [part.assign(shop=part["shop"].cat.remove_unused_categories()) for part in parts]
    given = dd.from_delayed([dask.delayed(part) for part in parts], meta=frame[:0], verify_meta=False)
    labels = dd.from_delayed([dask.delayed(y[:100]), dask.delayed(y[100:])])
    fitted = lhdask.DaskLHBoostClassifier(**SETTINGS).fit(given, labels)
    local = lhtree.LHBoostClassifier(**SETTINGS).fit(given.compute(), y)
    assert_same(fitted, local, tmp_path)


def test_lazy_arrays(cluster):
    X, y, response = draw_rows()
    sizes = (100, 0, 140)
    given, labels, numbers = to_dask(sizes, X, y, response)
    fitted = lhdask.DaskLHBoostClassifier(**SETTINGS).fit(given.rechunk({1: 2}), labels)
    local = fitted.to_local()
    assert fitted.predict(given).chunks == (sizes,)
    assert fitted.predict_proba(given.rechunk({1: 2})).chunks == (sizes, (3,))
    np.testing.assert_array_equal(fitted.predict_proba(given).compute(), local.predict_proba(X))
    regressor = lhdask.DaskLHBoostRegressor(**SETTINGS).fit(given, numbers)
    np.testing.assert_array_equal(regressor.predict(given).compute(), regressor.to_local().predict(X))


def test_refusals(cluster, rejects):
    X, y, _ = draw_rows()
    given, labels = to_dask((100, 140), X, y)
    make = lhdask.DaskLHBoostClassifier
    rejects(make().fit, X, labels)
    rejects(make().fit, given, labels[:100])
    rejects(make(warm_start=True).fit, given, labels)
    rejects(make(calibrate="sigmoid").fit, given, labels)
    rejects(make().fit, given[:0], labels[:0])
    X[130, 2] = np.inf
    rejects(make().fit, to_dask((100, 140), X)[0], labels)
    rejects(make().fit, given, da.zeros_like(labels))
    assert not cluster.find_left()


@pytest.mark.parametrize("growth", ["symmetric", "free"])
def test_interaction_constraints(cluster, tmp_path, growth):
    """Groups of columns limit the paths of workers in the same way; the response has interactions across groups."""
    X, _, _ = draw_rows()
    known = np.nan_to_num(X)
    y = known[:, 0] * known[:, 1] + known[:, 2] * known[:, 3]
    settings = SETTINGS | {"growth": growth, "max_depth": 3, "max_iter": 4}
    groups = {"interaction_cst": [[0, 2], [1, 3]]}
    fitted = lhdask.DaskLHBoostRegressor(**settings, **groups).fit(*to_dask((1, 137, len(X) - 138), X, y))
    local = lhtree.LHBoostRegressor(**settings, **groups).fit(X, y)
    assert_same(fitted, local, tmp_path)
    free = lhtree.LHBoostRegressor(**settings).fit(X, y)
    assert not np.array_equal(local.predict(X), free.predict(X))
