"""A tree as text."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._parameters import check_count
from .model import choose_trees, read
from .views import Conditions, TreeView, TreeViews


def export_text(model: Any, *, tree: int | None = None, n_features: int = 3, max_depth: int = 10) -> str:
    """Trees of a model as indented text, one line per block.

    A line shows the condition that leads to the block (feature sum of its parent below the offset, or not), how much of
    the block's weight belongs to the target, and the largest weights of its hyperplane. Weights and offsets apply to
    normalised features. Of a boosted model it shows the value that a block adds to the raw score and its rows;
    conditions on a single feature are in the user's units, with the side of its missing values.

    Parameters
    ----------
    model : fitted LHTClassifier, LHForestClassifier or LHBoostClassifier
        The model.
    tree : int, optional
        Index of the tree in ``trees_``. Default: all trees.
    n_features : int, default=3
        Number of features shown for each branching block, largest weight first.
    max_depth : int, default=10
        Deeper blocks are summarised in one line.

    Returns
    -------
    str
    """
    views = TreeViews(read(model))
    chosen = choose_trees(tree, len(views))
    check_count("n_features", n_features, 0)
    check_count("max_depth", max_depth, 0)
    return "\n\n".join(_describe_tree(views[number], n_features, max_depth) for number in chosen)


class _Line(NamedTuple):
    place: str
    outcome: str  # what the block says of the target
    rows: str
    weights: str


def _describe_tree(view: TreeView, n_features: int, max_depth: int) -> str:
    lines = _describe_blocks(view, n_features, max_depth)
    place, outcome, rows = (max(len(line[column]) for line in lines) for column in range(3))
    written = [title_tree(view)]
    for line in lines:
        between = " of " if view.round is None else "  "
        told = f"{line.outcome:>{outcome}}{between}{line.rows:>{rows}}"
        written.append(f"{line.place:{place}}  {told}  {line.weights}".rstrip() if line.rows else line.place)
    return "\n".join(written)


def title_tree(view: TreeView) -> str:
    """What a tree is for, and how large it is."""
    number = "" if view.round is None else f"round {view.round}, "
    return f"{number}tree for class {view.target}: {view.n_blocks} blocks, {view.n_leaves} leaves"


def tell_outcome(view: TreeView, block: int) -> tuple[str, str]:
    """The weight of the target and of all rows of a block; of a boosted model, its value and its rows."""
    if view.round is None:
        return f"{view.n_target[block]:g}", f"{view.weight[block]:g}"
    return f"{view.value[block]:+.4f}", f"{view.n_samples[block]} rows"


def _describe_blocks(view: TreeView, n_features: int, max_depth: int) -> list[_Line]:
    lines = []
    below = view.count_below()
    work = [(0, "")]
    while work:
        block, side = work.pop()
        depth = int(view.depth[block])
        is_leaf = bool(view.is_leaf[block])
        lines.append(
            _Line(
                f"{'  ' * depth}{side}{'leaf' if is_leaf else 'block'} {block}",
                *tell_outcome(view, block),
                "" if is_leaf else _describe_weights(view, block, n_features),
            )
        )
        if is_leaf:
            continue
        if depth >= max_depth:
            lines.append(_Line(f"{'  ' * depth}  ... {below[block]} blocks below", "", "", ""))
            continue
        conditions = view.conditions(block)
        for child, sign, side in ((view.right, ">=", "right"), (view.left, "< ", "left")):
            told = write_condition(conditions, side) if conditions.subject else f"{sign}{conditions.left[1:]}"
            work.append((int(child[block]), f"{told}  "))
    return lines


def write_condition(conditions: Conditions, side: str) -> str:
    """The condition of a side with signs that every terminal has."""
    bound: str = getattr(conditions, side)
    signs = {"≥": ">=", "≠": "!="}
    return f"{conditions.subject} {signs.get(bound[0], bound[0])}{bound[1:]}".lstrip()


def _describe_weights(view: TreeView, block: int, n_features: int) -> str:
    if view.conditions(block).subject:  # they say it all
        return ""
    heaviest, more = find_heaviest(view, block, n_features)
    shown = [f"{name} {weight:+.2f}" for name, weight in heaviest]
    return ", ".join([*shown, f"{more} more"] if more else shown)


def find_heaviest(view: TreeView, block: int, n_features: int) -> tuple[list[tuple[str, float]], int]:
    """Features that weigh most in a block's hyperplane, heaviest first, and how many more there are."""
    weights = sorted(view.weights(block).items(), key=lambda item: -abs(item[1]))
    return weights[:n_features], max(len(weights) - n_features, 0)
