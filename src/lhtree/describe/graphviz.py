"""A tree in the DOT language of Graphviz."""

from __future__ import annotations

from typing import Any

from .._parameters import check_count
from ..model.model import choose_trees, read
from ..model.views import TreeView, TreeViews
from .palette import AGAINST, FOR, class_colour, tint
from .text import join_outcome, list_slopes, list_weights, name_heaviest, title_tree, write_condition


def export_graphviz(model: Any, *, tree: int | None = None, n_features: int = 3, max_depth: int = 10) -> str:
    """Export trees of a model in the DOT language; ``dot -Tsvg`` draws them.

    Each box shows the weight of a block, how much of it belongs to the target, and its largest hyperplane weights; the
    stronger its colour, that of the class, the larger the share of the target. Weights and offsets apply to normalised
    features. Of a boosted model it shows values and rows; violet values raise the raw score, red ones lower it. Of a
    tree of a regression it shows mean responses; violet ones are above the mean of all rows, red ones below it.

    Parameters
    ----------
    model : classifier or regressor of lhtree
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

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, export_graphviz
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X, y)
    >>> export_graphviz(model, tree=0).splitlines()[0]
    'digraph lhtree {'
    """
    fitted = read(model, takes_numbers=True)
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
        lines += _describe_blocks(view, number, n_features, max_depth)
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def _describe_blocks(view: TreeView, number: int, n_features: int, max_depth: int) -> list[str]:
    lines = []
    below = view.count_below()
    for block in range(view.n_blocks):  # parents come before their children
        depth = int(view.depth[block])
        if depth > max_depth:
            continue
        is_leaf = bool(view.is_leaf[block])
        outcome = f"{join_outcome(view, block)} {name_heaviest(view, block)}".rstrip()
        text = [f"{'leaf' if is_leaf else 'block'} {block}", outcome]
        if not is_leaf and not view.conditions(block).subject:
            text += list_weights(view, block, n_features)
        if is_leaf and (slopes := list_slopes(view, block, n_features)):
            text += ["slopes", *slopes]
        if not is_leaf and depth == max_depth:
            text.append(f"... {below[block]} blocks below")
        fill = _choose_fill(view, block)
        lines.append(f'    t{number}_{block} [label={_quote(*text)}, fillcolor="{fill}"];')
        if not is_leaf and depth < max_depth:
            for child, side in ((view.left[block], "left"), (view.right[block], "right")):
                label = _quote(write_condition(view.conditions(block), side))
                lines.append(f"    t{number}_{block} -> t{number}_{child} [label={label}];")
    return lines


def _choose_fill(view: TreeView, block: int) -> str:
    """Return the colour of the class by its share, or the colour of evidence by the value of the block."""
    if not view.head.values_blocks:
        return tint(tint(class_colour(int(view.heaviest_code[block])), 0.8), float(view.outcome[block]))
    outcome = float(view.outcome[block]) - view.middle
    most = float(abs(view.outcome - view.middle).max()) or 1.0
    return tint(FOR if outcome > 0.0 else AGAINST, 0.8 * abs(outcome) / most)


def _quote(*lines: str) -> str:
    r"""Return lines of text as a DOT string, separated by \n and escaped."""
    clean = (" ".join(line.replace("\0", "").split()) for line in lines)
    return '"' + r"\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in clean) + '"'
