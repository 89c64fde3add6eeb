"""Time limits of fits."""

from __future__ import annotations

from time import monotonic
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._parameters import is_real, refuse
from .labels import Progress
from .training import shift


class OutOfTimeError(Exception):
    """Raised where work without a partial result reaches the time limit."""


class Deadline:
    """A moment after which a fit stops; without ``seconds``, never."""

    def __init__(self, seconds: float | None) -> None:
        self.end = None if seconds is None else monotonic() + seconds

    def is_over(self) -> bool:
        """Return whether the time is over."""
        return self.end is not None and monotonic() >= self.end

    def take_share(self, share: float) -> Deadline:
        """Return the end of a part of the remaining time."""
        return Deadline(None if self.end is None else share * max(0.0, self.end - monotonic()))

    def check(self) -> None:
        """Raise OutOfTimeError if the time is over."""
        if self.is_over():
            raise OutOfTimeError


def start_deadline(time_limit: Any) -> Deadline:
    """Return the deadline of a fit that begins now."""
    if time_limit is not None and (not is_real(time_limit) or time_limit < 0):
        raise refuse("time_limit", time_limit, "None or a number of seconds of at least 0")
    return Deadline(None if time_limit is None else float(time_limit))


class GrowEstimators(Protocol):
    """Grows trees from rows of any source."""

    def __call__(
        self, first_tree: int, betas: NDArray[np.float64], *, progress: Progress
    ) -> list[dict[str, Any]]:
        """Return the arrays of the trees, in parts."""


def grow_until(
    deadline: Deadline,
    grow: GrowEstimators,
    first_tree: int,
    betas: NDArray[np.float64],
    n_threads: int,
    n_each: int,
    progress: Progress,
) -> list[dict[str, Any]]:
    """Grow an estimator per thread at a time until the time is over; an estimator has ``n_each`` trees."""
    grown: list[dict[str, Any]] = []
    for begin in range(0, max(1, len(betas)), n_threads):
        own = betas[begin : begin + n_threads]
        grown += grow(first_tree + begin, own, progress=shift(progress, begin * n_each))
        if deadline.is_over():
            break
    return grown
