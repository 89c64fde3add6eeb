"""``choose_threshold`` against every threshold that could matter, tried one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.model_selection import FixedThresholdClassifier

from lhtree import LHBoostClassifier, LHBoostRegressor, choose_threshold, evaluate
from support.clouds import make_clouds

SCORES = {
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "f1": metrics.f1_score,
    "accuracy": metrics.accuracy_score,
}


class Fixed:
    """A classifier that has its probabilities already."""

    classes_ = np.array([0, 1])

    def __init__(self, proba):
        self.proba = np.asarray(proba, dtype=float)

    def predict_proba(self, X):
        return np.column_stack([1.0 - self.proba, self.proba])


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 1.0]), st.booleans()), min_size=2, max_size=25
    ),
    st.sampled_from(sorted(SCORES)),
    st.data(),
)
def test_no_threshold_is_better(rows, metric, data):
    proba, y = np.array([row[0] for row in rows]), np.array([int(row[1]) for row in rows])
    y[:2] = 0, 1
    weight = None
    if data.draw(st.booleans()):
        weight = np.array(
            data.draw(st.lists(st.integers(1, 4), min_size=len(y), max_size=len(y))), dtype=float
        )
    found = choose_threshold(Fixed(proba), y, y, metric=metric, sample_weight=weight)
    tried = [0.0, *np.unique(proba), 1.1]
    best = max(SCORES[metric](y, proba >= one, sample_weight=weight) for one in tried)
    assert SCORES[metric](y, proba >= found, sample_weight=weight) == pytest.approx(best)


def test_it_fits_scikit_learn_and_helps_a_rare_class():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(3000, 4))
    y = X[:, 0] + generator.normal(size=3000) > 2.2
    model = LHBoostClassifier(max_iter=30, random_state=0).fit(X[:1000], y[:1000])
    threshold = choose_threshold(model, X[1000:2000], y[1000:2000])
    fixed = FixedThresholdClassifier(model, threshold=threshold, response_method="predict_proba").fit(X, y)
    fixed.estimator_ = model
    plain, chosen = (
        metrics.balanced_accuracy_score(y[2000:], one.predict(X[2000:])) for one in (model, fixed)
    )
    assert chosen > plain + 0.1
    measured = evaluate(model, X[2000:], y[2000:])
    assert measured.has_rare_class
    assert [name for name, _ in measured.figures()][1:3] == ["balanced accuracy", "average precision"]


def test_balanced_classes_lead_with_accuracy():
    X, y = make_clouds(300, 4, 2)
    measured = evaluate(LHBoostClassifier(max_iter=5).fit(X, y), X, y)
    assert not measured.has_rare_class
    assert measured.figures()[1][0] == "accuracy"


@pytest.mark.parametrize(
    ("model", "y", "params"),
    [
        (Fixed([0.1, 0.9]), [0, 1], {"metric": "recall"}),
        (Fixed([0.1, 0.9]), [1, 1], {}),
        (Fixed([0.1, 0.9]), [0, 2], {}),
        (Fixed([0.1, 0.9]), [0, 1, 1], {}),
    ],
)
def test_invalid_arguments_are_rejected(model, y, params, rejects):
    rejects(choose_threshold, model, y, y, **params)


def test_models_without_two_classes_are_refused(rejects):
    X, y = make_clouds(90, 3, 3)
    rejects(choose_threshold, LHBoostClassifier(max_iter=2).fit(X, y), X, y)
    rejects(choose_threshold, LHBoostRegressor(max_iter=2).fit(X, y), X, y)
    rejects(choose_threshold, LHBoostClassifier(), X, y)
