"""Search for nearby rows with the prediction that is wanted: deterministic, bounded, by crossing hyperplanes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from ._crossing import FAR, Floats, Planes, Room, find_planes, find_sides, shortest_moves, single_moves
from ._goal import Goal, RangeGoal

MOST_PLANES = 256  # of one row at a time, nearest first
MOST_ROUNDS = 5
MOST_BASES = 4  # rows from which the next round goes on
MOST_REFINED = 24
MOST_RETURNED = 64
_MOST = 1e300  # a distance, so that its multiples are numbers
MOST_TRIMMED = 8
_LEAST_GAIN = 0.999  # a distance that shrinks less is short enough
_LONGER = (1.2, 1.6)
_WORK_TRIMMING = 100_000_000  # blocks that all rows tried in trimming may pass
_WORK = 1_000_000  # blocks that the rows tried in a round may pass


@dataclass(frozen=True)
class Task:
    """From where to search, for what, and within which bounds."""

    goal: Goal
    x: Floats  # the row, in the user's units
    low: Floats  # bounds in the user's units; equal to x where a feature must stay
    high: Floats

    def room(self, x: Floats) -> Room:
        """How far each feature of a row may move, in normalised units."""
        x = self._start(x)
        down, up = self.measure(x, self.low), self.measure(self.high, x)
        return Room(*(np.clip(np.nan_to_num(side, posinf=FAR), 0.0, FAR) for side in (down, up)))

    def measure(self, end: Floats, start: Floats) -> Floats:
        """``end - start`` in normalised units, also where the difference is beyond every float."""
        scale = self.fitted.normalisation.scale
        with np.errstate(over="ignore"):
            difference = end - start
            halved = 2.0 * ((end / 2.0 - start / 2.0) / scale)
            return np.asarray(np.where(np.isinf(difference), halved, difference / scale))

    def distances(self, rows: Floats) -> Floats:
        """Euclidean length of the change of every row, in normalised units."""
        moves = np.minimum(np.abs(self.measure(rows, self.x)), _MOST)
        largest = np.nanmax(moves, axis=1, initial=0.0, where=~np.isnan(moves), keepdims=True)
        with np.errstate(over="ignore"):
            shape = np.nan_to_num(moves / np.where(largest > 0.0, largest, 1.0))
        return np.asarray(largest[:, 0] * np.sqrt((shape**2).sum(axis=1)))

    def move(self, x: Floats, moves: Floats) -> Floats:
        """Rows that differ from ``x`` by moves in normalised units, kept within the bounds."""
        with np.errstate(over="ignore"):
            rows = np.where(moves == 0.0, x, self._start(x) + moves * self.fitted.normalisation.scale)
        return np.where(np.isnan(x), x, np.clip(rows, self.low, self.high))

    def _start(self, x: Floats) -> Floats:
        """The row as the model sees it, which clips normalised values."""
        centre, scale = self.fitted.normalisation
        with np.errstate(over="ignore"):
            return np.asarray(np.clip(x, centre - FAR * scale, centre + FAR * scale))

    def is_changed(self, rows: Floats) -> NDArray[np.bool_]:
        """Which values differ from the row's."""
        return np.asarray((rows != self.x) & ~np.isnan(rows))

    @property
    def fitted(self) -> Model:
        """The model."""
        return self.goal.fitted

    def sort(self, rows: Floats) -> NDArray[np.int64]:
        """Which rows say the same: the code of the class of every row; 0 of a regression."""
        return self.goal.sort(np.ascontiguousarray(rows))

    def is_reached(self, rows: Floats) -> NDArray[np.bool_]:
        """Whether the model predicts what is wanted."""
        return self.goal.is_reached(np.ascontiguousarray(rows))

    def leads(self, rows: Floats) -> Floats:
        """How far rows are from what is wanted; 0 or less where it is reached."""
        return self.goal.leads(np.ascontiguousarray(rows))


def search(task: Task) -> Floats:
    """Rows with another prediction, with the smallest changes found; possibly none, never more than a few dozen.

    From the row, and then from the most promising rows without the class wanted, every near hyperplane on the path is
    crossed; what is found is shortened, and tried again with fewer features.
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
    return np.concatenate([rows, _trim(task, rows)]) if task.fitted.has_values else rows


def _return(task: Task, rows: Floats) -> Floats:
    """The points where the way to each row that passed a range of numbers enters it, by bisection."""
    goal = task.goal
    if not isinstance(goal, RangeGoal) or not len(rows):
        return rows[:0]
    rows = rows[~goal.is_before(np.ascontiguousarray(rows))]
    rows = rows[np.argsort(task.distances(rows), kind="stable")[:MOST_RETURNED]]
    near, far = np.zeros(len(rows)), np.ones(len(rows))
    for _ in range(30 if len(rows) else 0):
        middle = (near + far) / 2
        is_before = goal.is_before(_walk(task.x, rows, middle[:, None]))
        near, far = np.where(is_before, middle, near), np.where(is_before, far, middle)
    return _walk(task.x, rows, far[:, None])


def _cross(task: Task, x: Floats, share: int) -> Floats:
    """Rows just behind each hyperplane on the path of ``x`` and, if confidence matters, fully behind it."""
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
    """Single-feature moves, several per feature, from its shortest to its longest."""
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
    """Every feature alone to each end of its range."""
    lines = np.concatenate([np.diag(-room.down), np.diag(room.up)])
    chosen: Floats = lines[lines.any(axis=1) & (np.abs(lines).max(axis=1) < FAR)]
    return chosen


def _aim(task: Task, planes: Planes, room: Room) -> Floats:
    """Steps of growing length in the direction in which nearby hyperplanes jointly favour what is wanted."""
    free = planes.weights * ((room.down > 0.0) | (room.up > 0.0))
    length = np.linalg.norm(free, axis=1)
    pull = np.maximum(planes.gain * task.goal.favour(planes.target), 0.0) / (0.25 + np.abs(planes.y) / length)
    aim: Floats = (pull * find_sides(planes) / length) @ free
    if not aim.any():
        return np.empty((0, len(aim)))
    steps = np.geomspace(0.05, 20.0, 24)[:, None] * (aim / np.linalg.norm(aim))
    clipped: Floats = np.clip(steps, -room.down, room.up)
    return clipped


def _choose_bases(task: Task, rows: Floats, leads: Floats) -> Floats:
    """Rows to go on from: those closest to the class wanted, and those that came closest for their distance."""
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
    """Rows that are predicted as wanted, one for each class and set of changed features, the shortest.

    Of those half are the shortest of all, the others those with the fewest changed features.
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
    """The first point between the row and each of these that is predicted differently, by grid and bisection."""
    if not len(rows):
        return rows
    grid = np.arange(1, 9) / 8
    points = _walk(task.x, rows, grid[:, None, None]).reshape(-1, len(task.x))
    points[-len(rows) :] = rows
    is_reached = task.is_reached(points).reshape(len(grid), len(rows))
    first = is_reached.argmax(axis=0)
    far = grid[first]
    near = far - grid[0]
    best: Floats = points.reshape(len(grid), *rows.shape)[first, np.arange(len(rows))]
    for _ in range(14):
        middle = (near + far) / 2
        points = _walk(task.x, rows, middle[:, None])
        is_reached = task.is_reached(points)
        best = np.where(is_reached[:, None], points, best)
        far, near = np.where(is_reached, middle, far), np.where(is_reached, near, middle)
    return best


def _walk(x: Floats, rows: Floats, share: Floats) -> Floats:
    """Points at a share of the way from ``x`` to the rows, also where its length is beyond every float."""
    with np.errstate(over="ignore"):
        moves = rows - x
    points = x + share * np.nan_to_num(moves, posinf=0.0, neginf=0.0)
    return np.asarray(np.where(np.isinf(moves), (1.0 - share) * x + share * rows, points))


def _use_fewer(task: Task, rows: Floats) -> Floats:
    """The same moves with only their largest 1, 2, 3, 5, ... features, made longer until the class changes."""
    moves = np.nan_to_num(task.measure(rows, task.x))
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
    """The shortest rows, made longer; then changes are taken back, wholly or by half, those first that help least.

    Each block of a boosted tree changes the raw score a little, so a direction across many of them changes more
    features than it has to.
    """
    n_blocks = task.fitted.trees.n_trees * len(task.fitted.trees.levels())
    n_left = _WORK_TRIMMING // n_blocks  # rows that may be tried
    shortest = rows[np.argsort(task.distances(rows), kind="stable")[:MOST_TRIMMED]]
    moves = np.nan_to_num(task.measure(shortest, task.x))
    trimmed = [np.empty((0, len(task.x)))]
    for longer in _LONGER:
        for row in task.move(task.x, longer * moves):
            lead, length = task.leads(row[None])[0], task.distances(row[None])[0]
            while lead < 0.0 and n_left > 0:
                tried = _take_back(task, row)
                n_left -= len(tried)
                leads, lengths = task.leads(tried), task.distances(tried)
                worth = (length**2 - lengths**2) / np.maximum(leads - lead, 1e-9)
                worth[leads >= 0.0] = 0.0
                best = int(worth.argmax())
                if worth[best] <= 0.0 or lengths[best] > _LEAST_GAIN * length:
                    break
                row, lead, length = tried[best], leads[best], lengths[best]
            trimmed.append(row[None])
    found = np.concatenate(trimmed)
    return _shorten(task, found[task.is_reached(found)])


def _take_back(task: Task, row: Floats) -> Floats:
    """The row with each of its changes taken back, and with each halved."""
    changed = np.flatnonzero(task.is_changed(row[None])[0])
    tried = np.repeat(row[None], 2 * len(changed), axis=0)
    lines = np.arange(len(changed))
    tried[lines, changed] = task.x[changed]
    tried[len(changed) + lines, changed] = task.x[changed] / 2 + row[changed] / 2
    return tried
