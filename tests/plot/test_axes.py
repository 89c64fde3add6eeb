"""Axes, markers and arguments of plots."""

import pytest

from lhtree.describe.palette import class_colour
from lhtree.plot._axes import marker, take_axes

pytestmark = pytest.mark.usefixtures("closing")


def test_classes_have_distinct_looks():
    assert len({(class_colour(code), marker(code)) for code in range(168)}) == 168
    assert len({marker(code) for code in range(7)}) == 7


@pytest.mark.parametrize("ax", [3, "axes", [1]])
def test_values_that_are_not_axes_are_rejected(ax):
    with pytest.raises(ValueError, match=r"^ax=.* is not valid: pass a matplotlib Axes, or None"):
        take_axes(ax, 1, 1)
