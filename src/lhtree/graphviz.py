"""A tree in the DOT language of Graphviz."""

from __future__ import annotations

from typing import Any

from ._palette import class_colour, tint
from ._parameters import check_count
from .model import choose_trees, read
from .text import find_heaviest
from .views import TreeView, TreeViews


def export_graphviz(model: Any, *, tree: int | None = None, n_features: int = 3, max_depth: int = 10) -> str:
    """Trees of a model in the DOT language; ``dot -Tsvg`` draws them.

    Each box shows the weight of a block, how much of it belongs to the target, and its largest hyperplane weights; the
    stronger its colour, that of the class, the larger the share of the target. Weights and offsets apply to normalised
    features.

    Parameters
    ----------
    model : LHTClassifier or LHForestClassifier
        The fitted model.
    tree : int, optional
        Index of the tree in ``trees_``. Default: all trees, side by side.
    n_features : int, default=3
        Number of features shown for each branching block, largest weight first.
    max_depth : int, default=10
        Deeper blocks are summarised in one line.

    Returns
    -------
    str
    """
    fitted = read(model)
    views = TreeViews(fitted)
    chosen = choose_trees(tree, len(views))
    check_count("n_features", n_features, 0)
    check_count("max_depth", max_depth, 0)
    lines = [
        "digraph lhtree {",
        '  node [shape=box, style=filled, fontname="Helvetica", fontsize=10];',
        '  edge [fontname="Helvetica", fontsize=9];',
    ]
    for number in chosen:
        view = views[number]
        title = f"tree for class {view.target}: {view.n_blocks} blocks, {view.n_leaves} leaves"
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quote(title)}; color=none;"]
        colour = class_colour(int(fitted.trees.target[number]))
        lines += _describe_blocks(view, number, n_features, max_depth, tint(colour, 0.8))
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def _describe_blocks(view: TreeView, number: int, n_features: int, max_depth: int, colour: str) -> list[str]:
    lines = []
    below = view.count_below()
    for block in range(view.n_blocks):  # parents come before their children
        depth = int(view.depth[block])
        if depth > max_depth:
            continue
        is_leaf = bool(view.is_leaf[block])
        text = [
            f"{'leaf' if is_leaf else 'block'} {block}",
            f"{view.n_target[block]:g} of {view.weight[block]:g}",
        ]
        if not is_leaf:
            heaviest, more = find_heaviest(view, block, n_features)
            text += [f"{name} {weight:+.2f}" for name, weight in heaviest] + [f"{more} more"] * (more > 0)
        if not is_leaf and depth == max_depth:
            text.append(f"... {below[block]} blocks below")
        share = float(view.n_target[block] / view.weight[block])
        lines.append(f'    t{number}_{block} [label={_quote(*text)}, fillcolor="{tint(colour, share)}"];')
        if not is_leaf and depth < max_depth:
            for child, sign in ((view.left[block], "<"), (view.right[block], ">=")):
                label = _quote(f"{sign} {view.offset[block]:.3g}")
                lines.append(f"    t{number}_{block} -> t{number}_{child} [label={label}];")
    return lines


def _quote(*lines: str) -> str:
    r"""Lines of text as a DOT string, separated by \n and escaped."""
    clean = (" ".join(line.replace("\0", "").split()) for line in lines)
    return '"' + r"\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in clean) + '"'
