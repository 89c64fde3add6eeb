"""Run a few tests that show that an installed lhtree works, as for every wheel: `python tests/quick.py`."""

import sys
from pathlib import Path

import pytest

FILES = (
    "core/test_by_hand.py",
    "core/test_imports.py",
    "core/test_missing_core.py",
    "core/test_versions.py",
    "estimators/test_tree.py",
    "estimators/test_forest_fits.py",
    "estimators/test_boost.py",
    "estimators/test_regressors.py",
    "describe/test_text.py",
    "files/test_samples.py",  # saved models predict the same bits
)

if __name__ == "__main__":
    folder = Path(__file__).resolve().parent
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *(str(folder / name) for name in FILES)]))
