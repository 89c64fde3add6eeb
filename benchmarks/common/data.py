"""The paper's nine data sets and their splits."""

import functools
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import uci

# In order of size, so that an interrupted run has finished most of them.
NAMES = ("wine", "seeds", "wdbc", "banknote", "rice", "spambase", "eeg", "magic", "skin")
_LONG_NAMES = {"eeg": "eeg_eye_state"}
_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "datasets"
_FEW_ROWS = 5000


class Data(NamedTuple):
    """Features as published, classes as 0 … K-1 in the order of the published labels."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]


@functools.lru_cache(maxsize=2)
def load(name: str) -> Data:
    """Read one of the nine data sets."""
    if _FOLDER.is_dir():
        os.environ.setdefault("LHTREE_DATA", str(_FOLDER))
    try:
        X, y = uci.load(_LONG_NAMES.get(name, name))
    except FileNotFoundError as error:
        raise SystemExit(str(error)) from None
    return Data(name, np.ascontiguousarray(X), y.astype(np.int64))


def drop_copies(data: Data) -> Data:
    """Return every row once, sorted."""
    rows = np.unique(np.column_stack([data.X, data.y]), axis=0)
    return Data(data.name, np.ascontiguousarray(rows[:, :-1]), rows[:, -1].astype(np.int64))


def n_splits(data: Data) -> int:
    """Number of splits of a set: small sets vary more and cost less."""
    return 20 if len(data.y) < _FEW_ROWS else 10


class Split(NamedTuple):
    """Training and test rows."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]


def resample(X: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
    """Draw rows with replacement."""
    return X[np.random.default_rng(0).integers(len(X), size=n_rows)]


def make_rows(
    n_rows: int, n_features: int, n_classes: int = 2, seed: int = 0
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Normal float32 rows cut by an oblique plane, 5 % of the classes wrong: noise makes trees deep."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, n_features), dtype=np.float32)
    # Classes of about equal size, separated by the sum of two features.
    cuts = np.quantile(random.standard_normal(20_000) * np.sqrt(2), np.arange(1, n_classes) / n_classes)
    y = np.digitize(X[:, 0] + X[:, 1], cuts)
    is_wrong = random.random(n_rows) < 0.05
    y[is_wrong] = random.integers(n_classes, size=int(is_wrong.sum()))
    return X, y


def split(data: Data, seed: int) -> Split:
    """Stratified 80/20 split, the same for every model."""
    from sklearn.model_selection import train_test_split

    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.2, stratify=data.y, random_state=seed)
    return Split(X, y, X_test, y_test)
