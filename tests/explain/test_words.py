"""What explanations say, of rows worked out by hand."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from lhtree import LHForestClassifier, LHTClassifier
from lhtree.model.numbers import NumberFormat


def test_a_row_explained_by_hand():
    # One feature, minmax: centre 5, scale 5. The only cut lies midway between 4 and 6, at z = 0.
    X = np.array([[0.0], [2.0], [4.0], [6.0], [8.0], [10.0]])
    model = LHTClassifier(gamma=1, normalize="minmax").fit(X, ["a", "a", "a", "b", "b", "b"])
    explanation = model.explain([8.0])
    (path,) = explanation.paths
    (step,) = path.steps
    assert (path.target, step.side, step.offset, step.share) == ("b", "right", 0.0, 0.5)
    assert step.terms[0].term == step.y == pytest.approx(0.6)
    assert step.terms[0].unit_weight == pytest.approx(0.2)
    assert (path.leaf.estimate, path.leaf.n_samples) == (1.0, 3)
    assert explanation.wolf == pytest.approx({"a": 0.0, "b": 0.6})
    assert explanation.base == {"a": 0.5, "b": 0.5}
    assert explanation.contributions == {"a": {"x0": -0.5}, "b": {"x0": 0.5}}
    assert str(explanation) == (
        "Prediction: b, probability 100 % (a 0 %).\n"
        "WOLF: membership 1.00 × confidence 0.60 (distance from the last hyperplane, at most 1) = 0.60.\n"
        "\n"
        "50 % of the training rows are b. The values of this row change its membership from 0.50 to 1.00:\n"
        "  x0 8 is high: +0.50\n"
        "\n"
        "Path through the tree for b:\n"
        "  block 0 (3 of 6 training rows are b): goes right, because x0 8 (high) pulls that way.\n"
        "  leaf 2: 3 of 3 training rows are b."
    )
    assert repr(explanation) == "Explanation(prediction='b', proba=1)"
    beyond = str(model.explain([17.0]))
    assert "x0 17 is very high, outside the training range: +0.50" in beyond
    assert "because x0 17 (very high, outside the training range) pulls that way" in beyond
    assert "outside" not in str(model.explain([10.0])) + str(model.explain([0.0])) + str(
        model.explain([np.nan])
    )
    other = str(model.explain([4.4]))  # the class that the tree does not have as its target
    assert "Prediction: a, probability 100 % (b 0 %)" in other
    assert "hyperplane, at most 1; close to the boundary) = 0.12" in other
    assert (
        "block 0 (3 of 6 training rows are a): goes left, because x0 4.4 (typical) pulls that way." in other
    )
    assert "leaf 1: 3 of 3 training rows are a." in other


def test_amounts_that_round_to_nothing_have_a_plus():
    assert [NumberFormat().sign(amount) for amount in (-0.004, 0.004, -0.006, -10.001)] == [
        "+0.00",
        "+0.00",
        "-0.01",
        "-10.00",
    ]


def test_a_root_that_is_a_leaf():
    model = LHTClassifier().fit([[1.0], [1.0], [1.0]], [0, 0, 1])
    explanation = model.explain([1.0])
    assert explanation.paths[0].steps == ()
    assert explanation.paths[0].leaf.confidence == 1.0
    assert explanation.contributions[0] == {"x0": 0.0}
    assert "do not change it." in str(explanation)
    assert explanation.to_frame().part.tolist() == ["intercept"]


def test_deep_ways_are_told_in_part():
    generator = np.random.default_rng(0)
    X = np.arange(300.0)[:, None]
    model = LHTClassifier(gamma=1, offset="gini").fit(X, generator.integers(0, 2, 300))
    row = max(X, key=lambda x: len(model.explain(x).paths[0].steps))
    explanation = model.explain(row)
    n_steps = len(explanation.paths[0].steps)
    assert n_steps > 8
    lines = str(explanation).splitlines()
    assert sum(line.startswith("  block") for line in lines) == 6
    told = [int(line.split()[1]) for line in lines if line.startswith("  …")]
    assert sum(told) == n_steps - 6


def test_rows_without_any_wolf_value_say_what_decides():
    X, y = load_wine(return_X_y=True)
    model = LHTClassifier(gamma=30).fit(X[::2], y[::2])
    undecided = X[(model.predict_wolf(X) == 0).all(axis=1)]
    assert len(undecided)
    texts = {str(model.explain(row)) for row in undecided}
    assert all("WOLF value of every class is 0, so the" in text for text in texts)


def test_a_forest_is_summed_up():
    X, y = load_wine(return_X_y=True)
    model = LHForestClassifier(random_state=0).fit(X, y)
    explanation = model.explain(X[70])
    text = str(explanation)
    assert len(text.splitlines()) <= 12
    assert sum(explanation.votes.values()) == 100
    assert (
        f"{explanation.votes[explanation.prediction]} of 100 trees predict class {explanation.prediction}"
        in text
    )
    assert len(explanation.paths) == 300


def test_weighted_rows_are_not_counted():
    X, y = load_wine(return_X_y=True)
    text = str(LHTClassifier(class_weight="balanced").fit(X, y).explain(X[0]))
    assert "33.3 % of the weight of the training rows is class 0." in text
    assert "178 training rows, 33.3 % of their weight class 0" in text


def test_values_are_not_called_high_where_nothing_was_learned_of_them():
    X, y = load_wine(return_X_y=True)
    text = str(LHTClassifier(normalize=None).fit(X, y).explain(X[0]))
    assert "high" not in text
    assert "x12 1065: +" in text


def test_missing_values_are_said_to_be_missing():
    X, y = load_wine(return_X_y=True)
    explanation = LHTClassifier().fit(X, y).explain(np.full(13, np.nan))
    assert explanation.to_dict()["row"]["x0"] is None
    assert "like any row with typical or missing values" in str(explanation)


def test_values_are_written_as_people_write_them():
    X = np.array([[1.5e-7, 10.0, 28_600.0, 3e12], [1.5e-7, 20.0, 99_999.0, 4e12]]).repeat(5, axis=0)
    text = str(LHTClassifier(gamma=1, normalize="minmax").fit(X, [0] * 5 + [1] * 5).explain(X[0]))
    assert "x1 10 " in text
    assert "x2 28600 " in text
    assert "x3 3e+12 " in text


def test_flags_are_neither_high_nor_low():
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.random(200) < 0.3, generator.normal(size=200)])
    model = LHTClassifier().fit(X, X[:, 0] + X[:, 1] > 0.5)
    for flag in (0.0, 1.0):
        text = str(model.explain([flag, 3.0]))
        assert f"  x0 {flag:g}: " in text
        assert "x1 3 is " in text
        assert f"x0 {flag:g} (" not in text
