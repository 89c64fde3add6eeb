"""The code that type checkers are shown as user code runs."""

import numpy as np

import lhtree
from typed.sample import fit_and_read, predict_numbers


def test_the_sample_runs(tmp_path):
    texts = fit_and_read(tmp_path)
    assert texts[-1] == lhtree.__version__
    assert all(texts)
    low, predicted, high = predict_numbers()
    assert np.all((low <= predicted) & (predicted <= high))
