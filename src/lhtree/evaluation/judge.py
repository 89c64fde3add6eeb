"""What a model predicts for rows whose classes or responses are known: all that an evaluation is built from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.model import read
from .curves import find_sureness


class Part(NamedTuple):
    """Rows with their true classes and predictions; a table may consist of many parts."""

    codes: NDArray[np.int32]  # number of the true class, shape (n,)
    predicted: NDArray[np.int32]  # number of the predicted class
    proba: NDArray[np.float64]  # probabilities, shape (n, K)
    sureness: NDArray[np.float64]  # what coverage is measured by: the largest WOLF value or probability
    weight: NDArray[np.float64] | None = None


class NumberPart(NamedTuple):
    """Rows with their responses and predicted numbers; a table may consist of many parts."""

    actual: NDArray[np.float64]  # shape (n,)
    predicted: NDArray[np.float64]
    interval: NDArray[np.float64] | None = None  # ends of the prediction intervals, shape (n, 2)
    coverage: float = 0.0  # what share of the responses they are made to hold
    weight: NDArray[np.float64] | None = None


def judge(
    model: Any,
    X: Any,
    codes: NDArray[np.integer[Any]],
    weight: NDArray[np.float64] | None = None,
    **options: Any,
) -> Part:
    """Predict rows of the classes ``codes``; ``options`` are passed to the model's methods."""
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


def judge_numbers(
    model: Any,
    X: Any,
    actual: NDArray[np.float64],
    weight: NDArray[np.float64] | None = None,
    coverage: float = 0.9,
    **options: Any,
) -> NumberPart:
    """Predict rows of the responses ``actual``, with intervals if the model has them."""
    predicted = np.asarray(model.predict(X, **options), dtype=np.float64)
    if predicted.shape != actual.shape:
        raise ValueError(
            f"the model predicts numbers of shape {predicted.shape} for {len(actual)} responses: pass one per row."
        )
    interval = model.predict_interval(X, coverage, **options) if has_intervals(model) else None
    rows = slice(None) if weight is None else weight > 0.0
    return NumberPart(
        actual[rows],
        predicted[rows],
        None if interval is None else interval[rows],
        coverage,
        None if weight is None else weight[rows],
    )


def has_intervals(model: Any) -> bool:
    """Whether a model is a regressor of lhtree that can tell how far off it may be."""
    if not hasattr(type(model), "_read"):
        return False
    response = read(model, takes_numbers=True).response
    return response is not None and response.residual is not None
