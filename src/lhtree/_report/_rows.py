"""Rows with their classes, checked against a model, and the few of them that the page lets one pick."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model import read
from ..tables.frames import refuse_infinity
from ..tables.labels import encode_known

N_WRONG, N_UNSURE, N_SAMPLES = 60, 40, 200
_VALUES_ENOUGH = 100_000  # of a table with very many features, fewer rows


class Rows(NamedTuple):
    """Rows in original units and the indices of their classes."""

    X: NDArray[Any]
    codes: NDArray[np.int64]


def check_labelled(model: Any, X: Any, y: Any, name_y: str) -> Rows:
    """Exact arrays of rows and classes, or an error with a remedy."""
    checked = read(model).encode(X)
    if np.isinf(checked).any():
        refuse_infinity(checked)
    return Rows(checked, encode_known(y, read(model).classes, len(checked), name_y, is_strict=True))


def choose_samples(rows: Rows, proba: NDArray[np.float64]) -> dict[str, NDArray[np.int64]]:
    """Rows worth looking at: the clearest mistakes, the least sure of the right ones, and others evenly spaced."""
    codes = rows.codes
    share = min(1.0, _VALUES_ENOUGH / (N_SAMPLES * rows.X.shape[1]))
    n_wrong, n_unsure, n_samples = (max(3, int(share * n)) for n in (N_WRONG, N_UNSURE, N_SAMPLES))
    right = proba.argmax(axis=1) == codes
    best = proba.max(axis=1)
    of_truth = proba[np.arange(len(codes)), codes]
    wrong = np.flatnonzero(~right)
    wrong = wrong[np.argsort(of_truth[wrong], kind="stable")][:n_wrong]
    unsure = np.flatnonzero(right)
    unsure = unsure[np.argsort(best[unsure], kind="stable")]
    unsure, rest = unsure[:n_unsure], np.sort(unsure[n_unsure:])
    n_rest = max(0, min(len(rest), n_samples - len(wrong) - len(unsure)))
    spaced = np.linspace(0, len(rest) - 1, n_rest).round().astype(np.int64)
    return {"wrong": wrong, "unsure": unsure, "right": rest[spaced]}
