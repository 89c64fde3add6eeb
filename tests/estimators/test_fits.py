"""Identities of fits that hold for all families: threads, copies, seeds and warm starts."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

import lhtree
from support import bridge
from support.clouds import make_clouds

BOOST = {"learning_rate": 0.2, "min_samples_leaf": 5, "random_state": 3}
FOREST = {"beta": 0.0, "max_samples": 0.6, "max_features": 2, "random_state": 3}
METHODS = (*bridge.MODEL_METHODS, "decision_function", "predict_interval")
FITTED = ("train_score_", "validation_score_", "learning_rate_", "oob_decision_function_", "oob_prediction_")


def make_rows(model, n_rows=120, n_classes=3):
    """Return rows with missing values and classes, or positive numbers."""
    X, y = make_clouds(n_rows, 4, n_classes)
    X[::7, 1] = np.nan
    return X, y if is_classifier(model) else 1000.0 * np.exp(0.3 * np.nan_to_num(X[:, 1]) + y)


def assert_same_model(first, second, X):
    """Compare all arrays, scores and attributes to the last bit."""
    bridge.assert_same_trees(first, second)
    for method in METHODS:
        if method != "predict_interval" or getattr(first._model.response, "residual", None) is not None:
            assert hasattr(first, method) == hasattr(second, method)
            if hasattr(first, method):
                assert getattr(first, method)(X).tobytes() == getattr(second, method)(X).tobytes()
    for name in FITTED:
        assert hasattr(first, name) == hasattr(second, name)
        np.testing.assert_array_equal(getattr(first, name, 0), getattr(second, name, 0))


def copy(model, path):
    """Return the model from a file and from a pickle."""
    lhtree.save(model, path)
    return lhtree.load(path), pickle.loads(pickle.dumps(model))


WARM = [
    lhtree.LHForestClassifier(**FOREST),
    lhtree.LHForestClassifier(**FOREST, bootstrap=True),
    lhtree.LHForestClassifier(
        **FOREST, direction="mixed", min_samples_leaf=1
    ),  # the pilot depends on the number of trees
    lhtree.LHForestClassifier(**FOREST, oob_score=True),
    lhtree.LHForestClassifier(**FOREST, class_weight="balanced_subsample"),
    lhtree.LHForestClassifier(**FOREST, direction="mixed", multi_class="one_tree", min_samples_leaf=1),
    lhtree.LHForestRegressor(oob_score=True, random_state=3),
    lhtree.LHBoostClassifier(**BOOST),
    lhtree.LHBoostClassifier(**BOOST, direction="single", leaf="linear"),
    lhtree.LHBoostClassifier(**BOOST, max_bins=7, subsample=1.0),
    *(
        lhtree.LHBoostRegressor(loss, **BOOST)
        for loss in ("squared_error", "absolute_error", "poisson", "gamma")
    ),
    lhtree.LHBoostRegressor("quantile", quantile=0.8, **BOOST),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", WARM, ids=str)
def test_warm_start_equals_a_fit_from_scratch(model, n_classes, tmp_path):
    X, y = make_rows(model, n_classes=n_classes)
    size = "n_estimators" if hasattr(model, "n_estimators") else "max_iter"
    scratch = clone(model).set_params(**{size: 7}).fit(X, y)
    grown = clone(model).set_params(**{size: 2}, warm_start=True).fit(X, y)
    for n in (3, 3, 5):  # the same number adds nothing
        grown.set_params(**{size: n}).fit(X, y)
        assert grown._model.n_estimators == n
    for other in (*copy(grown, tmp_path / "model.lht"), grown):
        assert_same_model(other.set_params(**{size: 7}).fit(X, y), scratch, X)


THREADED = [
    lhtree.LHForestClassifier(12, random_state=5),
    lhtree.LHForestClassifier(12, direction="mixed", random_state=5),
    lhtree.LHForestClassifier(12, direction="fisher", bootstrap=True, oob_score=True, random_state=5),
    lhtree.LHForestClassifier(5, direction="mixed", multi_class="one_tree", smoothing=0.3, random_state=5),
    lhtree.LHForestRegressor(8, oob_score=True, random_state=5),
    lhtree.LHTRegressor(),
    lhtree.CompactLHTClassifier(max_passes=2),
    lhtree.LHBoostClassifier(2, **BOOST),
    lhtree.LHBoostClassifier(2, **BOOST, early_stopping=True, class_weight="balanced", leaf="linear"),
    lhtree.LHBoostRegressor(max_iter=2, **BOOST, subsample=0.8),
]


@pytest.mark.parametrize("model", THREADED, ids=str)
def test_threads_and_order_do_not_change_the_model(model):
    is_boosted = isinstance(model, (lhtree.LHBoostClassifier, lhtree.LHBoostRegressor))
    X, y = make_rows(model, 33_000 if is_boosted else 240)  # enough for two threads
    fitted = clone(model).fit(X, y)
    for n_jobs in (1, 2, -1):
        assert_same_model(clone(model).set_params(n_jobs=n_jobs).fit(X, y), fitted, X)
    assert_same_model(clone(model).fit(np.asfortranarray(X), y), fitted, X)


@pytest.mark.parametrize(
    "model",
    [
        lhtree.LHTClassifier(),
        lhtree.LHForestClassifier(6, random_state=0),
        lhtree.LHBoostClassifier(6, **BOOST),
        lhtree.LHTRegressor(),
    ],
    ids=str,
)
def test_rows_of_weight_0_are_not_read(model):
    X, y = make_rows(model)
    weight = np.where(np.arange(len(X)) % 3 == 0, 0.0, 2.0)
    X[weight == 0.0] = np.inf
    some = weight > 0.0
    weighted, alone = clone(model).fit(X, y, weight), clone(model).fit(X[some], y[some], weight[some])
    bridge.assert_same_trees(weighted, alone)


@pytest.mark.parametrize("model", [model for model in THREADED if model.random_state is not None], ids=str)
def test_other_seeds_give_other_models(model):
    X, y = make_rows(model)
    rows = X[:, ::-1]  # new rows: trees without limits agree on their training rows
    method = "predict_proba" if is_classifier(model) else "predict"
    seeds = (5, 6, None, None)
    fits = [clone(model).set_params(random_state=seed).fit(X, y) for seed in seeds]
    assert len({getattr(fitted, method)(rows).tobytes() for fitted in fits}) == 4
