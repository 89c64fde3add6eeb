"""Counterfactuals of columns that hold whole numbers: their values are whole, too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._paths import Floats
from ._search import Task

_FURTHER = (1.1, 1.25, 1.5, 2.0, 3.0)  # multiples of a change that are tried if rounding does not suffice
_MOST_TRIED, _LEAST_TRIED = 256, 16  # numbers of a column on each side of the row's value
_MOST_REDUCED = 64  # columns whose changes are made smaller again
_MOST_HALVINGS = 64
_MOST_MORE = 1e307  # largest change of a number, so that its multiples are finite
_WORK = 20_000_000  # blocks that all rows tried may pass


def make_whole(task: Task, rows: Floats) -> Floats:
    """Return the rows with whole numbers where the column holds some, as near as they still reach the goal.

    Rows that reach the goal only between whole numbers are left out.
    """
    is_whole = find_free(task)
    if not len(rows) or not is_whole.any():
        return rows
    is_moved = is_whole & task.is_changed(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        moves = np.where(is_moved, rows - task.x, 0.0)
        outside = _round_outwards(task, rows)
        values = [
            np.rint(rows),
            np.where(np.abs(moves) < 0.5, task.x, outside),
            outside,
            *(_round_outwards(task, task.x + further * moves) for further in _FURTHER),
        ]
    low, high = np.ceil(task.low), np.floor(task.high)
    best, shortest = rows, np.full(len(rows), np.inf)
    for some in values:
        # A value of the row itself need not be whole: it stays.
        whole = np.where(some == task.x, some, np.clip(some, low, high))
        tried = np.where(is_moved, whole, rows)
        distance = np.where(task.is_reached(tried), task.distances(tried), np.inf)
        best = np.where((distance < shortest)[:, None], tried, best)
        shortest = np.minimum(distance, shortest)
    return _reduce(task, best[np.isfinite(shortest)], is_whole)


def find_free(task: Task) -> NDArray[np.bool_]:
    """Return which features hold whole numbers and may change."""
    return np.asarray(task.fitted.span.is_whole & (task.low < task.high))


def _round_outwards(task: Task, values: Floats) -> Floats:
    return np.asarray(np.where(values > task.x, np.ceil(values), np.floor(values)))


def _reduce(task: Task, rows: Floats, is_whole: NDArray[np.bool_]) -> Floats:
    """Return the rows with changes smaller by 1 where that suffices, one column after the other."""
    is_moved = is_whole & task.is_changed(rows)
    for feature in np.flatnonzero(is_moved.any(axis=0))[:_MOST_REDUCED]:
        own, start = rows[:, feature], task.x[feature]
        with np.errstate(over="ignore"):
            move = own - start
        tried = rows.copy()
        tried[:, feature] = np.where(np.abs(move) < 1.0, start, own - np.sign(move))
        rows = np.where(task.is_reached(tried)[:, None], tried, rows)
    return rows


def try_whole(task: Task) -> Floats:
    """Return rows with another whole number in one column: the nearest on each side that reaches the goal.

    All numbers of a column are tried if they are few; of many, ever larger changes, and then smaller ones.
    """
    features = np.flatnonzero(find_free(task))
    trees = task.fitted.trees
    work = max(1, 2 * len(features) * trees.n_trees * len(trees.levels()))
    most = int(np.clip(_WORK // work, _LEAST_TRIED, _MOST_TRIED))
    found = [np.empty((0, len(task.x)))]
    for feature in features.tolist():
        for side in (-1.0, 1.0):
            number = _find_nearest(task, feature, side, most)
            if number is not None:
                found.append(_replace(task, feature, np.array([number])))
    return np.concatenate(found)


def _find_nearest(task: Task, feature: int, side: float, most: int) -> float | None:
    """Return the nearest whole number below (side -1) or above the row's that reaches the goal, or None.

    At most ``most`` numbers are tried before the last change that was too small and the next are compared.
    """
    start = float(task.x[feature])
    first = np.floor(start) + 1.0 if side > 0.0 else np.ceil(start) - 1.0
    end = np.floor(task.high[feature]) if side > 0.0 else np.ceil(task.low[feature])
    with np.errstate(over="ignore"):
        n_more = min(side * (end - first), _MOST_MORE)
    if n_more < 0.0:
        return None
    steps = np.arange(n_more + 1.0) if n_more < most else _spread_steps(n_more, most)

    def find_numbers(steps: Any) -> Any:
        return np.clip(first + side * steps, min(first, end), max(first, end))

    is_reached = task.is_reached(_replace(task, feature, find_numbers(steps)))
    if not is_reached.any():
        return None
    at = int(is_reached.argmax())
    near, far = (steps[at - 1] if at else -1.0), steps[at]
    for _ in range(_MOST_HALVINGS):
        middle = np.floor(near / 2.0 + far / 2.0)
        if not near < middle < far:
            break
        is_enough = task.is_reached(_replace(task, feature, find_numbers(np.array([middle]))))[0]
        near, far = (near, middle) if is_enough else (middle, far)
    return float(find_numbers(far))


def _spread_steps(n_more: float, most: int) -> Floats:
    """Return numbers from 0 to ``n_more``, ever further apart."""
    return np.asarray(np.unique(np.rint(np.geomspace(1.0, n_more + 1.0, most))) - 1.0)


def _replace(task: Task, feature: int, numbers: Floats) -> Floats:
    """Return the row once for each number, which one of its features has."""
    rows = np.repeat(task.x[None], len(numbers), axis=0)
    rows[:, feature] = numbers
    return rows
