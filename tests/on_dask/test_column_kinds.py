"""Every Dask estimator gives the model of one machine, to the bit, for every kind of column."""

from itertools import pairwise

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import lhtree
from lhtree import dask as lhdask
from support.cluster import assert_same, draw_rows

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
ESTIMATORS = {
    "LHBoostClassifier": {"max_iter": 2, "max_depth": 2, "min_samples_leaf": 5, "random_state": 0},
    "LHBoostRegressor": {"max_iter": 2, "max_depth": 2, "min_samples_leaf": 5, "random_state": 0},
    "LHForestClassifier": {"n_estimators": 2, "direction": "mixed", "min_samples_leaf": 5, "random_state": 0},
    "LHForestRegressor": {"n_estimators": 2, "min_samples_leaf": 5, "random_state": 0},
}


def make_column(kind, raw):
    """A column of a kind that depends on the response."""
    random = np.random.default_rng(0)
    if kind == "numbers":
        return raw + random.normal(size=len(raw))
    if kind == "dates":
        dates = (18000 + 100 * raw).astype(np.int64).astype("M8[D]").astype("M8[s]")
        dates[::7] = np.datetime64("NaT")
        return dates
    if kind == "gaps":
        return np.where(raw > 0.5, np.nan, raw)
    n_levels = {"one-hot": 3, "target statistic": 30, "dropped": len(raw)}[kind]
    order = np.argsort(np.argsort(raw))
    return np.array([f"level {number:03d}" for number in order * n_levels // len(raw)], dtype=object)


def divide(values, sizes):
    """A frame or series in partitions of these sizes."""
    cuts = np.cumsum([0, *sizes])
    parts = [values.iloc[first:last] for first, last in pairwise(cuts)]
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=values.iloc[:0])


@pytest.mark.filterwarnings("ignore::lhtree.tables.errors.TableWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kind", ["numbers", "dates", "gaps", "one-hot", "target statistic", "dropped"])
def test_models_are_those_of_one_machine(cluster, tmp_path, name, kind):
    X, y, raw = draw_rows()
    frame = pd.DataFrame({"x": X[:, 0], "own": make_column(kind, raw)})
    labels = pd.Series(raw if name.endswith("Regressor") else y)
    weight = pd.Series(np.random.default_rng(1).integers(0, 3, len(frame)).astype(float))
    sizes = (90, 0, 150)  # an empty partition
    given = [divide(values, sizes) for values in (frame, labels, weight)]
    fitted = getattr(lhdask, f"Dask{name}")(**ESTIMATORS[name]).fit(*given, client=cluster.client)
    local = getattr(lhtree, name)(**ESTIMATORS[name]).fit(frame, labels, weight)
    assert_same(fitted, local, tmp_path)
    encoder = local._model.encoding.encoders[1]
    assert (kind == "dropped") == (encoder.n_features == 0)
    assert (kind == "target statistic") == encoder.needs_responses
    assert not cluster.find_left()


def test_a_partition_without_weight_adds_no_categories(cluster, tmp_path):
    X, y, _ = draw_rows()
    frame = pd.DataFrame({"x": X[:, 0], "colour": np.repeat(["red", "green", "blue"], 80)})
    weight = pd.Series(np.repeat([1.0, 0.0, 1.0], 80))
    settings = ESTIMATORS["LHBoostClassifier"]
    given = [divide(values, (80, 80, 80)) for values in (frame, pd.Series(y), weight)]
    fitted = lhdask.DaskLHBoostClassifier(**settings).fit(*given)
    assert fitted._model.encoding.categories[1] == ("blue", "red")
    assert_same(fitted, lhtree.LHBoostClassifier(**settings).fit(frame, y, weight), tmp_path)


def test_messages_name_the_partition_or_the_column(cluster, rejects):
    X, y, _ = draw_rows()
    frame, labels = pd.DataFrame({"x": X[:, 0], "own": X[:, 1]}), pd.Series(y)
    make = lhdask.DaskLHBoostClassifier(**ESTIMATORS["LHBoostClassifier"])

    def join(first, second):
        return dd.from_delayed([dask.delayed(first), dask.delayed(second)], meta=frame[:0], verify_meta=False)

    own = divide(labels, (120, 120))
    rejects(make.fit, join(frame[:120], frame[120:].rename(columns={"own": "other"})), own)
    rejects(make.fit, join(frame[:120], frame[120:].assign(own="text")), own)
    rejects(make.fit, divide(frame, (120, 120)), divide(labels, (100, 140)))
    rejects(make.fit, divide(frame, (120, 120)), own, divide(pd.Series(np.ones(240)), (80, 80, 80)))
    rejects(make.fit, divide(frame.assign(x=np.where(np.arange(240) == 130, np.inf, 0.0)), (120, 120)), own)
    rejects(make.fit, divide(frame, (120, 120)), own, divide(pd.Series(np.zeros(240)), (120, 120)))
    assert not cluster.find_left()
