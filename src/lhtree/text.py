"""A tree as text."""

from __future__ import annotations

from typing import Any

from ._forest_data import TreeView


def export_text(model: Any, *, tree: int | None = None, n_features: int = 3, max_depth: int = 10) -> str:
    """Trees of a model as indented text: hyperplanes with the features that weigh most, leaves with what they hold.

    Parameters
    ----------
    model : fitted LHTClassifier
        Its trees are read through ``trees_``.
    tree : int, optional
        Number of the tree; all trees by default.
    n_features : int, default=3
        Features named in each branching block, heaviest first.
    max_depth : int, default=10
        Blocks below are folded into a line that counts them.

    Returns
    -------
    str
    """
    trees = model.trees_ if tree is None else [model.trees_[tree]]
    return "\n\n".join(_describe_tree(view, n_features, max_depth) for view in trees)


def _describe_tree(view: TreeView, n_features: int, max_depth: int) -> str:
    lines = [f"tree for class {view.target}: {view.n_blocks} blocks, {view.n_leaves} leaves"]
    work = [(0, "")]
    while work:
        block, side = work.pop()
        indent = "   " * int(view.depth[block])
        mix = f"{view.n_target[block]:g} of {view.weight[block]:g} are {view.target}"
        if view.left[block] < 0:
            lines.append(f"{indent}{side}leaf {block}: {mix}")
            continue
        lines.append(f"{indent}{side}block {block}: {mix}; {_describe_weights(view, block, n_features)}")
        if view.depth[block] >= max_depth:
            lines.append(f"{indent}   ... {_count_below(view, block)} blocks below")
            continue
        sign = f"{view.offset[block]:.3g}"
        work.append((int(view.right[block]), f">= {sign}  "))
        work.append((int(view.left[block]), f"<  {sign}  "))
    return "\n".join(lines)


def _describe_weights(view: TreeView, block: int, n_features: int) -> str:
    weights = sorted(view.weights(block).items(), key=lambda item: -abs(item[1]))
    shown = ", ".join(f"{name} {weight:+.2f}" for name, weight in weights[:n_features])
    more = len(weights) - n_features
    return shown + (f" and {more} more" if more > 0 else "")


def _count_below(view: TreeView, block: int) -> int:
    count, work = 0, [block]
    while work:
        left = int(view.left[work.pop()])
        if left >= 0:
            count += 2
            work += [left, left + 1]
    return count
