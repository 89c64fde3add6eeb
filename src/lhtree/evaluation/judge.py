"""What a model predicts for rows whose classes are known: all that an evaluation is built from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Part(NamedTuple):
    """Rows with what is true and what a model predicts; a table may come in many parts."""

    codes: NDArray[np.int32]  # number of the true class, shape (n,)
    predicted: NDArray[np.int32]  # number of the predicted class
    proba: NDArray[np.float64]  # probabilities, shape (n, K)
    sureness: NDArray[np.float64]  # what coverage is measured by: the largest WOLF value or probability
    weight: NDArray[np.float64] | None = None


def judge(
    model: Any,
    X: Any,
    codes: NDArray[np.integer[Any]],
    weight: NDArray[np.float64] | None = None,
    **options: Any,
) -> Part:
    """Ask a model about rows of the classes ``codes``; ``options`` go to its methods."""
    proba = model.predict_proba(X, **options)
    if len(proba) != len(codes):
        raise ValueError(f"y has {len(codes)} classes and X has {len(proba)} rows: pass one class per row.")
    place = {label: number for number, label in enumerate(model.classes_.tolist())}
    predicted = np.array([place[label] for label in model.predict(X, **options).tolist()], dtype=np.int32)
    has_wolf = hasattr(model, "predict_wolf")
    sureness = (model.predict_wolf(X, **options) if has_wolf else proba).max(axis=1)
    rows = slice(None) if weight is None else weight > 0.0
    return Part(
        codes[rows].astype(np.int32),
        predicted[rows],
        proba[rows],
        sureness[rows],
        None if weight is None else weight[rows],
    )


def match_labels(y: Any, classes: NDArray[Any], name: str = "y") -> NDArray[np.int64]:
    """Number of each row's class among those of a model, all of which it must know; shape (n,)."""
    labels = np.asarray(y)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(f"{name} has shape {labels.shape}: pass one class per row, and at least one row.")
    if labels.dtype.kind == classes.dtype.kind == "M":  # the same day in another unit is another Python value
        labels = labels.astype(classes.dtype)
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    codes = np.array([code_of.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    if (codes < 0).any():
        strange = labels.tolist()[int((codes < 0).argmax())]
        raise ValueError(
            f"{name} has the class {strange!r}, which the model does not know: pass classes among "
            f"{classes.tolist()}, or leave those rows out."
        )
    return codes


def check_weight(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """One weight of at least 0 per row, not all 0."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}: pass one weight for each of the {n_rows} rows."
        )
    if not (np.isfinite(weight).all() and (weight >= 0.0).all() and weight.any()):
        raise ValueError("sample_weight is not valid: pass finite weights of at least 0 that are not all 0.")
    return weight
