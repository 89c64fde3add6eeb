"""A compact tree as a scene: its outline with the shares of all leaves, and a panel with bars for every block.

Panels stand below the outline, so that the tree fits on a page whatever its shape. A card per block at its place in the
tree would need many pages.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..describe.outline import (
    CATEGORY,
    MISSING,
    Outline,
    OutlineBlock,
    OutlineTerm,
    find_left,
)
from ..describe.palette import AGAINST, CLASSES, FOR, class_colour, tint
from ..model.numbers import ALL_DIGITS, write_probability, write_value
from .scene import (
    BOLD,
    GREY,
    INK,
    SMALL,
    WHITE,
    Box,
    Disc,
    Polyline,
    Scene,
    Shape,
    Text,
    cut_end,
    find_width,
    fit_names,
    move,
    wrap,
)

_PAGE, _TALLEST, _MARGIN, _HEADER = 297.0, 210.0, 8.0, 10.0  # A4, in millimetres
_LINE = 2.75
_LEVEL, _LEAST_LEVEL = 6.0, 2.6  # between levels of the outline
_LEAF, _WIDEST_LEAF = 13.0, 42.0  # height of a leaf in the outline, and its room
_RADIUS = 1.75
_AIR = 1.6  # above the root, for "yes" and "no"
_GAP = 2.0  # between panels
_HEAD, _FOOT = 5.2, 1.0  # of a panel, above and below its terms
_WIDEST, _NARROWEST = 92.0, 44.0  # panels
_BAR, _LONGEST_BAR = 11.0, 34.0  # room of bars
_LEAST_NAME, _MOST_LINES = 8.0, 4  # width of names in a panel, and number of their lines
_TITLE, _MOST_TITLE = 2.3, 3  # between lines of the class of a leaf, and how many there are at most
_PALE = "#F5F5F5"


def colour_class(code: int) -> str:
    """Return the colour of a class; classes beyond the palette have paler colours."""
    return class_colour(code) if code < len(CLASSES) else tint(class_colour(code), 0.5)


def compose_outline(outline: Outline) -> Scene:
    """Return a page as wide as A4, and as high as needed, with a header and the tree."""
    inside, room = _PAGE - 2 * _MARGIN, _TALLEST - 2 * _MARGIN
    tree, height = draw_outline(outline, inside, room - _HEADER)
    shapes = tuple(_draw_header(outline, inside) + move(tree, 0.0, _HEADER))
    total = height + _HEADER
    return Scene(shapes, _PAGE, min(total, room) + 2 * _MARGIN, _MARGIN, min(1.0, room / total))


def _draw_header(outline: Outline, width: float) -> list[Shape]:
    """Draw the title, and the colours of as many classes as fit."""
    n_blocks = len(outline.blocks)
    size = f"{n_blocks} blocks, {outline.n_leaves} leaves, {outline.n_terms} terms"
    title = f"Compact tree: {size if n_blocks > 1 else '1 block, a leaf'}"
    shapes: list[Shape] = [Text(0.0, 2.5, title, 10.0, weight=BOLD)]
    at = find_width(title, 10.0, BOLD) + 8.0
    names = fit_names(outline.class_names, 30.0)
    for code, label in enumerate(outline.class_names):
        name = names[label]
        if at + 4.0 + find_width(name) > width:
            break
        shapes += [Box(at, 1.5, 2.0, 2.0, colour_class(code)), Text(at + 3.0, 2.5, name)]
        at += 6.0 + find_width(name)
    return shapes


def draw_outline(outline: Outline, width: float, room: float) -> tuple[list[Shape], float]:
    """Return the shapes of a tree of this width, and their height: at most ``room`` if legible panels allow it.

    Names are written in full, on several lines, if there is room, else shortened.
    """
    depth = max(block.depth for block in outline.blocks)
    level = min(_LEVEL, max(_LEAST_LEVEL, 36.0 / max(depth, 1)))
    leaf = min(width / outline.n_leaves, _WIDEST_LEAF)
    titles = _fit_titles(outline, _find_leaf_width(leaf) - 0.8)
    tall = _LEAF + _TITLE * (max(map(len, titles.values()), default=1) - 1)
    top = _AIR + level * depth + tall + 2.5
    shapes = _draw_blocks(outline, leaf, level, depth, titles)
    detailed = [*outline.branching, *(block for block in outline.blocks if block.is_linear)]
    if not detailed:
        return shapes, top
    rows = _lay_out(outline, detailed, width, room - top)
    y = top
    for row in rows:
        tall = max(panel.height for panel in row)
        for place, panel in enumerate(row):
            shapes += move(panel.draw(tall), place * (panel.width + _GAP), y)
        y += tall + _GAP
    return shapes, y


def _lay_out(outline: Outline, blocks: list[OutlineBlock], width: float, room: float) -> list[list[_Panel]]:
    """Return rows of panels, as wide as possible, with full names in all panels or in as many as there is room for."""
    fewest = math.ceil(width / (_WIDEST + _GAP))
    most = max(fewest, int((width + _GAP) / (_NARROWEST + _GAP)))
    for has_lines in (True, False):
        for n_columns in range(fewest, most + 1):
            wide = (width + _GAP) / n_columns - _GAP
            panels = [_Panel(outline, block, wide) for block in blocks]
            least = min(panel.name_room for panel in panels)
            lines, line = (_fit_terms(outline, times * least) for times in (_MOST_LINES, 1))
            for panel in panels:
                panel.write_names(lines if has_lines else line)
            rows = [panels[first : first + n_columns] for first in range(0, len(panels), n_columns)]
            if _measure_rows(rows) <= room:
                break
        else:
            continue
        break
    for panel in panels:
        panel.write_names(lines)
        if _measure_rows(rows) > room:
            panel.write_names(line)
    return rows


def _measure_rows(rows: list[list[_Panel]]) -> float:
    """Return the height of rows of panels."""
    return sum(max(panel.height for panel in row) + _GAP for row in rows)


def _fit_terms(outline: Outline, width: float) -> dict[str, str]:
    """Return the names of terms shortened to this width: that of a column rather than that of its category."""
    short = {}
    for term in (term for block in outline.blocks for term in block.terms):
        for category in (term.category, *term.others) if term.kind == CATEGORY else ():
            end = f" = {category}"
            if find_width(term.column + end) > width:
                column = cut_end(term.column, width - find_width(end))
                short[term.column + end] = cut_end(column + end, width)
    return fit_names(list_names(outline), width, first=short)


def list_names(outline: Outline) -> list[str]:
    """Return the names of all terms, and of the other categories of their columns, which must look different."""
    terms = [term for block in outline.blocks for term in block.terms]
    others = [f"{term.column} = {other}" for term in terms for other in term.others]
    return list(dict.fromkeys([*(term.name for term in terms), *others]))


def _fit_titles(outline: Outline, width: float) -> dict[str, list[str]]:
    """Return the names of the classes on as few lines as they need; names that need many are shortened."""
    names = outline.class_names
    titles = {name: wrap(name, width, SMALL, BOLD) for name in names}
    if max(map(len, titles.values()), default=1) <= _MOST_TITLE:
        return titles
    fit = fit_names(names, (_MOST_TITLE - 0.5) * width, SMALL, BOLD)
    return {name: wrap(fit[name], width, SMALL, BOLD) for name in names}


def _find_leaf_width(step: float) -> float:
    return min(step - 0.8, 30.0)


def _draw_blocks(
    outline: Outline, step: float, level: float, depth: int, titles: dict[str, list[str]]
) -> list[Shape]:
    """Draw the blocks from the root down; all leaves are in one row, ``step`` apart."""
    places = {
        number: (x * step, (depth if outline.blocks[number].is_leaf else below) * level + _RADIUS + _AIR)
        for number, (x, below) in outline.place().items()
    }
    shapes: list[Shape] = []
    total = outline.blocks[0].weight
    for block in outline.branching:
        x, y = places[block.number]
        for below in (block.left, block.right):
            to_x, to_y = places[below]
            thickness = 0.2 + 1.2 * outline.blocks[below].weight / total
            shapes.append(Polyline(((x, y), (to_x, y), (to_x, to_y)), "#B0B0B0", thickness))
    for block in outline.blocks:
        x, y = places[block.number]
        if block.is_leaf:
            shapes += _draw_leaf(outline, block, x, y, _find_leaf_width(step), titles)
        else:
            shapes.append(Disc(x, y, _RADIUS))
            shapes.append(Text(x, y, str(block.number), SMALL, "middle", INK, BOLD))
    if outline.branching:
        x, y = places[0]
        left, right = (places[below][0] for below in (outline.blocks[0].left, outline.blocks[0].right))
        shapes.append(Text((x + left) / 2.0, y - 1.4, "yes", SMALL, "middle", GREY))
        shapes.append(Text((x + right) / 2.0, y - 1.4, "no", SMALL, "middle", GREY))
    return shapes


def _draw_leaf(
    outline: Outline, block: OutlineBlock, x: float, y: float, width: float, titles: dict[str, list[str]]
) -> list[Shape]:
    """Draw a leaf: its class with a bar of all shares and the probability, or its number with a bar; and its rows."""
    left, inner = x - width / 2.0 + 0.5, width - 1.0
    below = _TITLE * (max(map(len, titles.values()), default=1) - 1)  # height of the longest title
    shapes: list[Shape] = [Box(x - width / 2.0, y, width, _LEAF + below - 1.0, WHITE, INK)]
    shapes += _draw_title(outline, block, x, y + 1.7 + below / 2.0, width - 0.8, titles)
    y += below
    at = left
    for code, share in enumerate(block.shares):
        shapes.append(Box(at, y + 3.3, share * inner, 1.8, colour_class(code)))
        at += share * inner
    if not block.shares and not block.is_linear:
        numbers = [leaf.label for leaf in outline.blocks if leaf.is_leaf]
        low, high = min(numbers), max(numbers)
        part = (block.label / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) if low < high else 1.0
        shapes.append(Box(left, y + 3.3, part * inner, 1.8, FOR))
    lines = [(write_probability(max(block.shares)), INK)] if block.shares else []
    lines += [(f"{block.n_samples:,} rows", INK), (f"leaf {block.number}", GREY)]
    for place, (text, colour) in enumerate(lines):
        shapes.append(Text(x, y + 6.3 + 2.1 * place, text, 5.0, "middle", colour, room=width - 0.4))
    return shapes


def _draw_title(
    outline: Outline, block: OutlineBlock, x: float, y: float, width: float, titles: dict[str, list[str]]
) -> list[Shape]:
    """Draw the class of a leaf on the lines of ``titles``, or its number in letters that fit."""
    if block.is_linear or not outline.classes:
        text = "linear" if block.is_linear else _minus(float(f"{block.label:.4g}"))
        size = min(SMALL, SMALL * width / find_width(text, SMALL, BOLD))
        return [Text(x, y, text, size, "middle", weight=BOLD)]
    lines = titles[outline.name_leaf(block)]
    first = y - _TITLE * (len(lines) - 1) / 2.0
    return [
        Text(x, first + _TITLE * place, line, anchor="middle", weight=BOLD)
        for place, line in enumerate(lines)
    ]


class _Row(NamedTuple):
    term: OutlineTerm
    weight: str
    fill: str


class _Panel:
    """Panel of a branching block or a linear leaf: its condition or estimate, and a bar for every term.

    ``write_names`` sets its height.
    """

    def __init__(self, outline: Outline, block: OutlineBlock, width: float) -> None:
        self._outline, self._block, self.width = outline, block, width
        self._sign, terms, self._bound = ("", block.terms, 0.0) if block.is_leaf else find_left(block)
        self._is_single = not block.is_leaf and len(terms) == 1 and terms[0].weight == 1.0
        self._term = terms[0]
        self._rows = [
            _Row(term, _sign(term.weight), _minus(term.fill) if term.kind != MISSING else "")
            for term in ([] if self._is_single else terms)
        ]
        self._lines: list[list[str]] = []  # of the condition on a single term, or of the name of every term

    @property
    def name_room(self) -> float:
        """Width for names: beside bars and numbers, or in a condition."""
        if self._is_single:
            return max(self.width - 2.5 - find_width(self._write_single(""), 7.0, BOLD), _LEAST_NAME)
        return max(self._find_bars() - _BAR - 2.5, _LEAST_NAME)

    def write_names(self, fit: dict[str, str]) -> None:
        """Write names on lines; ``fit`` maps them to the shortened ones."""
        if self._is_single:
            self._lines = [wrap(self._write_single(fit[self._term.name]), self.width - 2.5, 7.0, BOLD)]
        else:
            self._lines = [wrap(fit[row.term.name], self.name_room) for row in self._rows]

    @property
    def height(self) -> float:
        """Height of the panel."""
        return _HEAD + _LINE * sum(max(len(lines), 1) for lines in self._lines) + _FOOT

    def draw(self, height: float) -> list[Shape]:
        """Return shapes in a frame of this height."""
        block, width = self._block, self.width
        if block.is_leaf:
            return self._draw_leaf(height) + self._draw_terms()
        shapes: list[Shape] = [
            Box(0.0, 0.0, width, height, _PALE, "#C8C8C8"),
            Disc(2.6, 2.7, _RADIUS),
            Text(2.6, 2.7, str(block.number), SMALL, "middle", INK, BOLD),
        ]
        ways = f"yes {self._name(block.left)}, no {self._name(block.right)}"
        shapes.append(Text(width - 1.0, 2.7, ways, 5.5, "end", GREY))
        room = width - 7.4 - find_width(ways, 5.5)
        if self._is_single:
            shapes += [
                Text(1.5, _HEAD + _LINE * (place + 0.5), line, 7.0, weight=BOLD)
                for place, line in enumerate(self._lines[0])
            ]
            if self._term.kind != MISSING:
                shapes.append(
                    Text(5.4, 2.7, f"missing: {self._write_missing()}", 5.0, colour=GREY, room=room)
                )
            return shapes
        return shapes + _write_condition(f"sum < {_minus(self._bound)}", 5.4, 2.7, room) + self._draw_terms()

    def _write_missing(self) -> str:
        """Return the replacement of a missing value: a number, or the answer for a category."""
        if self._term.kind == CATEGORY:
            return "yes" if (self._term.fill == 1.0) == (self._sign == "=") else "no"
        return _minus(self._term.fill)

    def _draw_leaf(self, height: float) -> list[Shape]:
        """Draw the head of a linear leaf."""
        block, has_classes, width = self._block, bool(self._outline.classes), self.width
        low, high = (
            write_probability(end) if has_classes else _minus(float(f"{end:.6g}"))
            for end in (block.low, block.high)
        )
        ways = f"leaf {block.number}, {low} to {high}"
        estimate = f"{'P = ' * has_classes}{_minus(block.start)} + sum"
        return [
            Box(0.0, 0.0, width, height, WHITE, "#C8C8C8"),
            Text(width - 1.0, 2.7, ways, 5.5, "end", GREY),
            *_write_condition(estimate, 1.5, 2.7, width - 3.5 - find_width(ways, 5.5)),
        ]

    def _find_bars(self) -> float:
        """Return the right end of the bars."""
        return self._find_end() - max(find_width(row.weight) for row in self._rows) - 1.0

    def _find_end(self) -> float:
        return self.width - 2.2 - max(find_width(row.fill, 5.0) for row in self._rows)

    def _draw_terms(self) -> list[Shape]:
        shapes: list[Shape] = []
        end, lift = self._find_end(), self._find_lift()
        names = max((find_width(line) for lines in self._lines for line in lines), default=0.0)
        bar = min(max(self._find_bars() - names - 2.5, _BAR), _LONGEST_BAR)
        zero = self._find_bars() - bar / 2.0
        top = _HEAD
        for row, lines in zip(self._rows, self._lines, strict=True):
            y = top + _LINE * max(len(lines), 1) / 2.0
            length = row.term.size * bar / 2.0
            start = zero if row.term.weight > 0.0 else zero - length
            towards = row.term.weight * lift
            colour = "#9A9A9A" if towards == 0.0 else FOR if towards > 0.0 else AGAINST
            shapes += [Text(1.5, top + _LINE * (place + 0.5), line) for place, line in enumerate(lines)]
            shapes += [
                Box(start, y - 0.85, length, 1.7, colour),
                Text(end, y, row.weight, SMALL, "end"),
                Text(self.width - 1.0, y, row.fill, 5.0, "end", GREY),
            ]
            top += _LINE * max(len(lines), 1)
        return [*shapes, Polyline(((zero, _HEAD), (zero, top)), INK, 0.15)]

    def _find_lift(self) -> float:
        """Return how much the number, or the share of the second of two classes, rises from left to right."""
        if self._block.is_leaf:
            return 1.0
        left, right = (self._outline.blocks[below] for below in (self._block.left, self._block.right))
        if not left.shares:
            return float(right.label - left.label)
        return right.shares[1] - left.shares[1] if len(left.shares) == 2 else 0.0

    def _write_single(self, name: str) -> str:
        if self._sign in "<>":
            return f"{name} {self._sign} {_minus(self._bound)}"
        return f"{'not: ' * (self._sign == '!=')}{name}"

    def _name(self, number: int) -> str:
        return f"leaf {number}" if self._outline.blocks[number].is_leaf else str(number)


def _write_condition(text: str, x: float, y: float, width: float) -> list[Shape]:
    """Write a condition in full, in smaller letters if there is little room."""
    size = min(7.0, 7.0 * width / find_width(text, 7.0, BOLD))
    return [Text(x, y, text, size, "start", INK, BOLD)]


def _minus(value: float) -> str:
    """Format a number with all its digits, as it predicts."""
    return f"{'−' * (value < 0.0)}{write_value(abs(value), ALL_DIGITS)}"


def _sign(weight: float) -> str:
    return f"{'−' if weight < 0.0 else '+'}{write_value(abs(weight), ALL_DIGITS)}"
