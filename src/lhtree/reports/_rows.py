"""Rows of a report: encoded once, with their classes or responses, and the samples that the page offers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.model import read
from ..tables.frames import refuse_infinity
from ..tables.labels import encode_known, take_numbers

N_WRONG, N_UNSURE, N_SAMPLES = 60, 40, 200
_VALUES_ENOUGH = 100_000  # of a table with very many features, fewer rows


class Rows(NamedTuple):
    """Encoded rows in original units and the indices of their classes; a regression has responses, and indices 0."""

    X: NDArray[Any]
    codes: NDArray[np.int64]
    response: NDArray[np.float64] | None = None


def check_labelled(model: Any, X: Any, y: Any, name_y: str) -> Rows:
    """Return encoded rows and classes, or raise an error with a remedy."""
    fitted = read(model, takes_numbers=True)
    checked = fitted.encode(X)
    if np.isinf(checked).any():
        refuse_infinity(checked)
    if not fitted.head.labels:
        return Rows(checked, np.zeros(len(checked), dtype=np.int64), take_numbers(y, len(checked), name_y))
    return Rows(checked, encode_known(y, fitted.classes, len(checked), name_y, is_strict=True))


def choose_samples(rows: Rows, predicted: NDArray[np.float64]) -> dict[str, NDArray[np.int64]]:
    """Return rows worth a look: the clearest mistakes, the least certain correct ones, and others evenly spaced.

    ``predicted`` are probabilities, or the numbers of a regression, where the clearest mistakes are the largest errors.
    """
    share = min(1.0, _VALUES_ENOUGH / (N_SAMPLES * rows.X.shape[1]))
    n_wrong, n_unsure, n_samples = (max(3, int(share * n)) for n in (N_WRONG, N_UNSURE, N_SAMPLES))
    if rows.response is not None:
        order = np.argsort(-np.abs(rows.response - predicted[:, 0]), kind="stable")
        wrong, unsure, rest = order[:n_wrong], order[:0], np.sort(order[n_wrong:])
    else:
        codes = rows.codes
        right = predicted.argmax(axis=1) == codes
        best = predicted.max(axis=1)
        of_truth = predicted[np.arange(len(codes)), codes]
        wrong = np.flatnonzero(~right)
        wrong = wrong[np.argsort(of_truth[wrong], kind="stable")][:n_wrong]
        unsure = np.flatnonzero(right)
        unsure = unsure[np.argsort(best[unsure], kind="stable")]
        unsure, rest = unsure[:n_unsure], np.sort(unsure[n_unsure:])
    n_rest = max(0, min(len(rest), n_samples - len(wrong) - len(unsure)))
    return {"wrong": wrong, "unsure": unsure, "right": rest[space(len(rest), n_rest)]}


def space(n_rows: int, n_wanted: int) -> NDArray[np.int64]:
    """Return evenly spaced indices of rows."""
    return np.linspace(0, n_rows - 1, n_wanted).round().astype(np.int64)
