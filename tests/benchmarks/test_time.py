"""Curves of log loss against time, of made-up results; nothing is measured."""

import math

import pytest
from benchmarks.time import find_curves, interpolate, table_verdicts


def make_results(losses):
    """Return results of two tables: a fit takes as many seconds as it has rounds."""
    return {
        (name, model): {0: {"fit_seconds": float(model.rpartition("_")[2]), "log_loss": scale * loss}}
        for name, scale in (("wine", 1.0), ("churn", 4.0))
        for model, loss in losses.items()
    }


LOSSES = {"boosted_50": 0.8, "boosted_200": 0.4, "lightgbm_50": 1.2, "lightgbm_100": 1.0}


def test_curves_are_relative_to_the_defaults_of_lightgbm():
    curves = find_curves(make_results(LOSSES), ["wine", "churn"])
    assert curves["lightgbm"] == {50: pytest.approx((0.5, 1.2)), 100: pytest.approx((1.0, 1.0))}
    assert curves["boosted"][200] == pytest.approx((2.0, 0.4))


def test_interpolation_is_on_logarithmic_axes():
    curve = {1: (1.0, 0.8), 2: (4.0, 0.2)}
    assert interpolate(curve, 2.0, axis=0) == pytest.approx(0.4)
    assert interpolate(curve, 0.4, axis=1) == pytest.approx(2.0)
    assert math.isnan(interpolate(curve, 8.0, axis=0))


def test_verdicts_compare_at_equal_time_and_at_equal_loss():
    table = table_verdicts(find_curves(make_results(LOSSES), ["wine", "churn"]))
    cells = [cell.strip() for cell in table.splitlines()[-1].split("|")]
    assert cells[1:4] == ["LightGBM, 100 rounds", f"{math.sqrt(0.8 * 0.4) - 1:+.1%}", "below 0.50×"]
