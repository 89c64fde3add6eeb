"""Plot of one branching block: feature sums of its rows, and the offset that separates them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._parameters import is_integer, refuse
from ..describe.palette import AGAINST, FOR, find_pair
from ..draw.figure import fit, measure
from ..draw.scene import INK
from ..draw.tree import minus, name_class
from ..model.model import read
from ..model.numbers import NumberFormat
from ..model.views import TreeView
from ..tables.labels import encode_known, take_numbers
from ._axes import SMALL, strip, take_axes, take_tree, width_of, write_thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
_N_BINS = 40
_GAP = 4.0  # points between labels, and between a label and the line of the offset
_FEW_ROWS = 400


@dataclass(frozen=True)
class BlockRows:
    """The rows that reach a branching block."""

    view: TreeView
    block: int
    row: NDArray[np.int64]  # indices of the rows in X
    feature_sum: Floats  # infinite if the only feature is missing and missing values have a side
    goes_left: NDArray[np.bool_]

    @property
    def offset(self) -> float:
        """Offset of the hyperplane."""
        return float(self.view.offset[self.block])

    @property
    def without(self) -> str:
        """Text about the rows that have no feature sum."""
        n_rows, view = int((~np.isfinite(self.feature_sum)).sum()), self.view
        if not n_rows:
            return ""
        side = "left" if view.missing[self.block] < 0 else "right"
        name = fit(view.conditions(self.block).subject, 120.0, SMALL)
        return f"; not drawn: {n_rows} row{'s' * (n_rows > 1)} to the {side}, where {name} is missing"

    def label_sides(self, ax: Axes, counts: list[tuple[str, str]]) -> None:
        """Write the child blocks above the axes, left and right, each between its rows and more text."""
        room, view = width_of(ax) / 2 - 22.0, self.view
        for is_left, (rows, more) in zip((True, False), counts, strict=True):
            below = int((view.left if is_left else view.right)[self.block])
            text = fit(f"{rows} to {'leaf' if view.is_leaf[below] else 'block'} {below}{more}", room, SMALL)
            title = f"← {text}" if is_left else f"{text} →"
            ax.set_title(title, loc="left" if is_left else "right", fontsize=SMALL, color=INK)


def _reach_block(model: Any, X: Any, block: int, tree: int) -> tuple[dict[str, Any], int]:
    """Return the fields of ``BlockRows``, and the number of rows of X."""
    fitted, view = read(model, takes_numbers=True), take_tree(model, tree)
    branching = np.flatnonzero(view.left >= 0)
    if not is_integer(block) or block not in branching:
        known = ", ".join(map(str, branching[:20])) + (", …" if len(branching) > 20 else "")
        raise refuse("block", block, f"a branching block of the tree: {known or 'it has none'}")
    rows = fitted.encode(X)
    estimator, target = divmod(range(fitted.trees.n_trees)[tree], fitted.n_targets)
    ptr, passed, value = fitted.estimator(estimator).score("trace", rows)
    path = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    at = np.flatnonzero((passed == block) & (path % fitted.n_targets == target))
    goes_left = passed[at + 1] == view.left[block]
    fields = {"view": view, "block": int(block), "row": path[at] // fitted.n_targets}
    return fields | {"feature_sum": value[at], "goes_left": goes_left}, len(rows)


@dataclass(frozen=True)
class BlockSums(BlockRows):
    """Rows of a block by class."""

    is_target: NDArray[np.bool_]

    @property
    def target(self) -> Any:
        """Class whose rows are above the line."""
        return self.view.heaviest[self.block]

    @property
    def fills(self) -> tuple[str, str]:
        """Colours of the target and of the rest."""
        return find_pair(int(self.view.heaviest_code[self.block]), len(self.view.classes))

    @property
    def extremes(self) -> dict[str, float]:
        """Smallest and largest feature sums of the target (TFS) and the rest (NFS); those without rows are left out."""
        found: dict[str, float] = {}
        has_sum = np.isfinite(self.feature_sum)
        for name, own in (("TFS", self.is_target), ("NFS", ~self.is_target)):
            known = self.feature_sum[own & has_sum]
            if len(known):
                found |= {f"min {name}": float(known.min()), f"max {name}": float(known.max())}
        return found

    def count(self, left: bool) -> tuple[int, int]:
        """Return the number of rows on one side, and how many of them are of the target."""
        side = self.goes_left == left
        return int(side.sum()), int((side & self.is_target).sum())


def find_sums(model: Any, X: Any, y: Any, block: int, tree: int = 0) -> BlockSums:
    """Return the rows of X in a block by class."""
    fields, n_rows = _reach_block(model, X, block, tree)
    codes = encode_known(y, read(model).classes, n_rows)
    return BlockSums(**fields, is_target=codes[fields["row"]] == fields["view"].heaviest_code[block])


def plot_block(model: Any, X: Any, y: Any, block: int = 0, *, tree: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the feature sums of the rows that reach a branching block (the paper's second figure).

    Rows of the target are above the line, the others below. The plot marks the smallest and the largest feature sum of
    the target (TFS) and of the rest (NFS), and the offset c: rows with a smaller feature sum go left, the others right.
    Rows of a boosted model whose single feature is missing have no feature sum; they are counted below the plot. For a
    regression, the responses of the rows are drawn against their feature sums, with the mean on each side.

    Parameters
    ----------
    model : classifier or regressor of lhtree
        Fitted model.
    X : array-like of shape (n, m)
        Rows, for example the training data.
    y : array-like of shape (n,)
        Their classes, or numbers.
    block : int, default=0
        Number of a branching block.
    tree : int, default=0
        Number of the tree in ``trees_``.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, plot_block
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X, y)
    >>> ax = plot_block(model, X, y, block=0, tree=1)
    """
    if read(model, takes_numbers=True).labels:
        return _draw_sums(find_sums(model, X, y, block, tree), ax)
    return _draw_responses(find_responses(model, X, y, block, tree), ax)


def _draw_sums(facts: BlockSums, ax: Axes | None) -> Axes:
    """Draw histograms of both classes, with their extremes."""
    ax = take_axes(ax, 7.6, 3.9)
    marks = _find_marks(facts)
    low, high = find_limits(facts, marks, width_of(ax))
    edges = _find_edges(low, high, facts.offset)
    tallest = 1.0
    for sign, own, fill in zip((1, -1), (facts.is_target, ~facts.is_target), facts.fills, strict=True):
        heights = np.histogram(facts.feature_sum[own], edges)[0]
        tallest = max(tallest, heights.max(initial=0))
        how: dict[str, Any] = {"align": "edge", "edgecolor": "white", "linewidth": 0.4}
        ax.bar(edges[:-1], sign * heights, np.diff(edges), color=fill, **how)
        if own.sum() <= _FEW_ROWS:
            how = {"marker": "|", "s": 30, "linewidth": 0.5, "zorder": 4}
            ax.scatter(facts.feature_sum[own], np.zeros(own.sum()), color=INK, **how)
    ax.axhline(0.0, color=INK, linewidth=0.8)
    ax.set(xlim=(low, high), ylim=(-1.45 * tallest, 1.65 * tallest))
    ax.axvline(facts.offset, color=INK, linewidth=1.8, zorder=3, ymax=0.93)
    _write_label(ax, facts.offset, 1.65 * tallest, minus(f"c = {facts.offset:.4g}"), "top", 1.0)
    _draw_extremes(ax, facts, marks, tallest)
    target = name_class(facts.target)
    counts = [facts.count(left) for left in (True, False)]
    facts.label_sides(ax, [(f"{n_rows} rows", f", {n_target} of {target}") for n_rows, n_target in counts])
    ticks = [tick for tick in ax.get_yticks() if abs(tick) <= tallest and tick == round(tick)]
    ax.set_yticks(ticks, [f"{abs(tick):g}" for tick in ticks])
    ax.set_xlabel(f"feature sum of normalised values{facts.without}", fontsize=SMALL)
    ax.set_ylabel(f"rows: rest  |  {fit(target, 70.0, SMALL)}", fontsize=SMALL)
    strip(ax)
    return ax


class Mark(NamedTuple):
    """An extreme with its label, above the line (sign 1) or below it, ``breadth`` points wide."""

    value: float
    sign: int
    label: str
    breadth: float


def _find_marks(facts: BlockSums) -> list[Mark]:
    labels = [(value, name, minus(f"{name} {value:.4g}")) for name, value in facts.extremes.items()]
    return [
        Mark(value, 1 if name.endswith("TFS") else -1, label, measure(label, SMALL))
        for value, name, label in labels
    ]


def find_limits(facts: BlockSums, marks: list[Mark], points: float) -> tuple[float, float]:
    """Return the limits of an axis of this length in points, with room for the labels beside the offset."""
    values = [*facts.extremes.values(), facts.offset]
    low, high = min(values), max(values)
    air = (high - low) * 0.06 or 1.0
    left, right = facts.offset - low + air, high + air - facts.offset
    need_left, need_right = _find_needs(facts, marks)
    if need_left + need_right < points:  # otherwise labels may be on the other side of the offset
        left = max(left, right * need_left / (points - need_left))
        right = max(right, left * need_right / (points - need_right))
    return facts.offset - left, facts.offset + right


def _find_needs(facts: BlockSums, marks: list[Mark]) -> tuple[float, float]:
    """Return the points that labels need left and right of the offset."""

    def need(is_left: bool) -> float:
        own = [mark for mark in marks if (mark.value < facts.offset) == is_left]
        rows = ([mark.breadth + 2 * _GAP for mark in own if mark.sign == sign] for sign in (1, -1))
        return max(sum(row) for row in rows)

    return need(True), need(False)


def _find_edges(low: float, high: float, offset: float) -> Floats:
    """Return edges of equal bins, one edge at the offset, so that no bar is on both sides."""
    width = (high - low) / _N_BINS
    n_below, n_above = np.ceil((offset - low) / width), np.ceil((high - offset) / width)
    return offset + width * np.arange(-n_below, n_above + 1)


def _write_label(ax: Axes, x: float, y: float, text: str, align: str, pad: float) -> None:
    behind = {"facecolor": "white", "edgecolor": "none", "pad": pad}
    how: dict[str, Any] = {"ha": "center", "va": align, "fontsize": SMALL, "color": INK, "zorder": 6}
    ax.text(x, y, text, bbox=behind, **how)


def _draw_extremes(ax: Axes, facts: BlockSums, marks: list[Mark], tallest: float) -> None:
    """Draw marks with labels that do not overlap: the target above the line, the rest below."""
    points = width_of(ax)
    (low, high), offset = ax.get_xlim(), facts.offset
    unit = (high - low) / points
    sides = [(low, offset - _GAP * unit), (offset + _GAP * unit, high)]
    if sum(_find_needs(facts, marks)) >= points:
        sides = [(low, high)]
    for sign, fill in zip((1, -1), facts.fills, strict=True):
        own = [mark for mark in marks if mark.sign == sign]
        placed: list[float] = []
        for at, side in enumerate(sides):
            here = [mark for mark in own if len(sides) == 1 or (mark.value >= offset) == bool(at)]
            if here:
                values, breadths = (np.array([mark[field] for mark in here]) for field in (0, 3))
                placed += place_labels(values, breadths * unit, *side, _GAP * unit).tolist()
        for (value, _, text, _), x in zip(own, placed, strict=True):
            bend = [0, sign * 1.1 * tallest, sign * 1.2 * tallest]
            ax.plot([value, value, x], bend, color=fill, linewidth=1.2, zorder=2)
            _write_label(ax, x, sign * 1.22 * tallest, text, "bottom" if sign > 0 else "top", 0.6)


def place_labels(at: Floats, breadths: Floats, low: float, high: float, gap: float) -> Floats:
    """Return the centres of labels, given in ascending order: near their marks, without overlaps, and inside."""
    inside = np.clip(at, low + breadths / 2, np.maximum(high - breadths / 2, low + breadths / 2))
    placed = spread(inside, breadths, gap)
    over = max(float((placed + breadths / 2).max()) - high, 0.0)
    under = max(low - float((placed - breadths / 2).min()), 0.0)
    shifted: Floats = placed - over if over else placed + under
    return shifted


def spread(centres: NDArray[np.float64], widths: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Return centres, given in ascending order, moved as little as possible so that no labels overlap.

    Neighbours that touch form a group at the mean of the places that its members want.
    """
    groups: list[tuple[float, float, int]] = []  # middle, width, members
    for centre, width in zip(centres.tolist(), widths.tolist(), strict=True):
        group = (centre, width, 1)
        while groups and groups[-1][0] + groups[-1][1] / 2 + gap > group[0] - group[1] / 2:
            middle, breadth, members = groups.pop()
            total = breadth + gap + group[1]
            # Middle of the joint group that each part wants, weighted by its members.
            wish = members * (middle - breadth / 2 + total / 2) + group[2] * (
                group[0] + group[1] / 2 - total / 2
            )
            group = (wish / (members + group[2]), total, members + group[2])
        groups.append(group)
    placed, own = [], iter(widths.tolist())
    for middle, total, members in groups:
        at = middle - total / 2
        for _ in range(members):
            width = next(own)
            placed.append(at + width / 2)
            at += width + gap
    return np.array(placed)


@dataclass(frozen=True)
class BlockResponses(BlockRows):
    """Rows of a block with their responses."""

    response: Floats
    amounts: NumberFormat

    def mean(self, left: bool) -> float:
        """Return the mean response of the rows on one side; NaN without any."""
        own = self.response[self.goes_left == left]
        return float(own.mean()) if len(own) else float("nan")


def find_responses(model: Any, X: Any, y: Any, block: int, tree: int = 0) -> BlockResponses:
    """Return the rows of X in a block with their responses."""
    fields, n_rows = _reach_block(model, X, block, tree)
    response = take_numbers(y, n_rows)[fields["row"]]
    return BlockResponses(
        **fields, response=response, amounts=read(model, takes_numbers=True).amounts.plain()
    )


def _draw_responses(facts: BlockResponses, ax: Axes | None) -> Axes:
    """Draw responses against feature sums, violet on the side with the larger mean and red on the other."""
    ax = take_axes(ax, 7.6, 3.9)
    has_sum, rises = np.isfinite(facts.feature_sum), facts.mean(False) > facts.mean(True)
    shown = np.append(facts.feature_sum[has_sum], facts.offset)
    air = 0.05 * float(np.ptp(shown)) or 1.0
    low, high = float(shown.min()) - air, float(shown.max()) + air
    counts = []
    for left, ends in ((True, (low, facts.offset)), (False, (facts.offset, high))):
        own = (facts.goes_left == left) & has_sum
        how: dict[str, Any] = {"s": float(np.clip(4000.0 / max(len(has_sum), 1), 4.0, 18.0)), "alpha": 0.75}
        colour = AGAINST if left == rises else FOR
        ax.scatter(facts.feature_sum[own], facts.response[own], color=colour, linewidth=0, zorder=2, **how)
        n_rows, mean = int((facts.goes_left == left).sum()), facts.mean(left)
        more = f", mean {minus(facts.amounts.write(mean))}" if n_rows else ""
        counts.append((f"{n_rows:,} row{'s' * (n_rows != 1)}", more))
        if n_rows:
            ax.plot(ends, [mean, mean], color=INK, linewidth=1.4, linestyle=(0, (4, 2)), zorder=4)
    ax.set_xlim(low, high)
    ax.axvline(facts.offset, color=INK, linewidth=1.8, zorder=3)
    facts.label_sides(ax, counts)
    at = minus(f"offset c = {facts.offset:.4g}")
    ax.set_xlabel(f"feature sum of normalised values; {at}{facts.without}", fontsize=SMALL)
    ax.set_ylabel("response", fontsize=SMALL)
    write_thousands(ax.yaxis)
    strip(ax)
    return ax
