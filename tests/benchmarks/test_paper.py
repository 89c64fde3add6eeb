"""Arithmetic and tables of the reproduction; nothing is measured."""

import math

import numpy as np
import pytest
from benchmarks.common.statistics import summarise
from benchmarks.paper import printed, rivals
from benchmarks.paper.printed import FAILS, HOLDS, TABLES
from benchmarks.paper.runs import COLUMNS, DISTINCT, add_accuracies, count_equal, find_seen
from benchmarks.paper.studies import find_jumps


def test_printed_figures_are_whole_rows():
    for name, lines in TABLES.items():
        n = printed.n_test(name)
        for model, line in lines.items():
            if n < 5000 and line.test != 94.40:  # 34 of 36 is 94.44: cut off, not rounded
                assert printed.right_rows(line.test, n) is not None, (name, model)


def test_leads():
    leads = [printed.lead(name) for name in TABLES]
    assert leads[:4] == [0, 1, 3, 1]
    assert sum(lead >= 0 for lead in leads) == 7
    assert printed.least_p(0) == printed.least_p(1) == 1.0
    assert printed.least_p(3) == printed.least_p(-3) == 0.25


def test_summarise():
    found = summarise([0.9, 1.0])
    # t for one degree of freedom is 12.7062; the splits share rows, so 1/2 + 1/4 stands for 1/2.
    assert found.half == pytest.approx(12.7062 * math.sqrt(0.005) * math.sqrt(0.75), rel=1e-4)
    assert (found.mean, found.least, found.most) == (pytest.approx(0.95), 0.9, 1.0)
    assert summarise([0.5]).half == math.inf


def test_jumps_are_distinguished_from_slopes():
    x = np.linspace(0, 1, 101)
    values = np.where(x < 0.495, 0.5 * x, 0.5 * x + 0.25)
    jumps = find_jumps(np.stack([values, 3.0 * x]))
    assert jumps[0].max() == pytest.approx(0.25)
    assert (jumps > 1e-9).sum() == 1


def test_seen_rows():
    X = np.array([[0.0, 1.0], [2.0, 3.0]])
    assert find_seen(X, np.array([[-0.0, 1.0], [2.0, 3.1], [2.0, 3.0]])).tolist() == [True, False, True]


def test_the_accuracy_run_fills_gaps():
    found = {("wine", "cart"): {0: {"train": 1.0, "accuracy": 0.9}}}
    accuracy = {("wine", "cart"): {seed: {"accuracy": 0.9, "log_loss": 2.0} for seed in range(2)}}
    joined = add_accuracies(found, accuracy | {("wine", "logistic"): accuracy["wine", "cart"]})
    assert joined == {("wine", "cart"): {0: {"train": 1.0, "accuracy": 0.9}, 1: {"accuracy": 0.9}}}
    assert count_equal(found, accuracy) == (1, 1)


def make_results(rate):
    """Results in which a model is right at rate(model) less a little by split."""
    metrics = ("fit_seconds", "fit_cpu_seconds", "row_seconds", "batch_seconds")
    return {
        (name, model): {
            seed: {
                **{metric: 0.001 if model.startswith("paper") else 0.002 for metric in metrics},
                **{metric: rate(model) - 0.01 * seed for metric in ("train", "accuracy", "unseen")},
                "seen_share": 0.5,
            }
            for seed in range(2)
        }
        for name in (*TABLES, DISTINCT)
        for model in COLUMNS
    }


@pytest.mark.parametrize(("ours", "expected"), [(0.95, HOLDS), (0.85, FAILS)])
def test_best(ours, expected):
    results = make_results(lambda model: ours if model.startswith("paper") else 0.9)
    claims = rivals.claim_best(results, tuple(TABLES))
    assert [claim.verdict for claim in claims] == [expected, expected]
