"""Additive models: parameters, bags of rows, the choice of pairs, and the merging of steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import UNSEEN, check_count, check_number, choose, is_auto, is_integer, is_real, refuse
from ..model.records import AdditiveRecord
from ..model.terms import Term, TermAxis, build_trees, normalise_values
from ..model.trees import Trees
from ..tables.normalise import Normalisation
from .boosting import CodedFit, find_monotonic
from .holdout import join
from .labels import Progress
from .objective import Objective
from .rounding import shorten_between
from .sources import Sample
from .training import Training

Floats = NDArray[np.float64]
Pair = tuple[int, int]

LEARNING_RATE = 0.1  # of learning_rate="auto"
_LEAST_FOLDS = 8  # a bag leaves out an eighth of the rows at most
_SURFACE_CELLS = 16  # of an axis of a surface, without that of missing values
_SCREEN_CELLS = 12  # of an axis while all pairs are compared
_MOST_PAIRS = 32  # of interactions="auto"
_MOST_LEVELS = 254  # of a column: a slot holds them
_MOST_IDLE = 2  # groups of pairs in a row that do not help
_MERGE_TOLERANCE = 5e-4  # of the held-out loss
_MERGE_SHARES = (
    0.0,
    3e-5,
    1e-4,
    3e-4,
    1e-3,
    3e-3,
    1e-2,
)  # of the loss, which merging may cost by its parabola


@dataclass(frozen=True)
class AdditiveSettings:
    """Parameters of one fit, checked."""

    objective: Objective
    max_iter: int
    learning_rate: float
    max_bins: int
    n_bags: int
    patience: int
    interactions: int | list[Pair] | None  # pairs of columns; None: "auto"
    max_steps: int | None  # of a curve
    merges: bool  # whether max_steps is "auto"
    signs: NDArray[np.int8] | None  # of every feature
    step: _core.StepOptions

    @classmethod
    def of(cls, params: dict[str, Any], training: Training) -> AdditiveSettings:
        """The settings for these parameters and rows."""
        rate, max_bins, smoothing = params["learning_rate"], params["max_bins"], params["smoothing"]
        if not is_auto(rate) and not (is_real(rate) and 0.0 < rate <= 1.0):
            raise refuse("learning_rate", rate, "'auto' or a number in (0, 1]")
        if not is_integer(max_bins) or not 2 <= max_bins <= _core.MOST_BINS:
            raise refuse("max_bins", max_bins, f"an integer from 2 to {_core.MOST_BINS}")
        if not is_real(smoothing) or not 0.0 < smoothing < np.inf:
            raise refuse("smoothing", smoothing, "a positive number")
        choose("unseen", params["unseen"], UNSEEN)
        max_steps = params["max_steps"]
        if max_steps is not None and not is_auto(max_steps):
            if not is_integer(max_steps) or max_steps < 2:
                raise refuse("max_steps", max_steps, "'auto', None or an integer of at least 2")
            max_steps = int(max_steps)
        if training.encoding.levels.max(initial=0) > _MOST_LEVELS:
            raise refuse(
                "max_one_hot", params["max_one_hot"], f"at most {_MOST_LEVELS} for an additive model"
            )
        rate = LEARNING_RATE if isinstance(rate, str) else float(rate)
        signs = find_monotonic(params["monotonic_cst"], training)
        objective = Objective.of(params, training)
        if objective.outputs:
            raise refuse("quantile", params["quantile"], "one quantile for an additive model")
        return cls(
            objective=objective,
            max_iter=check_count("max_iter", params["max_iter"], 1),
            learning_rate=rate,
            max_bins=int(max_bins),
            n_bags=check_count("n_bags", params["n_bags"], 1),
            patience=check_count("n_iter_no_change", params["n_iter_no_change"], 1),
            interactions=_read_interactions(params["interactions"], training, signs),
            max_steps=None if isinstance(max_steps, str) else max_steps,
            merges=isinstance(max_steps, str),
            signs=signs,
            step=_core.StepOptions(
                learning_rate=rate,
                l2_regularization=check_number("l2_regularization", params["l2_regularization"]),
                min_samples_leaf=float(check_count("min_samples_leaf", params["min_samples_leaf"], 1)),
                smoothing=float(smoothing),
            ),
        )


def _read_interactions(
    value: Any, training: Training, signs: NDArray[np.int8] | None
) -> int | list[Pair] | None:
    """Return the number of pairs, or the pairs of columns; None for "auto"."""
    if is_auto(value):
        return None
    if is_integer(value) and value >= 0:
        return int(value)
    wanted = "'auto', a number of pairs, or a list of pairs of columns"
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise refuse("interactions", value, wanted)
    names, pairs = list(training.encoding.names), []
    for pair in value:
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise refuse("interactions", value, wanted)
        columns = []
        for one in pair:
            if is_integer(one) and 0 <= one < len(names):
                columns.append(int(one))
            elif one in names:
                columns.append(names.index(one))
            else:
                raise refuse("interactions", value, f"columns of X only: {one!r} is not one")
        first, second = sorted(columns)
        if first == second:
            raise refuse("interactions", value, f"pairs of different columns, not {names[first]!r} twice")
        for column in columns:
            if signs is not None and signs[training.encoding.features_of(column)].any():
                raise refuse(
                    "interactions",
                    value,
                    f"pairs without {names[column]!r}: a surface could break its monotonic constraint",
                )
        pairs.append((first, second))
    return list(dict.fromkeys(pairs))


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
        progress: Progress,
    ) -> None:
        objective = settings.objective
        self.training, self.settings, self.n_threads, self.progress = training, settings, n_threads, progress
        self.of_loss: dict[str, Any] = {
            "loss": objective.loss,
            "quantiles": list(objective.quantiles),
            "n_classes": len(training.classes),
        }
        self.labels = join(training, None, objective)
        self.rows = coded.hold(self.of_loss, self.labels)
        if not isinstance(self.rows, _core.BoostRows):
            raise TypeError("an additive model is fitted in one process: pass a table, or use fit_batches.")
        self.base = _core.find_base(self.rows, n_threads=n_threads)
        self.n_bags = min(settings.n_bags, training.n_rows) if training.n_rows > 1 else 1
        self.fold = _draw_folds(training.codes, self.n_bags, seed)
        self.is_held = self.fold < self.n_bags
        # Half of the held-out rows stop the surfaces of a bag where pairs are counted; the others judge them.
        stops = _core.draw_keys(seed, _core.Stream.pilot_validation_rows, training.n_rows) % np.uint64(2) == 0
        self.is_judge = self.is_held & ~stops

    @property
    def n_scores(self) -> int:
        """Number of raw scores."""
        return len(self.base)

    def start(self, axes: tuple[Axis, ...]) -> TermValues:
        """Return a term of zeros."""
        return TermValues(axes, np.zeros((self.n_bags, *(axis.n_cells for axis in axes), self.n_scores)))

    def _fit(self, terms: Sequence[TermValues], fold: NDArray[np.int32], n_bags: int) -> _core.AdditiveFit:
        axes = [axis.of_core(self.rows) for term in terms for axis in term.axes]
        numbers = iter(range(len(axes)))
        return _core.AdditiveFit(
            self.rows,
            axes,
            [[next(numbers) for _ in term.axes] for term in terms],
            base=self.base,
            fold=fold,
            n_bags=n_bags,
        )

    def boost(
        self, terms: Sequence[TermValues], is_active: Sequence[bool], bag: int | None = None
    ) -> tuple[list[TermValues], list[int]]:
        """Boost the active terms in all bags, or in one; return the terms and the number of cycles of every bag.

        One bag is stopped by a part of its held-out rows only: its judges stay unseen.
        """
        chosen = range(self.n_bags) if bag is None else range(bag, bag + 1)
        fold = self.fold
        if bag is not None:
            fold = np.where(fold == bag, np.where(self.is_judge, -1, 0), 1).astype(np.int32)
        values = np.concatenate(
            [term.values[chosen].reshape(len(chosen), -1, self.n_scores) for term in terms], axis=1
        )
        found, losses = self._fit(terms, fold, len(chosen)).boost(
            np.ascontiguousarray(values).ravel(),
            np.array(is_active, dtype=np.uint8),
            step=self.settings.step,
            n_cycles=self.settings.max_iter,
            patience=self.settings.patience,
            tol=0.0,
            n_threads=self.n_threads,
            progress=None,
        )
        split = np.cumsum([np.prod(term.shape) for term in terms])[:-1]
        parts = np.split(found.reshape(values.shape), split, axis=1)
        boosted = []
        for term, part in zip(terms, parts, strict=True):
            own = term.values.copy()
            own[chosen] = part.reshape(own[chosen].shape)
            boosted.append(term._replace(values=own))
        return boosted, [int(np.argmin(one)) for one in losses]

    def score(self, terms: Sequence[TermValues]) -> Floats:
        """Return the raw scores of every row by the bag that did not learn from it, shape (n · n_scores,)."""
        values = np.concatenate(
            [term.values.reshape(self.n_bags, -1, self.n_scores) for term in terms], axis=1
        )
        fit = self._fit(terms, self.fold, self.n_bags)
        return fit.score_left_out(np.ascontiguousarray(values).ravel(), self.n_threads)

    def weigh(self, terms: Sequence[TermValues], raw: Floats) -> list[tuple[Floats, Floats]]:
        """Return the weight and the Hessian of the cells of every term, given raw scores."""
        weight, hessian = self._fit(terms, self.fold, self.n_bags).weigh(raw)
        split = np.cumsum([np.prod(term.shape) for term in terms])[:-1]
        return [
            (own.reshape(term.shape), more.reshape(term.shape))
            for term, own, more in zip(terms, np.split(weight, split), np.split(hessian, split), strict=True)
        ]

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


def _draw_folds(codes: NDArray[np.int32], n_bags: int, seed: int) -> NDArray[np.int32]:
    """Return the fold of every row: of every class, as many rows in each."""
    n_folds = min(max(n_bags, _LEAST_FOLDS), len(codes))
    fold = np.empty(len(codes), dtype=np.int32)
    keys = _core.draw_keys(seed, _core.Stream.validation_rows, len(codes))
    fold[np.lexsort((keys, codes))] = np.arange(len(codes)) % n_folds
    return fold if n_folds > 1 else fold + 1  # of a single row, the only bag learns


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


def fit_additive(
    training: Training,
    settings: AdditiveSettings,
    coded: CodedFit,
    sample: Sample,
    normalisation: Normalisation,
    seed: int,
    n_threads: int,
    progress: Progress,
) -> tuple[Trees, Floats, AdditiveRecord]:
    """Fit the terms of an additive model: return its trees, its base and its record."""
    bags = Bags(training, settings, coded, seed, n_threads, progress)
    terms = [bags.start((axis,)) for axis in make_axes(coded.bins, settings.signs)]
    n_iter = [0] * bags.n_bags
    if terms:
        terms, n_iter = bags.boost(terms, [True] * len(terms))
        terms = _add_surfaces(bags, terms)
        terms = _merge_steps(bags, terms)
    final, base = _average_bags(bags, terms, Edges(coded.bins, sample, normalisation))
    objective = settings.objective
    if objective.link == "identity":
        final = [
            replace(
                term,
                values=np.ldexp(term.values, objective.exponent),
                band=np.ldexp(term.band, objective.exponent),
            )
            for term in final
        ]
    trees, band = build_trees(final, normalisation, training.targets.tolist(), training.n_rows)
    record = AdditiveRecord(settings.learning_rate, tuple(n_iter), band)
    return trees, objective.grow_base(base), record


def _average_bags(bags: Bags, terms: list[TermValues], edges: Edges) -> tuple[list[Term], Floats]:
    """Return the means of all bags, centred, and the base."""
    base = bags.base.copy()
    if not terms:  # no column has two values: a curve of zeros
        zeros, weight = np.zeros((2, bags.n_scores)), np.array([float(len(bags.fold)), 0.0])
        return [Term((TermAxis(0, np.empty(0)),), zeros, zeros, weight)], base
    final = []
    for term, (weight, _) in zip(terms, bags.weigh(terms, bags.score(terms)), strict=True):
        values, shift = _centre(term.values, weight)
        base += shift.mean(axis=0)
        mean = values.mean(axis=0)
        if sign := term.axes[0].sign:  # the means of merged cells are rounded
            ordered = np.maximum if sign > 0 else np.minimum
            mean[:-1] = ordered.accumulate(mean[:-1])
        jackknife = (bags.n_bags - 1.0) / bags.n_bags  # bags share most of their rows
        band = np.sqrt(jackknife * ((values - mean) ** 2).sum(axis=0))
        for axis in range(weight.ndim):  # no missing value in training: no effect
            last = tuple(slice(-1, None) if i == axis else slice(None) for i in range(weight.ndim))
            if not weight[last].any():
                mean[last] = band[last] = 0.0
        if bags.n_scores > 1:  # softmax depends on differences only
            mean -= mean.mean(axis=-1, keepdims=True)
        final.append(
            Term(
                tuple(edges.place(axis) for axis in term.axes),
                _expand(term.axes, mean),
                _expand(term.axes, band),
                _share(term.axes, weight),
            )
        )
    return final, base - base.mean() if bags.n_scores > 1 else base


def _centre(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Subtract the weighted mean of every bag and score; return it, too, shape (n_bags, n_scores)."""
    flat = values.reshape(len(values), -1, values.shape[-1])
    mean = np.average(flat, axis=1, weights=weight.ravel()) if weight.sum() > 0.0 else flat.mean(axis=1)
    return (flat - mean[:, None]).reshape(values.shape), mean


def _expand(axes: tuple[Axis, ...], values: Floats) -> Floats:
    """Return values of every level from values of merged levels."""
    for number, axis in enumerate(axes):
        if not axis.is_ordered:
            values = np.take(values, np.delete(axis.cell, -2), axis=number)  # without the code of other slots
    return values


def _share(axes: tuple[Axis, ...], weight: Floats) -> Floats:
    """Divide the weight of merged levels equally."""
    for number, axis in enumerate(axes):
        if not axis.is_ordered:
            cell = np.delete(axis.cell, -2)
            shape = [-1 if i == number else 1 for i in range(weight.ndim)]
            weight = np.take(weight, cell, axis=number) / np.bincount(cell)[cell].reshape(shape)
    return weight


class Edges:
    """Edges between the cells of features of numbers: the shortest decimals between training values."""

    def __init__(self, bins: _core.BoostBins, sample: Sample, normalisation: Normalisation) -> None:
        self.arrays, self.rows, self.normalisation = bins.arrays(), sample.X, normalisation
        self.place_of = {}
        number = 0
        for first, last in bins.slots:
            if last == first:
                self.place_of[first] = number
                number += 1

    def place(self, axis: Axis) -> TermAxis:
        """Return the axis of a term."""
        feature = axis.features.start
        if not axis.is_ordered:
            return TermAxis(feature, np.empty(0), len(axis.features))
        ends = np.flatnonzero(np.diff(axis.cell[:-1].astype(np.int64)) > 0)
        begin = int(self.arrays["ptr"][feature])
        return TermAxis(feature, self._shorten(feature, self.arrays["edge"][begin + ends]))

    def _shorten(self, feature: int, edges: Floats) -> Floats:
        """Return edges that are short in the user's units and have the same training values on both sides."""
        centre, scale = float(self.normalisation.centre[feature]), float(self.normalisation.scale[feature])
        x = np.unique(self.rows.numbers[:, self.place_of[feature]].astype(np.float64))
        x = x[np.isfinite(x)]
        z = normalise_values(x, centre, scale)
        short = edges.copy()
        for i, edge in enumerate(edges.tolist()):
            above = int(np.searchsorted(z, edge))
            if not 0 < above < len(x):
                continue
            found = shorten_between(float(x[above - 1]), float(x[above]))
            # As the core sees it: a value equal to the edge is on its right side.
            short[i] = normalise_values(np.array([found]), centre, scale)[0]
            if not z[above - 1] < short[i] <= z[above]:
                short[i] = edge
        return np.unique(short)


def _add_surfaces(bags: Bags, curves: list[TermValues]) -> list[TermValues]:
    """Return the curves and the surfaces of chosen pairs, whose main effects are moved to the curves."""
    wanted = bags.settings.interactions
    raw = bags.score(curves)
    weights = [weight for weight, _ in bags.weigh(curves, raw)]
    free = [number for number, term in enumerate(curves) if term.axes[0].sign == 0]
    if isinstance(wanted, list):
        column = bags.training.encoding.column
        by_column: dict[int, list[int]] = {}
        for number in free:
            by_column.setdefault(int(column[curves[number].axes[0].features.start]), []).append(number)
        pairs = [
            (a, b)
            for first, second in wanted
            for a in by_column.get(first, [])
            for b in by_column.get(second, [])
        ]
        return _boost_surfaces(bags, curves, pairs, weights)
    n_pairs = len(free) * (len(free) - 1) // 2
    n_most = min(n_pairs, _MOST_PAIRS if wanted is None else wanted)
    if n_most == 0:
        return curves
    coarse = [curves[number].axes[0].coarsen(weights[number], _SCREEN_CELLS) for number in free]

    def rank(left_out: int) -> list[Pair]:
        """Return the pairs of largest gain on the rows outside a fold."""
        gains = _core.measure_pairs(
            bags.rows,
            [axis.of_core(bags.rows) for axis in coarse],
            raw,
            fold=bags.fold,
            left_out=left_out,
            step=bags.settings.step,
            n_threads=bags.n_threads,
        )
        pairs = list(combinations(free, 2))
        return [pairs[place] for place in np.argsort(-gains, kind="stable")[:n_most]]

    if wanted is None:
        n_most = _count_pairs(bags, curves, weights, raw, [rank(bag) for bag in range(bags.n_bags)])
    return _boost_surfaces(bags, curves, rank(-1)[:n_most], weights)


def _start_surface(bags: Bags, curves: list[TermValues], pair: Pair, weights: list[Floats]) -> TermValues:
    axes = (curves[number].axes[0].coarsen(weights[number], _SURFACE_CELLS) for number in pair)
    return bags.start(tuple(axes))


def _count_pairs(
    bags: Bags, curves: list[TermValues], weights: list[Floats], raw: Floats, ranked: list[list[Pair]]
) -> int:
    """Return the number of pairs that lower the held-out loss by more than its standard error.

    Every bag has pairs of its own, which were ranked without its held-out rows. They are added in groups of 1, 1, 2, 4,
    8 and so on, until two groups in a row do not help.
    """
    n_pairs, n_tried, best, n_idle = 0, 0, bags.losses(raw), 0
    if not bags.is_judge.any():
        return 0
    states = [curves] * bags.n_bags
    while n_tried < len(ranked[0]) and n_idle < _MOST_IDLE:
        n_more = min(max(n_tried, 1), len(ranked[0]) - n_tried)
        scores = raw.copy().reshape(len(bags.fold), bags.n_scores)
        for bag in range(bags.n_bags):
            pairs = ranked[bag][n_tried : n_tried + n_more]
            more = [_start_surface(bags, curves, pair, weights) for pair in pairs]
            is_active = [False] * len(states[bag]) + [True] * len(more)
            states[bag], _ = bags.boost([*states[bag], *more], is_active, bag)
            held = bags.fold == bag
            scores[held] = bags.score(states[bag]).reshape(scores.shape)[held]
        n_tried += n_more
        losses = bags.losses(scores.ravel())
        gain, error = bags.average(best - losses, bags.is_judge)
        n_idle += 1
        if gain > error:
            n_pairs, best, n_idle = n_tried, losses, 0
    return n_pairs


def _boost_surfaces(
    bags: Bags, curves: list[TermValues], pairs: list[Pair], weights: list[Floats]
) -> list[TermValues]:
    """Boost the surfaces of some pairs on top of the curves, and purify them."""
    if not pairs:
        return curves
    surfaces = [_start_surface(bags, curves, pair, weights) for pair in pairs]
    terms, _ = bags.boost([*curves, *surfaces], [False] * len(curves) + [True] * len(surfaces))
    sizes = bags.weigh(terms, bags.score(terms))
    for number, pair in enumerate(pairs, start=len(curves)):
        term = terms[number]
        pure, main = purify(term.values, sizes[number][0])
        terms[number] = term._replace(values=pure)
        for axis, curve, effect in zip(term.axes, pair, main, strict=True):
            own = terms[curve]
            # The cell of the surface for every cell of the curve.
            cell = np.zeros(own.shape[0], dtype=np.int64)
            cell[own.axes[0].cell] = axis.cell
            terms[curve] = own._replace(values=own.values + effect[:, cell])
    return terms


def purify(values: Floats, weight: Floats) -> tuple[Floats, tuple[Floats, Floats]]:
    """Split surfaces into main effects of both axes and the rest, whose weighted sums along either axis are 0.

    Parameters
    ----------
    values : array of shape (n_bags, n_first, n_second, n_scores)
        Values of the cells.
    weight : array of shape (n_first, n_second)
        Weights of the cells; cells of weight 0 do not count.

    Returns
    -------
    rest : array of the shape of values
    main : tuple of arrays
        Main effects, of shape (n_bags, n_first, n_scores) and (n_bags, n_second, n_scores).
    """
    n_first, n_second = weight.shape
    of_first, of_second = weight.sum(axis=1), weight.sum(axis=0)
    system = np.block([[np.diag(of_first), weight], [weight.T, np.diag(of_second)]])
    sums = np.concatenate(
        [np.einsum("bijk,ij->ibk", values, weight), np.einsum("bijk,ij->jbk", values, weight)]
    ).reshape(n_first + n_second, -1)
    solved = np.linalg.lstsq(system, sums, rcond=None)[0]
    solved = solved.reshape(n_first + n_second, len(values), values.shape[-1]).swapaxes(0, 1)
    first, second = solved[:, :n_first], solved[:, n_first:]
    return values - first[:, :, None] - second[:, None], (first, second)


def _merge_steps(bags: Bags, terms: list[TermValues]) -> list[TermValues]:
    """Merge neighbouring cells: the fewest within a tolerance of the held-out loss, and at most ``max_steps``."""
    settings = bags.settings
    if not settings.merges and settings.max_steps is None:
        return terms
    raw = bags.score(terms)
    hessians = [hessian for _, hessian in bags.weigh(terms, raw)]
    paths = [
        [Merging.find(term, hessian, axis) for axis in range(len(term.axes))]
        for term, hessian in zip(terms, hessians, strict=True)
    ]

    def apply(most_cost: float, max_steps: int | None) -> list[TermValues]:
        merged = []
        for term, hessian, own in zip(terms, hessians, paths, strict=True):
            for axis, path in enumerate(own):
                group = path.group(most_cost, max_steps if len(own) == 1 else None)
                term, hessian = _merge_axis(term, hessian, axis, group)
            merged.append(term)
        return merged

    if not settings.merges or not bags.is_held.any():
        return apply(0.0, settings.max_steps)
    tried = []
    weight = bags.labels["weight"]
    n_rows = len(bags.fold) if weight is None else float(weight.sum())
    total = bags.average(bags.losses(raw), bags.is_held)[0] * n_rows
    n_paths = sum(len(own) for own in paths)
    for share in _MERGE_SHARES:
        merged = apply(share * abs(total) / n_paths, None)
        tried.append((bags.average(bags.losses(bags.score(merged)), bags.is_held)[0], merged))
    least = min(loss for loss, _ in tried)
    limit = least + _MERGE_TOLERANCE * abs(least)
    return next(merged for loss, merged in reversed(tried) if loss <= limit)


class Merging(NamedTuple):
    """Merges of neighbouring cells of an axis, the cheapest first: the cell before each edge, and the total cost."""

    n_cells: int
    edge: NDArray[np.int64]
    cost: Floats

    @classmethod
    def find(cls, term: TermValues, hessian: Floats, axis: int) -> Merging:
        """Merge all cells of numbers of an axis, one pair after the other."""
        n = term.shape[axis] - 1
        if not term.axes[axis].is_ordered or n < 2:
            return cls(n, np.empty(0, dtype=np.int64), np.empty(0))
        mean = np.moveaxis(term.values.mean(axis=0), axis, 0)[:n].reshape(n, -1, term.values.shape[-1])
        weight = np.moveaxis(hessian, axis, 0)[:n].reshape(n, -1)
        values, weights = list(mean), list(weight)
        last = list(range(n))  # the last cell of every step
        costs = [_measure_merge(values, weights, i) for i in range(n - 1)]
        edges, total, totals = [], 0.0, []
        while costs:
            i = int(np.argmin(costs))
            total += costs[i]
            edges.append(last[i])
            totals.append(total)
            both = weights[i] + weights[i + 1]
            share = np.divide(weights[i], both, out=np.full_like(both, 0.5), where=both > 0.0)[:, None]
            values[i] = share * values[i] + (1.0 - share) * values[i + 1]
            weights[i] = both
            last[i] = last[i + 1]
            del values[i + 1], weights[i + 1], last[i + 1], costs[i]
            for j in (i - 1, i):
                if 0 <= j < len(costs):
                    costs[j] = _measure_merge(values, weights, j)
        return cls(n, np.array(edges, dtype=np.int64), np.array(totals))

    def group(self, most_cost: float, max_steps: int | None) -> NDArray[np.int64]:
        """Return the new cell of every cell after merges of at most this cost, or more for ``max_steps`` steps."""
        n_merged = int(np.searchsorted(self.cost, most_cost, side="right"))
        if max_steps is not None and len(self.edge):
            n_merged = max(n_merged, self.n_cells - max_steps)
        is_edge = np.ones(max(self.n_cells - 1, 0), dtype=np.int64)
        is_edge[self.edge[:n_merged]] = 0
        return np.concatenate([[0], np.cumsum(is_edge)])


def _measure_merge(values: list[Floats], weights: list[Floats], i: int) -> float:
    """Return the increase of the loss, by its parabola, if step i is merged with the next one."""
    both = weights[i] + weights[i + 1]
    product = np.divide(weights[i] * weights[i + 1], both, out=np.zeros_like(both), where=both > 0.0)
    return float(0.5 * (product[:, None] * (values[i] - values[i + 1]) ** 2).sum())


def _merge_axis(
    term: TermValues, hessian: Floats, axis: int, group: NDArray[np.int64]
) -> tuple[TermValues, Floats]:
    """Merge cells of an axis; the value of a step is the mean of its cells, weighted by their Hessians."""
    if len(group) == group.max() + 1:
        return term, hessian
    starts = np.append(
        np.flatnonzero(np.diff(group, prepend=-1)), len(group)
    )  # and the cell of missing values
    weight = hessian[None, ..., None]
    size = np.add.reduceat(np.broadcast_to(weight, term.values.shape), starts, axis=1 + axis)
    total = np.add.reduceat(weight * term.values, starts, axis=1 + axis)
    count = np.diff(np.append(starts, term.shape[axis])).reshape(
        [-1 if i == axis else 1 for i in range(hessian.ndim)]
    )
    plain = np.add.reduceat(term.values, starts, axis=1 + axis) / count[None, ..., None]
    values = np.where(size > 0.0, total / np.where(size > 0.0, size, 1.0), plain)
    axes = list(term.axes)
    axes[axis] = axes[axis].merge(group)
    return TermValues(tuple(axes), values), np.add.reduceat(hessian, starts, axis=axis)
