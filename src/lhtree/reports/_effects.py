"""Effect curves of a report: contributions of some rows, in as much time and space as a page may take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..explain._effects import Effect, find_effects
from ..model.model import Model
from ._rows import Rows, space

_MOST_ROWS = 1000
_LEAST_ROWS = 100
_MOST_VALUES = 8_000_000  # contributions held
_MOST_BLOCKS = 40_000  # of a forest whose contributions are followed: about three seconds
_MOST_NUMBERS = 60_000  # in the page
_N_GROUPS = 20  # of values of a column


def describe_effects(fitted: Model, rows: Rows) -> dict[str, Any]:
    """Effects of the most important columns, as many as fit, and the importance of all by contribution."""
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
        "columns": [_describe(effect, is_pair=fitted.n_classes == 2) for effect in effects],
        "importance": [size for size, is_known in zip(importance, known, strict=True) if is_known],
    }


def _take_trees(fitted: Model) -> Model:
    """The model with the first trees of a large forest only: their mean contributions are close to those of all."""
    if fitted.is_boosted:  # every round counts, and they are quick
        return fitted
    n_blocks = fitted.trees.block_ptr[:: fitted.n_targets]
    n_kept = max(1, int(np.searchsorted(n_blocks, _MOST_BLOCKS, side="right")) - 1)
    if n_kept >= fitted.n_estimators:
        return fitted
    trees = fitted.trees.part(0, n_kept * fitted.n_targets)
    return replace(fitted, trees=trees, forest=None, calibration=None)


def _describe(effect: Effect, *, is_pair: bool) -> dict[str, Any]:
    """Facts of one column; of two classes those of the second, as the first mirrors it."""
    first = 1 if is_pair else 0
    middle = effect.value
    return {
        "name": effect.column,
        "labels": effect.labels,
        "value": None if middle is None else [None if np.isnan(one) else one for one in middle.tolist()],
        "n_rows": effect.n_rows.tolist(),
        "density": None if effect.density is None else effect.density.tolist(),
        **{name: getattr(effect, name)[:, first:].astype(np.float32) for name in ("mean", "low", "high")},
    }
