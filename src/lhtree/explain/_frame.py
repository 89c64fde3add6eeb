"""Terms as a table: the lines of a branching block add up to y, those of a leaf to p̂, or what it adds or predicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ._walk import Walk

if TYPE_CHECKING:
    import pandas as pd

_PARTS = ("offset", "weight", "intercept", "slope")
_PARTS_OF_VALUES = ("offset", "weight", "value", "slope", "clipped")


def flatten(index: Any) -> Any:
    """An index of one level; of more, their tuples."""
    return index.to_flat_index() if index.nlevels > 1 else index


def tabulate_terms(walk: Walk, X: NDArray[Any], index: Any = None) -> pd.DataFrame:
    """One line per row, tree, block and term; ``row`` is its label in ``index``, else its number in X.

    ``part`` is the kind of a term: "weight" or "slope" times z, minus the "offset", or the "intercept". Of a
    leaf that has a value it is this "value", "slope" times z minus its mean, or, where its range takes something away,
    "clipped". Offset, intercept, value and what is clipped have no feature. There is no ``target`` in a regression.
    """
    pandas = import_extra("pandas", "pandas")
    fitted, trees = walk.fitted, walk.fitted.trees
    n_stops = len(walk.at)
    # First the offset or intercept of every stop, then its terms, then what its range takes away.
    parts = [walk.terms, walk.slope_terms]
    is_cut = (walk.clipped != 0.0) & fitted.has_values
    cut = np.flatnonzero(walk.is_leaf)[is_cut]
    stop = np.concatenate([np.arange(n_stops), *(terms.stop for terms in parts), cut])
    part = np.concatenate(
        [
            np.where(walk.is_leaf, 2, 0),
            *(np.full(len(terms.stop), 1 + 2 * i) for i, terms in enumerate(parts)),
            np.full(len(cut), 4),
        ]
    )
    level = walk.outcome if fitted.has_values else trees.intercept[walk.at]
    fixed = np.where(walk.is_leaf, level, -trees.offset[walk.at])
    term = np.concatenate([fixed, *(terms.value for terms in parts), walk.clipped[is_cut]])
    none = np.full(len(cut), -1)
    feature = np.concatenate([np.full(n_stops, -1), *(terms.feature for terms in parts), none])
    weight = np.concatenate(
        [np.full(n_stops, np.nan), *(terms.weight for terms in parts), np.full(len(cut), np.nan)]
    )
    unit_weight = np.concatenate(
        [np.full(n_stops, np.nan), *(terms.unit_weight for terms in parts), np.full(len(cut), np.nan)]
    )
    order = np.argsort(stop, kind="stable")
    stop, part, term, feature, weight, unit_weight = (
        values[order] for values in (stop, part, term, feature, weight, unit_weight)
    )
    is_fixed = feature < 0
    value = np.where(is_fixed, np.nan, X[walk.row[stop], feature])
    names = pandas.Index(fitted.feature_names)
    target = trees.target[walk.tree[stop]]
    frame: pd.DataFrame = pandas.DataFrame(
        {
            "row": walk.row[stop] if index is None else flatten(index).take(walk.row[stop]),
            **(
                {}
                if fitted.is_regression
                else {"target": pandas.Categorical.from_codes(target, fitted.labels)}  # -1: none
            ),
            "tree": walk.tree[stop],
            "block": walk.block[stop],
            "depth": walk.depth[stop],
            "part": pandas.Categorical.from_codes(part, _PARTS_OF_VALUES if fitted.has_values else _PARTS),
            "feature": pandas.Categorical.from_codes(feature, names),
            "value": value,
            "weight": weight,
            "unit_weight": unit_weight,
            "term": term,
        }
    )
    return frame
