"""A tree as a scene, and the layout of its blocks, which ``plot_tree`` and notebooks show.

Trees have a card per block, large ones folded. Symmetric trees have a card per level, and a table of their leaves.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..describe.palette import AGAINST, FOR, find_pair
from ..describe.text import find_heaviest, list_slopes
from ..model.heads import (
    Head,
    JointScoreHead,
    MeanHead,
    NumberScoreHead,
    RawScoreHead,
    SharesHead,
    WolfHead,
)
from ..model.numbers import write_count
from ..model.views import TreeView
from .scene import (
    GREY,
    INK,
    LINE,
    NORMAL,
    PALE,
    WHITE,
    Box,
    Group,
    Polyline,
    Shape,
    Text,
    find_width,
    fit_text,
)

# Millimetres.
_LINE = 3.7  # height of a line of text
_BRANCHING, _LEAF = 59.7, 26.7  # widths of cards
_PAD = 1.8  # between the edge of a card and its content
_BAR = 14.0  # width of the bars of weights
_BEND = 3.0  # from a card to the bend of the lines below it
_KEY = 32.0  # widest name in the key
_OR_MISSING = " or missing"
_SIDE = 12.0  # width of a side in the table of a symmetric tree
_MOST_LEVELS = 8  # of a table


class Key(NamedTuple):
    """The meaning of a colour."""

    text: str
    colour: str


def name_class(label: object) -> str:
    """Return a class as titles show it: a number with the word "class" before it."""
    return label if isinstance(label, str) else f"class {label}"


def _name_key(label: object) -> str:
    return fit_text(name_class(label), _KEY, NORMAL)


def minus(text: str) -> str:
    """Return a number with a minus sign instead of a hyphen."""
    return text.replace("-", "−")


class _Outcome:
    """Content of the cards of a tree that depends on the head; this class draws the share of the target."""

    def __init__(self, view: TreeView) -> None:
        self.view = view

    @property
    def subject(self) -> str:
        return f" for {name_class(self.view.target)}"

    def list_keys(self, blocks: list[int]) -> list[Key]:
        own, rest = self._find_fills(0)
        target = Key(_name_key(self.view.target), own)
        return [target, Key("rest", rest), Key("evidence for", FOR), Key("evidence against", AGAINST)]

    def name_class(self, block: int) -> str:
        return ""

    def count(self, block: int) -> str:
        return f"{write_count(self.view.n_target[block])} of {write_count(self.view.weight[block])}"

    def describe(self, block: int) -> list[str]:
        """Return the content of a tooltip."""
        return [f"{write_count(self.view.n_target[block])} of {write_count(self.view.weight[block])}"]

    def count_slopes(self, block: int) -> int:
        return 0

    def draw(self, block: int, x: float, y: float, width: float) -> list[Shape]:
        """Draw a bar of shares or values in the line at y."""
        own, rest = self._find_fills(block)
        low, height, share = y - 0.36 * _LINE, 0.72 * _LINE, width * float(self.view.outcome[block])
        return [
            Box(x, low, width, height, rest, name=f"rest-{block}"),
            Box(x, low, share, height, own, name=f"target-{block}"),
            Box(x, low, width, height, "none", GREY, name=f"mix-{block}"),
        ]

    def _find_fills(self, block: int) -> tuple[str, str]:
        return find_pair(int(self.view.heaviest_code[block]), len(self.view.classes))


class _ClassOutcome(_Outcome):
    """The share of the majority class, with its name."""

    subject = " of all classes"

    def list_keys(self, blocks: list[int]) -> list[Key]:
        shown = sorted({int(self.view.heaviest_code[block]): block for block in blocks}.items())
        keys = [Key(_name_key(self.view.heaviest[block]), self._find_fills(block)[0]) for _, block in shown]
        return [*keys, Key("other classes", self._find_fills(0)[1])]

    def name_class(self, block: int) -> str:
        return name_class(self.view.heaviest[block])

    def describe(self, block: int) -> list[str]:
        return [f"{super().describe(block)[0]} {self.name_class(block)}"]


class _ScoreOutcome(_Outcome):
    """The value that a block adds to the raw score of a class."""

    def __init__(self, view: TreeView) -> None:
        super().__init__(view)
        self._values = view.value - view.middle
        self._most = float(abs(self._values).max()) or 1.0
        ends = float(view.value.min()), float(view.value.max())
        self._number = max(find_width(minus(view.write_value(end)), NORMAL) for end in ends) + 1.5

    def list_keys(self, blocks: list[int]) -> list[Key]:
        return [Key(f"raises the raw score of {_name_key(self.view.target)}", FOR), Key("lowers it", AGAINST)]

    def count(self, block: int) -> str:
        return f"{self.view.n_samples[block]:,} rows"

    def describe(self, block: int) -> list[str]:
        view = self.view
        value = f"{view.write_value(float(view.value[block]), 4)}, {self.count(block)}"
        return [value, *(list_slopes(view, block, len(view.feature_names)) if view.is_leaf[block] else [])]

    def count_slopes(self, block: int) -> int:
        return len(self.view.slopes(block)) if self.view.is_leaf[block] else 0

    def draw(self, block: int, x: float, y: float, width: float) -> list[Shape]:
        """Draw a bar from the middle; the largest value of the tree reaches the edge."""
        value, room = float(self._values[block]), width - max(10.7, self._number)
        zero, length = x + room / 2.0, abs(value) / self._most * room / 2.0
        start = zero if value > 0.0 else zero - length
        number = minus(self.view.write_value(float(self.view.value[block])))
        return [
            Box(start, y - 0.36 * _LINE, length, 0.72 * _LINE, _find_fill(value), name=f"value-{block}"),
            Polyline(((zero, y - _LINE / 2.0), (zero, y + _LINE / 2.0)), INK, 0.2),
            Text(x + width, y, number, NORMAL, "end"),
        ]


class _JointOutcome(_ScoreOutcome):
    """The value that a block adds to the raw score of the class that it raises most."""

    subject = " of all classes"

    def list_keys(self, blocks: list[int]) -> list[Key]:
        return [Key("raises the raw score of the class that the block raises most", FOR)]

    def name_class(self, block: int) -> str:
        return name_class(self.view.heaviest[block])

    def describe(self, block: int) -> list[str]:
        value, *slopes = super().describe(block)
        return [f"{self.name_class(block)}: {value}", *slopes]


class _NumberOutcome(_ScoreOutcome):
    """The value that a block adds to a predicted number."""

    subject = ""

    def list_keys(self, blocks: list[int]) -> list[Key]:
        return [Key("raises the prediction", FOR), Key("lowers it", AGAINST)]


class _MeanOutcome(_NumberOutcome):
    """The mean response of a block."""

    def list_keys(self, blocks: list[int]) -> list[Key]:
        mean = minus(self.view.write_value(self.view.middle))
        return [Key(f"raises the prediction above the mean, {mean}", FOR), Key("lowers it", AGAINST)]


_OUTCOMES: dict[type[Head], type[_Outcome]] = {
    WolfHead: _Outcome,
    SharesHead: _ClassOutcome,
    RawScoreHead: _ScoreOutcome,
    JointScoreHead: _JointOutcome,
    NumberScoreHead: _NumberOutcome,
    MeanHead: _MeanOutcome,
}


def _find_fill(value: float) -> str:
    return FOR if value > 0.0 else AGAINST if value < 0.0 else LINE


class TreeDrawing:
    """The shapes of a tree, its title and the meaning of its colours.

    It is as deep as fits into ``room`` (width and height), unless ``max_depth`` is given.
    """

    def __init__(
        self, view: TreeView, room: tuple[float, float], n_features: int = 3, max_depth: int | None = None
    ) -> None:
        self.view, self._n_features = view, n_features
        self._outcome = view.head.choose(_OUTCOMES)(view)
        n_most = max(len(view.weights(block)) for block in range(view.n_blocks))
        n_lines = min(n_features, n_most) + (n_most > n_features)
        sizes = Sizes(
            branching_width=_BRANCHING,
            branching_height=(n_lines + 2) * _LINE + 2 * _PAD,
            leaf_width=_LEAF,
            leaf_height=3 * _LINE + 1.4 * _PAD,
            folded_height=4 * _LINE + 1.4 * _PAD,
            between=3.6,
            below=12.0,
        )
        self.layout: Layout = lay_out(
            view, sizes, choose_depth(view, sizes, *room) if max_depth is None else max_depth
        )
        self.width, self.height = self.layout.width, self.layout.height
        self.title = _write_title(
            view,
            self._outcome,
            "1 block, a leaf" if view.n_blocks == 1 else f"{view.n_blocks} blocks, {view.n_leaves} leaves",
        )
        self.keys = self._outcome.list_keys(list(self.layout.cards))

    def draw(self) -> list[Shape]:
        """Draw lines and cards."""
        shapes: list[Shape] = []
        cards = self.layout.cards
        for card in cards.values():
            left = int(self.view.left[card.block])
            if left in cards:
                conditions = self.view.conditions(card.block)
                shapes += self._draw_edge(card, cards[left], conditions.left)
                shapes += self._draw_edge(card, cards[left + 1], conditions.right)
        return shapes + [self._draw_card(card) for card in cards.values()]

    def _draw_edge(self, card: Card, below: Card, condition: str) -> list[Shape]:
        """Draw a line with a gap for its condition."""
        lines = [
            minus(condition.removesuffix(_OR_MISSING)),
            *["or missing"] * condition.endswith(_OR_MISSING),
        ]
        start = card.y + card.height
        bend = start + _BEND
        middle, gap = (bend + below.y) / 2.0, 1.6 * len(lines) + 0.5
        thickness = 0.3 + 1.1 * float(self.view.weight[below.block] / self.view.weight[0])
        upper = ((card.x, start), (card.x, bend), (below.x, bend), (below.x, middle - gap))
        return [
            Polyline(upper, LINE, thickness),
            Polyline(((below.x, middle + gap), (below.x, below.y)), LINE, thickness),
            *(
                Text(below.x, middle + 3.2 * (i - (len(lines) - 1) / 2.0), line, NORMAL, "middle", room=_LEAF)
                for i, line in enumerate(lines)
            ),
        ]

    def _draw_card(self, card: Card) -> Shape:
        block, outcome = card.block, self._outcome
        is_leaf = bool(self.view.is_leaf[block])
        left, width = card.x - card.width / 2.0 + _PAD, card.width - 2 * _PAD
        right, y = left + width, card.y + 1.3 + _LINE / 2.0
        label, count = f"{'leaf' if is_leaf else 'block'} {block}", outcome.count(block)
        n_slopes = outcome.count_slopes(block)
        note = f"{n_slopes} slope{'s' * (n_slopes > 1)}" if n_slopes else outcome.name_class(block)
        room, fill = width - find_width(label, NORMAL) - 2.0, WHITE if is_leaf else PALE
        frame = Box(left - _PAD, card.y, card.width, card.height, fill, GREY, 0.25, f"block-{block}")
        shapes: list[Shape] = [frame, Text(left, y, label, NORMAL)]
        if is_leaf or card.n_folded:
            shapes.append(Text(right, y, note, NORMAL, "end", GREY, room=None if n_slopes else room))
            y += _LINE
        elif note:
            end = right - find_width(count, NORMAL) - 2.0
            room -= right - end
            shapes.append(Text(end - room / 2.0, y, note, NORMAL, "middle", GREY, room=room))
        shapes.append(Text(right, y, count, NORMAL, "end"))
        shapes += outcome.draw(block, left, y + _LINE, width)
        if card.n_folded:
            shapes.append(Text(left, y + 2.1 * _LINE, f"… {card.n_folded} below", NORMAL, colour=GREY))
        elif not is_leaf:
            lift = self.view.lift(block)
            shapes += _draw_weights(self.view, block, lift, self._n_features, left, y + 2.1 * _LINE, right)
        first, *others = outcome.describe(block)
        return Group(", ".join([f"{label}: {first}", *others]), tuple(shapes))


def _draw_weights(
    view: TreeView, block: int, lift: float, n_features: int, left: float, y: float, right: float
) -> list[Shape]:
    """Draw a bar for each of the largest weights; ``lift`` is the outcome on the right minus that on the left."""
    heaviest, more = find_heaviest(view, block, n_features)
    zero, top = right - 10.4 - _BAR / 2.0, y - _LINE / 2.0
    shapes: list[Shape] = []
    for name, weight in heaviest:
        length = abs(weight) * _BAR / 2.0
        bar = f"weight-{block}-{view.feature_names.index(name)}"
        start = zero if weight > 0.0 else zero - length
        row = (
            Text(left, y, name, NORMAL, room=zero - _BAR / 2.0 - left - 1.0),
            Box(start, y - 0.3 * _LINE, length, 0.6 * _LINE, _find_fill(weight * lift), GREY, 0.14, bar),
            Text(right, y, minus(f"{weight:+.2f}"), NORMAL, "end"),
        )
        shapes.append(Group(f"{name} {weight:+.4g}", row))
        y += _LINE
    if heaviest:
        shapes.append(Polyline(((zero, top), (zero, y - _LINE / 2.0)), INK, 0.2))
    if more:
        shapes.append(Text(left, y, f"{more} more feature{'s' * (more > 1)}", NORMAL, colour=GREY))
    return shapes


class SymmetricDrawing:
    """The shapes of a symmetric tree: a card per level, and a table of the leaves by the sides of a row."""

    def __init__(self, view: TreeView, width: float, n_features: int = 3) -> None:
        self.view, self._n_features = view, n_features
        self._outcome = view.head.choose(_OUTCOMES)(view)
        n_levels = len(view.levels)
        self._n_down = (n_levels + 1) // 2  # levels whose sides are the rows of the table
        n_most = max(len(view.weights(blocks[0])) for blocks in view.levels)
        self._card_height = (min(n_features, n_most) + (n_most > n_features) + 2) * _LINE + 2 * _PAD
        self._table_width = self._n_down * _SIDE + 2 ** (n_levels - self._n_down) * _LEAF
        n_beside = max(int((min(width, self._table_width) + 3.6) // (_BRANCHING + 3.6)), 3)
        self._cards = [
            (place % n_beside * (_BRANCHING + 3.6), place // n_beside * (self._card_height + 3.6))
            for place in range(n_levels)
        ]
        self._table = self._cards[-1][1] + self._card_height + 6.0
        n_heads = n_levels - self._n_down
        # Leaves of all classes have a line more, for the class.
        self._row = (2.0 if self._outcome.name_class(0) else 1.0) * _LINE + 1.2
        self.height = self._table + n_heads * (_LINE + 1.2) + 2**self._n_down * self._row
        self.width = max(self._table_width, max(x for x, _ in self._cards) + _BRANCHING)
        size = f"{n_levels} levels, {view.n_leaves} leaves"
        self.title = _write_title(view, self._outcome, size)
        self.keys = self._outcome.list_keys([0])

    def draw(self) -> list[Shape]:
        """Draw cards and table."""
        shapes = [self._draw_card(level) for level in range(len(self.view.levels))]
        return shapes + self._draw_table()

    def _draw_card(self, level: int) -> Shape:
        view, blocks = self.view, self.view.levels[level]
        x, y = self._cards[level]
        left, right, block = x + _PAD, x + _BRANCHING - _PAD, blocks[0]
        conditions = view.conditions(block)
        frame = Box(x, y, _BRANCHING, self._card_height, PALE, GREY, 0.25, f"level-{level}")
        line = y + 1.3 + _LINE / 2.0
        texts = [minus(conditions.of(side)) for side in ("left", "right")]
        lift = sum(float(view.weight[one]) * view.lift(one) for one in blocks)
        shapes = (
            frame,
            Text(left, line, f"level {level + 1}", NORMAL),
            Text(right, line, f"left: {minus(conditions.left)}", NORMAL, "end", room=_BRANCHING - 16.0),
            *_draw_weights(view, block, lift, self._n_features, left, line + 1.3 * _LINE, right),
        )
        return Group(f"level {level + 1}: left where {texts[0]}, right where {texts[1]}", shapes)

    def _draw_table(self) -> list[Shape]:
        """Draw the leaves: sides of the first levels are the rows, sides of the others the columns."""
        view, down = self.view, self._n_down
        across, step, row_step = len(view.levels) - down, _LINE + 1.2, self._row
        x, top = down * _SIDE, self._table + across * step
        shapes: list[Shape] = []
        for level in range(len(view.levels)):
            is_row = level < down
            place = level if is_row else level - down
            n_sides = 2 ** (place + 1)
            span = 2 ** ((down if is_row else across) - place - 1)
            for number in range(n_sides):
                side = "left" if number % 2 == 0 else "right"
                if is_row:
                    at = (place * _SIDE, top + number * span * row_step, _SIDE, span * row_step)
                else:
                    at = (x + number * span * _LEAF, self._table + place * step, span * _LEAF, step)
                shapes.append(Box(*at, PALE if number % 2 else WHITE, GREY, 0.15))
                middle = (at[0] + at[2] / 2.0, at[1] + at[3] / 2.0)
                shapes.append(Text(*middle, f"{level + 1} {side}", NORMAL, "middle", room=at[2] - 0.6))
        first = view.n_blocks - view.n_leaves
        for leaf in range(view.n_leaves):
            row, column = divmod(leaf, 2**across)
            left, y, block = x + column * _LEAF, top + row * row_step, first + leaf
            label, *others = self._outcome.describe(block)
            cell = (
                Box(left, y, _LEAF, row_step, "none", GREY, 0.15, f"block-{block}"),
                *self._outcome.draw(block, left + 0.6, y + row_step - step / 2.0, _LEAF - 1.2),
            )
            if name := self._outcome.name_class(block):
                middle_of = (left + _LEAF / 2.0, y + step / 2.0)
                cell = (*cell, Text(*middle_of, name, NORMAL, "middle", room=_LEAF - 1.2))
            shapes.append(Group(", ".join([f"leaf {block}: {label}", *others]), cell))
        return shapes


AnyDrawing: TypeAlias = TreeDrawing | SymmetricDrawing


def make_drawing(
    view: TreeView, room: tuple[float, float], n_features: int = 3, max_depth: int | None = None
) -> AnyDrawing:
    """Return the drawing of a tree; a symmetric one is drawn by levels, unless ``max_depth`` folds them."""
    n_levels = len(view.levels) if view.head.adds_rounds else 0
    if 2 <= n_levels <= _MOST_LEVELS and (max_depth is None or max_depth >= n_levels):
        return SymmetricDrawing(view, room[0], n_features)
    return TreeDrawing(view, room, n_features, max_depth)


def _write_title(view: TreeView, outcome: _Outcome, size: str) -> str:
    number = "Tree" if view.round is None else f"Round {view.round}, tree"
    return f"{number}{outcome.subject}: {size}"


def draw_header(drawing: AnyDrawing, width: float) -> list[Shape]:
    """Draw the title and the key; classes that do not fit are left out."""
    shapes: list[Shape] = [Text(0.0, 0.0, drawing.title, 10.0, room=width)]
    # Matplotlib writes characters that its fonts lack in words, which take more room.
    rooms = [find_width(text, NORMAL) * (1.1 if text.isascii() else 1.4) for text, _ in drawing.keys]
    n_shown = len(rooms)
    while n_shown > 4 and sum(rooms[: n_shown - 1]) + rooms[-1] + 9.0 * n_shown > width:
        n_shown -= 1
    excess = sum(rooms[: n_shown - 1]) + rooms[-1] + 9.0 * n_shown - width
    rooms[0] -= max(excess, 0.0)
    at = 0.0
    for place in (*range(n_shown - 1), len(rooms) - 1):
        text, colour = drawing.keys[place]
        shapes.append(Box(at, 5.3, 4.0, 2.6, colour, INK, 0.25, "key"))
        shapes.append(Text(at + 5.6, 6.6, text, NORMAL, room=rooms[place]))
        at += rooms[place] + 9.0
    return shapes


class Sizes(NamedTuple):
    """Sizes of the parts of a drawing of a tree; a folded block has one line more than a leaf."""

    branching_width: float
    branching_height: float
    leaf_width: float
    leaf_height: float
    folded_height: float
    between: float  # horizontal gap between cards
    below: float  # gap between a card and the cards of the next level


class Card(NamedTuple):
    """Place of a block: x of its middle, y of its top (growing downwards), and the number of blocks folded into it."""

    block: int
    x: float
    y: float
    width: float
    height: float
    n_folded: int


class Layout(NamedTuple):
    """Places of the blocks shown, by block number, and the size of the drawing."""

    cards: dict[int, Card]
    width: float
    height: float


def lay_out(view: TreeView, sizes: Sizes, max_depth: int) -> Layout:
    """Place the blocks down to a depth: each in the middle above its children, without overlaps."""
    shown = np.flatnonzero(view.depth <= max_depth)
    opened = (view.left >= 0) & (view.depth < max_depth)
    apart = _find_distances(view, sizes, shown, opened)
    x = np.zeros(view.n_blocks)
    for block in shown[opened[shown]]:
        left = view.left[block]
        x[left], x[left + 1] = x[block] - apart[block] / 2, x[block] + apart[block] / 2
    n_below = view.count_below()
    width = np.where(opened, sizes.branching_width, sizes.leaf_width)
    height = np.where(opened, sizes.branching_height, sizes.folded_height)
    height[view.is_leaf] = sizes.leaf_height
    start = (x[shown] - width[shown] / 2).min()
    step = sizes.branching_height + sizes.below
    cards = {
        int(block): Card(
            int(block),
            float(x[block] - start),
            float(view.depth[block] * step),
            float(width[block]),
            float(height[block]),
            0 if opened[block] else int(n_below[block]),
        )
        for block in shown
    }
    return Layout(
        cards,
        max(card.x + card.width / 2 for card in cards.values()),
        max(card.y + card.height for card in cards.values()),
    )


def _find_distances(
    view: TreeView, sizes: Sizes, shown: NDArray[np.int64], opened: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the distance between the children of each opened block, from the outlines of their subtrees."""
    apart = np.zeros(view.n_blocks)
    outlines: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    for block in shown[::-1]:
        half = (sizes.branching_width if opened[block] else sizes.leaf_width) / 2
        if not opened[block]:
            outlines[block] = np.array([-half]), np.array([half])
            continue
        left_low, left_high = outlines.pop(view.left[block])
        right_low, right_high = outlines.pop(view.right[block])
        common = min(len(left_high), len(right_low))
        apart[block] = (left_high[:common] - right_low[:common]).max() + sizes.between
        shift = apart[block] / 2
        low = np.concatenate([[-half], left_low - shift, right_low[len(left_low) :] + shift])
        high = np.concatenate([[half], right_high + shift, left_high[len(right_high) :] - shift])
        outlines[block] = low, high
    return apart


def choose_depth(view: TreeView, sizes: Sizes, width: float, height: float) -> int:
    """Return the largest depth at which the drawing fits into this size; at least 1."""
    deepest = int(view.depth.max())
    fitting = 1
    for depth in range(2, deepest + 1):
        layout = lay_out(view, sizes, depth)
        if layout.width > width or layout.height > height:
            break
        fitting = depth
    return min(fitting, deepest)
