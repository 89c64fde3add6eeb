"""Blocks of many rows, which sort sums by bucket, match the slow reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree import _pieces
from reference.compact import Data, Line, Problem, solve

N_ROWS = 600  # more than the core sorts without buckets


@pytest.mark.parametrize("is_exact", [True, False])
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), has_ties=st.booleans())
def test_blocks_of_many_rows_match_the_reference(is_exact, seed, has_ties):
    random = np.random.default_rng(seed)
    z = random.normal(size=(N_ROWS, 3)).astype(np.float32)
    z = np.round(z, 1) if has_ties else z
    z[:5] *= 1000.0  # far beyond all buckets
    weight = random.integers(1, 3, size=N_ROWS).astype(np.float64)
    data = Data(z, weight, penalty=0.1, min_samples_leaf=5.0, max_terms=3)
    gain = weight * np.round(z[:, 0] - np.abs(z[:, 1]) + random.normal(size=N_ROWS), 1)
    if is_exact:
        gain = np.round(4.0 * gain) / 4.0
    present = Line((0, 1), (np.float32(1.0), np.float32(-0.5)), 0.1)
    slow = solve(Problem(data, np.arange(N_ROWS), gain), present)
    line, (wrong, value) = _pieces.solve_compact(
        z, weight, gain, ([0, 1], [1.0, -0.5], 0.1), 0.1, 5.0, 3, False
    )
    assert value == pytest.approx(slow.value, rel=1e-6)
    assert wrong == pytest.approx(slow.wrong, rel=1e-9, abs=1e-9)
    assert tuple(line[0]) == slow.line.features
    np.testing.assert_allclose(line[1], slow.line.weights, rtol=1e-5, atol=1e-6)
    assert line[2] == pytest.approx(slow.line.offset, rel=1e-5, abs=1e-6)
