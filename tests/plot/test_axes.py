"""Axes, markers and arguments of plots."""

import pytest

from lhtree.describe.palette import class_colour
from lhtree.plot._axes import marker

pytestmark = pytest.mark.usefixtures("closing")


def test_classes_have_distinct_looks():
    assert len({(class_colour(code), marker(code)) for code in range(168)}) == 168
    assert len({marker(code) for code in range(7)}) == 7
