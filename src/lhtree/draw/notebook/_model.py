"""A fitted model at a glance: its size, the importance of its columns, and its first trees."""

from __future__ import annotations

from ...describe.palette import ACCENT
from ...describe.text import title_tree
from ...explain._importances import find_importances
from ...model.model import Model
from ...model.views import TreeView, TreeViews
from ._tree import clean, cut, draw_tree

_MOST_BARS = 6
_MOST_TREES = 4
_WIDEST = 9.0  # em


def draw_model(fitted: Model) -> str:
    """A block of HTML; a single tree is drawn at once, others when they are opened."""
    views = TreeViews(fitted)
    is_single = fitted.n_estimators == 1 and not fitted.is_boosted
    shown = views[: _MOST_TREES if is_single else 1]
    parts = [
        f"<details{' open' if number == 0 and is_single else ''}><summary>{clean(_name(fitted, view))}</summary>"
        f"{draw_tree(view, has_title=False)}</details>"
        for number, view in enumerate(shown)
    ]
    more = len(views) - len(shown)
    if more:
        parts.append(f"<small>{more} more tree{'s' if more > 1 else ''}: <code>trees_</code></small>")
    return (
        "<div class='lhtree-model' style='margin:.5em 0;line-height:1.4'>"
        f"<div>{clean(_tell(fitted))}</div>{_draw_importances(fitted)}{''.join(parts)}</div>"
    )


def _tell(fitted: Model) -> str:
    """The model in a line."""
    trees = fitted.trees
    told = [
        "predicts a number" if fitted.is_regression else f"{fitted.n_classes} classes",
        _count(fitted.encoding.n_columns, "column"),
        _count(trees.n_trees, "tree"),
        _count(trees.n_blocks, "block"),
        f"depth {int(trees.depths().max())}",
    ]
    return " · ".join(told)


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _name(fitted: Model, view: TreeView) -> str:
    """What a tree is; of many it is the first."""
    title = title_tree(view)
    is_first = fitted.n_estimators > 1 and not fitted.is_boosted
    return f"First of {fitted.n_estimators:,}: {title}" if is_first else title[0].upper() + title[1:]


def _draw_importances(fitted: Model) -> str:
    """Bars of the most important columns."""
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
        f"{clean(cut(name, 200.0))}</td><td style='text-align:right;padding:0 .5em 0 1em'>{100 * share:.1f} %</td>"
        f"<td style='padding:0'>{bar}</td></tr>"
    )
