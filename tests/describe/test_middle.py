"""Plots of additive models show the range of a column without few extreme values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree.describe.curves import find_middle


def test_a_column_without_extreme_values_is_shown_whole():
    assert find_middle(np.array([2.0, 5.0, 8.0]), np.full(4, 25.0), (0.0, 10.0)) == (0.0, 10.0)


def test_steps_with_few_rows_are_left_out():
    edges, weight = np.array([1.0, 2.0, 3.0, 900.0]), np.array([30.0, 30.0, 30.0, 110.0, 0.5])
    assert find_middle(edges, weight, (0.0, 1000.0)) == (pytest.approx(0.7), pytest.approx(3.3))


def test_a_constant_end_is_cut_off():
    low, high = find_middle(np.array([1.0, 2.0]), np.array([10.0, 80.0, 10.0]), (-1e300, 1e300))
    assert (low, high) == (pytest.approx(0.85), pytest.approx(2.15))


@pytest.mark.parametrize("edges", [[], [3.0]])
def test_columns_with_few_edges_are_shown_whole(edges):
    assert find_middle(np.array(edges), np.ones(len(edges) + 1), (-5.0, 1e9)) == (-5.0, 1e9)


@given(
    st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=12, unique=True).map(sorted),
    st.lists(st.floats(0.0, 1e6), min_size=13, max_size=13),
)
def test_range_lies_within_all_values(edges, weight):
    span = (edges[0], edges[-1])
    low, high = find_middle(np.array(edges), np.array(weight[: len(edges) + 1]), span)
    assert span[0] <= low <= high <= span[1]
