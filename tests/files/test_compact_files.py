"""Compact trees in files: the same numbers come back, and hostile ones are refused."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from lhtree import CompactLHTClassifier, CompactLHTRegressor, inspect, load, load_scorer, save
from support import sealing
from support.exported import spoil


@pytest.mark.parametrize(
    ("estimator", "load_data"),
    [
        (CompactLHTClassifier(max_passes=1), load_wine),
        (CompactLHTClassifier(max_passes=1, membership="linear", penalty=0.1), load_breast_cancer),
        (CompactLHTRegressor(max_passes=1, membership="linear"), load_diabetes),
    ],
)
def test_a_file_and_a_pickle_give_the_model_back(estimator, load_data, tmp_path):
    X, y = load_data(return_X_y=True)
    model, rows = estimator.fit(X, y), spoil(X)
    save(model, tmp_path / "model.lht")
    expected = model.predict(rows)
    again = load(tmp_path / "model.lht")
    for other in (again, pickle.loads(pickle.dumps(model)), load_scorer(tmp_path / "model.lht")):
        np.testing.assert_array_equal(other.predict(rows), expected)
    assert (again.penalty_, again.rounding_loss_) == (model.penalty_, model.rounding_loss_)
    np.testing.assert_array_equal(again.objective_, model.objective_)
    for name, values in model._model.trees.arrays().items():
        np.testing.assert_array_equal(getattr(again._model.trees, name), values)


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("compact") / "model.lht"
    X, y = load_breast_cancer(return_X_y=True)
    model = CompactLHTClassifier(max_passes=1, membership="linear", penalty=0.1).fit(X, y)
    assert model._model.trees.has_slopes
    save(model, path)
    # Who does not know the user's units would predict something else.
    requires = sealing.split(path.read_bytes())[0]["__metadata__"]["model"]
    assert '"unit_weight":"0.2.0"' in requires
    assert inspect(path)["estimator"] == "CompactLHTClassifier"
    return path.read_bytes()


@pytest.mark.parametrize(
    ("name", "place", "value", "expected"),
    [
        ("unit_weight", 0, np.nan, "in the user's units has a value that is out of range"),
        ("unit_weight", 0, 1e201, "in the user's units has a value that is out of range"),
        ("unit_offset", 0, np.inf, "in the user's units has a value that is out of range"),
        ("unit_slope", 0, -np.inf, "in the user's units has a value that is out of range"),
        ("unit_intercept", 0, np.nan, "in the user's units has a value that is out of range"),
    ],
)
def test_hostile_values(refused, content, name, place, value, expected):
    assert expected in refused(sealing.edit_array(content, name, place, value))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"compact": {"penalty": 1.0}}, "compact is not"),
        ({"compact": {"penalty": 1.0, "rounding_loss": 0.0, "objective": ["low"]}}, "compact is not"),
        ({"confidence": "last"}, "in the user's units have no confidence"),
    ],
)
def test_hostile_headers(refused, content, change, expected):
    assert expected in refused(sealing.edit_model(content, lambda model: model.update(change)))


@pytest.mark.parametrize("name", ["unit_weight", "unit_offset", "unit_slope", "unit_intercept"])
def test_units_are_given_together(refused, content, name):
    header, data = sealing.split(content)
    renamed = sealing.join({("later" if key == name else key): entry for key, entry in header.items()}, data)
    assert "unit_" in refused(renamed)
