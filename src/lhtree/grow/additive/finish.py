"""The finished terms: means of the bags, centred, with edges in the user's units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...model.terms import AdditiveTerm, TermAxis, normalise_values
from ...tables.normalise import Normalisation
from ..rounding import shorten_between
from ..sources import Sample
from .bags import Axis, Bags, TermValues

Floats = NDArray[np.float64]

_N_DIGITS = 14  # of the largest value


def average_bags(bags: Bags, terms: list[TermValues], edges: Edges) -> tuple[list[AdditiveTerm], Floats]:
    """Return the means of all bags, centred, and the base."""
    base = bags.base.copy()
    if not terms:  # no column has two values: a curve of zeros
        zeros, weight = np.zeros((2, bags.n_scores)), np.array([float(len(bags.fold)), 0.0])
        return [AdditiveTerm((TermAxis(0, np.empty(0)),), zeros, zeros, weight)], base
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
            AdditiveTerm(
                tuple(edges.place(axis) for axis in term.axes),
                _expand(term.axes, mean),
                _expand(term.axes, band),
                _share(term.axes, weight),
            )
        )
    return final, base - base.mean() if bags.n_scores > 1 else base


def round_terms(terms: list[AdditiveTerm]) -> list[AdditiveTerm]:
    """Round all values to the same number of decimals, so that tables, formulas and SQL can print them exactly."""
    most = max(float(np.abs(term.values).max(initial=0.0)) for term in terms)
    if not most > 0.0:
        return terms
    # Powers as Python reads them: powers of the C library may differ in the last bit.
    decimals = min(_N_DIGITS - 1 - int(f"{most:e}".partition("e")[2]), 300)
    whole, back = float(f"1e{max(decimals, 0)}"), float(f"1e{max(-decimals, 0)}")
    return [replace(term, values=np.rint(term.values * whole / back) / whole * back) for term in terms]


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
