"""How many rows of each class are drawn, for the trees of a forest and for the prototypes a model keeps.

Rows of a regression are of one class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import is_integer, is_real, refuse
from ..model.model import Prototypes
from .training import Training


def count_kept(keep_prototypes: Any, training: Training) -> int:
    """Number of rows to keep."""
    n_rows, n_strata = len(training.X), max(1, len(training.classes))
    if isinstance(keep_prototypes, (bool, np.bool_)):
        return n_rows if keep_prototypes else 0
    if is_integer(keep_prototypes) and keep_prototypes >= n_strata:
        return min(int(keep_prototypes), n_rows)
    raise refuse(
        "keep_prototypes",
        keep_prototypes,
        f"False, True (all rows) or a number of rows, at least {n_strata}"
        f"{' (the number of classes)' if len(training.classes) else ''}",
    )


def keep_rows(n_kept: int, training: Training, seed: int) -> Prototypes | None:
    """Rows to keep: none, all, or a number of them drawn by class."""
    if not n_kept:
        return None
    n_rows = len(training.X)
    given = np.arange(n_rows) if training.row is None else training.row
    if n_kept == n_rows:
        return Prototypes(training.predict_rows(np.arange(n_rows)), training.codes, given, training.response)
    counts = spread(n_kept / n_rows, np.bincount(training.codes))
    while counts.sum() > n_kept:  # small classes have one more than their share
        counts[counts.argmax()] -= 1
    rows = _core.draw_rows(training.codes, counts, False, seed, _core.Stream.prototype_rows)
    response = None if training.response is None else training.response[rows]
    return Prototypes(training.predict_rows(rows), training.codes[rows], given[rows], response)


def spread(share: float, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of each class: the share, rounded, and at least one of every class."""
    wanted = share * sizes
    counts: NDArray[np.int64] = np.maximum(1, np.floor(wanted).astype(np.int64))
    missing = round(share * int(sizes.sum())) - int(counts.sum())
    for cls in np.argsort(counts - wanted, kind="stable")[: max(0, missing)]:
        counts[cls] += 1
    return counts


def count_rows(
    max_samples: Any, sizes: NDArray[np.int64], *, auto: float, bootstrap: bool
) -> NDArray[np.int64] | None:
    """Rows of each class that a tree sees; None where it sees all."""
    n_rows = int(sizes.sum())
    if isinstance(max_samples, str) and max_samples == "auto":
        share = auto
    elif is_integer(max_samples) and max_samples >= 1:
        if max_samples > (2**31 - 1 if bootstrap else n_rows):
            most = "2**31 - 1" if bootstrap else f"{n_rows}, the number of rows"
            raise refuse("max_samples", max_samples, f"at most {most}, or a share such as 0.8")
        share = max_samples / n_rows
    elif is_real(max_samples) and not is_integer(max_samples) and 0.0 < max_samples <= 1.0:
        share = float(max_samples)
    else:
        raise refuse("max_samples", max_samples, "'auto', an integer of at least 1 or a float in (0, 1]")
    return None if share == 1.0 and not bootstrap else spread(share, sizes)
