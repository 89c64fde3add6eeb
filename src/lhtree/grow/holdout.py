"""Validation rows of boosting: a separate set, or a held-out part of the training rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import is_integer, is_real, refuse
from ..tables.labels import check_sample_weight, encode_known
from ..tables.rows import EncodedRows, sample_rows
from .labels import check_response
from .objective import Objective, check_signs
from .training import Training


class Validation(NamedTuple):
    """Validation rows: a separate set (X is given), or a part of the training rows (marked by ``held``)."""

    X: EncodedRows | None
    codes: NDArray[np.int32]
    response: NDArray[np.float64]  # of a regression, instead
    weight: NDArray[np.float64] | None
    held: NDArray[np.uint8]  # of the training rows


def take_validation(
    estimator: Any, training: Training, X: Any, y: Any, sample_weight: Any
) -> Validation | None:
    """Return the validation set that was passed to fit, if any."""
    if X is None and y is None and sample_weight is None:
        return None
    if X is None or y is None:
        raise ValueError(
            "X_val and y_val must be passed together, and sample_weight_val only with both of them."
        )
    try:
        rows = training.encoding.code(X, unseen=estimator.unseen, owner=type(estimator).__name__)
    except ValueError as error:
        raise ValueError("X_val" + str(error).removeprefix("X")) from error
    if np.isinf(rows.numbers).any():
        raise ValueError("X_val contains infinity: replace it by NaN (missing) or by a finite number.")
    dtype = training.X.load().dtype
    if rows.dtype != dtype:
        most = np.finfo(dtype).max
        rows = rows.with_numbers(np.clip(rows.numbers, -most, most).astype(dtype), rows.levels)
    weight = check_sample_weight(sample_weight, len(rows), "sample_weight_val")
    codes = np.zeros(len(rows), dtype=np.int32)
    response = np.empty(0) if training.response is None else training.response[:0]
    if training.response is None:
        codes = encode_known(y, training.classes, len(rows), "y_val", is_strict=True).astype(np.int32)
    else:
        try:
            response = check_response(
                rows, y, type(estimator).__name__, takes_several=estimator._takes_several
            )
            if response.shape[1:] != training.response.shape[1:]:
                raise ValueError(f"it has shape {response.shape}. Pass the columns of y.")
        except ValueError as error:
            raise ValueError(f"y_val: {error}") from error
    return Validation(rows, codes, response, weight, np.zeros(len(training.X), dtype=np.uint8))


def check_fraction(share: Any) -> None:
    """Check ``validation_fraction``."""
    is_share = is_real(share) and not is_integer(share) and 0.0 < share < 1.0
    if share is not None and not is_share and not (is_integer(share) and share >= 1):
        raise refuse(
            "validation_fraction",
            share,
            "a float between 0 and 1, a number of rows, or None (the training loss)",
        )


def hold_out(training: Training, share: Any, seed: int, turn: int = 0) -> Validation | None:
    """Return held-out training rows for validation, stratified; every class keeps a training row. None: no row.

    Different values of ``turn`` below 1 / share hold out different rows.
    """
    if share is None:
        return None
    n_rows = training.n_rows
    n_held = int(share) if is_integer(share) else max(1, round(share * n_rows))
    held = mark_rows(training.codes, len(training.classes), n_held, seed, _core.Stream.validation_rows, turn)
    if not held.any():
        there = "one sample is" if n_rows == 1 else f"{n_rows} rows are"
        raise refuse(
            "validation_fraction",
            share,
            f"X_val and y_val to fit, or validation_fraction=None (the training loss): {there} too few to hold "
            f"out {n_held}",
        )
    sampled = sample_rows(n_rows, seed)
    if sampled is not None and held[sampled].all():
        raise refuse(
            "validation_fraction",
            share,
            f"a share that leaves more than a few of {n_rows} rows to learn from",
        )
    none = np.empty(0) if training.response is None else training.response[:0]
    return Validation(None, np.empty(0, dtype=np.int32), none, None, held.astype(np.uint8))


def mark_rows(
    codes: NDArray[np.int32], n_classes: int, n_marked: int, seed: int, stream: _core.Stream, turn: int = 0
) -> NDArray[np.bool_]:
    """Mark rows to hold out, of every class its share; every class keeps a row. None if they would be all."""
    n_rows = len(codes)
    is_marked = np.zeros(n_rows, dtype=np.bool_)
    if n_marked < n_rows:
        # Rows are in random order by class; marked rows are evenly spaced.
        order = np.lexsort((_core.draw_keys(seed, stream, n_rows), codes))
        places = (np.arange(n_marked) * n_rows + n_rows // 2) // n_marked + turn
        is_marked[order[places % n_rows]] = True
        n_kept, n_all = (np.bincount(own, minlength=n_classes) for own in (codes[~is_marked], codes))
        is_gone = (n_kept == 0) & (n_all > 0)
        is_marked[order[np.searchsorted(codes[order], np.flatnonzero(is_gone))]] = False
    return is_marked


def _shrink(response: NDArray[np.float64], objective: Objective) -> NDArray[np.float64]:
    """Return responses as the core takes them, shape (n, k)."""
    shrunk = objective.shrink(response)
    return np.ascontiguousarray(shrunk if shrunk.ndim == 2 else shrunk[:, None])


def join(training: Training, validation: Validation | None, objective: Objective) -> dict[str, Any]:
    """Return the labels that the core needs, of training rows and then of the validation set.

    Classes or responses, weights, and which rows are held out.
    """
    own: dict[str, NDArray[Any]] = {"classes": training.codes}
    if training.response is not None:
        own = {"response": _shrink(training.response, objective)}
    if validation is None:
        return own | {"weight": training.weight, "held": None}
    more: dict[str, NDArray[Any]] = {"classes": validation.codes}
    if training.response is not None:
        check_signs(validation.response, objective.loss, "y_val")
        more = {"response": _shrink(validation.response, objective)}
    weight, n_more = training.weight, len(validation.codes)
    if weight is not None or validation.weight is not None:
        weight = np.ones(training.n_rows) if weight is None else weight
        weight = np.concatenate([weight, np.ones(n_more) if validation.weight is None else validation.weight])
    return {
        **{name: np.concatenate([values, more[name]]) for name, values in own.items()},
        "weight": weight,
        "held": np.concatenate([validation.held, np.ones(n_more, dtype=np.uint8)]),
    }
