"""Terms while they grow: axes of cells, values by bag, and the bags of rows that they are boosted in."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ..boosting import CodedFit
from ..holdout import join
from ..training import Training
from .settings import AdditiveSettings, CurveSteps

Floats = NDArray[np.float64]

_RACE_ROWS = 250  # held out from the bags that compare penalties
_RACE_GAIN = 0.02  # least relative gain of another penalty: few bags stop by their own held-out rows
_LEAST_FOLDS = 8  # a bag leaves out an eighth of the rows at most
_PART_ROWS = 50_000  # size of the parts that bags learn from, roughly
_MOST_WEIGHT = 2.0**64  # of a row: the core sums gradients and Hessians of single precision


class Axis(NamedTuple):
    """The cells of a slot: bins of a feature or levels of a column, some of them merged; the last one is missing."""

    slot: int
    features: range  # a level each, or one feature of numbers
    is_ordered: bool
    cell: NDArray[np.uint8]  # of every code of the slot
    sign: int = 0

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.cell[-1]) + 1

    def of_core(self, rows: _core.BoostRows) -> _core.CellAxis:
        """The axis as the core takes it."""
        return _core.CellAxis(
            rows,
            slot=self.slot,
            is_ordered=self.is_ordered,
            cell=self.cell,
            n_cells=self.n_cells,
            sign=self.sign,
        )

    def merge(self, group: NDArray[np.integer]) -> Axis:
        """Merge cells: ``group`` has the new cell of every cell but that of missing values."""
        table = np.append(group, group.max(initial=-1) + 1)
        return self._replace(cell=table[self.cell].astype(np.uint8))

    def coarsen(self, weight: Floats, n_most: int) -> Axis:
        """Merge cells to at most ``n_most`` of about equal weight; of levels, the lightest ones are merged."""
        n = self.n_cells - 1
        if n <= n_most:
            return self
        if not self.is_ordered:
            group = np.full(n, n_most - 1)
            group[np.argsort(-weight[:n], kind="stable")[: n_most - 1]] = np.arange(n_most - 1)
            return self.merge(group)
        middle = np.cumsum(weight[:n]) - weight[:n] / 2.0
        share = middle / max(float(weight[:n].sum()), np.finfo(np.float64).tiny)
        return self.merge(
            np.unique(np.minimum((share * n_most).astype(np.int64), n_most - 1), return_inverse=True)[1]
        )


class TermValues(NamedTuple):
    """Axes of a term, and its values by bag, cell (of the last axis first) and score."""

    axes: tuple[Axis, ...]
    values: Floats  # shape (n_bags, *n_cells, n_scores)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of cells of every axis."""
        return tuple(axis.n_cells for axis in self.axes)


class Bags:
    """The rows of a fit in bags: the rows of fold b are held out from bag b."""

    def __init__(
        self,
        training: Training,
        settings: AdditiveSettings,
        coded: CodedFit,
        seed: int,
        n_threads: int,
    ) -> None:
        objective = settings.objective
        self.training, self.settings, self.n_threads = training, settings, n_threads
        self.of_loss: dict[str, Any] = {
            "loss": objective.loss,
            "quantiles": list(objective.quantiles),
            "n_classes": len(training.classes),
        }
        self.labels = join(training, None, objective)
        weight = self.labels["weight"]
        if weight is not None and weight.max() > _MOST_WEIGHT:
            self.labels["weight"] = np.ldexp(weight, -int(np.frexp(weight.max() / _MOST_WEIGHT)[1]))
        self.rows = cast("_core.BoostRows", coded.hold(self.of_loss, self.labels))  # none are on Dask workers
        self.base = _core.find_base(self.rows, n_threads=n_threads)
        self.n_bags = min(settings.n_bags, training.n_rows) if training.n_rows > 1 else 1
        self.n_folds = min(max(self.n_bags, _LEAST_FOLDS), training.n_rows)
        self.fold, self.place = _draw_folds(training.codes, self.n_folds, seed)
        self.is_held = self.fold < self.n_bags
        self.part = (self.place % -(-training.n_rows // _PART_ROWS)).astype(np.int32)  # as many rows in each

    @property
    def n_scores(self) -> int:
        """Number of raw scores."""
        return len(self.base)

    def start(self, axes: tuple[Axis, ...]) -> TermValues:
        """Return a term of zeros."""
        return TermValues(axes, np.zeros((self.n_bags, *(axis.n_cells for axis in axes), self.n_scores)))

    def _fit(self, terms: Sequence[TermValues]) -> _core.AdditiveFit:
        axes = [axis.of_core(self.rows) for term in terms for axis in term.axes]
        numbers = iter(range(len(axes)))
        return _core.AdditiveFit(
            self.rows,
            axes,
            [[next(numbers) for _ in term.axes] for term in terms],
            base=self.base,
            fold=self.fold,
            part=self.part,
            n_bags=self.n_bags,
        )

    def boost_curves(self, terms: Sequence[TermValues]) -> tuple[list[TermValues], int]:
        """Boost curves with the first penalty, or with another one of lower held-out loss; count their cycles.

        Other penalties are tried in few bags, which have some hundred held-out rows together.
        """
        first, *others = self.settings.curve_steps
        found = self._boost_curves(terms, first)
        if not others or not self.is_held.any():
            return found
        few = self._take_bags(-(-_RACE_ROWS * self.n_folds // len(self.fold)))
        best, least = first, few.measure(found[0])
        for steps in others:
            loss = few.measure(few._boost_curves(terms, steps)[0])
            if loss < least - _RACE_GAIN * abs(least):
                best, least = steps, loss
        return found if best is first else self._boost_curves(terms, best)

    def _take_bags(self, n_most: int) -> Bags:
        """Return the first bags only."""
        few = copy(self)
        few.n_bags = min(n_most, self.n_bags)
        few.is_held = (self.fold >= 0) & (self.fold < few.n_bags)
        return few

    def thin(self, n_most: int) -> Bags:
        """Return the bags with about ``n_most`` of their rows, as many of every fold and class."""
        few = copy(self)
        few.fold = np.where(self.place % -(-len(self.fold) // n_most), -1, self.fold).astype(np.int32)
        few.is_held = self.is_held & (few.fold >= 0)
        few.part = np.zeros_like(self.part)
        return few

    def measure(self, terms: Sequence[TermValues]) -> float:
        """Return the mean loss of the held-out rows."""
        return self.average(self.losses(self.score(terms)), self.is_held)[0]

    def _boost_curves(self, terms: Sequence[TermValues], steps: CurveSteps) -> tuple[list[TermValues], int]:
        """Boost curves, first with smoother steps until they no longer lower the held-out loss; count the cycles.

        The smoother steps take at most half of the cycles.
        """
        is_active = np.ones(len(terms), dtype=bool)
        n_most = self.settings.max_iter
        terms, n_smooth = self._boost(terms, is_active, steps.smooth, n_most // 2, self.settings.patience)
        terms, n_sharp = self._boost(terms, is_active, steps.sharp, n_most - n_smooth, self.settings.patience)
        return terms, n_smooth + n_sharp

    def boost_surfaces(
        self, terms: Sequence[TermValues], is_active: NDArray[np.bool_], distance: float
    ) -> tuple[list[TermValues], int]:
        """Boost the active terms, shape (n_bags, n_terms) or (n_terms,); return the terms and the number of cycles.

        ``distance`` limits the sum of the learning rates of all cycles.
        """
        settings = self.settings
        n_most = min(float(settings.max_iter), np.ceil(distance / settings.surface_rate))
        return self._boost(terms, is_active, settings.step, int(n_most), settings.surface_patience)

    def _boost(
        self,
        terms: Sequence[TermValues],
        is_active: NDArray[np.bool_],
        step: _core.StepOptions,
        n_cycles: int,
        patience: int,
    ) -> tuple[list[TermValues], int]:
        is_active = np.broadcast_to(is_active, (self.n_bags, len(terms)))
        found, _, n_used = self._fit(terms).boost(
            self._pack(terms),
            np.ascontiguousarray(is_active, dtype=np.uint8).ravel(),
            step=step,
            n_cycles=n_cycles,
            patience=patience,
            n_threads=self.n_threads,
        )
        parts = _split(terms, found.reshape(self.n_bags, -1, self.n_scores))
        return [
            term._replace(values=part.reshape(self.n_bags, *term.shape, self.n_scores))
            for term, part in zip(terms, parts, strict=True)
        ], n_used

    def _pack(self, terms: Sequence[TermValues]) -> Floats:
        """Return the values of all terms by bag, cell and score, as the core takes them."""
        values = [term.values[: self.n_bags].reshape(self.n_bags, -1, self.n_scores) for term in terms]
        return np.concatenate(values, axis=1).ravel()

    def score(self, terms: Sequence[TermValues]) -> Floats:
        """Return the raw scores of every row by the bag that did not learn from it, shape (n · n_scores,)."""
        return self._fit(terms).score_left_out(self._pack(terms), self.n_threads)

    def weigh(self, terms: Sequence[TermValues], raw: Floats) -> list[tuple[Floats, Floats]]:
        """Return the weight and the Hessian of the cells of every term, given raw scores."""
        both = np.stack(self._fit(terms).weigh(raw))
        parts = (part.reshape(2, *term.shape) for term, part in zip(terms, _split(terms, both), strict=True))
        return [(weight, hessian) for weight, hessian in parts]

    def losses(self, raw: Floats) -> Floats:
        """Return the loss of every row, given raw scores."""
        labels = {name: self.labels[name].ravel() for name in ("classes", "response") if name in self.labels}
        return _core.loss(
            self.of_loss["loss"],
            raw.reshape(-1, self.n_scores),
            quantile=self.of_loss["quantiles"][0],
            **labels,
        )

    def average(self, losses: Floats, is_chosen: NDArray[np.bool_]) -> tuple[float, float]:
        """Return the weighted mean of the losses of some rows, and its standard error."""
        weight, losses = self.labels["weight"], losses[is_chosen]
        weight = np.ones(len(losses)) if weight is None else weight[is_chosen]
        mean = float(np.average(losses, weights=weight))
        spread = float(np.average((losses - mean) ** 2, weights=weight))
        return mean, float(np.sqrt(spread * (weight**2).sum()) / weight.sum())


def _split(terms: Sequence[TermValues], array: Floats) -> list[Floats]:
    """Divide an array, whose second axis has the cells of all terms, into parts by term."""
    return np.split(array, np.cumsum([np.prod(term.shape) for term in terms])[:-1], axis=1)


def _draw_folds(
    codes: NDArray[np.int32], n_folds: int, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the fold of every row, of every class as many rows in each, and its place in the fold."""
    keys = _core.draw_keys(seed, _core.Stream.validation_rows, len(codes))
    place = np.empty(len(codes), dtype=np.int64)
    place[np.lexsort((keys, codes))] = np.arange(len(codes))
    fold = (place % n_folds).astype(np.int32)
    return (fold if n_folds > 1 else fold + 1), place // n_folds  # of a single row, the only bag learns


def make_axes(bins: _core.BoostBins, signs: NDArray[np.int8] | None) -> list[Axis]:
    """Return an axis for every column of levels and every feature of numbers that rows differ in."""
    arrays = bins.arrays()
    axes = []
    for slot, (first, last) in enumerate(bins.slots):
        if last > first:
            n_levels = last - first
            cell = np.minimum(np.arange(n_levels + 2), n_levels).astype(np.uint8)
            axes.append(Axis(slot, range(first, last), False, cell))
        else:
            n_codes = int(arrays["ptr"][first + 1] - arrays["ptr"][first])
            sign = 0 if signs is None else int(signs[first])
            if n_codes > 2 or arrays["missing"][first]:
                cell = np.arange(n_codes, dtype=np.uint8)
                axes.append(Axis(slot, range(first, first + 1), True, cell, sign))
    return axes
