"""Abstaining: who is decided, ties, and the coverage curve against a slow count."""

import json

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline

from lhtree import LHForestClassifier, LHTClassifier, coverage_curve
from lhtree.evaluation.decisions import threshold_for
from lhtree.model.heads import make_head
from support.clouds import make_clouds


class Known:
    """A model with the WOLF values it was given."""

    classes = classes_ = np.array(["a", "b"])
    has_wolf, head = True, make_head("wolf", ["a", "b"], shares_classes=False)

    def __init__(self, wolf):
        self.wolf = wolf

    def _read(self):
        return self

    def predict(self, X):
        return np.array(["a", "b"])[self.wolf.argmax(axis=1)]

    def predict_wolf(self, X):
        return self.wolf


grids = hnp.arrays(np.float64, st.integers(1, 40), elements=st.integers(0, 8).map(lambda k: k / 8))


@given(grids, st.floats(0.0, 1.0))
def test_a_coverage_is_reached_by_the_largest_threshold(wolf, coverage):
    threshold = threshold_for(wolf, coverage)
    assert (wolf >= threshold).mean() >= coverage
    above = wolf[wolf > threshold]
    if coverage > 0.0:
        assert threshold in wolf
        assert len(above) / len(wolf) < coverage  # no larger threshold would do


@pytest.mark.parametrize(
    ("n_rows", "coverage", "n_decided"), [(100, 0.07, 7), (10, 0.7, 7), (3, 2 / 3, 2), (49, 1 / 49, 1)]
)
def test_rounding_decides_no_row_too_many(n_rows, coverage, n_decided):
    wolf = np.arange(n_rows) / n_rows
    assert (wolf >= threshold_for(wolf, coverage)).sum() == n_decided


def test_rows_at_the_threshold_are_decided():
    X, y = make_clouds(200, 5, 3)
    model = LHTClassifier().fit(X, y)
    wolf = model.predict_wolf(X).max(axis=1)
    threshold = np.sort(wolf)[70]
    decisions = model.predict_or_abstain(X, threshold)
    np.testing.assert_array_equal(decisions.is_decided, wolf >= threshold)
    assert decisions.sureness[decisions.is_decided].min() == threshold == decisions.threshold
    just_above = model.predict_or_abstain(X, np.nextafter(threshold, 1.0))
    assert just_above.is_decided.sum() == (wolf > threshold).sum() < decisions.is_decided.sum()


@pytest.mark.parametrize("kind", [LHTClassifier, LHForestClassifier])
@pytest.mark.parametrize("names", [["no", "yes"], [3, 7], [False, True], ["a", "b", "c"]])
def test_labels_of_every_type(kind, names):
    X, codes = make_clouds(120, 4, len(names))
    y = np.array(names)[codes]
    model = kind(random_state=0).fit(X[:60], y[:60])
    decisions = model.predict_or_abstain(X, coverage=0.6)
    predicted = model.predict(X).tolist()
    assert 0.6 <= decisions.coverage < 1.0
    for label, is_decided, full in zip(decisions.labels, decisions.is_decided, predicted, strict=True):
        assert label == full if is_decided else label is None
        assert label is None or type(label) is type(names[0])
    assert decisions.score(y) == accuracy_score(
        y[decisions.is_decided], model.predict(X)[decisions.is_decided]
    )
    with pytest.raises((ValueError, TypeError)):
        accuracy_score(y, decisions)  # None is no class: nothing is counted by mistake
    json.dumps(list(decisions))


def test_all_rows_are_decided():
    X, y = make_clouds(60, 3, 2)
    model = LHTClassifier().fit(X, y)
    for everybody in (model.predict_or_abstain(X, threshold=0), model.predict_or_abstain(X, coverage=1.0)):
        assert everybody.coverage == 1.0
        assert everybody.labels.tolist() == model.predict(X).tolist()
        assert everybody.score(y) == model.score(X, y)


def test_decisions_are_taken_for_an_array_of_labels():
    wolf = np.array([[0.9, 0.1], [0.2, 0.3], [0.0, 0.7]])
    model = LHTClassifier().fit(*make_clouds(30, 2, 2))
    decisions = type(model.predict_or_abstain(np.zeros((1, 2)), 0.0))(
        np.array(["a", None, "b"], dtype=object),
        np.array([True, False, True]),
        wolf.max(axis=1),
        0.5,
        Known.classes,
    )
    assert len(decisions) == 3
    assert decisions[0] == "a"
    assert np.asarray(decisions).tolist() == ["a", None, "b"]
    frame = pandas.DataFrame({"decision": decisions})
    assert frame["decision"].isna().tolist() == [False, True, False]
    assert decisions.to_frame().columns.tolist() == ["label", "is_decided", "wolf"]
    assert decisions.to_frame()["label"].isna().sum() == 1
    assert str(decisions) == "2 of 3 rows decided (coverage 0.667); the others have a WOLF value below 0.5"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"threshold": 0.5, "coverage": 0.5},
        {"threshold": -0.5},
        {"threshold": True},
        {"threshold": np.array([1, 2])},
        {"coverage": 1.5},
        {"threshold": float("nan")},
        {"coverage": -0.1},
        {"coverage": True},
        {"coverage": "all"},
    ],
)
def test_arguments(arguments, rejects):
    X, y = make_clouds(30, 2, 2)
    rejects(LHTClassifier().fit(X, y).predict_or_abstain, X, **arguments)


@given(grids, st.randoms(use_true_random=False))
def test_the_coverage_curve_counts(wolf, random):
    wolf = np.column_stack([wolf, np.zeros_like(wolf)])
    y = np.array([random.choice("ab") for _ in wolf])
    model = Known(wolf)
    curve = coverage_curve(model, None, y)
    assert curve.threshold.tolist() == sorted(set(wolf[:, 0].tolist()), reverse=True)
    predicted = model.predict(None)
    for threshold, n_decided, coverage, accuracy in zip(
        curve.threshold, curve.n_decided, curve.coverage, curve.accuracy, strict=True
    ):
        decided = wolf.max(axis=1) >= threshold
        assert n_decided == decided.sum()
        assert coverage == decided.mean()
        assert accuracy == pytest.approx((predicted == y)[decided].mean())
    assert curve.coverage[-1] == 1.0


def test_the_curve_agrees_with_abstaining():
    X, y = make_clouds(300, 5, 3)
    model = LHTClassifier().fit(X[::2], y[::2])
    curve = coverage_curve(model, X[1::2], y[1::2])
    assert f"accuracy {curve.accuracy[-1]:.3f} on all rows" in repr(curve)
    for point in (0, len(curve.threshold) // 2, -1):
        decisions = model.predict_or_abstain(X[1::2], curve.threshold[point])
        assert decisions.coverage == curve.coverage[point]
        assert decisions.score(y[1::2]) == pytest.approx(curve.accuracy[point])
    assert curve.accuracy[-1] == pytest.approx(model.score(X[1::2], y[1::2]))


def test_the_largest_coverage_with_an_accuracy(rejects):
    wolf = np.column_stack([[0.9, 0.8, 0.7, 0.6], np.zeros(4)])
    curve = coverage_curve(Known(wolf), None, ["a", "b", "a", "b"])
    assert curve.accuracy.tolist() == [1.0, 0.5, 2 / 3, 0.5]
    assert curve.reach(0.6) == {"threshold": 0.7, "n_decided": 3, "coverage": 0.75, "accuracy": 2 / 3}
    assert curve.reach(1.0)["threshold"] == 0.9
    assert curve.reach(0.0)["coverage"] == 1.0
    wrong = coverage_curve(Known(wolf), None, ["b", "b", "b", "a"])
    rejects(wrong.reach, 0.9)
    rejects(curve.reach, 2)


def test_a_frame_of_the_curve():
    wolf = np.column_stack([[0.5, 0.5], [0.0, 0.0]])
    frame = coverage_curve(Known(wolf), None, ["a", "b"]).to_frame()
    assert frame.to_dict("list") == {
        "threshold": [0.5],
        "n_decided": [2],
        "coverage": [1.0],
        "accuracy": [0.5],
    }


def test_classes_that_the_model_does_not_know(rejects):
    X, y = make_clouds(60, 3, 3)
    model = LHTClassifier().fit(X, y)
    decisions = model.predict_or_abstain(X, coverage=0.5)
    for ask in (decisions.score, lambda labels: coverage_curve(model, X, labels)):
        rejects(ask, y.astype(str))
    some_unknown = np.where(np.arange(60) < 30, y, 7)
    n_right = (decisions.labels == some_unknown).sum()
    assert decisions.score(some_unknown) == pytest.approx(n_right / decisions.is_decided.sum())
    assert coverage_curve(model, X, some_unknown).accuracy[-1] == pytest.approx(model.score(X, some_unknown))


def test_no_row_is_decided_by_infinity():
    X, y = make_clouds(60, 3, 3)
    model = LHTClassifier().fit(X, y)
    nothing = model.predict_or_abstain(X, coverage=0)
    assert nothing.threshold == np.inf
    assert set(nothing) == {None}
    again = model.predict_or_abstain(X, nothing.threshold)
    assert not again.is_decided.any()
    assert str(again) == "0 of 60 rows decided (coverage 0.000)"
    assert np.isnan(again.score(y))
    assert not model.predict_or_abstain(X, 1.5).is_decided.any()
    assert str(model.predict_or_abstain(X, 0)) == "60 of 60 rows decided (coverage 1.000)"


@pytest.mark.parametrize("make", [lambda model: "m", make_pipeline, type])
def test_the_curve_takes_models_of_lhtree_only(make, rejects):
    X, y = make_clouds(60, 3, 3)
    model = LHTClassifier().fit(X, y)
    rejects(coverage_curve, make(model), X, y)
