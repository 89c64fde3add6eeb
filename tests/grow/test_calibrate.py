"""Calibrated probabilities: cross-fitted maps, kept by the model."""

import itertools
import math
import pickle
from itertools import groupby

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

import lhtree
from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier
from lhtree.grow.calibrate import (
    Scored,
    _keep,
    _learn_isotonic,
    _learn_sigmoid,
    assign_folds,
    learn_calibration,
)
from lhtree.model.records import CALIBRATORS
from support.calibrations import give_calibration

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
        if calibration.kind == "sigmoid":
            own.append(1 / (1 + math.exp(-(x[0] * score + y[0]))))
        else:
            own.append(float(np.interp(score, x, y)))
    if len(own) == 1:
        return [1 - own[0], own[0]]
    return [value / sum(own) if sum(own) else 1 / len(own) for value in own]


@pytest.mark.parametrize("kind", CALIBRATORS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=["tree", "forest", "boosted"])
def test_maps_follow_the_formulas(model, n_classes, kind, tmp_path):
    X, y = make_noisy(n_classes=n_classes)
    fitted = give_calibration(clone(model).fit(X[:300], y[:300]), kind)
    learned, proba = fitted._model, fitted.predict_proba(X)
    scores = learned.score("raw_score" if learned.head.adds_rounds else "uncalibrated", X)
    scores = scores[:, scores.shape[1] - learned.calibration.n_maps :]
    slow = [map_slowly(learned.calibration, row) for row in scores.tolist()]
    np.testing.assert_allclose(proba, slow, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[proba.argmax(axis=1)])
    lhtree.save(fitted, tmp_path / "model.lht")
    again = [lhtree.load(tmp_path / "model.lht"), lhtree.load_scorer(tmp_path / "model.lht")]
    for other in (*again, pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(other.predict_proba(X), proba)
    assert lhtree.inspect(tmp_path / "model.lht")["calibration"] == kind


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=["tree", "forest", "boosted"])
def test_calibration_does_no_harm(model, n_classes, method):
    X, y = make_noisy(3000, n_classes)
    X, y, X_new, y_new = X[:600], y[:600], X[600:], y[600:]
    plain = clone(model).fit(X, y)
    fitted = clone(model).set_params(calibrate=method).fit(X, y)
    np.testing.assert_array_equal(plain.predict_proba(X_new), fitted._model.score("uncalibrated", X_new))
    proba = fitted.predict_proba(X_new)
    assert ((proba > 0.0) & (proba < 1.0)).all()
    before, after = log_loss(y_new, plain.predict_proba(X_new)), log_loss(y_new, proba)
    assert after < before + 0.002
    assert after < before - 0.5 or not isinstance(model, LHTClassifier)  # which is certain everywhere


def draw_scored(n_classes, *, is_raw, factor, n_rows=600, seed=0):
    """Return rows whose raw scores should be multiplied by a factor, and weights from 1 to 3."""
    random = np.random.default_rng(seed)
    true = 2.0 * random.normal(size=(n_rows, n_classes))
    true[:, 0] = 0.0
    codes = (true + random.gumbel(size=true.shape)).argmax(axis=1).astype(np.int32)
    raw = true / factor
    score = raw if is_raw else np.exp(log_softmax(raw, axis=1))
    weight = random.integers(1, 4, n_rows).astype(np.float64)
    return Scored(score[:, 1:] if n_classes == 2 else score, codes, weight, n_classes, is_raw)


@pytest.mark.parametrize("is_raw", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sigmoids_minimise_the_loss_with_a_prior_towards_the_identity(n_classes, is_raw):
    rows = draw_scored(n_classes, is_raw=is_raw, factor=2.0)
    score = rows.score if n_classes > 2 else np.column_stack([1.0 - rows.score, rows.score])
    if is_raw and n_classes == 2:
        score[:, 0] = 0.0
    raw = score if is_raw else np.log(np.maximum(score, 1e-3))

    def measure(found):
        own = log_softmax(found[0] * raw + found[1:], axis=1)[np.arange(len(raw)), rows.codes]
        return -rows.weight @ own + 5.0 * ((found[0] - 1.0) ** 2 + (found[1:] ** 2).sum())

    wanted = minimize(measure, np.append(1.0, np.zeros(n_classes)), tol=1e-12).x
    assert 1.5 < wanted[0] < 2.5
    proba = np.exp(log_softmax(wanted[0] * raw + wanted[1:], axis=1))
    calibration = _learn_sigmoid(rows)
    found = [map_slowly(calibration, own) for own in rows.score.tolist()]
    # Probabilities have lines near the sigmoid; raw scores have the sigmoid, up to the tolerance of the minimiser.
    np.testing.assert_allclose(found, proba, rtol=0, atol=1e-4 if is_raw else 0.01)


@pytest.mark.parametrize("is_raw", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_count_as_copies(n_classes, is_raw):
    rows = draw_scored(n_classes, is_raw=is_raw, factor=0.5)
    times = rows.weight.astype(int)
    copies = Scored(
        rows.score.repeat(times, axis=0), rows.codes.repeat(times), np.ones(times.sum()), n_classes, is_raw
    )
    for learn in (_learn_sigmoid, _learn_isotonic):
        for one, other in zip(learn(rows).knots, learn(copies).knots, strict=True):
            np.testing.assert_allclose(one.x, other.x, rtol=1e-6)
            np.testing.assert_allclose(one.y, other.y, rtol=1e-6)


def list_knots(calibration):
    """Return a calibration as lists, which can be compared."""
    return calibration.kind, [(x.tolist(), y.tolist()) for x, y in calibration.knots]


@pytest.mark.parametrize("is_raw", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_maps_that_are_more_flexible_must_gain_two_standard_errors(n_classes, is_raw):
    chosen = set()
    for n_rows, factor, seed in itertools.product((20, 80, 300, 1500), (0.5, 0.8, 1.0, 1.5), range(3)):
        if n_rows == 1500 and seed:
            continue  # slow
        rows = draw_scored(n_classes, is_raw=is_raw, factor=factor, n_rows=n_rows, seed=seed)
        fold = assign_folds(rows.codes, seed)
        n_effective = rows.weight.sum() ** 2 / (rows.weight**2).sum()
        smoothing = 1.0 / (n_effective + 2.0)
        learners, losses = (_keep, _learn_sigmoid, _learn_isotonic), np.empty((3, n_rows))
        for place, number in itertools.product(range(3), range(5)):
            learned = learners[place](rows.take(fold != number))
            for row in np.flatnonzero(fold == number):
                logs = [math.log(share) for share in map_slowly(learned, rows.score[row].tolist())]
                own = logs.pop(rows.codes[row])
                losses[place, row] = -(1.0 - smoothing) * own - smoothing * sum(logs) / len(logs)
        place = 0
        while place < (2 if n_effective >= 1000.0 else 1):
            gains = losses[place] - losses[place + 1]
            mean = np.average(gains, weights=rows.weight)
            error = math.sqrt((rows.weight**2 * (gains - mean) ** 2).sum()) / rows.weight.sum()
            if mean <= 2.0 * error:
                break
            place += 1
        found = learn_calibration(rows, fold, "isotonic")
        assert list_knots(found) == list_knots(learners[place](rows))
        chosen.add(place)
    assert {0, 1} <= chosen


@pytest.mark.parametrize("n_rows", [20, 2000])
def test_few_rows_that_are_all_right_do_not_make_probabilities_certain(n_rows):
    """One row more may be wrong."""
    codes = np.arange(n_rows, dtype=np.int32) % 2
    score = np.where(codes == 1, 0.97, 0.03)[:, None]
    rows = Scored(score, codes, np.ones(n_rows), 2, is_raw=False)
    found = learn_calibration(rows, assign_folds(codes, 0), "sigmoid")
    highest = map_slowly(found, [0.97])[1]
    assert highest == pytest.approx(0.97, abs=1e-12) if n_rows == 20 else highest > 0.99


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
    rows = Scored(score[:, None], is_target.astype(np.int32), weight, 2, is_raw=True)
    (slope,), (shift,) = _learn_sigmoid(rows).knots[0]
    x, y = _learn_isotonic(rows).knots[0]

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


@pytest.mark.parametrize("method", METHODS)
def test_separable_classes_have_no_certain_probabilities(method):
    X = np.concatenate([np.linspace(-2, -1, 100), np.linspace(1, 2, 100)])[:, None]
    for model in MODELS:
        proba = clone(model).set_params(calibrate=method).fit(X, X[:, 0] > 0).predict_proba(X)
        assert 0.0 < proba.min() < proba.max() < 1.0
        assert (proba.max(axis=1) > 0.9).all()


@pytest.mark.parametrize("method", METHODS)
def test_calibration_keeps_the_order_of_scores(method):
    X, y = make_noisy()
    model = LHForestClassifier(5, direction="mixed", calibrate=method, random_state=0).fit(X, y)
    score, proba = model._model.score("uncalibrated", X)[:, 1], model.predict_proba(X)[:, 1]
    assert (np.diff(proba[np.argsort(score)]) >= 0.0).all()


def test_two_rows_of_a_class_are_enough():
    X, y = make_noisy(60)
    y[:] = 0
    y[7:9] = 1
    proba = LHTClassifier(calibrate="isotonic").fit(X, y).predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_explanations_give_both_probabilities():
    X, y = make_noisy(150)
    model = give_calibration(LHForestClassifier(4, direction="mixed", random_state=0).fit(X, y), "lines")
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
    model = give_calibration(LHBoostClassifier(5, random_state=0).fit(X, y), "lines")
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
