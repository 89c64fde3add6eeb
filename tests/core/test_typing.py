"""Types: the committed stubs match the bindings, and the code that type checkers read as user code runs."""

import subprocess
import sys
from pathlib import Path

import numpy as np

import lhtree
from typed.sample import fit_and_read, predict_numbers


def test_stubs_are_fresh(tmp_path):
    root, fresh = Path(__file__).parents[2], tmp_path / "_core.pyi"
    patterns = root / "cpp" / "bindings.pat"
    command = ["--quiet", "--module", "lhtree._core", "--pattern-file", patterns, "--output-file", fresh]
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", *command], check=True)
    committed = root / "src" / "lhtree" / "_core.pyi"
    assert committed.read_text() == fresh.read_text(), "the bindings have changed: run `make fix`"


def test_the_sample_runs(tmp_path):
    texts = fit_and_read(tmp_path)
    assert texts[-1] == lhtree.__version__
    assert all(texts)
    low, predicted, high = predict_numbers()
    assert np.all((low <= predicted) & (predicted <= high))
