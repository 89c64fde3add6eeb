"""Counterfactuals: small changes of a row that change its prediction."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._parameters import check_count, check_flag, is_integer, refuse
from ..model.model import Model
from ..model.numbers import ALL_DIGITS, LONGEST, NumberFormat, make_plain, write_value
from ..model.records import DECLARED
from ..tables.encoders import Levels
from ..tables.errors import find_nearest
from ._goal import Goal, RangeGoal, take_goal
from ._paths import Floats
from ._search import MOST_BASES, Task, find_moves, search
from ._text import name_class

MOST_SWITCHED = 256  # categories of a column that are tried
_SHOWN = 4  # changes in a sentence
_DECIMALS = 6  # of a feature that was measured in steps
_ALIKE = 0.8  # cosine above which two changes go the same way


@dataclass(frozen=True, repr=False)
class Counterfactual:
    """A row similar to the explained one for which the model predicts another class, or a number in a range.

    Attributes
    ----------
    row : dict
        Values by column, in original units and categories; the model predicts ``prediction`` for them.
    changes : dict
        From feature to (value before, value after) for the features that differ, the largest change first.
    distance : float
        Euclidean length of the change in normalised units: the root of the sum of (change / scale)².
    prediction, before
        Class, or predicted number, of the changed row, and of the explained row.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHTClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier(gamma=50, membership="least_squares").fit(X, y)
    >>> counterfactual = model.explain(X.iloc[0]).counterfactuals(n=1)[0]
    >>> int(counterfactual.before), int(counterfactual.prediction)
    (0, 1)
    >>> bool(model.predict(X.iloc[[0]].assign(**counterfactual.row))[0] == counterfactual.prediction)
    True
    """

    row: dict[str, Any]
    changes: dict[str, tuple[Any, Any]]
    distance: float
    prediction: Any
    before: Any
    is_number: bool = False  # whether the model predicts a number

    def to_dict(self) -> dict[str, Any]:
        """Return the counterfactual as plain Python values that can be written as JSON; missing values are None."""
        return {
            "prediction": make_plain(self.prediction),
            "before": make_plain(self.before),
            "distance": self.distance,
            "changes": {name: list(values) for name, values in self.changes.items()},
            "row": {name: None if value != value else value for name, value in self.row.items()},
        }

    def __repr__(self) -> str:
        shown = [
            f"{name} {_write(old)} → {_write(new, ALL_DIGITS)}"
            for name, (old, new) in list(self.changes.items())[:_SHOWN]
        ]
        shown += [f"{len(self.changes) - _SHOWN} more"] * (len(self.changes) > _SHOWN)
        before, after = self._name() if self.is_number else (repr(self.before), repr(self.prediction))
        what = f"{before} → {after}: {', '.join(shown)}"
        return f"Counterfactual({what}; distance {self.distance:.3g})"

    def __str__(self) -> str:
        shown = [
            f"{name} were {_write(after, ALL_DIGITS)} instead of {_write(before)}"
            for name, (before, after) in list(self.changes.items())[:_SHOWN]
        ]
        more = len(self.changes) - len(shown)
        if more:
            shown.append(f"{more} more feature{'s were' if more > 1 else ' was'} different")
        listed = ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else shown[0]
        before, after = self._name()
        return f"If {listed}, the prediction would be {after} instead of {before} (distance {self.distance:.3g})."

    def _name(self) -> tuple[str, str]:
        """Return the predictions before and after the change, with as many digits as show the difference."""
        ends = self.before, self.prediction
        name = NumberFormat.over(min(ends), max(ends)).write if self.is_number else name_class
        return name(self.before), name(self.prediction)


class Counterfactuals(list[Counterfactual]):
    """A list of counterfactuals, smallest change first.

    Attributes
    ----------
    reason : str or None
        Why there are none; None if there are some. ``print`` shows the counterfactuals, or the reason.
    """

    def __init__(self, found: Iterable[Counterfactual] = (), reason: str | None = None) -> None:
        super().__init__(found)
        self.reason = reason

    def __str__(self) -> str:
        return "\n".join(map(str, self)) if self.reason is None else self.reason


class ChangeLimits(NamedTuple):
    """Limits to changes of features, shape (m,) each."""

    immutable: NDArray[np.bool_]
    rising: NDArray[np.bool_]
    falling: NDArray[np.bool_]
    whole: NDArray[np.bool_]


def take_limits(fitted: Model, given: Mapping[str, Any]) -> ChangeLimits:
    """Return the limits of features: the given columns, else the columns that the model declares."""
    known = (fitted.declared or {}) | {name: own for name, own in given.items() if own is not None}
    limits = ChangeLimits(*(_check_limited(fitted, known.get(name, ()), name) for name in DECLARED))
    if limits.immutable.all() or (limits.rising & limits.falling).any():
        raise ValueError(
            "no column may change, or one may only rise and only fall: pass fewer immutable, rising or falling columns."
        )
    return limits


def find_counterfactuals(
    fitted: Model,
    x: NDArray[np.float64],
    features: Any = None,
    n: int = 3,
    to: Any = None,
    *,
    plausible: bool = True,
    **given: Any,
) -> Counterfactuals:
    """See ``Explanation.counterfactuals``."""
    check_count("n", n, 1)
    check_flag("plausible", plausible)
    goal = take_goal(fitted, x, to)
    may_change = _check_features(fitted, features)
    limits = take_limits(fitted, given)
    if not (may_change & ~limits.immutable).any():
        raise ValueError("no column may change: pass fewer immutable columns, or more features.")
    joint, farthest = fitted.joint, math.inf
    if plausible and joint is not None:
        farthest = max(joint.limit, float(joint.distances(fitted, x[None])[0]))

    def attempt(limits: ChangeLimits, may_change: NDArray[np.bool_], farthest: float) -> list[Counterfactual]:
        task, may_change = _set_task(goal, x, may_change, limits, farthest)
        return _find(task, may_change, n)

    found = attempt(limits, may_change, farthest)
    if found:
        return Counterfactuals(found)
    if math.isfinite(farthest) and attempt(limits, may_change, math.inf):
        return Counterfactuals(
            reason="Changes that suffice lead to rows unlike the training rows: pass plausible=False to see them."
        )
    anything, nothing = np.ones_like(may_change), np.zeros_like(may_change)
    if attempt(ChangeLimits(nothing, nothing, nothing, limits.whole), anything, math.inf):
        return Counterfactuals(
            reason="The columns that may change, in the directions allowed, do not suffice: allow more of them."
        )
    return Counterfactuals(
        reason="No change within the training ranges was found that suffices; missing values stay missing."
    )


def _set_task(
    goal: Goal, x: NDArray[np.float64], may_change: NDArray[np.bool_], limits: ChangeLimits, farthest: float
) -> tuple[Task, NDArray[np.bool_]]:
    """Return the search, and the features that may change, including features of categories."""
    fitted, may_change = goal.fitted, may_change & ~limits.immutable
    free = may_change & ~np.isnan(x) & ~np.isnan(fitted.span.low)
    # A category changes as a whole, and an indicator with its number; dates stay.
    free &= ~(fitted.encoding.is_category | fitted.encoding.is_indicator | fitted.encoding.is_date)
    task = Task(
        goal,
        x,
        # A value outside the training range may move towards it, but not further away.
        low=np.where(free & ~limits.rising, np.fmin(fitted.span.low, x), x),
        high=np.where(free & ~limits.falling, np.fmax(fitted.span.high, x), x),
        is_whole=np.asarray(fitted.span.is_whole | limits.whole),
        farthest=farthest,
    )
    return task, may_change


def _find(task: Task, may_change: NDArray[np.bool_], n: int) -> list[Counterfactual]:
    """Return at most ``n`` counterfactuals, smallest change first."""
    switched = _switch_categories(task, may_change)
    rows = np.concatenate([search(task), switched[task.is_reached(switched)]])
    rows = np.concatenate([make_whole(task, rows), try_whole(task)])
    if len(switched) and not len(rows):
        rows = make_whole(task, _search_beyond(task, switched))
    rows = rows[task.is_reached(rows)]
    if not len(rows):
        return []
    rows = rows[_spread(task, rows, 4 * n, is_reserving=n > 1)]
    for fineness in (2000, 200, 20):  # the coarsest that is still predicted otherwise stays
        rounded = np.array([_round(task, row, fineness) for row in rows])
        rows = np.where(task.is_reached(rounded)[:, None], rounded, rows)
    for coarser in (_drop_small, _resolve):
        changed = coarser(task, rows)
        rows = np.where(task.is_reached(changed)[:, None], changed, rows)
    is_fine = ~_is_small(task, rows).any(axis=1)
    rows = (
        rows[is_fine] if is_fine.any() else rows
    )  # the resolution is a guess: better a small change than none
    rows = rows[_spread(task, rows, n, is_reserving=n > 1)]
    return [
        _describe(task, row, predicted, float(distance))
        for row, predicted, distance in zip(
            rows, task.fitted.predict(rows), task.distances(rows), strict=True
        )
    ]


def _switch_categories(task: Task, may_change: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the row with another category in one column, for every column that may change and all its categories.

    Some of very many categories are tried, evenly spaced by their statistics.
    """
    encoding, parts = task.fitted.encoding, [np.empty((0, len(task.x)))]
    for column, encoder in enumerate(encoding.encoders):
        own = encoding.features_of(column)
        if not isinstance(encoder, Levels) or not may_change[own].all():
            continue
        code = encoder.recall(task.x[None, own])[0]
        others = encoder.spread(MOST_SWITCHED)
        others = others[others != code]
        if code < 0 or not len(others):  # a missing one stays missing
            continue
        part = np.repeat(task.x[None], len(others), axis=0)
        part[:, own] = encoder.place(others)
        parts.append(part)
    return np.concatenate(parts)


def _search_beyond(task: Task, switched: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows found from the most promising rows with another category, which they keep."""
    near = switched[np.argsort(task.leads(switched), kind="stable")[:MOST_BASES]]
    is_held = task.low == task.high
    return np.concatenate(
        [
            search(
                replace(
                    task, x=row, low=np.where(is_held, row, task.low), high=np.where(is_held, row, task.high)
                )
            )
            for row in near
        ]
    )


def _check_limited(fitted: Model, features: Any, argument: str) -> NDArray[np.bool_]:
    """Return which features have a limit; all but immutable columns must hold numbers."""
    if isinstance(features, Sequence) and not len(features):
        return np.zeros(fitted.n_features, dtype=bool)
    chosen = _check_features(fitted, features, argument)
    if argument != "immutable" and (chosen & fitted.encoding.is_category).any():
        raise refuse(argument, features, "columns of numbers: categories have no direction and no size")
    return chosen


def _check_features(fitted: Model, features: Any, argument: str = "features") -> NDArray[np.bool_]:
    """Return which features may change; they are given by column, with all categories of a column."""
    names, encoding = fitted.column_names, fitted.encoding
    if features is None:
        return np.ones(fitted.n_features, dtype=bool)
    is_one = isinstance(features, str) or not isinstance(features, Iterable)
    listed: Sequence[Any] = [features] if is_one else list(features)
    free = np.zeros(len(names), dtype=bool)
    for feature in listed:
        if isinstance(feature, str):
            if feature not in names:
                hint = find_nearest(feature, names)
                raise refuse(argument, features, f"names of features: {feature!r} is not one ({hint})")
            free[names.index(feature)] = True
        elif is_integer(feature) and -len(names) <= feature < len(names):
            free[feature] = True
        else:
            raise refuse(
                argument, features, f"names or indices from 0 to {len(names) - 1}: {feature!r} is neither"
            )
    if not free.any():
        raise refuse(argument, features, "at least one feature, or None for all")
    return free[encoding.column]


def _spread(task: Task, rows: NDArray[np.float64], n: int, *, is_reserving: bool) -> list[int]:
    """Return the indices of at most ``n`` rows, shortest change first, without redundant ones.

    A row is redundant if a shorter one of the same class changes about the same features in about the same proportions
    (their moves have a cosine above 0.8), or a part of its features.
    A place is reserved for the shortest change of a single feature, which people can act on.
    """
    is_changed, codes, distances = task.is_changed(rows), task.sort(rows), task.distances(rows)
    moves = find_moves(task, rows)
    moves /= np.abs(moves).max(axis=1, keepdims=True)  # the square of a huge move would overflow
    moves /= np.linalg.norm(moves, axis=1, keepdims=True)
    order = np.argsort(distances, kind="stable").tolist()
    single = [i for i in order if is_changed[i].sum() == 1][:1] if is_reserving else []
    chosen: list[int] = []
    for i in order:
        if i in single:
            continue
        known = [*chosen, *(j for j in single if distances[j] <= distances[i])]
        shorter = [j for j in known if codes[j] == codes[i]]
        is_alike = moves[shorter] @ moves[i] > _ALIKE
        is_more = (is_changed[shorter] <= is_changed[i]).all(axis=1)
        if not (is_alike | is_more).any():
            chosen.append(i)
    return sorted([*chosen[: n - len(single)], *single], key=order.index)


def _round(task: Task, row: NDArray[np.float64], fineness: int) -> NDArray[np.float64]:
    """Return the row with every change rounded up to few decimals: by one part in ``fineness`` at most."""
    rounded = row.copy()
    for feature in np.flatnonzero(task.is_changed(row[None])[0] & (task.low < task.high)):
        before, after = float(task.x[feature]), float(row[feature])
        step = min(abs(after - before), sys.float_info.max) / fineness
        if not step > abs(after) * 1e-15:  # the value has no decimals to spare
            continue
        exponent = Decimal(step).adjusted()
        direction = ROUND_CEILING if after > before else ROUND_FLOOR
        decimal = Decimal(after).quantize(Decimal(1).scaleb(exponent), rounding=direction)
        rounded[feature] = np.clip(float(decimal), task.low[feature], task.high[feature])
    return rounded


def find_resolution(task: Task) -> NDArray[np.float64]:
    """Guess the smallest step of every feature from the decimals of the row's value and of the ends of its range.

    If all three have at most ``_DECIMALS`` decimals, the feature was measured to as many as the longest has: 0.01 for
    prices. Others count as continuous, with a step of 0. Distinct training values are not kept.
    """
    span, steps = task.fitted.span, np.zeros(len(task.x))
    is_category = task.fitted.encoding.is_category
    for feature, values in enumerate(
        zip(task.x.tolist(), span.low.tolist(), span.high.tolist(), strict=True)
    ):
        if np.isfinite(values).all() and not is_category[feature]:
            exponents = [Decimal(repr(value)).normalize().as_tuple().exponent for value in values]
            decimals = max(0, *(-int(exponent) for exponent in exponents))
            steps[feature] = 10.0**-decimals if decimals <= _DECIMALS else 0.0
    return steps


def _resolve(task: Task, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows with every change extended to a value of the feature's resolution."""
    step = find_resolution(task)
    per_unit = np.round(1.0 / np.where(step > 0.0, step, 1.0))
    with np.errstate(over="ignore"):
        scaled = rows * per_unit
        near = np.round(scaled)
        outside = np.where(rows > task.x, np.ceil(scaled), np.floor(scaled))
        found = np.where(np.abs(scaled - near) <= 1e-9 * np.abs(near), near, outside) / per_unit
    is_coarse = (step > 0.0) & task.is_changed(rows)
    return np.where(is_coarse, np.clip(found, np.fmin(task.low, rows), np.fmax(task.high, rows)), rows)


def _drop_small(task: Task, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows without the changes that are smaller than a feature's resolution."""
    return np.where(_is_small(task, rows), task.x, rows)


def _is_small(task: Task, rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    with np.errstate(over="ignore"):
        size = np.abs(rows - task.x)
    is_small: NDArray[np.bool_] = task.is_changed(rows) & (size < find_resolution(task) * (1.0 - 1e-9))
    return is_small


def _write(value: Any, longest: int = LONGEST) -> str:
    """Format a number or a category. A new number needs all digits, because fewer may not change the prediction."""
    return write_value(value, longest) if isinstance(value, float) else str(value)


def _describe(task: Task, row: NDArray[np.float64], prediction: Any, distance: float) -> Counterfactual:
    fitted, goal = task.fitted, task.goal
    changed = np.flatnonzero(task.is_changed(row[None])[0])
    size = np.abs(task.measure(row, task.x))[changed]
    changed = changed[np.argsort(-size, kind="stable")]
    changed = fitted.encoding.column[changed]
    names, before, after = fitted.column_names, fitted.name_values(task.x), fitted.name_values(row)
    return Counterfactual(
        row=after,
        changes={names[f]: (before[names[f]], after[names[f]]) for f in changed},
        distance=distance,
        prediction=prediction,
        before=goal.before if isinstance(goal, RangeGoal) else fitted.labels[goal.code],
        is_number=not fitted.labels,
    )


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
    return np.asarray(task.is_whole & (task.low < task.high))


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
