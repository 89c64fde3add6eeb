"""Models and the table of the benchmark of calibration; nothing is measured."""

import pytest
from benchmarks.calibration import CHURN, METHODS, QUESTION, build, load, render
from benchmarks.common.results import ROOT
from sklearn.calibration import CalibratedClassifierCV


@pytest.fixture
def results():
    """Two splits of two sets and one model."""
    losses = dict(zip(METHODS, (0.4, 0.38, 0.41, 0.37, 0.39), strict=True))
    return {
        (name, f"boosted, {method}"): {seed: {"log_loss": loss + 0.01 * seed} for seed in range(2)}
        for name in (CHURN, "wine")
        for method, loss in losses.items()
    }


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_built(method):
    model = build("boosted", method, 0)
    assert isinstance(model, CalibratedClassifierCV) == method.startswith("wrapped")
    own = model.estimator if method.startswith("wrapped") else model
    assert own.calibrate == (method if method in ("sigmoid", "isotonic") else None)


def test_a_quarter_of_the_customers_leave():
    data = load(CHURN)
    assert data.X.shape == (5000, 12)
    assert 0.24 < data.y.mean() < 0.3


def test_the_table_has_the_changes_by_each_method(results):
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in render(results).splitlines()]
    assert lines[0][2:7] == list(METHODS)
    assert lines[2][:3] == ["boosted", "churn", "0.4050"]
    assert lines[2][7:] == ["-0.0200", "+0.0100"]
    assert lines[-1][0] == "**boosted**"
    assert lines[-1][7:] == ["-0.0200", "+0.0100"]


def test_the_page_has_the_marks():
    text = (ROOT / "docs" / QUESTION.fills).read_text(encoding="utf-8")
    assert all(f"<!-- {mark} -->" in text for mark in ("losses", "run"))
