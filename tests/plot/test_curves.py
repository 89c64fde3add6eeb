import matplotlib.pyplot as plt
import numpy as np
import pytest

from lhtree import plot_coverage
from lhtree.evaluation.decisions import coverage_curve
from lhtree.plot._evaluation import find_limits
from support import pictures

pytestmark = pytest.mark.usefixtures("closing")


def test_coverage_line_equals_the_curve():
    model, X, y = pictures.clouds(600, 4, 3)
    curve = coverage_curve(model, X + 0.3, y)
    ax = plot_coverage(curve)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), curve.coverage)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), curve.accuracy)
    assert f"all rows: {curve.accuracy[-1]:.3f}" in pictures.written(ax)
    low, high = ax.get_ylim()
    assert low < curve.accuracy.min()
    assert curve.accuracy.max() < high
    assert pictures.find_flaws(ax) == ([], [])


def test_coverage_axis_of_perfect_model_ends_at_one():
    ax = plot_coverage(coverage_curve(*pictures.wine()))
    assert pictures.find_flaws(ax) == ([], [])
    low, high = ax.get_ylim()
    assert low <= 0.95
    assert 1.0 <= high <= 1.001
    shown = [tick for tick in ax.get_yticks() if low <= tick <= high]
    assert max(shown) == pytest.approx(1.0)


@pytest.mark.parametrize("low", [0.0, 0.3, 0.9, 0.995, 1.0])
@pytest.mark.parametrize("span", [0.0, 0.004, 0.1, 1.0])
def test_limits_contain_accuracies(low, span):
    high = min(low + span, 1.0)
    bottom, top = find_limits(low, high)
    assert bottom < low
    assert high < top <= 1.0 + 0.01 * (top - bottom)
    assert top - bottom >= 0.0249


def test_two_curves_share_axes():
    figure, ax = plt.subplots()
    model, X, y = pictures.clouds(600, 4, 3)
    other, *_ = pictures.clouds(600, 4, 3, gamma=100)
    for own in (model, other):
        assert plot_coverage(coverage_curve(own, X + 0.3, y), ax=ax) is ax
    assert plt.get_fignums() == [figure.number]
    low = min(coverage_curve(own, X + 0.3, y).accuracy.min() for own in (model, other))
    assert ax.get_ylim()[0] < low
