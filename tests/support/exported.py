"""Exported models beside the model itself: ONNX, C and SQL, to the bit."""

import numpy as np
from benchmarks.exports import runs as exports

from lhtree import LHBoostClassifier, LHBoostRegressor
from lhtree.tables.normalise import Normalisation

SERVER = []  # how to connect to PostgreSQL


def runners(model, X, folder):
    """All ways of running a model elsewhere, as (name, function)."""
    ways = [
        ("onnx", lambda: exports.run_onnx(model, X, folder)),
        ("sqlite", lambda: exports.run_sqlite(model, X)),
        ("duckdb", lambda: exports.run_duckdb(model, X)),
    ]
    if SERVER:
        ways.append(("postgresql", lambda: exports.run_postgresql(model, X, SERVER[0])))
    return ways + [("c", lambda: exports.run_c(model, X, folder))] * (exports.COMPILER is not None)


def check(model, X, folder):
    label = model.predict(X)
    proba = np.empty((len(X), 0)) if model._model.is_regression else model.predict_proba(X)
    for way, run in runners(model, X, folder):
        result = run()
        if result.proba is not None:
            np.testing.assert_array_equal(result.proba, proba, err_msg=way)
        np.testing.assert_array_equal(result.label, label, err_msg=way)


def spoil(X, seed=0):
    """Missing values here and there, rows far away, rows between the others, and a row with nothing in it."""
    generator = np.random.default_rng(seed)
    between = (X + X[generator.permutation(len(X))]) / 2
    missing = np.where(generator.random(X.shape) < 0.2, np.nan, X)
    with np.errstate(over="ignore"):
        far = np.clip(X * generator.choice([-1e300, 1e40, 1e-300, 1e6], X.shape), -1e308, 1e308)
    return np.vstack([X, between, missing, far, np.full((1, X.shape[1]), np.nan), np.zeros((1, X.shape[1]))])


def wrap(model):
    """An estimator whose model is this one."""
    estimator = LHBoostRegressor() if model.is_regression else LHBoostClassifier()
    estimator._model = model
    return estimator


def one_to_one(n_features):
    return Normalisation(np.zeros(n_features), np.ones(n_features))
