"""Pickles and files of joblib and skops contain the model file and refer to one class only."""

import copy
import pickle
import pickletools
import zlib
from dataclasses import replace

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import lhtree
from support.bridge import assert_same_model

MODELS = [
    lhtree.LHTClassifier(),
    lhtree.LHForestClassifier(4, random_state=0),
    lhtree.LHBoostClassifier(8),
    lhtree.CompactLHTRegressor(),
    lhtree.LHEnsembleRegressor(4, n_estimators=3, cv=2),
    lhtree.AdditiveLHTClassifier(n_bags=2, max_iter=20),
]


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def fitted(request):
    X = np.random.default_rng(0).normal(size=(90, 3))
    model = clone(request.param).fit(X, (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int))
    model.reviewed_by_ = "Ada"
    model.limits_ = np.arange(3.0)
    return model


def assert_same(model, other):
    assert_same_model(model, other)
    assert other.reviewed_by_ == "Ada"
    assert other.limits_.tolist() == [0.0, 1.0, 2.0]


def find_classes(content):
    """Return the names of lhtree in a pickle."""
    texts = [text for _, text, _ in pickletools.genops(content) if isinstance(text, str)]
    return [text for text in texts if text.startswith(("lhtree", "lhtree."))]


def test_pickles_name_the_estimator_only(fitted):
    content = pickle.dumps(fitted)
    assert find_classes(content) == [type(fitted).__module__]
    assert_same(fitted, pickle.loads(content))


def test_joblib_files(fitted, tmp_path):
    joblib.dump(fitted, tmp_path / "model.joblib", compress=3)
    assert_same(fitted, joblib.load(tmp_path / "model.joblib"))


def test_skops_trusts_one_name(fitted):
    sio = pytest.importorskip("skops.io")
    content = sio.dumps(fitted)
    names = sio.get_untrusted_types(data=content)
    assert names == [f"{type(fitted).__module__}.{type(fitted).__name__}"]
    assert_same(fitted, sio.loads(content, trusted=names))


def test_copies_predict_the_same(fitted):
    assert_same(fitted, copy.copy(fitted))
    assert_same(fitted, copy.deepcopy(fitted))


def test_unfitted_estimators_are_pickled_as_usual():
    model = lhtree.LHBoostClassifier(7, learning_rate=0.3)
    other = pickle.loads(pickle.dumps(model))
    assert other.get_params() == model.get_params()
    assert not other.__sklearn_is_fitted__()


def test_damaged_models_in_pickles_are_rejected(fitted):
    state = fitted.__getstate__()
    other = type(fitted)()
    with pytest.raises(lhtree.ModelFileError):
        other.__setstate__(state | {"_model": zlib.compress(b"not a model")})


def test_models_that_cannot_be_packed_raise_an_error(monkeypatch, rejects):
    model = lhtree.LHTClassifier().fit(np.arange(20.0)[:, None], np.arange(20) < 10)
    damaged = replace(model._model, seed=-1)
    monkeypatch.setattr(model, "_model", damaged)
    rejects(pickle.dumps, model)


def test_classes_that_files_cannot_hold_survive_pickles(tmp_path, rejects):
    X = np.arange(20.0)[:, None]
    days = np.where(X[:, 0] < 10, "2024-01-01", "2024-01-02").astype("datetime64[D]")
    model = lhtree.LHTClassifier().fit(X, days)
    rejects(lhtree.save, model, tmp_path / "model.lht")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), days)
