"""A tree in the DOT language of Graphviz."""

from __future__ import annotations

from typing import Any

from ._palette import AGAINST, FOR, class_colour, tint
from ._parameters import check_count
from .model import choose_trees, read
from .text import find_heaviest, tell_outcome, title_tree, write_condition
from .views import TreeView, TreeViews


def export_graphviz(model: Any, *, tree: int | None = None, n_features: int = 3, max_depth: int = 10) -> str:
    """Trees of a model in the DOT language; ``dot -Tsvg`` draws them.

    Each box shows the weight of a block, how much of it belongs to the target, and its largest hyperplane weights; the
    stronger its colour, that of the class, the larger the share of the target. Weights and offsets apply to normalised
    features. Of a boosted model it shows values and rows; violet values raise the raw score, red ones lower it.

    Parameters
    ----------
    model : LHTClassifier, LHForestClassifier or LHBoostClassifier
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
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quote(title_tree(view))}; color=none;"]
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
        between = " of " if view.round is None else ", "
        text = [f"{'leaf' if is_leaf else 'block'} {block}", between.join(tell_outcome(view, block))]
        if not is_leaf and not view.conditions(block).subject:
            heaviest, more = find_heaviest(view, block, n_features)
            text += [f"{name} {weight:+.2f}" for name, weight in heaviest] + [f"{more} more"] * (more > 0)
        if not is_leaf and depth == max_depth:
            text.append(f"... {below[block]} blocks below")
        fill = _choose_fill(view, block, colour)
        lines.append(f'    t{number}_{block} [label={_quote(*text)}, fillcolor="{fill}"];')
        if not is_leaf and depth < max_depth:
            for child, side in ((view.left[block], "left"), (view.right[block], "right")):
                label = _quote(write_condition(view.conditions(block), side))
                lines.append(f"    t{number}_{block} -> t{number}_{child} [label={label}];")
    return lines


def _choose_fill(view: TreeView, block: int, colour: str) -> str:
    """The colour of the class by its share; of a boosted model that of evidence, by the value."""
    outcome = float(view.outcome[block])
    if view.round is None:
        return tint(colour, outcome)
    most = float(abs(view.outcome).max()) or 1.0
    return tint(FOR if outcome > 0.0 else AGAINST, 0.8 * abs(outcome) / most)


def _quote(*lines: str) -> str:
    r"""Lines of text as a DOT string, separated by \n and escaped."""
    clean = (" ".join(line.replace("\0", "").split()) for line in lines)
    return '"' + r"\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in clean) + '"'
