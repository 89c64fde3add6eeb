"""Models and the table of the benchmark of calibration."""

import numpy as np
import pytest
from benchmarks.calibration import CHURN, METHODS, QUESTION, build, load, render
from benchmarks.common import data as datasets
from benchmarks.common.results import Task
from sklearn.calibration import CalibratedClassifierCV


@pytest.fixture
def results():
    """Two splits of two sets and one model."""
    losses = dict(zip(METHODS, (0.4, 0.38, 0.41, 0.37, 0.39), strict=True))
    return {
        (name, f"boosted, {method}"): {
            seed: {"log_loss": loss + 0.01 * seed, "change_error": 0.006 if name == CHURN else 0.02}
            for seed in range(2)
        }
        for name in (CHURN, "wine")
        for method, loss in losses.items()
    }


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_built(method):
    model = build("boosted", method, 0)
    assert isinstance(model, CalibratedClassifierCV) == method.startswith("wrapped")
    own = model.estimator if method.startswith("wrapped") else model
    assert own.calibrate == (method if method in ("sigmoid", "isotonic") else None)


def test_the_table_has_the_changes_by_each_method(results):
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in render(results).splitlines()]
    assert lines[0][2:7] == list(METHODS)
    assert lines[2][:3] == ["boosted", "churn", "0.4050"]
    assert lines[2][7:] == ["-0.0200 ± 0.0042", "+0.0100 ± 0.0042"]  # 0.006 / √2
    assert lines[3][7:] == ["-0.0200 ± 0.0141", "+0.0100 ± 0.0141"]
    assert lines[4][0] == "**boosted**"
    assert lines[4][7:] == ["-0.0200 ± 0.0074", "+0.0100 ± 0.0074"]


def test_sets_with_more_harm_than_noise_are_listed(results):
    assert render(results).splitlines()[-1].endswith("standard error: boosted, churn, isotonic.")
    for splits in results.values():
        for result in splits.values():
            result["change_error"] = 0.1
    assert render(results).splitlines()[-1].endswith("standard error: none.")


def test_standard_errors_are_those_of_paired_rows():
    result = QUESTION.measure(Task("calibration", CHURN, "paper_tree, sigmoid", 0))
    part = datasets.split(load(CHURN), 0)
    before, after = (
        build("paper_tree", method, 0).fit(part.X[:2500], part.y[:2500]).predict_proba(part.X_test)
        for method in ("none", "sigmoid")
    )
    own = np.arange(len(part.y_test)), part.y_test
    changes = np.log(np.clip(before[own], 1e-15, 1.0)) - np.log(after[own])
    assert result["change_error"] == pytest.approx(np.std(changes, ddof=1) / len(changes) ** 0.5)
