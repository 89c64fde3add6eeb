"""Synthetic problems have the Bayes error they say; verdicts on them."""

import math

import numpy as np
import pytest
from benchmarks.common.statistics import Mean
from benchmarks.when.page import say_verdict
from benchmarks.when.problems import ERROR, SCALING, Clusters
from benchmarks.when.runs import N_SWEEP, draw, sweep_key

RULES = {
    "steps": lambda X: (X[:, 0] > 0.5) | ((X[:, 1] > 0) & (X[:, 2] < 0.5)),
    "ball": lambda X: (X[:, :4] ** 2).sum(axis=1) > 3.3567,
    "xor": lambda X: X[:, 0] * X[:, 1] > 0,
}


@pytest.mark.parametrize("name", SCALING)
def test_bayes_rule_has_the_error_of_the_problem(name):
    X, y = SCALING[name].draw(np.random.default_rng(0), 40_000)
    if name == "tilted":
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        guess = LinearDiscriminantAnalysis().fit(X, y).predict(X)  # normal, one covariance: its own method
    else:
        guess = RULES[name](X)
    assert (guess != y).mean() == pytest.approx(ERROR, abs=0.005)
    assert y.mean() == pytest.approx(0.5, abs=0.06)


def test_wrong_labels_add_to_the_error():
    errors = [Clusters(noise=noise).draw(0, np.random.default_rng(0), 2000)[1] for noise in (0, 0.3)]
    assert errors[1] == pytest.approx(0.3 + errors[0] * 0.4)


def test_drawings_are_the_same_for_every_model():
    first, second = draw("xor 100", 1, n_test=50), draw("xor 100", 1, n_test=50)
    assert all(np.array_equal(a, b) for a, b in zip(first.split, second.split, strict=True))
    assert len(first.split.y) == 100
    assert len(draw(sweep_key(Clusters()), 0, n_test=10).split.y) == N_SWEEP


def test_verdicts():
    assert say_verdict(Mean(0.01, 0.005, 0, 0, 0)) == "**wins +1.00**"
    assert say_verdict(Mean(-0.01, 0.005, 0, 0, 0)) == "**loses -1.00**"
    assert say_verdict(Mean(-0.01, 0.02, 0, 0, 0)) == "ties (-1.00)"
    assert say_verdict(Mean(-0.01, math.inf, 0, 0, 0)) == "-1.00"
