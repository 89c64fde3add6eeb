"""A tree as text."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._parameters import check_count
from ..model.model import choose_trees, read
from ..model.views import Conditions, TreeView, TreeViews
from .outline import has_outline, read_outline, write_tree


def export_text(model: Any, *, tree: int | None = None, n_features: int = 3, max_depth: int = 10) -> str:
    """Export trees of a model as indented text, one line per block.

    A line shows the condition that leads to the block (feature sum of its parent below the offset, or not), how much of
    the block's weight belongs to the target (in a tree of all classes, to the class named), and the largest weights of
    its hyperplane. Weights and offsets apply to normalised features. Of a boosted model it shows the value that a block
    adds to the raw score and its rows; conditions on a single feature are in the user's units, with the side of its
    missing values. A linear leaf has slopes per normalised unit, which apply to the distance from the means of the
    leaf, and the range of what it adds. Of a tree or forest of a regression it shows the mean response of a block and
    its rows, and slopes in the same way.

    A compact tree is shown whole: every block with all its terms in the user's units, every leaf with its class, and
    the values that replace missing ones. The printed numbers are the ones that predict: "yes" leads left, "no" right.

    Parameters
    ----------
    model : fitted classifier or regressor of lhtree
        The model.
    tree : int, optional
        Index of the tree in ``trees_``. Default: all trees.
    n_features : int, default=3
        Number of features shown for each branching block or linear leaf, largest weight or slope first; compact trees
        show all.
    max_depth : int, default=10
        Deeper blocks are summarised in one line, but not of compact trees.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, export_text
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier(gamma=50).fit(X, y)
    >>> print(export_text(model, tree=0, n_features=2))
    tree for class 0: 5 blocks, 3 leaves
    block 0                59 of 178  proline +1.00, flavanoids +0.82, 11 more
      <  0.942  leaf 1      0 of 109
      >= 0.942  block 2    59 of  69  alcohol +1.00, proline +0.94, 11 more
        <  -0.622  leaf 3   0 of  10
        >= -0.622  leaf 4  59 of  59
    """
    fitted = read(model, takes_numbers=True)
    views = TreeViews(fitted)
    chosen = choose_trees(tree, len(views))
    check_count("n_features", n_features, 0)
    check_count("max_depth", max_depth, 0)
    if has_outline(fitted):
        return write_tree(read_outline(fitted))
    return "\n\n".join(_describe_tree(views[number], n_features, max_depth) for number in chosen)


class _Line(NamedTuple):
    position: str
    outcome: str
    rows: str
    weights: str


def _describe_tree(view: TreeView, n_features: int, max_depth: int) -> str:
    lines = _describe_blocks(view, n_features, max_depth)
    position, outcome, rows = (max(len(line[column]) for line in lines) for column in range(3))
    written = [_title_tree(view)]
    for line in lines:
        between = "  " if view.head.values_blocks else " of "
        facts = f"{line.outcome:>{outcome}}{between}{line.rows:>{rows}}"
        written.append(
            f"{line.position:{position}}  {facts}  {line.weights}".rstrip() if line.rows else line.position
        )
    return "\n".join(written)


def _title_tree(view: TreeView) -> str:
    """Return the purpose and the size of a tree."""
    number = "" if view.round is None else f"round {view.round}, "
    what = "tree of all classes" if len(view.classes) else "tree"
    if view.target is not None:
        what = f"tree for class {view.target}"
    size = "1 block, a leaf" if view.n_blocks == 1 else f"{view.n_blocks} blocks, {view.n_leaves} leaves"
    return f"{number}{what}: {size}"


def _describe_outcome(view: TreeView, block: int) -> tuple[str, str]:
    """Return the weight of the target and of all rows of a block, or its value and the number of its rows."""
    if view.head.values_blocks:
        return view.write_value(float(view.value[block]), 4), f"{view.n_samples[block]} rows"
    return f"{view.n_target[block]:g}", f"{view.weight[block]:g}"


def _describe_blocks(view: TreeView, n_features: int, max_depth: int) -> list[_Line]:
    lines = []
    below = view.count_below()
    work = [(0, "")]
    while work:
        block, side = work.pop()
        depth, is_leaf = int(view.depth[block]), bool(view.is_leaf[block])
        describe = _describe_slopes if is_leaf else _describe_weights
        majority = f"{view.heaviest[block]}  " if view.head.shares_classes else ""
        lines.append(
            _Line(
                f"{'  ' * depth}{side}{'leaf' if is_leaf else 'block'} {block}",
                *_describe_outcome(view, block),
                majority + describe(view, block, n_features),
            )
        )
        if is_leaf:
            continue
        if depth >= max_depth:
            lines.append(_Line(f"{'  ' * depth}  ... {below[block]} blocks below", "", "", ""))
            continue
        conditions = view.conditions(block)
        for child, sign, side in ((view.right, ">=", "right"), (view.left, "< ", "left")):
            condition = (
                _write_condition(conditions, side) if conditions.subject else f"{sign}{conditions.left[1:]}"
            )
            work.append((int(child[block]), f"{condition}  "))
    return lines


def _write_condition(conditions: Conditions, side: str) -> str:
    """Return the condition of a side with ASCII signs."""
    bound: str = getattr(conditions, side)
    signs = {"≥": ">=", "≤": "<=", "≠": "!="}
    return f"{conditions.subject} {signs.get(bound[0], bound[0])}{bound[1:]}".lstrip()


def _describe_weights(view: TreeView, block: int, n_features: int) -> str:
    if view.conditions(block).subject:  # the condition has the only feature
        return ""
    heaviest, more = find_heaviest(view, block, n_features)
    return ", ".join([f"{name} {weight:+.2f}" for name, weight in heaviest] + [f"{more} more"] * (more > 0))


def _describe_slopes(view: TreeView, block: int, n_features: int) -> str:
    """Return the slopes of a linear leaf that has a value, with the range of its estimates."""
    shown = list_slopes(view, block, n_features)
    if not shown or not n_features:
        return ""
    low, high = (view.write_value(float(end[block]), 4) for end in (view.low, view.high))
    return f"slopes {', '.join(shown)}; from {low} to {high}"


def list_slopes(view: TreeView, block: int, n_features: int) -> list[str]:
    """Return the steepest slopes of a leaf that has a value in words, and how many more there are."""
    if not view.head.linear_columns:
        return []
    steepest, more = _take_largest(view.slopes(block), n_features)
    return [f"{name} {view.write_slope(slope)}" for name, slope in steepest] + [f"{more} more"] * (more > 0)


def find_heaviest(view: TreeView, block: int, n_features: int) -> tuple[list[tuple[str, float]], int]:
    """Return the features with the largest weights in a block, largest first, and how many more there are."""
    return _take_largest(view.weights(block), n_features)


def _take_largest(weights: dict[str, float], n: int) -> tuple[list[tuple[str, float]], int]:
    """Return the n largest weights or slopes, largest first, and how many more there are."""
    ordered = sorted(weights.items(), key=lambda item: -abs(item[1]))
    return ordered[:n], max(len(ordered) - n, 0)
