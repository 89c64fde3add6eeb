"""Dask forests give the same models as one machine, to the bit."""

import dask.array as da
import numpy as np
import pytest

import lhtree
from lhtree import dask as lhdask
from lhtree.dask import _rows
from support.cluster import assert_same, cut, draw_rows

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.mark.parametrize(
    ("settings", "n_workers", "sizes", "small"),
    [
        ({}, 1, (240,), 1 << 23),
        (
            {"direction": "mixed", "oob_score": True, "max_samples": 0.6, "min_samples_leaf": 3},
            2,
            (1, 0, 200, 39),
            0,
        ),
        ({"direction": "mixed", "min_samples_leaf": "auto", "calibrate": "sigmoid"}, 2, (100, 140), 1 << 23),
        (
            {
                "bootstrap": True,
                "class_weight": "balanced_subsample",
                "direction": "mixed",
                "multi_class": "one_tree",
                "keep_prototypes": 20,
                "min_samples_leaf": 2,
            },
            2,
            cut(240, 7),
            0,
        ),
    ],
)
def test_classifiers(cluster, tmp_path, monkeypatch, settings, n_workers, sizes, small):
    monkeypatch.setattr(_rows, "SMALL", small)
    cluster.use(n_workers)
    X, y, _ = draw_rows()
    order = np.argsort(y, kind="stable")  # so that most parts lack a class
    X, y = X[order], y[order]
    fitted = lhdask.DaskLHForestClassifier(4, random_state=0, **settings)
    fitted.fit(da.from_array(X, chunks=(sizes, 4)), da.from_array(y, chunks=50), client=cluster.client)
    local = lhtree.LHForestClassifier(4, random_state=0, **settings).fit(X, y)
    assert_same(fitted, local, tmp_path)
    if settings.get("oob_score"):
        np.testing.assert_array_equal(fitted.oob_decision_function_, local.oob_decision_function_)
    assert not cluster.find_left()


def test_regressors_and_weights(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(_rows, "SMALL", 0)
    X, _, response = draw_rows()
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    fitted = lhdask.DaskLHForestRegressor(3, random_state=0)
    chunks = ((100, 140), 4)
    fitted.fit(*(da.from_array(values, chunks=chunks[: values.ndim]) for values in (X, response, weight)))
    local = lhtree.LHForestRegressor(3, random_state=0).fit(X, response, weight)
    assert_same(fitted, local, tmp_path)
    np.testing.assert_array_equal(fitted._model.response.residual, local._model.response.residual)
