"""Fits of LHBoostClassifier: predictions by stage, early stopping, warm starts, copies, the same bits everywhere."""

import numpy as np
import pytest

import lhtree
from lhtree import LHBoostClassifier
from support import bridge
from support.clouds import make_clouds

FIXED = {"learning_rate": 0.2, "min_samples_leaf": 5, "random_state": 3}
EXACT = FIXED | {"direction": "single"}  # blocks of single features score rows and bins alike


def assert_same_model(first, second, X):
    bridge.assert_same_trees(first, second)
    assert first.decision_function(X).tobytes() == second.decision_function(X).tobytes()
    assert first.predict_proba(X).tobytes() == second.predict_proba(X).tobytes()


def log_loss(model, X, y, weight=None):
    return -np.average(np.log(model.predict_proba(X)[np.arange(len(y)), y]), weights=weight)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_last_stage_is_the_prediction(n_classes):
    X, y = make_clouds(120, 4, n_classes)
    names = np.array(["c", "a", "b"])[y]
    model = LHBoostClassifier(6, **FIXED).fit(X, names)
    shape = (120,) if n_classes == 2 else (120, 3)
    for staged, method in (
        (model.staged_decision_function, model.decision_function),
        (model.staged_predict_proba, model.predict_proba),
        (model.staged_predict, model.predict),
    ):
        stages = list(staged(X))
        assert len(stages) == model.n_iter_ == 6
        np.testing.assert_array_equal(stages[-1], method(X))
        third = LHBoostClassifier(3, **FIXED).fit(X, names)
        np.testing.assert_array_equal(stages[2], getattr(third, method.__name__)(X))
    assert model.decision_function(X).shape == shape
    assert len(model.trees_) == 6
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    assert model.feature_importances_.shape == (4,)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


class TestEarlyStopping:
    def data(self):
        X, y = make_clouds(300, 4, 3)
        return X, np.where(np.arange(300) % 4 == 0, (y + 1) % 3, y)  # noise, so that more rounds are worse

    @pytest.mark.parametrize("weight", [None, np.linspace(0.1, 3.0, 100)], ids=["plain", "weighted"])
    def test_best_round_of_a_validation_set_is_kept(self, weight):
        X, y = self.data()
        train, X_val, y_val = (X[:200], y[:200]), X[200:], y[200:]
        fixed = EXACT | {"max_depth": 6, "subsample": 1.0, "max_features": 1.0}  # without a race
        model = LHBoostClassifier(200, **fixed, n_iter_no_change=6)
        model.fit(*train, X_val=X_val, y_val=y_val, sample_weight_val=weight)
        n_tried = len(model.validation_score_) - 1
        assert model.n_iter_ == model.validation_score_.argmax() == n_tried - 6
        assert len(model.train_score_) == n_tried + 1 < 200
        everything = LHBoostClassifier(n_tried, **fixed).fit(*train)
        for stage, proba in enumerate(everything.staged_predict_proba(X_val), start=1):
            loss = -np.average(np.log(proba[np.arange(100), y_val]), weights=weight)
            assert model.validation_score_[stage] == pytest.approx(-loss, rel=1e-6)
        assert_same_model(model, LHBoostClassifier(model.n_iter_, **fixed).fit(*train), X)

    @pytest.mark.parametrize(
        ("fraction", "n_held"), [(0.1, 30), (0.5, 150), (17, 17), (0.001, 1), (0.99, 297), (299, 297)]
    )
    def test_training_rows_are_held_out_by_class(self, fraction, n_held, monkeypatch):
        X, y = self.data()
        seen = {}
        grow = lhtree._core.BoostRows

        def watch(*arguments, **keywords):
            seen.update(keywords)
            return grow(*arguments, **keywords)

        monkeypatch.setattr("lhtree._core.BoostRows", watch)
        model = LHBoostClassifier(5, **FIXED, early_stopping=True, validation_fraction=fraction).fit(X, y)
        assert seen["held"].sum() == n_held
        sizes, kept = np.bincount(y), np.bincount(y[seen["held"] == 0], minlength=3)
        assert (kept > 0).all()
        np.testing.assert_allclose(kept, sizes * (1 - n_held / 300), atol=1)
        assert model.validation_score_.shape == model.train_score_.shape == (6,)

    def test_none_uses_the_training_loss(self):
        X, y = self.data()
        stopping = {"early_stopping": True, "validation_fraction": None, "n_iter_no_change": 2}
        model = LHBoostClassifier(12, **EXACT, **stopping).fit(X, y)
        assert (model.n_iter_, model.train_score_.shape) == (12, (13,))  # it falls with every round
        assert model.validation_score_.shape == (0,)
        assert (np.diff(model.train_score_) > 0).all()
        assert model.train_score_[-1] == pytest.approx(-log_loss(model, X, y), rel=1e-6)
        assert LHBoostClassifier(12, **EXACT, **stopping, tol=10.0).fit(X, y).train_score_.shape == (3,)

    def test_small_improvements_add_up(self):
        X, y = self.data()
        stopping = {"early_stopping": True, "validation_fraction": None, "n_iter_no_change": 4}
        losses = -LHBoostClassifier(6, **FIXED, **stopping).fit(X, y).train_score_
        tol = 1.1 * (losses[0] - losses[1])  # more than a round brings, less than four
        assert LHBoostClassifier(6, **FIXED, **stopping, tol=tol).fit(X, y).train_score_.shape == (7,)

    def test_a_first_round_is_kept_even_if_it_is_worse(self):
        X, y = np.arange(40.0)[:, None], np.arange(40) // 20
        model = LHBoostClassifier(9, learning_rate=1.0, min_samples_leaf=1, n_iter_no_change=2)
        model.fit(X, y, X_val=X, y_val=1 - y)
        assert model.validation_score_.argmax() == 0
        assert model.n_iter_ == 1


class TestWarmStart:
    def test_warm_start_keeps_rate_and_bins(self, two):
        X, y = two
        model = LHBoostClassifier(5, warm_start=True, max_bins=9).fit(X, y)
        rate, edges = model.learning_rate_, model._model.boost.bins.edge.tolist()
        model.set_params(max_iter=10, max_bins=200).fit(3 * X, y)
        assert model.learning_rate_ == rate
        assert model._model.boost.bins.edge.tolist() == edges

    def test_scores_continue(self):
        X, y = make_clouds(200, 4, 2)
        stopping = {"early_stopping": True, "n_iter_no_change": 50}
        model = LHBoostClassifier(4, **FIXED, **stopping, warm_start=True).fit(X, y)
        model.set_params(max_iter=9).fit(X, y)
        scratch = LHBoostClassifier(9, **FIXED, **stopping).fit(X, y)
        assert model.train_score_.tolist() == scratch.train_score_.tolist()
        assert model.validation_score_.tolist() == scratch.validation_score_.tolist()
        assert model.set_params(max_iter=10, early_stopping=False).fit(X, y).train_score_.shape == (0,)
        model.set_params(max_iter=12, early_stopping=True).fit(X, y)
        assert model.train_score_.shape == (3,)  # before the new rounds and after each
