"""Compact trees predict elsewhere what they predict here, in the user's units, to the bit."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from lhtree import CompactLHTClassifier, CompactLHTRegressor
from support.clouds import make_clouds
from support.exported import check, spoil

pytest.importorskip("onnxruntime")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
pytestmark = pytest.mark.usefixtures("server")


@pytest.mark.parametrize("digits", [2, None])
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_classes(load, digits, tmp_path):
    X, y = load(return_X_y=True)
    check(CompactLHTClassifier(digits=digits, max_passes=1).fit(X, y), spoil(X), tmp_path)


def test_gaps_and_many_classes(tmp_path):
    X, y = make_clouds(300, 5, 6)
    X[::7, 3] = np.nan
    model = CompactLHTClassifier(penalty=0.2, min_samples_leaf=2, missing_indicator=False).fit(X, y)
    assert model.n_leaves_ > 3
    check(model, spoil(X), tmp_path)


def test_numbers(tmp_path):
    X, _ = make_clouds(200, 4, 2)
    y = 1e6 * (X[:, 0] - 2.0 * X[:, 1] > 0.0) + 3.0 * X[:, 2]
    model = CompactLHTRegressor(penalty=0.1).fit(X, y)
    assert model.n_leaves_ > 1
    check(model, spoil(X), tmp_path)


def test_a_single_leaf(tmp_path):
    X, y = make_clouds(8, 2, 2)
    model = CompactLHTClassifier(min_samples_leaf=5).fit(X, y)
    assert model.n_leaves_ == 1
    check(model, spoil(X), tmp_path)
