"""Models and trees as HTML for notebooks: without matplotlib, in the text colour of the page around them."""

from __future__ import annotations

from collections.abc import Sequence

from ..describe.palette import ACCENT
from ..explain._columns import find_importances
from ..model.model import Model
from ..model.numbers import write_share
from ..model.views import TreeView, TreeViews
from .scene import Scene, clean, fit_text, write_svg
from .tree import AnyDrawing, make_drawing

_PIXELS = 4.0  # per millimetre: letters are a little larger than in a plot
_ROOM = (1040.0 / _PIXELS, 600.0 / _PIXELS)
_MARGIN = 0.3
_MOST_BARS = 6
_WIDEST = 9.0  # em
_MOST_TREES, _MOST_OPEN = 4, 3


def draw_model(fitted: Model) -> str:
    """Return a model as HTML: its size, the importance of its columns, and its first trees."""
    if fitted.outputs:
        names = clean(", ".join(fitted.head.names))
        return _write_model(
            fitted, f"<small>outputs: {names}; trees of one of them: <code>output(…)</code></small>"
        )
    views, head = TreeViews(fitted), fitted.head
    is_single = len(views) == head.n_targets and not head.adds_rounds
    shown = [make_drawing(view, _ROOM) for view in views[: _MOST_TREES if is_single else 1]]
    before = "" if is_single or head.adds_rounds else f"First of {fitted.n_estimators:,}: "
    parts = [
        f"<details{' open' * (number == 0 and is_single)}><summary>{clean(_join(before, drawing.title))}</summary>"
        f"{_write_tree(drawing, '')}</details>"
        for number, drawing in enumerate(shown)
    ]
    if more := len(views) - len(shown):
        parts.append(f"<small>{_count(more, 'more tree')}: <code>trees_</code></small>")
    return _write_model(fitted, "".join(parts))


def _write_model(fitted: Model, more: str) -> str:
    return (
        "<div class='lhtree-model' style='margin:.5em 0;line-height:1.4'>"
        f"<div>{clean(_summarise(fitted))}</div>{_draw_importances(fitted)}{more}</div>"
    )


def draw_trees(views: Sequence[TreeView]) -> str:
    """Return the first of several trees as HTML, and the number of the others."""
    drawings = [make_drawing(view, _ROOM) for view in views[:_MOST_OPEN]]
    more = len(views) - len(drawings)
    note = f"<p>{_count(more, 'more tree')}</p>" if more else ""
    return "".join(_write_tree(drawing, drawing.title) for drawing in drawings) + note


def _write_tree(drawing: AnyDrawing, caption: str) -> str:
    """Return a figure with a caption and the meaning of the colours."""
    scene = Scene(tuple(drawing.draw()), drawing.width + 2 * _MARGIN, drawing.height + 2 * _MARGIN, _MARGIN)
    keys = "".join(
        "<span style='white-space:nowrap;margin-left:1em'><span style='display:inline-block;width:.8em;height:.8em;"
        f"background:{colour};margin-right:.35em'></span>{clean(text)}</span> "
        for text, colour in drawing.keys
    )
    style = f"display:block;width:{scene.width * _PIXELS:.0f}px;max-width:100%;height:auto"
    font = "font-family='system-ui,sans-serif' fill='currentColor'"
    svg = write_svg(scene, f"aria-label='{clean(drawing.title)}' style='{style}' {font}", follows_page=True)
    return (
        "<figure class='lhtree-tree' style='margin:.5em 0'>"
        f"<figcaption style='margin-bottom:.4em'>{clean(caption)}<small>{keys}</small></figcaption>{svg}</figure>"
    )


def _join(before: str, title: str) -> str:
    return f"{before}{title[0].lower()}{title[1:]}" if before else title


def _summarise(fitted: Model) -> str:
    """Return the size of a model in one line."""
    trees, n_classes = fitted.trees, len(fitted.head.labels)
    numbers = f"{len(fitted.outputs)} numbers" if fitted.outputs else "a number"
    parts = [
        f"{n_classes} classes" if n_classes else f"predicts {numbers}",
        _count(fitted.encoding.n_columns, "column"),
        _count(trees.n_trees, "tree"),
        _count(trees.n_blocks, "block"),
        f"depth {int(trees.depths().max())}",
    ]
    return " · ".join(parts)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _draw_importances(fitted: Model) -> str:
    """Return bars of the most important columns."""
    found = find_importances(fitted, "gain")
    shown = [int(column) for column in found.order[:_MOST_BARS] if found.values[column] > 0.0]
    if not shown:
        return ""
    largest = float(found.values[shown[0]])
    rows = "".join(_draw_bar(found.names[column], float(found.values[column]), largest) for column in shown)
    left = int((found.values > 0.0).sum()) - len(shown)
    note = f"<small>and {_count(left, 'more column')}</small>" if left else ""
    return (
        "<div style='margin:.25em 0'><table style='border-collapse:collapse;margin:0;color:inherit;font:inherit' "
        f"aria-label='Importance of the columns'>{rows}</table>{note}</div>"
    )


def _draw_bar(name: str, share: float, largest: float) -> str:
    bar = f"<div style='width:{_WIDEST * share / largest:.2f}em;height:.7em;background:{ACCENT}'></div>"
    return (
        f"<tr style='background:none'><td style='text-align:left;padding:0' title='{clean(name)}'>"
        f"{clean(fit_text(name, 45.0, 8.0))}</td>"
        f"<td style='text-align:right;padding:0 .5em 0 1em'>{clean(write_share(share))}</td>"
        f"<td style='padding:0'>{bar}</td></tr>"
    )
