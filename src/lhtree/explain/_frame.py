"""Terms as a table: the lines of a branching block add up to y, those of a leaf to p̂."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ._walk import Walk

if TYPE_CHECKING:
    import pandas as pd

_PARTS = ("offset", "weight", "intercept", "slope")
_PARTS_BOOSTED = ("offset", "weight", "value", "slope")


def flatten(index: Any) -> Any:
    """An index of one level; of more, their tuples."""
    return index.to_flat_index() if index.nlevels > 1 else index


def tabulate_terms(walk: Walk, X: NDArray[Any], index: Any = None) -> pd.DataFrame:
    """One line per row, tree, block and term; ``row`` is its label in ``index``, else its number in X.

    ``part`` is the kind of a term: "weight" or "slope" times z, minus the "offset", or the "intercept" (the "value"
    of a boosted leaf). The latter have no feature.
    """
    pandas = import_extra("pandas", "pandas")
    fitted, trees = walk.fitted, walk.fitted.trees
    n_stops = len(walk.at)
    # First the offset or intercept of every stop, then its terms.
    parts = [walk.terms, walk.slope_terms]
    stop = np.concatenate([np.arange(n_stops), *(terms.stop for terms in parts)])
    part = np.concatenate(
        [
            np.where(walk.is_leaf, 2, 0),
            *(np.full(len(terms.stop), 1 + 2 * i) for i, terms in enumerate(parts)),
        ]
    )
    fixed = np.where(walk.is_leaf, trees.intercept[walk.at], -trees.offset[walk.at])
    term = np.concatenate([fixed, *(terms.value for terms in parts)])
    feature = np.concatenate([np.full(n_stops, -1), *(terms.feature for terms in parts)])
    weight = np.concatenate([np.full(n_stops, np.nan), *(terms.weight for terms in parts)])
    order = np.argsort(stop, kind="stable")
    stop, part, term, feature, weight = (values[order] for values in (stop, part, term, feature, weight))
    is_fixed = feature < 0
    value = np.where(is_fixed, np.nan, X[walk.row[stop], feature])
    names = pandas.Index(fitted.feature_names)
    frame: pd.DataFrame = pandas.DataFrame(
        {
            "row": walk.row[stop] if index is None else flatten(index).take(walk.row[stop]),
            "target": pandas.Categorical.from_codes(trees.target[walk.tree[stop]], fitted.labels),
            "tree": walk.tree[stop],
            "block": walk.block[stop],
            "depth": walk.depth[stop],
            "part": pandas.Categorical.from_codes(part, _PARTS_BOOSTED if fitted.is_boosted else _PARTS),
            "feature": pandas.Categorical.from_codes(feature, names),
            "value": value,
            "weight": weight,
            "unit_weight": fitted.per_unit(weight, feature),
            "term": term,
        }
    )
    return frame
