"""The model in a report: the arrays of its trees, as many as fit, curves and surfaces, and the effects of columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import refuse
from ..describe.curves import find_edges, find_middle, write_scale
from ..explain._columns import Effect, find_effects
from ..export._walks import check_plain, has_bounds
from ..model.model import Model
from ..model.numbers import write_value
from ..model.shares import split_classes
from ..model.terms import AdditiveTerm, read_axes, read_terms
from ..model.trees import Trees
from ._figures import ReportRows, space

_ROWS_AT_ONCE = 4096
_MOST_ROWS, _LEAST_ROWS = 1000, 100  # for effects
_MOST_VALUES = 8_000_000  # contributions in memory
_MOST_BLOCKS = 40_000  # of the trees whose contributions are computed: about three seconds
_MOST_NUMBERS = 60_000  # in the page
_N_GROUPS = 20  # of values of a column


def describe_trees(fitted: Model, rows: ReportRows, max_bytes: float) -> dict[str, Any]:
    """Return the arrays of the first estimators that fit (a tree per target each), with the classes of their rows."""
    if not fitted.head.values_blocks:
        check_plain(fitted, "a report")
    n_shown = _count_fitting(fitted, len(rows.X), max_bytes)
    n_trees = n_shown * fitted.n_targets
    trees = fitted.trees.part(0, n_trees)
    if fitted.head.shares_classes:  # the page shows trees of all classes once for each class
        trees = split_classes(trees, fitted.prior, has_values=fitted.head.values_blocks)
    n_branching_slopes = np.diff(trees.membership_ptr)[trees.left >= 0]
    return {
        "n_shown": n_shown,
        # A forest keeps slopes in its leaves only.
        "has_branching_membership": bool(fitted.n_estimators == 1 or n_branching_slopes.any()),
        # Features of the curves and surfaces of an additive model, one tree each.
        "axes": None
        if fitted.additive is None
        else [[axis.feature for axis in read_axes(fitted, tree)] for tree in range(n_trees)],
        "arrays": _lay_out(trees, fitted)
        | {"leaf_mix": _repeat_mix(fitted, count_mix(fitted, rows, n_trees), n_trees)},
    }


def _lay_out(trees: Trees, fitted: Model) -> dict[str, NDArray[Any]]:
    """Return the arrays of the page; whole numbers take the smallest unsigned type.

    ``left`` is 0 in a leaf, since no child is a root. Boosted models have ``missing``, which is 0 where missing values
    go left, 1 where they count as 0, and 2 where they go right.
    """
    own: dict[str, NDArray[Any]] = {}
    adds_rounds = fitted.head.adds_rounds
    if adds_rounds:
        own["missing"] = (trees.missing + 1).astype(np.uint8)
    if fitted.head.values_blocks:  # features share the changes of values
        own["hyperplane_share"] = trees.shares.astype(np.float32) if adds_rounds else trees.parts
        if trees.has_slopes:
            own["membership_mean"] = np.array(trees.membership_mean)
    else:
        own["n_target"] = shrink(trees.n_target)
    # Constant leaves of boosted trees need no bounds.
    if has_bounds(trees) and (trees.has_slopes or not adds_rounds):
        own |= {"low": np.array(trees.low), "high": np.array(trees.high)}
    if trees.has_units:
        own |= {"hyperplane_unit": np.array(trees.unit_weight), "unit_offset": np.array(trees.unit_offset)}
        own |= {
            "membership_unit": np.array(trees.unit_slope),
            "unit_intercept": np.array(trees.unit_intercept),
        }
    return own | {
        "target": shrink(trees.target),
        "n_blocks": shrink(np.diff(trees.block_ptr)),
        "left": shrink(np.maximum(trees.left, 0)),
        "n_samples": shrink(trees.n_samples),
        "weight": shrink(trees.weight),
        "offset": trees.offset,
        "intercept": trees.intercept,
        "n_weights": shrink(np.diff(trees.hyperplane_ptr)),
        "hyperplane_feature": shrink(trees.hyperplane_feature),
        "hyperplane_weight": trees.hyperplane_weight,
        "n_slopes": shrink(np.diff(trees.membership_ptr)),
        "membership_feature": shrink(trees.membership_feature),
        "membership_slope": trees.membership_slope,
    }


def _count_fitting(fitted: Model, n_rows: int, max_bytes: float) -> int:
    """Return the number of estimators whose arrays stay below ``max_bytes`` in base64."""
    trees = fitted.trees
    arrays = _lay_out(trees, fitted)
    n_trees = np.arange(fitted.n_targets, trees.n_trees + 1, fitted.n_targets)
    n_blocks = trees.block_ptr[n_trees]
    size = (n_blocks + n_trees) // 2 * fitted.n_outputs * np.min_scalar_type(n_rows).itemsize  # of the leaves
    for name, array in arrays.items():
        if name in ("target", "n_blocks"):
            n_values = n_trees
        elif name.startswith("hyperplane"):
            n_values = trees.hyperplane_ptr[n_blocks]
        elif name.startswith("membership"):
            n_values = trees.membership_ptr[n_blocks]
        else:
            n_values = n_blocks
        size = size + n_values * array.itemsize
    size = size * (fitted.n_classes if fitted.head.shares_classes else 1)
    encoded = (size + 3 * len(arrays)) * 4 / 3  # base64 fills up to three bytes
    n_fitting = int(np.searchsorted(encoded, max_bytes, side="right"))
    if n_fitting == 0:
        raise refuse(
            "max_megabytes",
            max_bytes / 2**20,
            f"at least {np.ceil(encoded[0] / 2**20):g} to hold one tree per class; alternatively fit smaller trees "
            f"({'smaller max_depth' if fitted.head.values_blocks else 'larger gamma'})",
        )
    return n_fitting


def _repeat_mix(fitted: Model, mix: NDArray[Any], n_trees: int) -> NDArray[Any]:
    """Return the rows of the leaves; for trees of all classes, once for each class."""
    if not fitted.head.shares_classes:
        return mix
    is_leaf = fitted.trees.left < 0
    n_leaves = np.add.reduceat(is_leaf, fitted.trees.block_ptr[:-1])[:n_trees]
    of_trees = np.split(mix, np.cumsum(n_leaves)[:-1])
    return np.concatenate([np.tile(one, (fitted.n_classes, 1)) for one in of_trees])


def count_mix(fitted: Model, rows: ReportRows, n_trees: int) -> NDArray[Any]:
    """Return the rows of every class in every leaf of the first trees, shape (n_leaves, K); K is 1 for a regression."""
    n_classes = fitted.n_outputs
    block_ptr = fitted.trees.block_ptr[: n_trees + 1]
    n_blocks = int(block_ptr[-1])
    counts = np.zeros(n_blocks * n_classes, dtype=np.int64)
    for begin in range(0, len(rows.X), _ROWS_AT_ONCE):
        some = slice(begin, begin + _ROWS_AT_ONCE)
        leaf: Any = fitted.scorer.apply(rows.X[some])
        block = leaf[:, :n_trees] + block_ptr[:-1]
        cell = block * n_classes + rows.codes[some, None]
        counts += np.bincount(cell.ravel(), minlength=len(counts))
    is_leaf = fitted.trees.left[:n_blocks] < 0
    return shrink(counts.reshape(n_blocks, n_classes)[is_leaf])


def shrink(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in the smallest unsigned type if they are whole and not negative, otherwise as float64."""
    largest = values.max(initial=0)
    if values.min(initial=0) < 0 or largest > np.iinfo(np.uint32).max or (values != np.floor(values)).any():
        return values.astype(np.float64)
    return values.astype(np.min_scalar_type(int(largest)))


def describe_effects(fitted: Model, rows: ReportRows) -> dict[str, Any]:
    """Return the effects of the most important columns, as many as fit, and the importance of all by contribution."""
    model = _take_trees(fitted)
    n_rows = max(_LEAST_ROWS, min(_MOST_ROWS, _MOST_VALUES // (fitted.n_outputs * fitted.n_features)))
    n_stored = 1 if fitted.n_classes == 2 else fitted.n_outputs
    n_columns = max(1, _MOST_NUMBERS // (_N_GROUPS * 3 * n_stored))
    chosen = rows.X[space(len(rows.X), min(len(rows.X), n_rows))]
    effects = find_effects(model, chosen, n_groups=_N_GROUPS, n_most=n_columns)
    known = np.diff(fitted.encoding.ptr) > 0  # columns that are not dropped
    importance = [effects.importance[name] for name in fitted.column_names]
    return {
        "n_rows": effects.n_rows,
        "n_estimators": model.n_estimators,
        "coverage": effects.coverage,
        "columns": [_describe_effect(effect, is_pair=fitted.n_classes == 2) for effect in effects],
        "importance": [size for size, is_known in zip(importance, known, strict=True) if is_known],
    }


def _take_trees(fitted: Model) -> Model:
    """Return the model with the first trees of a large forest: they have nearly the same mean contributions."""
    if fitted.head.adds_rounds:  # all rounds are needed, and they are fast
        return fitted
    n_blocks = fitted.trees.block_ptr[:: fitted.n_targets]
    n_kept = max(1, int(np.searchsorted(n_blocks, _MOST_BLOCKS, side="right")) - 1)
    if n_kept >= fitted.n_estimators:
        return fitted
    trees = fitted.trees.part(0, n_kept * fitted.n_targets)
    return replace(fitted, trees=trees, forest=None, calibration=None)


def _describe_effect(effect: Effect, *, is_pair: bool) -> dict[str, Any]:
    """Return the facts of one column. With two classes, only the second is stored: the first mirrors it."""
    first = 1 if is_pair else 0
    middle = effect.value
    return {
        "name": effect.column,
        "labels": effect.labels,
        "value": None if middle is None else [None if np.isnan(one) else one for one in middle.tolist()],
        "n_rows": effect.n_rows.tolist(),
        "density": None if effect.density is None else effect.density.tolist(),
        **{name: _shorten(getattr(effect, name)[:, first:]) for name in ("mean", "low", "high")},
    }


def _shorten(values: NDArray[np.float64]) -> NDArray[Any]:
    """Return the values as float32, unless some are beyond its range."""
    return values.astype(np.float32) if np.abs(values).max() < np.finfo(np.float32).max else values


_N_BARS = 40  # of the density of a column


def describe_terms(fitted: Model, rows: ReportRows) -> dict[str, Any]:
    """Return curves and surfaces, the largest first; None for other models."""
    if fitted.additive is None:
        return {"curves": None, "surfaces": None, "n_scores": 0}
    terms = sorted(read_terms(fitted), key=lambda term: -float(term.size.sum()))
    return {
        "curves": [_describe_curve(fitted, term, rows.X) for term in terms if len(term.axes) == 1],
        "surfaces": [_describe_surface(fitted, term) for term in terms if len(term.axes) == 2],
        "n_scores": fitted.n_targets,
    }


def _describe_values(term: AdditiveTerm) -> dict[str, Any]:
    return {name: getattr(term, name).ravel() for name in ("values", "band", "weight")}


def _describe_curve(fitted: Model, term: AdditiveTerm, X: NDArray[Any]) -> dict[str, Any]:
    (axis,) = term.axes
    scale = write_scale(fitted, axis)
    facts = {
        "name": scale.title,
        "labels": scale.labels,
        "categories": bool(axis.n_levels),
    }
    if not axis.n_levels:
        x = np.asarray(X[:, axis.feature], dtype=np.float64)
        x, edges = x[np.isfinite(x)], find_edges(fitted, axis)
        ends = np.concatenate([x, edges]) if len(x) + len(edges) else np.zeros(1)
        whole = float(ends.min()), float(ends.max())
        low, high = span = find_middle(edges, term.weight.ravel()[:-1], whole)
        inside = x[(x >= low) & (x <= high)]
        facts |= {"edges": edges.tolist(), "span": span, "whole": whole}
        facts["density"] = _count_bars(inside, *span).tolist()
    return facts | _describe_values(term)


def _count_bars(x: NDArray[np.float64], low: float, high: float) -> NDArray[np.int64]:
    """Return the number of values in bars of equal width, however wide or narrow; one bar if low is high.

    ``np.histogram`` rejects ranges whose width overflows, and bars narrower than the distance between numbers.
    """
    if low == high:
        return np.array([len(x)])
    size = max(-low, high)
    place = (x / size - low / size) / (high / size - low / size)
    bar = np.minimum((place * _N_BARS).astype(np.int64), _N_BARS - 1)
    return np.bincount(bar, minlength=_N_BARS)


def _describe_surface(fitted: Model, term: AdditiveTerm) -> dict[str, Any]:
    scales = [write_scale(fitted, axis) for axis in term.axes]
    listed = [
        {
            "name": scale.title,
            "labels": scale.labels,
            "edges": None if scale.edges is None else [write_value(edge) for edge in scale.edges.tolist()],
        }
        for scale in scales
    ]
    return {"scales": listed, **_describe_values(term)}
