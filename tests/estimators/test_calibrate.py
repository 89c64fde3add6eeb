"""Calibrated probabilities: cross-fitted maps, kept by the model."""

import math
import pickle
from itertools import groupby
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit

import lhtree
from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier
from lhtree.grow.calibrate import assign_folds, learn_maps

METHODS = ["sigmoid", "isotonic"]
MODELS = [
    LHTClassifier(gamma=2, random_state=0),
    LHForestClassifier(8, direction="mixed", min_samples_leaf=1, random_state=0),
    LHBoostClassifier(30, learning_rate=0.3, random_state=0),
]


def make_noisy(n_rows=400, n_classes=2):
    return make_classification(
        n_rows, 8, n_informative=5, n_classes=n_classes, flip_y=0.3, random_state=0, shuffle=True
    )


def map_slowly(calibration, scores):
    """Probabilities of one row, by the formulas."""
    own = []
    for (x, y), score in zip(calibration.knots, scores, strict=True):
        if calibration.method == "sigmoid":
            own.append(1 / (1 + math.exp(-(x[0] * score + y[0]))))
        else:
            own.append(float(np.interp(score, x, y)))
    if len(own) == 1:
        return [1 - own[0], own[0]]
    return [value / sum(own) if sum(own) else 1 / len(own) for value in own]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=["tree", "forest", "boosted"])
class TestMaps:
    def test_follow_the_formulas_and_lower_the_loss(self, model, n_classes, method, tmp_path):
        X, y = make_noisy(n_classes=n_classes)
        X, y, X_new, y_new = X[:300], y[:300], X[300:], y[300:]
        fitted = clone(model).set_params(calibrate=method).fit(X, y)
        learned = fitted._model
        proba = fitted.predict_proba(X_new)
        scores = learned.ask("raw_score" if learned.head.adds_rounds else "uncalibrated", X_new)
        scores = scores[:, scores.shape[1] - learned.calibration.n_maps :]
        slow = [map_slowly(learned.calibration, row) for row in scores.tolist()]
        np.testing.assert_allclose(proba, slow, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(fitted.predict(X_new), fitted.classes_[proba.argmax(axis=1)])
        plain = clone(model).fit(X, y)
        np.testing.assert_array_equal(plain.predict_proba(X_new), learned.ask("uncalibrated", X_new))
        assert ((proba > 0.0) & (proba < 1.0)).all()
        before, after = (log_loss(y_new, one.predict_proba(X_new)) for one in (plain, fitted))
        assert after < before or not isinstance(model, LHTClassifier)  # which is certain everywhere

        lhtree.save(fitted, tmp_path / "model.lht")
        again = [lhtree.load(tmp_path / "model.lht"), lhtree.load_scorer(tmp_path / "model.lht")]
        for other in (*again, pickle.loads(pickle.dumps(fitted))):
            np.testing.assert_array_equal(other.predict_proba(X_new), proba)
        assert lhtree.inspect(tmp_path / "model.lht")["calibration"] == method


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sigmoids_are_those_of_scikit_learn(n_classes):
    """Without normalisation, which fits of a part would learn from it alone."""
    X, y = make_noisy(250, n_classes)
    model = LHForestClassifier(5, direction="mixed", min_samples_leaf=1, normalize=None, random_state=0)
    fitted = clone(model).set_params(calibrate="sigmoid").fit(X, y)
    fold = assign_folds(y.astype(np.int32), fitted._model.seed)
    peer = CalibratedClassifierCV(model, cv=PredefinedSplit(fold), ensemble=False).fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba(X), peer.predict_proba(X), rtol=0, atol=1e-4)


def pool_slowly(steps):
    """Pool steps (weight, weighted value, weighted score) until their values ascend."""
    pooled = []
    for step in steps:
        pooled.append(step)
        while len(pooled) > 1 and pooled[-2][1] / pooled[-2][0] >= pooled[-1][1] / pooled[-1][0]:
            pooled[-2:] = [tuple(map(sum, zip(*pooled[-2:], strict=True)))]
    return pooled


@pytest.mark.parametrize("has_ties", [False, True])
def test_isotonic_maps_are_shrunk_towards_the_sigmoid(has_ties):
    random = np.random.default_rng(0)
    score = random.normal(size=300).round(1 if has_ties else 9)
    is_target = random.random(300) < 1 / (1 + np.exp(-3 * score))
    weight = random.integers(1, 4, 300).astype(np.float64)
    training = SimpleNamespace(classes=np.arange(2), n_targets=1, codes=is_target.astype(int), weight=weight)
    (slope,), (shift,) = learn_maps(score[:, None], training, "sigmoid").knots[0]
    x, y = learn_maps(score[:, None], training, "isotonic").knots[0]

    tied = []
    for value, own in groupby(
        sorted(zip(score.tolist(), weight, is_target, strict=True)), lambda row: row[0]
    ):
        rows = [(w, w * t, w * value, w / (1 + math.exp(-(slope * value + shift)))) for _, w, t in own]
        tied.append(tuple(map(sum, zip(*rows, strict=True))))
    # Thirty rows more of the sigmoid in every step; the true weight goes along for the centres.
    shrunk = [
        (w + 30, hits + 30 * expected / w, weighted, w) for w, hits, weighted, expected in pool_slowly(tied)
    ]
    again = pool_slowly(shrunk)
    n_target, n_other = weight[is_target].sum(), weight[~is_target].sum()
    share = [total / w for w, total, *_ in again]
    share = np.clip(share, 1 / (n_other + 2), (n_target + 1) / (n_target + 2))
    centre = [weighted / w for *_, weighted, w in again]
    assert 3 < len(centre) < len(x)
    np.testing.assert_allclose(np.interp(centre, x, y), share, rtol=1e-9)
    # Between the centres, all knots are on sigmoids.
    logit = np.log(y / (1 - y))
    np.testing.assert_allclose(logit, np.interp(x, centre, np.log(share / (1 - share))), rtol=0, atol=1e-9)
    assert np.diff(logit).max() <= 0.5 + 1e-9


@pytest.mark.parametrize("model", MODELS, ids=["tree", "forest", "boosted"])
def test_isotonic_calibration_does_no_harm_on_noisy_tables(model):
    """Isotonic regression alone gives some rows of the other class a probability of exactly 0."""
    X, y = make_noisy(2000)
    X, y, X_new, y_new = X[:1200], y[:1200], X[1200:], y[1200:]
    fitted = [clone(model).set_params(calibrate=method).fit(X, y) for method in (None, "isotonic")]
    before, after = (log_loss(y_new, one.predict_proba(X_new)) for one in fitted)
    assert after < before + 0.01


@pytest.mark.parametrize("method", METHODS)
def test_separable_classes_have_no_certain_probabilities(method):
    X = np.concatenate([np.linspace(-2, -1, 100), np.linspace(1, 2, 100)])[:, None]
    for model in MODELS:
        proba = clone(model).set_params(calibrate=method).fit(X, X[:, 0] > 0).predict_proba(X)
        assert 0.0 < proba.min() < proba.max() < 1.0
        assert (proba.max(axis=1) > 0.9).all()


@pytest.mark.parametrize("method", METHODS)
def test_weights_and_order_of_scores(method):
    X, y = make_noisy()
    model = LHForestClassifier(5, direction="mixed", calibrate=method, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    assert weighted.predict_proba(X)[:, 1].mean() > model.fit(X, y).predict_proba(X)[:, 1].mean() + 0.05
    learned = model._model
    score, proba = learned.ask("uncalibrated", X)[:, 1], model.predict_proba(X)[:, 1]
    assert (np.diff(proba[np.argsort(score)]) >= 0.0).all()


def test_two_rows_of_a_class_are_enough():
    X, y = make_noisy(60)
    y[:] = 0
    y[7:9] = 1
    proba = LHTClassifier(calibrate="isotonic").fit(X, y).predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_explanations_give_both_probabilities():
    X, y = make_noisy(150)
    model = LHForestClassifier(4, direction="mixed", calibrate="sigmoid", random_state=0).fit(X, y)
    explanation = model.explain(X[0])
    assert explanation.proba == dict(enumerate(model.predict_proba(X[:1])[0]))
    assert explanation.uncalibrated != explanation.proba
    assert "before calibration" in str(explanation)
    frame = model.explain_batch(X[:1])
    assert frame["uncalibrated"].tolist() == list(explanation.uncalibrated.values())
    assert explanation.to_dict()["uncalibrated"]
    for found in explanation.counterfactuals(n=1):
        assert found.prediction != explanation.prediction


def test_staged_predictions_end_in_the_predictions():
    X, y = make_noisy(150, 3)
    model = LHBoostClassifier(5, calibrate="isotonic", random_state=0).fit(X, y)
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
