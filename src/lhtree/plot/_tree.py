"""Plot of a tree: a card per block, large trees folded."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from .._extras import import_extra
from .._parameters import check_count
from ..describe.outline import read_outline
from ..describe.palette import AGAINST, FOR, find_pair
from ..describe.text import find_heaviest
from ..draw.layout import Card, Layout, Sizes, choose_depth, lay_out
from ..draw.style import INK, LINE, NORMAL, PALE, SMALL, check_axes, fit, measure, name_class
from ..draw.take import take_tree
from ..model.model import read
from ..model.views import TreeView
from ._outline import draw_outline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches.
_LINE = 0.145
_MARGIN = 0.12
_HEADER = 0.62
_LEAF_WIDTH, _BRANCHING_WIDTH = 1.05, 2.35
_NAME, _BAR = 1.25, 0.55
_LARGEST = (14.0, 10.0)  # picture without max_depth
_LONGEST, _HUGE = 200.0, 4000.0  # inches and square inches beyond which pixels would be too many
_READABLE = 0.8  # size to which a given ax may shrink the picture
_LEGIBLE = 3.0  # points
_OR_MISSING = " or missing"
_SNAP = 1.09  # letters may be wider than measured, as fonts snap to whole pixels


def plot_tree(
    model: Any, *, tree: int = 0, n_features: int = 3, max_depth: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a tree: a card per block with its rows, the share of the target, and its largest weights as bars.

    A bar is a weight of the block's hyperplane. Positive weights point right: larger values send a row to the right.
    A bar is violet if larger values lead to the side with more of the target, red if with less, grey if with the same.

    Of a boosted model, cards show the value of a block, violet where it raises the raw score of the target, red where
    it lowers it; lines below a block with a single feature have its bound in the user's units, and the side of
    missing values. Linear leaves show their number of slopes, and the value where their features have their means. Of a
    tree of a regression, cards show mean responses, violet where they are above the mean of all rows, red below it.

    A compact tree is drawn whole, on a page of A4 or less: the tree with the shares of its leaves, and below it a panel
    for every block with all its terms. Numbers are weights in the user's units and, in grey, what a missing value
    counts as; bars show the effect of a usual change of a value.

    Parameters
    ----------
    model : classifier or regressor of lhtree
        Fitted model.
    tree : int, default=0
        Index of the tree in ``trees_``.
    n_features : int, default=3
        Features to show per branching block, largest weights first; a full bar is a weight of 1. Compact trees show
        all.
    max_depth : int, optional
        Deeper blocks are folded into a line with their number. By default as deep as fits on a page. Compact trees
        show all.
    ax : Axes, optional
        Axes to draw into; text shrinks with it and is left out where it would be illegible.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, plot_tree
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> ax = plot_tree(LHTClassifier().fit(X, y), tree=0)
    """
    view = take_tree(model, tree)
    check_count("n_features", n_features, 0)
    if max_depth is not None:
        check_count("max_depth", max_depth, 0)
    fitted = read(model, takes_numbers=True)
    if fitted.trees.has_units:
        return draw_outline(read_outline(fitted), ax)
    room = _LARGEST
    if ax is not None:
        box = check_axes(ax).get_window_extent()
        inches = ax.figure.dpi * _READABLE
        room = box.width / inches, box.height / inches
    layout = plan_tree(view, n_features, max_depth, room)
    width, height = _canvas(layout)
    if ax is None:
        shrink = max(width / _LONGEST, height / _LONGEST, sqrt(width * height / _HUGE), 1.0)
        figure = import_extra("matplotlib.pyplot", "plot").figure(figsize=(width / shrink, height / shrink))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    box = ax.get_window_extent()
    scale = min(box.width / width, box.height / height) / ax.figure.dpi
    ax.set(xlim=(-_MARGIN, width - _MARGIN), ylim=(height - _HEADER - _MARGIN, -_HEADER - _MARGIN))
    ax.set_aspect("equal", anchor="N")
    ax.set_axis_off()
    fills = [find_pair(int(code), fitted.n_classes) for code in view.heaviest_code]
    _Drawing(ax, view, layout, scale, n_features, fills).draw()
    return ax


def plan_tree(
    view: TreeView, n_features: int, max_depth: int | None, room: tuple[float, float] = _LARGEST
) -> Layout:
    """Positions of the blocks of a tree whose cards show ``n_features``; by default as deep as there is room."""
    heaviest = max(len(view.weights(block)) for block in range(view.n_blocks))
    lines = min(n_features, heaviest) + (heaviest > n_features)
    sizes = Sizes(
        branching_width=_BRANCHING_WIDTH,
        branching_height=(lines + 2) * _LINE + 0.14,
        leaf_width=_LEAF_WIDTH,
        leaf_height=3 * _LINE + 0.1,
        folded_height=4 * _LINE + 0.1,
    )
    return lay_out(view, sizes, _choose_depth(view, sizes, room) if max_depth is None else max_depth)


def _choose_depth(view: TreeView, sizes: Sizes, room: tuple[float, float]) -> int:
    return choose_depth(view, sizes, room[0] - 2 * _MARGIN, room[1] - _HEADER - 2 * _MARGIN)


def _canvas(layout: Layout) -> tuple[float, float]:
    return max(layout.width + 2 * _MARGIN, 4.6), layout.height + _HEADER + 2 * _MARGIN


def _minus(text: str) -> str:
    return text.replace("-", "−")


class _Drawing:
    def __init__(
        self,
        ax: Axes,
        view: TreeView,
        layout: Layout,
        scale: float,
        n_features: int,
        fills: list[tuple[str, str]],  # of every block: of the class it is told by, and of the rest
    ) -> None:
        self.fills = fills
        self.ax, self.view, self.layout, self.scale, self.n_features = ax, view, layout, scale, n_features
        self.patches = import_extra("matplotlib.patches", "plot")
        if view.has_values:
            self.values = view.value - view.middle
            ends = float(view.value.min()), float(view.value.max())
            self.number_width = (
                max(measure(view.write_value(end), SMALL) for end in ends) * _SNAP / 72.0 + 0.05
            )
        self.shift = max(0.0, (4.6 - 2 * _MARGIN - layout.width) / 2)

    def draw(self) -> None:
        self._draw_header()
        for card in self.layout.cards.values():
            left = int(self.view.left[card.block])
            if left in self.layout.cards:
                _, *sides = self.view.conditions(card.block)
                for below, side in zip((left, left + 1), sides, strict=True):
                    self._draw_edge(card, self.layout.cards[below], side)
        for card in self.layout.cards.values():
            self._draw_card(card)

    def _text(self, x: float, y: float, text: str, size: float = SMALL, **how: Any) -> None:
        points = size * self.scale
        if points >= _LEGIBLE:
            how = {"va": "center", "color": INK} | how
            self.ax.text(x, y, text, fontsize=points, **how)

    def _box(self, x: float, y: float, width: float, height: float, gid: str, **how: Any) -> None:
        how = {"linewidth": 0.7 * self.scale, "edgecolor": INK} | how
        self.ax.add_patch(self.patches.Rectangle((x, y), width, height, gid=gid, **how))

    def _draw_header(self) -> None:
        view = self.view
        blocks = (
            "1 block, a leaf" if view.n_blocks == 1 else f"{view.n_blocks} blocks, {view.n_leaves} leaves"
        )
        end = f": {blocks}"
        room = (max(self.layout.width, 4.3) - 0.1) * 72.0
        if view.is_joint:
            self._draw_joint_header(end)
            return
        start = "Tree" if view.round is None else f"Round {view.round}, tree"
        name = ""
        if not view.is_regression:
            used = measure(f"{start} for {end}", NORMAL + 1)
            name = f" for {fit(name_class(view.target), room - used, NORMAL + 1)}"
        self._text(0.0, -_HEADER + 0.1, f"{start}{name}{end}", NORMAL + 1)
        self._draw_keys(self._list_keys())

    def _draw_joint_header(self, end: str) -> None:
        """A tree of all classes: the classes that are the heaviest of some card, as many as there is room for."""
        self._text(0.0, -_HEADER + 0.1, f"Tree of all classes{end}", NORMAL + 1)
        shown = {self.view.heaviest_code[block]: block for block in self.layout.cards}
        names = [
            (fit(name_class(self.view.heaviest[block]), 60.0, SMALL), block)
            for _, block in sorted(shown.items())
        ]
        keys = [(name, self.fills[block][0]) for name, block in names]
        most = max(1, int(max(self.layout.width, 4.3) / 1.2) - 1)
        more = [("other classes", self.fills[0][1])]
        self._draw_keys(keys[:most] + more)

    def _draw_keys(self, keys: list[tuple[str, str]]) -> None:
        y, at = -_HEADER + 0.36, 0.0
        for text, fill in keys:
            self._box(at, y - 0.05, 0.16, 0.1, "key", facecolor=fill)
            self._text(at + 0.22, y, text)
            at += 0.36 + measure(text, SMALL) / 72.0

    def _list_keys(self) -> list[tuple[str, str]]:
        """What the colours mean."""
        view = self.view
        if view.is_mean:
            mean = _minus(view.write_value(view.middle))
            return [(f"raises the prediction above the mean, {mean}", FOR), ("lowers it", AGAINST)]
        if view.is_regression:
            return [("raises the prediction", FOR), ("lowers it", AGAINST)]
        target = fit(name_class(view.target), 90.0, SMALL)
        if view.has_values:
            return [(f"raises the raw score of {target}", FOR), ("lowers it", AGAINST)]
        keys = [("evidence for", FOR), ("evidence against", AGAINST)]
        return [(target, self.fills[0][0]), ("rest", self.fills[0][1]), *keys]

    def _draw_edge(self, card: Card, below: Card, condition: str) -> None:
        share = self.view.weight[below.block] / self.view.weight[0]
        x, start, end = below.x + self.shift, card.y + card.height, below.y
        bend = start + 0.12
        self.ax.plot(
            [card.x + self.shift, card.x + self.shift, x, x],
            [start, bend, bend, end],
            color=LINE,
            linewidth=(0.8 + 3.2 * share) * self.scale,
            solid_joinstyle="round",
            zorder=0.5,
        )
        bound, missing = condition.removesuffix(_OR_MISSING), condition.endswith(_OR_MISSING)
        text = fit(bound.replace("-", "−"), _LEAF_WIDTH * 72.0, SMALL) + "\nor missing" * missing
        behind = {"facecolor": "white", "alpha": 0.85, "pad": 0.8, "linewidth": 0}
        self._text(x, (bend + end) / 2, text, ha="center", bbox=behind)

    def _draw_card(self, card: Card) -> None:
        view, block = self.view, card.block
        is_leaf = bool(view.is_leaf[block])
        is_small = is_leaf or card.n_folded > 0
        x = card.x + self.shift - card.width / 2
        fill = "#FFFFFF" if is_leaf else PALE
        self._box(x, card.y, card.width, card.height, f"block-{block}", facecolor=fill)
        inside, width = x + 0.07, card.width - 0.14
        y = card.y + 0.05 + _LINE / 2
        self._text(inside, y, f"{'leaf' if is_leaf else 'block'} {block}")
        n_slopes = len(view.slopes(block)) if is_leaf and view.has_values else 0
        if n_slopes:
            self._text(inside + width, y, f"{n_slopes} slope{'s' if n_slopes > 1 else ''}", ha="right")
        if is_small:
            y += _LINE
        draw = self._draw_value if view.has_values else self._draw_mix
        self._text(inside + width, y, draw(block, inside, y + _LINE, width), ha="right")
        y += _LINE * 2.1
        if card.n_folded:
            self._text(inside, y, f"… {card.n_folded} below", style="italic")
        elif not is_leaf:
            self._draw_weights(card, inside, y)

    def _draw_mix(self, block: int, x: float, y: float, width: float) -> str:
        """A bar with the share of the target, or of the heaviest class; gives the counts."""
        low, height = y - _LINE * 0.36, _LINE * 0.72
        share = width * self.view.outcome[block]
        own, rest = self.fills[block]
        self._box(x, low, width, height, f"rest-{block}", facecolor=rest, linewidth=0)
        self._box(x, low, share, height, f"target-{block}", facecolor=own, linewidth=0)
        self._box(x, low, width, height, f"mix-{block}", facecolor="none")
        return f"{self.view.n_target[block]:.5g} of {self.view.weight[block]:.5g}"

    def _draw_value(self, block: int, x: float, y: float, width: float) -> str:
        """A bar from the middle with the value of a block, the largest of the tree to the edge; gives the rows."""
        value, most = float(self.values[block]), float(abs(self.values).max()) or 1.0
        room = width - max(0.42, self.number_width)
        self._text(x + width, y, _minus(self.view.write_value(float(self.view.value[block]))), ha="right")
        zero, length = x + room / 2, abs(value) / most * room / 2
        start = zero if value > 0.0 else zero - length
        fill = FOR if value > 0.0 else AGAINST
        self._box(
            start, y - _LINE * 0.36, length, _LINE * 0.72, f"value-{block}", facecolor=fill, linewidth=0
        )
        self.ax.plot([zero, zero], [y - _LINE / 2, y + _LINE / 2], color=INK, linewidth=0.6 * self.scale)
        return f"{self.view.n_samples[block]} rows"

    def _draw_weights(self, card: Card, x: float, y: float) -> None:
        heaviest, more = find_heaviest(self.view, card.block, self.n_features)
        zero = x + _NAME + _BAR / 2
        lift = self.view.lift(card.block)
        for name, weight in heaviest:
            self._text(x, y, fit(name, _NAME * 72.0 / _SNAP - 3.0, SMALL))
            start, length = min(zero, zero + weight * _BAR / 2), abs(weight) * _BAR / 2
            self._box(
                start,
                y - _LINE * 0.3,
                length,
                _LINE * 0.6,
                f"weight-{card.block}-{self.view.feature_names.index(name)}",
                facecolor=LINE if lift == 0.0 else FOR if weight * lift > 0.0 else AGAINST,
                linewidth=0.4 * self.scale,
            )
            self._text(x + card.width - 0.14, y, f"{weight:+.2f}".replace("-", "−"), ha="right")
            y += _LINE
        if heaviest:
            self.ax.plot(
                [zero, zero],
                [y - len(heaviest) * _LINE - _LINE / 2, y - _LINE / 2],
                color=INK,
                linewidth=0.6 * self.scale,
            )
        if more:
            self._text(x, y, f"{more} more feature{'s' if more > 1 else ''}", color="#555555")
