"""The paper's nine data sets and their splits."""

from __future__ import annotations

import functools
import gzip
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# By number of rows, so that a run that is cut short has finished most sets.
NAMES = ("wine", "seeds", "wdbc", "banknote", "rice", "spambase", "eeg", "magic", "skin")
_FILES = {"eeg": "eeg_eye_state"}
_FEW_ROWS = 5000


class Data(NamedTuple):
    """Features as published, classes as 0 … K-1."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]


def _folder() -> Path:
    default = Path(__file__).resolve().parents[2] / "shared" / "datasets"
    return Path(os.environ.get("LHTREE_DATA", default))


@functools.lru_cache(maxsize=2)
def load(name: str) -> Data:
    """Read one of the nine data sets."""
    path = _folder() / f"{_FILES.get(name, name)}.csv.gz"
    if not path.exists():
        raise SystemExit(
            f"{path.name} is not in {path.parent}: set LHTREE_DATA to the folder that holds the nine data sets."
        )
    with gzip.open(path, "rt", encoding="utf-8") as file:
        header = file.readline().strip().split(",")
        if header[-1] != "class":
            raise SystemExit(f"The last column of {path.name} is {header[-1]!r}; it should be 'class'.")
        cells = np.loadtxt(file, delimiter=",", dtype=str)
    y = np.unique(cells[:, -1], return_inverse=True)[1].astype(np.int64)
    return Data(name, np.ascontiguousarray(cells[:, :-1], dtype=np.float64), y)


def n_splits(data: Data) -> int:
    """Number of splits of a set: small sets vary more and cost less."""
    return 20 if len(data.y) < _FEW_ROWS else 10


class Split(NamedTuple):
    """Training and test rows."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]


def split(data: Data, seed: int) -> Split:
    """Stratified 80/20 split, the same for every model."""
    from sklearn.model_selection import train_test_split

    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.2, stratify=data.y, random_state=seed)
    return Split(X, y, X_test, y_test)
