"""Rows with another category."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..tables.encoders import OneHot, TargetStatistic
from ._search import Task

MOST_SWITCHED = 256  # categories of a column that are tried


def switch_categories(task: Task, may_change: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The row with another category in one column, for every column that may change and every category of it.

    Of a column of very many categories some are tried, evenly spaced by their statistics.
    """
    encoding, parts = task.fitted.encoding, [np.empty((0, len(task.x)))]
    for column, treatment in enumerate(encoding.treatments):
        own = encoding.features_of(column)
        if not isinstance(treatment, (OneHot, TargetStatistic)) or not may_change[own].all():
            continue
        code = treatment.recall(task.x[None, own])[0]
        others = treatment.spread(MOST_SWITCHED)
        others = others[others != code]
        if code < 0 or not len(others):  # a missing one stays missing
            continue
        part = np.repeat(task.x[None], len(others), axis=0)
        part[:, own] = treatment.place(others)
        parts.append(part)
    return np.concatenate(parts)
