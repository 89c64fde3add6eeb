"""What a model predicts for rows whose classes are known: all that an evaluation is built from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..curves import find_sureness


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
        raise ValueError(f"y has {len(codes)} values, but X has {len(proba)} rows: pass one class per row.")
    place = {label: number for number, label in enumerate(model.classes_.tolist())}
    predicted = np.array([place[label] for label in model.predict(X, **options).tolist()], dtype=np.int32)
    sureness = find_sureness(model, X, proba, **options).values
    rows = slice(None) if weight is None else weight > 0.0
    return Part(
        codes[rows].astype(np.int32),
        predicted[rows],
        proba[rows],
        sureness[rows],
        None if weight is None else weight[rows],
    )
