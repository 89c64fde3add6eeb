"""Columns that seem to number or to name the rows: they say nothing about new ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from ..tables.encoders import Dropped, Numbers

_LEAST_ROWS = 30
_SPARSEST = 10  # numbers between the least and the largest for each one that is there


def find_ids(fitted: Model, X: NDArray[Any]) -> tuple[list[str], list[str]]:
    """Names of columns that the model ignores because they name rows, and of those it uses that seem to number them."""
    encoding = fitted.encoding
    ignored, numbering = [], []
    for column, encoder in enumerate(encoding.encoders):
        if isinstance(encoder, Dropped):
            ignored.append(encoding.names[column])
        elif isinstance(encoder, Numbers) and is_numbering(X[:, encoding.ptr[column]]):
            numbering.append(encoding.names[column])
    return ignored, numbering


def is_numbering(values: NDArray[Any]) -> bool:
    """Whether values are whole, all different, and close together or in the order of the rows.

    Close together, because a part of the numbers 1, 2, 3, … may be in other tables. Amounts are rarely all different.
    """
    if len(values) < _LEAST_ROWS or not np.isfinite(values).all() or (values != np.floor(values)).any():
        return False
    steps = np.diff(values)
    if (steps > 0).all() or (steps < 0).all():
        return True
    is_close = float(values.max()) - float(values.min()) < _SPARSEST * len(values)
    return bool(is_close and len(np.unique(values)) == len(values))
