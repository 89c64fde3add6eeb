"""Picture of one branching block: feature sums by class, the four extremes, and the offset that separates them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._parameters import is_integer, refuse
from ..describe.palette import AGAINST, FOR, find_pair
from ..draw.figure import fit, measure
from ..draw.scene import INK
from ..draw.tree import name_class
from ..model.model import read
from ..model.numbers import NumberFormat
from ..model.views import TreeView
from ..tables.labels import encode_known, take_numbers
from ._axes import SMALL, strip, take_axes, take_tree, width_of, write_thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
_N_BINS = 40
_GAP = 4.0  # points between labels, and from them to the offset's line
_FEW_ROWS = 400


class Reached(NamedTuple):
    """Rows in a block of a tree."""

    view: TreeView
    row: NDArray[np.int64]  # numbers of the rows in X
    feature_sum: NDArray[np.float64]  # infinite where a single feature is missing and has a side to go to
    goes_left: NDArray[np.bool_]
    n_rows: int  # of X


def reach_block(model: Any, X: Any, block: int, tree: int) -> Reached:
    """The rows of X that reach a block."""
    fitted, view = read(model, takes_numbers=True), take_tree(model, tree)
    branching = np.flatnonzero(view.left >= 0)
    if not is_integer(block) or block not in branching:
        known = ", ".join(map(str, branching[:20])) + (", …" if len(branching) > 20 else "")
        raise refuse("block", block, f"a branching block of the tree: {known or 'it has none'}")
    rows = fitted.encode(X)
    estimator, target = divmod(range(fitted.trees.n_trees)[tree], fitted.n_targets)
    ptr, passed, value = fitted.estimator(estimator).ask("trace", rows)
    way = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    at = np.flatnonzero((passed == block) & (way % fitted.n_targets == target))
    goes_left = passed[at + 1] == view.left[block]
    return Reached(view, way[at] // fitted.n_targets, value[at], goes_left, len(rows))


def name_children(view: TreeView, block: int) -> tuple[str, str]:
    """Names of the blocks below a block."""
    left, right = (
        f"{'leaf' if view.is_leaf[b] else 'block'} {b}" for b in (view.left[block], view.right[block])
    )
    return left, right


def say_missing(view: TreeView, block: int, n_rows: int) -> str:
    """How many rows have no feature sum, in words."""
    if not n_rows:
        return ""
    side = "left" if view.missing[block] < 0 else "right"
    name = fit(view.conditions(block).subject, 120.0, SMALL)
    return f"; not drawn: {n_rows} row{'s' * (n_rows > 1)} to the {side}, where {name} is missing"


@dataclass(frozen=True)
class BlockSums:
    """Feature sums of the rows that reach a branching block; ``extremes`` holds those that exist, by name."""

    target: Any
    fills: tuple[str, str]  # colours of the target and of the rest
    block: int
    offset: float
    feature_sum: Floats
    is_target: NDArray[np.bool_]
    goes_left: NDArray[np.bool_]
    extremes: dict[str, float]
    below: tuple[str, str]  # names of the two child blocks
    without: str = ""  # rows that have no feature sum, in words

    def count(self, left: bool) -> tuple[int, int]:
        """Number of rows on one side, and how many of them are of the target."""
        side = self.goes_left == left
        return int(side.sum()), int((side & self.is_target).sum())


def find_sums(model: Any, X: Any, y: Any, block: int, tree: int = 0) -> BlockSums:
    """Feature sums of the rows of X in a block, and the side each goes to."""
    fitted = read(model)
    view, inside, sums, goes_left, n_rows = reach_block(model, X, block, tree)
    codes = encode_known(y, fitted.classes, n_rows)
    code = int(view.heaviest_code[block])
    is_target = codes[inside] == code
    has_sum = np.isfinite(sums)
    extremes: dict[str, float] = {}
    for name, own in (("TFS", is_target), ("NFS", ~is_target)):
        if (own & has_sum).any():
            known = sums[own & has_sum]
            extremes |= {f"min {name}": float(known.min()), f"max {name}": float(known.max())}
    return BlockSums(
        target=view.heaviest[block],
        fills=find_pair(code, fitted.n_classes),
        block=int(block),
        offset=float(view.offset[block]),
        feature_sum=sums,
        is_target=is_target,
        goes_left=goes_left,
        extremes=extremes,
        below=name_children(view, block),
        without=say_missing(view, block, int((~has_sum).sum())),
    )


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
    if read(model, takes_numbers=True).is_regression:
        return draw_responses(find_responses(model, X, y, block, tree), ax)
    facts = find_sums(model, X, y, block, tree)
    ax = take_axes(ax, 7.6, 3.9)
    marks = _find_marks(facts)
    low, high = find_limits(facts, marks, width_of(ax))
    edges = _find_edges(low, high, facts.offset)
    tallest = 1.0
    for sign, own, fill in zip((1, -1), (facts.is_target, ~facts.is_target), facts.fills, strict=True):
        heights = np.histogram(facts.feature_sum[own], edges)[0]
        tallest = max(tallest, heights.max(initial=0))
        ax.bar(
            edges[:-1],
            sign * heights,
            np.diff(edges),
            align="edge",
            color=fill,
            edgecolor="white",
            linewidth=0.4,
        )
        if own.sum() <= _FEW_ROWS:
            at = np.full(own.sum(), 0.0)
            ax.scatter(facts.feature_sum[own], at, marker="|", s=30, color=INK, linewidth=0.5, zorder=4)
    ax.axhline(0.0, color=INK, linewidth=0.8)
    ax.set(xlim=(low, high), ylim=(-1.45 * tallest, 1.65 * tallest))
    _draw_offset(ax, facts, tallest)
    _draw_extremes(ax, facts, marks, tallest)
    _write_sides(ax, facts)
    ticks = [tick for tick in ax.get_yticks() if abs(tick) <= tallest and tick == round(tick)]
    ax.set_yticks(ticks, [f"{abs(tick):g}" for tick in ticks])
    ax.set_xlabel(f"feature sum of normalised values{facts.without}", fontsize=SMALL)
    target = fit(name_class(facts.target), 70.0, SMALL)
    ax.set_ylabel(f"rows: rest  |  {target}", fontsize=SMALL)
    strip(ax)
    return ax


class Mark(NamedTuple):
    """An extreme with its label, above the line (sign 1) or below it, ``breadth`` points wide."""

    value: float
    sign: int
    label: str
    breadth: float


def _find_marks(facts: BlockSums) -> list[Mark]:
    marks = []
    for name, value in facts.extremes.items():
        label = f"{name} {value:.4g}".replace("-", "−")
        marks.append(Mark(value, 1 if name.endswith("TFS") else -1, label, measure(label, SMALL)))
    return marks


def find_limits(facts: BlockSums, marks: list[Mark], points: float) -> tuple[float, float]:
    """Limits of an axis of this length in points: marks, offset and room for the labels beside them."""
    values = [*facts.extremes.values(), facts.offset]
    low, high = min(values), max(values)
    air = (high - low) * 0.06 or 1.0
    left, right = facts.offset - low + air, high + air - facts.offset
    need_left, need_right = _find_needs(facts, marks)
    if need_left + need_right < points:  # else labels stand where there is room
        left = max(left, right * need_left / (points - need_left))
        right = max(right, left * need_right / (points - need_right))
    return facts.offset - left, facts.offset + right


def _find_needs(facts: BlockSums, marks: list[Mark]) -> tuple[float, float]:
    """Points that the labels need left and right of the offset."""

    def need(is_left: bool) -> float:
        own = [mark for mark in marks if (mark.value < facts.offset) == is_left]
        rows = ([mark.breadth + 2 * _GAP for mark in own if mark.sign == sign] for sign in (1, -1))
        return max(sum(row) for row in rows)

    return need(True), need(False)


def _find_edges(low: float, high: float, offset: float) -> Floats:
    """Edges of bins of one width, one of them on the offset, so that no bar stands on both sides."""
    width = (high - low) / _N_BINS
    n_below, n_above = np.ceil((offset - low) / width), np.ceil((high - offset) / width)
    return offset + width * np.arange(-n_below, n_above + 1)


def _draw_offset(ax: Axes, facts: BlockSums, tallest: float) -> None:
    ax.axvline(facts.offset, color=INK, linewidth=1.8, zorder=3, ymax=0.93)
    ax.text(
        facts.offset,
        1.65 * tallest,
        f"c = {facts.offset:.4g}".replace("-", "−"),
        ha="center",
        va="top",
        fontsize=SMALL,
        color=INK,
        zorder=6,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
    )


def _draw_extremes(ax: Axes, facts: BlockSums, marks: list[Mark], tallest: float) -> None:
    """Marks with labels, those of the target above and those of the rest below; labels step aside for each other."""
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
                values, breadths = (
                    np.array(part) for part in zip(*((m.value, m.breadth) for m in here), strict=True)
                )
                placed += place_labels(values, breadths * unit, *side, _GAP * unit).tolist()
        for (value, _, text, _), x in zip(own, placed, strict=True):
            ax.plot(
                [value, value, x],
                [0, sign * 1.1 * tallest, sign * 1.2 * tallest],
                color=fill,
                linewidth=1.2,
                zorder=2,
            )
            ax.text(
                x,
                sign * 1.22 * tallest,
                text,
                ha="center",
                va="bottom" if sign > 0 else "top",
                fontsize=SMALL,
                color=INK,
                zorder=5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
            )


def place_labels(at: Floats, breadths: Floats, low: float, high: float, gap: float) -> Floats:
    """Middles of labels, given in ascending order: near their marks, apart from each other and inside."""
    inside = np.clip(at, low + breadths / 2, np.maximum(high - breadths / 2, low + breadths / 2))
    placed = spread(inside, breadths, gap)
    over = max(float((placed + breadths / 2).max()) - high, 0.0)
    under = max(low - float((placed - breadths / 2).min()), 0.0)
    shifted: Floats = placed - over if over else placed + under
    return shifted


def _write_sides(ax: Axes, facts: BlockSums) -> None:
    room = width_of(ax) / 2 - 10.0
    for left, name in zip((True, False), facts.below, strict=True):
        n_rows, n_target = facts.count(left)
        text = f"{n_rows} rows to {name}, {n_target} of {name_class(facts.target)}"
        arrow = f"← {fit(text, room - 12.0, SMALL)}" if left else f"{fit(text, room - 12.0, SMALL)} →"
        ax.set_title(arrow, loc="left" if left else "right", fontsize=SMALL, color=INK)


def spread(centres: NDArray[np.float64], widths: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Centres moved as little as order and width allow so that none overlap; given in ascending order.

    Neighbours that touch form a group that stands where its members would be on average.
    """
    groups: list[tuple[float, float, int]] = []  # middle, width, members
    for centre, width in zip(centres.tolist(), widths.tolist(), strict=True):
        group = (centre, width, 1)
        while groups and groups[-1][0] + groups[-1][1] / 2 + gap > group[0] - group[1] / 2:
            middle, breadth, members = groups.pop()
            total = breadth + gap + group[1]
            # Each part's wish for the middle of the joint group, weighted by its members.
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
class BlockResponses:
    """Feature sums and responses of the rows that reach a branching block."""

    offset: float
    feature_sum: Floats
    response: Floats
    goes_left: NDArray[np.bool_]
    below: tuple[str, str]  # names of the two child blocks
    without: str  # rows that have no feature sum, in words
    amounts: NumberFormat

    def mean(self, left: bool) -> float:
        """Mean response of the rows on one side; NaN without any."""
        own = self.response[self.goes_left == left]
        return float(own.mean()) if len(own) else float("nan")


def find_responses(model: Any, X: Any, y: Any, block: int, tree: int = 0) -> BlockResponses:
    """Responses of the rows of X in a block, and the side each goes to."""
    view, inside, sums, goes_left, n_rows = reach_block(model, X, block, tree)
    return BlockResponses(
        offset=float(view.offset[block]),
        feature_sum=sums,
        response=take_numbers(y, n_rows)[inside],
        goes_left=goes_left,
        below=name_children(view, block),
        without=say_missing(view, block, int((~np.isfinite(sums)).sum())),
        amounts=read(model, takes_numbers=True).amounts.plain(),
    )


def draw_responses(facts: BlockResponses, ax: Axes | None) -> Axes:
    """Draw the rows as points, violet on the side with the larger mean and red on the other."""
    ax = take_axes(ax, 7.6, 3.9)
    has_sum = np.isfinite(facts.feature_sum)
    rises = facts.mean(False) > facts.mean(True)
    size = float(np.clip(4000.0 / max(len(has_sum), 1), 4.0, 18.0))
    for left in (True, False):
        own = (facts.goes_left == left) & has_sum
        colour = AGAINST if left == rises else FOR
        ax.scatter(
            facts.feature_sum[own],
            facts.response[own],
            s=size,
            color=colour,
            alpha=0.75,
            linewidth=0,
            zorder=2,
        )
    shown = np.append(facts.feature_sum[has_sum], facts.offset)
    air = 0.05 * float(np.ptp(shown)) or 1.0
    ax.set_xlim(float(shown.min()) - air, float(shown.max()) + air)
    ax.axvline(facts.offset, color=INK, linewidth=1.8, zorder=3)
    (low, high), room = ax.get_xlim(), width_of(ax) / 2 - 22.0
    for left, name in zip((True, False), facts.below, strict=True):
        n_rows, mean = int((facts.goes_left == left).sum()), facts.mean(left)
        text = f"{n_rows:,} row{'s' * (n_rows != 1)} to {name}"
        if n_rows:
            ends = (low, facts.offset) if left else (facts.offset, high)
            ax.plot(ends, [mean, mean], color=INK, linewidth=1.4, linestyle=(0, (4, 2)), zorder=4)
            text = f"{text}, mean {facts.amounts.write(mean)}".replace("-", "−")
        text = fit(text, room, SMALL)
        ax.set_title(
            f"← {text}" if left else f"{text} →",
            loc="left" if left else "right",
            fontsize=SMALL,
            color=INK,
        )
    at = f"offset c = {facts.offset:.4g}".replace("-", "−")
    ax.set_xlabel(f"feature sum of normalised values; {at}{facts.without}", fontsize=SMALL)
    ax.set_ylabel("response", fontsize=SMALL)
    write_thousands(ax.yaxis)
    strip(ax)
    return ax
