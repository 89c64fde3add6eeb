"""The rows that boosting is judged by: a validation set, or training rows that are held out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._parameters import is_integer, is_real, refuse
from ._validate import Training
from .tables.labels import check_sample_weight, encode_known

_HELD_OUT = 2**64 - 1  # rounds are keyed by seed and number; no round has this one


class Validation(NamedTuple):
    """Rows to be judged by: of their own (X is given), or some of the training rows (``held`` says which)."""

    X: NDArray[Any] | None
    codes: NDArray[np.int32]
    weight: NDArray[np.float64] | None
    held: NDArray[np.uint8]  # of the training rows


def take_validation(
    estimator: Any, training: Training, X: Any, y: Any, sample_weight: Any
) -> Validation | None:
    """The validation set that was passed to fit, if any."""
    if X is None and y is None and sample_weight is None:
        return None
    if X is None or y is None:
        raise ValueError(
            "X_val and y_val must be passed together, and sample_weight_val only with both of them."
        )
    try:
        rows = training.encoding.encode(X, unseen=estimator.unseen, owner=type(estimator).__name__)
    except ValueError as error:
        raise ValueError("X_val" + str(error).removeprefix("X")) from error
    if np.isinf(rows).any():
        raise ValueError("X_val contains infinity: replace it by NaN (missing) or by a finite number.")
    if rows.dtype != training.X.dtype:
        most = np.finfo(training.X.dtype).max
        rows = np.clip(rows, -most, most).astype(training.X.dtype)
    codes = encode_known(y, training.classes, len(rows), "y_val", is_strict=True)
    weight = check_sample_weight(sample_weight, len(rows), "sample_weight_val")
    return Validation(rows, codes.astype(np.int32), weight, np.zeros(len(training.X), dtype=np.uint8))


def check_fraction(share: Any) -> None:
    """Check ``validation_fraction``."""
    is_share = is_real(share) and not is_integer(share) and 0.0 < share < 1.0
    if share is not None and not is_share and not (is_integer(share) and share >= 1):
        raise refuse(
            "validation_fraction",
            share,
            "a float between 0 and 1, a number of rows, or None (the training loss)",
        )


def hold_out(training: Training, share: Any, seed: int) -> Validation | None:
    """Training rows to be judged by, of every class its share; every class keeps a row. None: all train."""
    if share is None:
        return None
    n_rows = len(training.X)
    n_held = int(share) if is_integer(share) else max(1, round(share * n_rows))
    held = np.zeros(n_rows, dtype=np.uint8)
    if n_held < n_rows:
        # Rows in random order, class by class, of which every so many is taken.
        order = np.lexsort((_core.draw_keys(seed, _HELD_OUT, n_rows), training.codes))
        held[order[(np.arange(n_held) * n_rows + n_rows // 2) // n_held]] = 1
        is_gone = np.bincount(training.codes[held == 0], minlength=len(training.classes)) == 0
        held[order[np.searchsorted(training.codes[order], np.flatnonzero(is_gone))]] = 0
    if not held.any():
        raise refuse(
            "validation_fraction",
            share,
            f"X_val and y_val to fit, or validation_fraction=None (the training loss): {n_rows} rows are too few to "
            f"hold out {n_held}",
        )
    return Validation(None, np.empty(0, dtype=np.int32), None, held)


def join(training: Training, validation: Validation | None) -> dict[str, Any]:
    """Classes, weights and marks of held-out rows, those of a validation set after those of the training rows."""
    if validation is None:
        return {"classes": training.codes, "weight": training.weight, "held": None}
    weight, n_more = training.weight, len(validation.codes)
    if weight is not None or validation.weight is not None:
        own = np.ones(len(training.X)) if weight is None else weight
        weight = np.concatenate([own, np.ones(n_more) if validation.weight is None else validation.weight])
    return {
        "classes": np.concatenate([training.codes, validation.codes]),
        "weight": weight,
        "held": np.concatenate([validation.held, np.ones(n_more, dtype=np.uint8)]),
    }
