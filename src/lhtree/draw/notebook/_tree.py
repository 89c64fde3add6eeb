"""A tree as an SVG picture: a card per block, large trees folded, as ``plot_tree`` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from ...describe.palette import AGAINST, FOR, find_pair
from ...describe.text import describe_outcome, find_heaviest, list_slopes, name_heaviest, title_tree
from ...model.views import TreeView
from ..layout import Card, Layout, Sizes, choose_depth, lay_out

# Pixels.
_LINE = 16.0
_LETTER = 6.5  # mean width of a letter of 11 pixels
_ROOM = (900.0, 560.0)
_BRANCHING, _LEAF = 206.0, 100.0
_BAR = 44.0
_N_FEATURES = 3
_MOST_TREES = 3
_MOST_KEYS = 12


def draw_tree(view: TreeView, *, has_title: bool = True) -> str:
    """A picture with a title and a key; every name is escaped."""
    heaviest = max(len(view.weights(block)) for block in range(view.n_blocks))
    n_lines = min(_N_FEATURES, heaviest) + (heaviest > _N_FEATURES)
    sizes = Sizes(
        branching_width=_BRANCHING,
        branching_height=(n_lines + 2) * _LINE + 12.0,
        leaf_width=_LEAF,
        leaf_height=3 * _LINE + 8.0,
        folded_height=4 * _LINE + 8.0,
        between=10.0,
        below=52.0,
    )
    layout = lay_out(view, sizes, choose_depth(view, sizes, *_ROOM))
    title = clean(title_tree(view))
    drawn = "".join(_Picture(view, layout).draw())
    width, height = layout.width + 2.0, layout.height + 2.0
    return (
        "<figure class='lhtree-tree' style='margin:.5em 0'>"
        f"<figcaption style='margin-bottom:.4em'>{title if has_title else ''}{_draw_key(view, layout)}</figcaption>"
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='-1 -1 {width:.0f} {height:.0f}' role='img' "
        f"aria-label='{title}' style='display:block;width:{width:.0f}px;max-width:100%;height:auto' "
        f"font-family='system-ui,sans-serif' font-size='11' fill='currentColor'>{drawn}</svg></figure>"
    )


def draw_trees(views: Sequence[TreeView]) -> str:
    """The first of several trees, and how many more there are."""
    more = len(views) - _MOST_TREES
    note = f"<p>{more} more tree{'s' if more > 1 else ''}</p>" if more > 0 else ""
    return "".join(map(draw_tree, views[:_MOST_TREES])) + note


def clean(text: object) -> str:
    """Text for HTML: escaped, and without what cannot be encoded."""
    return escape(" ".join(str(text).encode("utf-8", "replace").decode().split()))


def cut(text: str, pixels: float) -> str:
    """Text of about so many pixels, its middle left out where it is longer."""
    most = max(2, int(pixels / _LETTER))
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def _draw_key(view: TreeView, layout: Layout) -> str:
    """What the colours mean."""
    if view.is_mean:
        keys = [(f"above the mean, {view.write_value(view.middle)}", FOR), ("below it", AGAINST)]
    elif view.has_values:
        sum_ = "the prediction" if view.is_regression else "the raw score"
        keys = [(f"raises {sum_}", FOR), ("lowers it", AGAINST)]
    else:
        n_classes = len(view.classes)
        shown = sorted({int(view.heaviest_code[block]) for block in layout.cards})
        keys = [(str(view.classes[code]), find_pair(code, n_classes)[0]) for code in shown[:_MOST_KEYS]]
        keys.append(("rest", find_pair(shown[0], n_classes)[1]))
        if not view.is_joint:
            keys += [("weight for it", FOR), ("against it", AGAINST)]
    boxes = "".join(
        "<span style='white-space:nowrap;margin-left:1em'><span style='display:inline-block;width:.8em;height:.8em;"
        f"background:{colour};margin-right:.35em'></span>{clean(cut(text, 160.0))}</span> "
        for text, colour in keys
    )
    return f"<small>{boxes}</small>"


class _Picture:
    def __init__(self, view: TreeView, layout: Layout) -> None:
        self.view, self.layout = view, layout
        self.parts: list[str] = []

    def draw(self) -> list[str]:
        for card in self.layout.cards.values():
            left = int(self.view.left[card.block])
            if left in self.layout.cards:
                conditions = self.view.conditions(card.block)
                for below, side in ((left, conditions.left), (left + 1, conditions.right)):
                    self._draw_edge(card, self.layout.cards[below], side)
        for card in self.layout.cards.values():
            self._draw_card(card)
        return self.parts

    def _text(self, x: float, y: float, text: str, anchor: str = "start", *, is_faint: bool = False) -> None:
        faint = " fill-opacity='.65'" if is_faint else ""
        self.parts.append(
            f"<text x='{x:.1f}' y='{y + 4:.1f}' text-anchor='{anchor}'{faint}>{clean(text)}</text>"
        )

    def _box(self, x: float, y: float, width: float, height: float, fill: str, more: str = "") -> None:
        self.parts.append(
            f"<rect x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' height='{height:.1f}' fill='{fill}'{more}/>"
        )

    def _path(self, points: str, width: float) -> None:
        self.parts.append(
            f"<path d='{points}' fill='none' stroke='currentColor' stroke-opacity='.4' stroke-width='{width:.1f}'/>"
        )

    def _draw_edge(self, card: Card, below: Card, condition: str) -> None:
        """A line with a gap where its condition stands."""
        share = float(self.view.weight[below.block] / self.view.weight[0])
        bound, _, missing = condition.partition(" or ")
        lines = [cut(bound.replace("-", "−"), _LEAF), *(["or missing"] if missing else [])]
        start, bend = card.y + card.height, card.y + card.height + 9.0
        middle = (bend + below.y) / 2.0 + 1.0
        gap = 7.0 * len(lines) + 2.0
        width = 1.0 + 3.0 * share
        self._path(f"M{card.x:.1f} {start:.1f}V{bend:.1f}H{below.x:.1f}V{middle - gap:.1f}", width)
        self._path(f"M{below.x:.1f} {middle + gap:.1f}V{below.y:.1f}", width)
        for i, line in enumerate(lines):
            self._text(below.x, middle + 13.0 * (i - (len(lines) - 1) / 2.0), line, "middle")

    def _draw_card(self, card: Card) -> None:
        view, block = self.view, card.block
        is_leaf = bool(view.is_leaf[block])
        kind = "leaf" if is_leaf else "block"
        first, second = describe_outcome(view, block)
        told = f"{first}, {second}" if view.has_values else f"{first} of {second}"
        x, inner = card.x - card.width / 2.0, card.width - 14.0
        slopes = list_slopes(view, block, len(view.feature_names)) if is_leaf and view.has_values else []
        whole = [f"{kind} {block}: {told} {name_heaviest(view, block)}".rstrip(), *slopes]
        self.parts.append(f"<g><title>{clean(', '.join(whole))}</title>")
        self._box(
            *(x, card.y, card.width, card.height, "currentColor"),
            f" fill-opacity='{0.02 if is_leaf else 0.06}' stroke='currentColor' stroke-opacity='.45' rx='4'",
        )
        inside, y = x + 7.0, card.y + 5.0 + _LINE / 2.0
        self._text(inside, y, f"{kind} {block}")
        if slopes:
            self._text(
                inside + inner,
                y,
                f"{len(slopes)} slope{'s' if len(slopes) > 1 else ''}",
                "end",
                is_faint=True,
            )
        is_small = is_leaf or card.n_folded > 0
        if view.is_joint and not is_small:
            name = str(view.heaviest[block])
            self._text(card.x, y, cut(name, inner - 2 * 70.0), "middle", is_faint=True)
        y += _LINE if is_small else 0.0
        self._text(inside + inner, y, second if view.has_values else told, "end")
        y += _LINE
        (self._draw_value if view.has_values else self._draw_mix)(block, inside, y, inner)
        y += _LINE
        if card.n_folded:
            self._text(inside, y, f"… {card.n_folded} below", is_faint=True)
        elif not is_leaf:
            self._draw_weights(block, inside, y, inner)
        self.parts.append("</g>")

    def _draw_mix(self, block: int, x: float, y: float, width: float) -> None:
        own, rest = find_pair(int(self.view.heaviest_code[block]), len(self.view.classes))
        share = float(self.view.outcome[block])
        self._box(x, y - 5.0, width, 10.0, rest)
        self._box(x, y - 5.0, width * share, 10.0, own)

    def _draw_value(self, block: int, x: float, y: float, width: float) -> None:
        """A bar from the middle, the largest of the tree to the edge, and the value."""
        view = self.view
        value = float(view.value[block]) - view.middle
        most = float(abs(view.value - view.middle).max()) or 1.0
        written = view.write_value(float(view.value[block]))
        room = max(20.0, width - _LETTER * len(written) - 6.0)
        length, zero = abs(value) / most * room / 2.0, x + room / 2.0
        self._box(
            min(zero, zero + (length if value > 0.0 else -length)), y - 5.0, length, 10.0, _find_fill(value)
        )
        self._box(zero - 0.5, y - 7.0, 1.0, 14.0, "currentColor")
        self._text(x + width, y, written.replace("-", "−"), "end")

    def _draw_weights(self, block: int, x: float, y: float, width: float) -> None:
        heaviest, more = find_heaviest(self.view, block, _N_FEATURES)
        lift = self.view.lift(block)
        number = 5.5 * _LETTER
        zero = x + width - number - _BAR / 2.0 - 4.0
        for name, weight in heaviest:
            self.parts.append(f"<g><title>{clean(f'{name} {weight:+.4g}')}</title>")
            self._text(x, y, cut(name, zero - _BAR / 2.0 - x - 4.0))
            length = abs(weight) * _BAR / 2.0
            fill = _find_fill(weight * lift)
            self._box(zero if weight > 0.0 else zero - length, y - 4.0, length, 8.0, fill)
            self._box(zero - 0.5, y - 7.0, 1.0, 14.0, "currentColor")
            self._text(x + width, y, f"{weight:+.2f}".replace("-", "−"), "end")
            self.parts.append("</g>")
            y += _LINE
        if more:
            self._text(x, y, f"{more} more feature{'s' if more > 1 else ''}", is_faint=True)


def _find_fill(value: Any) -> str:
    return FOR if value > 0.0 else AGAINST if value < 0.0 else "#8A8A8A"
