"""Search for nearby rows with another prediction: deterministic, bounded, by crossing hyperplanes.

Moves across a hyperplane are computed in closed form, in normalised units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.model import CLIP as FAR
from ..model.model import Model
from ..model.shares import find_contrast
from ._goal import Goal, RangeGoal
from ._paths import Floats, Trace, trace_row

MOST_PLANES = 256  # of one row at a time, nearest first
MOST_ROUNDS = 5
MOST_BASES = 4  # rows that a round continues from
MOST_REFINED = 24
MOST_RETURNED = 64
_MOST = 1e300  # largest distance and move, so that their multiples are finite
MOST_TRIMMED = 8
_LEAST_GAIN = 0.999  # a distance that shrinks less is short enough
_LONGER = (1.2, 1.6)
_WORK_TRIMMING = 100_000_000  # blocks that all rows tried in trimming may pass
_WORK = 1_000_000  # blocks that the rows tried in a round may pass


class Room(NamedTuple):
    """Largest moves of every feature down and up, shape (m,); 0 both ways if it must stay."""

    down: Floats
    up: Floats


class Planes(NamedTuple):
    """Hyperplanes on the path of a row: y(x) = weights · z − offset.

    In a leaf it is the hyperplane on which its membership is one half: y(x) = p̂(x) − ½, with the slopes for weights.
    Linear leaves that have values have one together, on which the predicted class is level with the next, or the goal
    is reached. ``gain`` is the increase of the share of the tree's target (or of the value) behind the hyperplane,
    ``target`` the code of that class, ``past`` the distance behind the hyperplane at which a row is on its other side
    in spite of rounding (to float32, and of the values themselves), and ``n_passed`` the number of blocks on all paths.
    """

    weights: Floats  # (h, m)
    y: Floats
    past: Floats
    gain: Floats
    target: NDArray[Any]
    n_passed: int


def find_planes(goal: Goal, x: Floats, room: Room, most: int) -> Planes:
    """Return the hyperplanes on the paths of row ``x``, at most ``most``: the nearest along free features."""
    fitted, trees = goal.fitted, goal.fitted.trees
    trace = trace_row(fitted, x)
    # A block has terms of one kind only.
    parts = (trace.terms,) if fitted.head.values_blocks else (trace.terms, trace.slope_terms)
    stop, feature, weight = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("stop", "feature", "weight")
    )
    y = np.where(trace.is_leaf, trace.value - 0.5, trace.y)
    is_free = (room.down > 0.0) | (room.up > 0.0)
    squares = np.where(is_free[feature], weight**2, 0.0)
    free = np.bincount(stop, weights=squares, minlength=len(y))
    kept = np.flatnonzero(free > 0.0)
    near = np.argsort(np.abs(y[kept]) / np.sqrt(free[kept]), kind="stable")
    kept = kept[near[:most]]

    place = np.full(len(y), -1)
    place[kept] = np.arange(len(kept))
    own = place[stop] >= 0
    weights = np.zeros((len(kept), fitted.n_features))
    weights[place[stop[own]], feature[own]] = weight[own]
    at, y, tree = trace.at[kept], y[kept], trace.tree[kept]
    target = trees.target[tree]
    outcome = fitted.outcome
    left = trees.block_ptr[tree] + np.maximum(trees.left[at], 0)
    beyond = outcome[np.minimum(left + 1, len(outcome) - 1)] - outcome[left]
    rise = np.where(trace.is_leaf[kept], 0.5, beyond / goal.unit)
    if fitted.head.shares_classes:  # the class in which the sides differ most; leaves have no slopes to cross
        of_class, rise = find_contrast(trees, at, fitted.n_classes)
        target = of_class.astype(np.int32)
    if fitted.is_clipped:
        slopes, lead, leader = goal.find_level(_sum_slopes(trace), trace)
        if (slopes[is_free] != 0.0).any():
            weights, y = np.concatenate([weights, slopes[None]]), np.append(y, lead)
            rise, target = np.append(rise, abs(lead)), np.append(target, leader)
    centre, scale = fitted.normalisation
    with np.errstate(over="ignore"):
        digits = np.clip(np.nan_to_num((np.abs(x) + np.abs(centre)) / scale), 0.0, FAR)
    past = 1e-6 * (np.abs(weights) @ (np.abs(trace.z) + 1e-8 * digits) + np.abs(y)) + 1e-9
    gain = rise * np.where(y < 0.0, 1.0, -1.0)
    return Planes(weights, y, past, gain, target.astype(np.int32), len(trace.at))


def _sum_slopes(trace: Trace) -> Floats:
    """Return the sums of the unclipped slopes of the leaves of the row, shape (n_targets, m)."""
    fitted, terms = trace.model, trace.slope_terms
    tree = trace.tree[terms.stop]
    moves = (trace.clipped[tree] == 0.0) & (np.abs(trace.z[terms.feature]) < fitted.clip)
    slopes = np.zeros((fitted.n_targets, fitted.n_features))
    np.add.at(slopes, (fitted.target_of[tree], terms.feature), np.where(moves, terms.weight, 0.0))
    return slopes


def find_sides(planes: Planes) -> Floats:
    """Return the direction in which each hyperplane is crossed: 1 from left to right, -1 from right to left."""
    return np.where(planes.y < 0.0, 1.0, -1.0)


def shortest_moves(weights: Floats, need: Floats, sides: Floats, room: Room) -> Floats:
    """Return the move of least Euclidean length that changes each feature sum by ``sides * need``, within the room.

    Without bounds it runs along the weights, λw. If a bound stops a feature, the others go further: each moves by
    min(λ|w|, room), and λ is found from the sorted points at which features stop.

    Parameters
    ----------
    weights : array of shape (h, m)
        Of h hyperplanes.
    need : array of shape (h,)
        Required change of each feature sum, above 0.
    sides : array of shape (h,)
        1 if it must grow, -1 if it must fall.
    room : Room
        Bounds of the moves.

    Returns
    -------
    array of shape (h, m); a line is NaN if the room does not suffice.
    """
    directed = weights * sides[:, None]
    size = np.abs(directed)
    space = np.where(directed > 0.0, room.up, np.where(directed < 0.0, room.down, 0.0))
    size = np.where(space > 0.0, size, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        stop = np.where(size > 0.0, space / size, np.inf)
    order = np.argsort(stop, axis=1, kind="stable")
    ordered = np.take_along_axis(size, order, axis=1)
    filled = np.cumsum(ordered * np.take_along_axis(space, order, axis=1), axis=1)
    before = np.concatenate([np.zeros((len(need), 1)), filled[:, :-1]], axis=1)
    rest = np.cumsum((ordered**2)[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reach = before + np.take_along_axis(stop, order, axis=1) * rest
        reach = np.where(rest > 0.0, reach, -np.inf)
        first = np.argmax(reach >= need[:, None], axis=1)[:, None]
        step = (need[:, None] - np.take_along_axis(before, first, axis=1)) / np.take_along_axis(
            rest, first, axis=1
        )
    is_possible = np.take_along_axis(reach, first, axis=1) >= need[:, None]
    moves = np.sign(directed) * np.minimum(np.where(is_possible, step, 0.0) * size, space)
    return np.where(is_possible, moves, np.nan)


def single_moves(weights: Floats, need: Floats, sides: Floats, room: Room) -> Floats:
    """Return the move of each feature alone that changes each feature sum by ``sides * need``; NaN if none."""
    directed = weights * sides[:, None]
    space = np.where(directed > 0.0, room.up, room.down)
    with np.errstate(divide="ignore", over="ignore"):
        moves = need[:, None] / directed
    return np.where(np.abs(moves) <= space, moves, np.nan)


@dataclass(frozen=True)
class Task:
    """The start, the goal and the bounds of a search."""

    goal: Goal
    x: Floats  # the row, in the user's units
    low: Floats  # bounds in the user's units; equal to x if a feature must stay
    high: Floats
    is_whole: NDArray[np.bool_]  # features of whole numbers
    farthest: float = math.inf  # largest distance from the middle of the training rows that is plausible

    def room(self, x: Floats) -> Room:
        """Return the bounds of the moves of a row, in normalised units."""
        x = self._start(x)
        down, up = self.measure(x, self.low), self.measure(self.high, x)
        return Room(*(np.clip(np.nan_to_num(side, posinf=FAR), 0.0, FAR) for side in (down, up)))

    def measure(self, end: Floats, start: Floats) -> Floats:
        """Return ``end - start`` in normalised units, even if the difference overflows."""
        scale = self.fitted.normalisation.scale
        with np.errstate(over="ignore"):
            difference = end - start
            halved = 2.0 * ((end / 2.0 - start / 2.0) / scale)
            return np.asarray(np.where(np.isinf(difference), halved, difference / scale))

    def distances(self, rows: Floats) -> Floats:
        """Return the Euclidean length of the change of every row, in normalised units."""
        moves = np.minimum(np.abs(self.measure(rows, self.x)), _MOST)
        largest = np.nanmax(moves, axis=1, initial=0.0, where=~np.isnan(moves), keepdims=True)
        with np.errstate(over="ignore"):
            shape = np.nan_to_num(moves / np.where(largest > 0.0, largest, 1.0))
        return np.asarray(largest[:, 0] * np.sqrt((shape**2).sum(axis=1)))

    def move(self, x: Floats, moves: Floats) -> Floats:
        """Return rows that differ from ``x`` by moves in normalised units, within the bounds."""
        with np.errstate(over="ignore"):
            rows = np.where(moves == 0.0, x, self._start(x) + moves * self.fitted.normalisation.scale)
        return np.where(np.isnan(x), x, np.clip(rows, self.low, self.high))

    def _start(self, x: Floats) -> Floats:
        """Return the row with normalised values clipped as in the model."""
        centre, scale = self.fitted.normalisation
        with np.errstate(over="ignore"):
            return np.asarray(np.clip(x, centre - FAR * scale, centre + FAR * scale))

    def is_changed(self, rows: Floats) -> NDArray[np.bool_]:
        """Return which values differ from the values of the row."""
        return np.asarray((rows != self.x) & ~np.isnan(rows))

    @property
    def fitted(self) -> Model:
        """The model."""
        return self.goal.fitted

    def sort(self, rows: Floats) -> NDArray[np.int64]:
        """Group rows by prediction: the code of the class of every row; 0 in a regression."""
        return self.goal.sort(np.ascontiguousarray(rows))

    def is_reached(self, rows: Floats) -> NDArray[np.bool_]:
        """Return whether rows reach the goal and are plausible."""
        is_reached = self.goal.is_reached(np.ascontiguousarray(rows))
        joint = self.fitted.joint
        if joint is not None and math.isfinite(self.farthest) and is_reached.any():
            places = np.flatnonzero(is_reached)
            is_reached[places] = joint.distances(self.fitted, rows[places]) <= self.farthest
        return is_reached

    def leads(self, rows: Floats) -> Floats:
        """Return the distance of rows from the goal; 0 or less if it is reached."""
        return self.goal.leads(np.ascontiguousarray(rows))


def search(task: Task) -> Floats:
    """Return rows that reach the goal, with the smallest changes found; possibly none, at most a few dozen.

    Starting from the row, and then from the most promising rows, every near hyperplane on the path is crossed. Rows
    that reach the goal are shortened, and tried again with fewer features.
    """
    found = []
    bases = task.x[None]
    for _ in range(MOST_ROUNDS):
        rows = np.concatenate([_cross(task, base, _WORK // len(bases)) for base in bases])
        if not len(rows):
            break
        leads = task.leads(rows)
        found.append(_select(task, np.concatenate([rows[leads <= 0.0], _return(task, rows[leads > 0.0])])))
        bases = _choose_bases(task, rows[leads > 0.0], leads[leads > 0.0])
        if sum(map(len, found)) >= MOST_REFINED or not len(bases):
            break
    rows = np.concatenate([np.empty((0, len(task.x))), *found])
    if not len(rows):
        return rows
    rows = _select(task, _shorten(task, rows))
    fewer = _shorten(task, _use_fewer(task, rows))
    rows = np.concatenate([rows, fewer])
    return np.concatenate([rows, _trim(task, rows)]) if task.fitted.head.values_blocks else rows


def _return(task: Task, rows: Floats) -> Floats:
    """Return the points where the line to each row beyond a range of numbers enters the range, by bisection."""
    goal = task.goal
    if not isinstance(goal, RangeGoal) or not len(rows):
        return rows[:0]
    rows = rows[~goal.is_before(np.ascontiguousarray(rows))]
    rows = rows[np.argsort(task.distances(rows), kind="stable")[:MOST_RETURNED]]
    near, far = np.zeros(len(rows)), np.ones(len(rows))
    for _ in range(30 if len(rows) else 0):
        middle = (near + far) / 2
        is_before = goal.is_before(_move_along(task.x, rows, middle[:, None]))
        near, far = np.where(is_before, middle, near), np.where(is_before, far, middle)
    return _move_along(task.x, rows, far[:, None])


def _cross(task: Task, x: Floats, share: int) -> Floats:
    """Return rows just behind each hyperplane on the path of ``x`` and, if confidence matters, fully behind it."""
    room = task.room(x)
    planes = find_planes(task.goal, x, room, MOST_PLANES)
    sides = find_sides(planes)
    depths = (0.0,) if task.fitted.confidence is None else (0.0, 1.0)
    most = max(16, share // (2 * planes.n_passed * len(depths)))
    parts = []
    for depth in depths:
        need = np.abs(planes.y) + planes.past + depth
        overall = shortest_moves(planes.weights, need, sides, room)
        overall = overall[~np.isnan(overall).any(axis=1)]
        parts.append(overall[:: 1 + len(overall) // most])
        parts.append(_spread_singles(single_moves(planes.weights, need, sides, room), most))
    parts.append(_aim(task, planes, room))
    parts.append(_ends(room))
    return task.move(x, np.concatenate(parts))


def _spread_singles(moves: Floats, most: int) -> Floats:
    """Return single-feature moves, several per feature, from its shortest to its longest."""
    plane, feature = np.nonzero(~np.isnan(moves))
    value = moves[plane, feature]
    order = np.lexsort((np.abs(value), feature))
    feature, value = feature[order], value[order]
    counts = np.bincount(feature, minlength=moves.shape[1])
    quota = max(2, most // max(1, int(np.count_nonzero(counts))))
    rank = np.arange(len(feature)) - (np.cumsum(counts) - counts)[feature]
    count = counts[feature]
    # Ranks at which a ladder of `quota` rungs from the first to the last has its next rung.
    rung, before = (r * (quota - 1) // np.maximum(count - 1, 1) for r in (rank, rank - 1))
    kept = (count <= quota) | (rung != before)
    lines = np.zeros((int(kept.sum()), moves.shape[1]))
    lines[np.arange(len(lines)), feature[kept]] = value[kept]
    return lines


def _ends(room: Room) -> Floats:
    """Return moves of every feature alone to each end of its range."""
    lines = np.concatenate([np.diag(-room.down), np.diag(room.up)])
    chosen: Floats = lines[lines.any(axis=1) & (np.abs(lines).max(axis=1) < FAR)]
    return chosen


def _aim(task: Task, planes: Planes, room: Room) -> Floats:
    """Return steps of growing length in the direction in which nearby hyperplanes jointly favour the goal."""
    free = planes.weights * ((room.down > 0.0) | (room.up > 0.0))
    unit, length = _divide_by_length(free)
    with np.errstate(over="ignore"):  # a hyperplane at an infinite distance has no pull
        distance = np.abs(planes.y) / length
    pull = np.maximum(planes.gain * task.goal.favour(planes.target), 0.0) / (0.25 + distance)
    aim: Floats = (pull * find_sides(planes)) @ unit
    if not aim.any():
        return np.empty((0, len(aim)))
    steps = np.geomspace(0.05, 20.0, 24)[:, None] * _divide_by_length(aim[None])[0]
    clipped: Floats = np.clip(steps, -room.down, room.up)
    return clipped


def _divide_by_length(vectors: Floats) -> tuple[Floats, Floats]:
    """Return the unit vectors and lengths of non-zero rows, whose squares may be 0 or infinite in double precision."""
    largest = np.abs(vectors).max(axis=1)
    scaled = vectors / largest[:, None]
    length = np.linalg.norm(scaled, axis=1)
    return scaled / length[:, None], largest * length


def _choose_bases(task: Task, rows: Floats, leads: Floats) -> Floats:
    """Return rows to continue from: the closest to the goal, and the closest for their distance."""
    if not len(rows):
        return rows
    distances = task.distances(rows)
    start = task.leads(task.x[None])[0]
    rate = (start - leads) / (distances + 0.1)
    half = MOST_BASES // 2
    chosen = list(
        dict.fromkeys([*np.lexsort((distances, leads))[:half], *np.argsort(-rate, kind="stable")[:half]])
    )
    return rows[[i for i in chosen if distances[i] > 0.0]]


def _select(task: Task, rows: Floats) -> Floats:
    """Return rows that reach the goal, the shortest for each class and set of changed features.

    Half of them are the shortest of all, the others have the fewest changed features.
    """
    rows = rows[task.is_reached(rows)]
    rows = rows[np.argsort(task.distances(rows), kind="stable")]
    is_changed, codes = task.is_changed(rows), task.sort(rows)
    firsts: dict[tuple[int, bytes], int] = {}
    for i, (code, changed) in enumerate(zip(codes, is_changed, strict=True)):
        firsts.setdefault((int(code), changed.tobytes()), i)
    unlike = np.array(list(firsts.values()), dtype=np.int64)
    fewest = unlike[np.argsort(is_changed[unlike].sum(axis=1), kind="stable")]
    half = MOST_REFINED // 2
    chosen: Floats = rows[np.unique(np.concatenate([unlike[:half], fewest[:half]]))]
    return chosen


def _shorten(task: Task, rows: Floats) -> Floats:
    """Return the first point on the line to each row that reaches the goal, by grid and bisection."""
    if not len(rows):
        return rows
    grid = np.arange(1, 9) / 8
    points = _move_along(task.x, rows, grid[:, None, None]).reshape(-1, len(task.x))
    points[-len(rows) :] = rows
    is_reached = task.is_reached(points).reshape(len(grid), len(rows))
    first = is_reached.argmax(axis=0)
    far = grid[first]
    near = far - grid[0]
    best: Floats = points.reshape(len(grid), *rows.shape)[first, np.arange(len(rows))]
    for _ in range(14):
        middle = (near + far) / 2
        points = _move_along(task.x, rows, middle[:, None])
        is_reached = task.is_reached(points)
        best = np.where(is_reached[:, None], points, best)
        far, near = np.where(is_reached, middle, far), np.where(is_reached, near, middle)
    return best


def _move_along(x: Floats, rows: Floats, share: Floats) -> Floats:
    """Return the points at a share of the lines from ``x`` to the rows, even if their length overflows."""
    with np.errstate(over="ignore"):
        moves = rows - x
    points = x + share * np.nan_to_num(moves, posinf=0.0, neginf=0.0)
    return np.asarray(np.where(np.isinf(moves), (1.0 - share) * x + share * rows, points))


def find_moves(task: Task, rows: Floats) -> Floats:
    """Return the moves from ``x`` to the rows; multiples of infinite ones are finite."""
    return np.clip(np.nan_to_num(task.measure(rows, task.x)), -_MOST, _MOST)


def _use_fewer(task: Task, rows: Floats) -> Floats:
    """Return moves with only the 1, 2, 3, 5, ... largest features, made longer until the goal is reached."""
    moves = find_moves(task, rows)
    rank = np.argsort(np.argsort(-np.abs(moves), axis=1, kind="stable"), axis=1, kind="stable")
    room = task.room(task.x)
    tried = []
    counts = np.unique(np.geomspace(1, max(1, len(task.x) // 2), 8).astype(int))
    for count in counts:
        kept = np.where(rank < count, moves, 0.0)
        is_fewer = (moves != 0.0).sum(axis=1) > count
        tried += [np.clip(factor * kept[is_fewer], -room.down, room.up) for factor in (1.0, 1.5, 2.5, 5.0)]
    candidates = task.move(task.x, np.concatenate(tried))
    return _select(task, candidates)


def _trim(task: Task, rows: Floats) -> Floats:
    """Return the shortest rows, made longer; then changes are taken back, wholly or by half, least useful first.

    Each block of a boosted tree changes the raw score a little, so a direction across many of them changes more
    features than it has to.
    """
    n_blocks = task.fitted.trees.n_trees * len(task.fitted.trees.levels())
    n_left = _WORK_TRIMMING // n_blocks  # rows that may be tried
    shortest = rows[np.argsort(task.distances(rows), kind="stable")[:MOST_TRIMMED]]
    moves = find_moves(task, shortest)
    trimmed = [np.empty((0, len(task.x)))]
    for longer in _LONGER:
        for row in task.move(task.x, longer * moves):
            lead, length = task.leads(row[None])[0], task.distances(row[None])[0]
            while lead < 0.0 and n_left > 0:
                tried = _take_back(task, row)
                if not len(tried):  # the row differs from x by less than digits that count
                    break
                n_left -= len(tried)
                leads, lengths = task.leads(tried), task.distances(tried)
                # In units of a power of two, so that squares do not overflow.
                before, after = (np.ldexp(part, -np.frexp(length)[1]) for part in (length, lengths))
                worth = (before**2 - after**2) / np.maximum(leads - lead, 1e-9)
                worth[leads >= 0.0] = 0.0
                best = int(worth.argmax())
                if worth[best] <= 0.0 or lengths[best] > _LEAST_GAIN * length:
                    break
                row, lead, length = tried[best], leads[best], lengths[best]
            trimmed.append(row[None])
    found = np.concatenate(trimmed)
    return _shorten(task, found[task.is_reached(found)])


def _take_back(task: Task, row: Floats) -> Floats:
    """Return the row with each of its changes taken back, and with each halved."""
    changed = np.flatnonzero(task.is_changed(row[None])[0])
    tried = np.repeat(row[None], 2 * len(changed), axis=0)
    lines = np.arange(len(changed))
    tried[lines, changed] = task.x[changed]
    tried[len(changed) + lines, changed] = task.x[changed] / 2 + row[changed] / 2
    return tried
