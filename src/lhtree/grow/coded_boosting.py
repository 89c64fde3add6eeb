"""Boosting from codes in a scratch file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..io.passes import ScratchFile
from ..tables.frames import refuse_infinity
from ..tables.normalise import Normalisation
from ..tables.rows import CodedRows, Encoded, expand
from .boosting import BoostSettings, Grow
from .holdout import Validation, join
from .passes import Surveyed, split_rows
from .training import Training


def learn_bins(
    surveyed: Surveyed,
    settings: BoostSettings,
    validation: Validation | None,
    normalisation: Normalisation,
    n_threads: int,
) -> _core.BoostBins:
    """The bins of the sampled rows that are learned from."""
    training, rows = surveyed.training, surveyed.rows
    X, weight = training.X, training.weight
    is_learned = np.ones(training.n_rows, dtype=bool) if validation is None else validation.held == 0
    X, rows = X[is_learned[rows]], rows[is_learned[rows]]
    of_weights: dict[str, Any] = {}
    if weight is not None:
        known = weight[is_learned]
        is_whole = bool((np.floor(known) == known).all())
        unit = _core.find_weight_unit(float(known.max()), is_whole, training.n_rows)
        of_weights = {"weight": weight[rows], "weight_unit": unit}
    numbers, codes = split_rows(X)
    bins = _core.learn_bins(
        numbers,
        centre=normalisation.centre,
        scale=normalisation.scale,
        max_bins=settings.max_bins,
        n_threads=n_threads,
        codes=codes,
        levels=X.levels if isinstance(X, CodedRows) else None,
        **of_weights,
    )
    if bins is None:
        refuse_infinity(expand(X))
    return bins


def write_codes(
    batches: Iterable[Encoded],
    bins: _core.BoostBins,
    scratch: ScratchFile,
    n_threads: int,
    progress: Callable[[float], None] | None,
) -> None:
    """Write the codes of all rows."""
    n_rows = 0
    for X in batches:
        codes = bins.encode(*split_rows(X), n_threads)
        if codes is None:
            refuse_infinity(expand(X), np.arange(n_rows, n_rows + len(X)))
        scratch.write(codes)
        n_rows += len(X)
        if progress is not None:
            progress(n_rows)


def grow_from_codes(
    training: Training, settings: BoostSettings, bins: _core.BoostBins, codes: NDArray[np.uint8]
) -> Grow:
    """How to grow from codes."""

    def grow(validation: Validation | None, **common: Any) -> dict[str, Any]:
        objective = {name: common[name] for name in ("loss", "quantile", "n_classes")}
        rows = _core.BoostRows(codes, bins, **objective, **join(training, validation, settings.objective))
        return _core.boost_rows(rows, bins, **common) | {"bins": bins.arrays()}

    return grow
