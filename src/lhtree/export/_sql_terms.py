"""Additive models in SQL: one CASE expression per curve in the user's units, nested ones for surfaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..describe.curves import find_edges
from ..model.model import Model
from ..model.terms import AdditiveTerm, TermAxis, normalise_values, read_terms
from ..tables.encoders import LEVEL
from ._sql_query import (
    Query,
    quote_distinct,
    read_category,
    read_features,
    write_label,
    write_real,
    write_short,
)

Floats = NDArray[np.float64]


def score_terms(query: Query, fitted: Model, keys: Sequence[str]) -> list[str]:
    """Add the sums raw0, raw1, ... of the terms and return the names of the columns to pass on."""
    terms = read_terms(fitted)
    columns = _Columns(fitted, terms, len(keys), query.dialect)
    passed = columns.read(query, keys)
    names = _name_terms(fitted, terms, len(keys), query.dialect)
    n_targets = fitted.n_targets
    values = (columns.write(term, target) for term in terms for target in range(n_targets))
    query.add("terms", [*passed, *(f"{value} AS {name}" for value, name in zip(values, names, strict=True))])
    assert fitted.base is not None
    bases = [write_real(float(base), query.dialect) for base in fitted.base]
    sums = [" + ".join([base, *names[target::n_targets]]) for target, base in enumerate(bases)]
    query.add("sums", [*passed, *(f"{total} AS raw{target}" for target, total in enumerate(sums))])
    return passed


class _Columns:
    """The columns that terms read, and their conditions.

    The model compares values that it normalises to float32, so values just below an edge count as the edge. The query
    replaces those by the edge first, so that comparisons with the short decimals of the edges are exact.
    """

    def __init__(self, fitted: Model, terms: list[AdditiveTerm], n_keys: int, dialect: str) -> None:
        self._fitted, self._dialect = fitted, dialect
        self._edges: dict[
            int, dict[float, tuple[float, float]]
        ] = {}  # by feature and edge: in units, and least x
        self._levels: dict[int, int] = {}  # by the first feature: the column
        for axis in (axis for term in terms for axis in term.axes):
            if axis.n_levels:
                self._levels[axis.feature] = int(fitted.encoding.column[axis.feature])
            else:
                found = _find_bounds(fitted, axis)
                self._edges.setdefault(axis.feature, {}).update(zip(axis.edges.tolist(), found, strict=True))
        used = {f: fitted.feature_names[f] for f in self._edges}
        used |= {f: fitted.column_names[column] for f, column in self._levels.items()}
        self._names = dict(zip(used, _quote(list(used.values()), "c", n_keys, dialect), strict=True))

    def read(self, query: Query, keys: Sequence[str]) -> list[str]:
        """Add the columns under their names; return the names of the keys and is_infinite."""
        fitted, dialect = self._fitted, self._dialect
        numbers = [
            f
            for f, column in enumerate(fitted.encoding.column.tolist())
            if fitted.encoding.encoders[column].features[0] != LEVEL
        ]
        categories = [
            f"{read_category(fitted.column_names[column], fitted.encoding.categories[column] or (), dialect)} "
            f"AS {self._names[f]}"
            for f, column in self._levels.items()
        ]
        passed, is_infinite = read_features(query, fitted, keys, numbers, categories)
        snapped = [f"{self._snap(f)} AS {self._names[f]}" for f in self._edges]
        kept = [self._names[f] for f in self._levels]
        query.add("columns", [*passed, is_infinite, *snapped, *kept])
        return [*passed, "is_infinite"]

    def _snap(self, feature: int) -> str:
        whens = [
            f"WHEN x{feature}>={write_real(least, self._dialect)} AND x{feature}<{write_real(edge, self._dialect)} "
            f"THEN {write_real(edge, self._dialect)}"
            for edge, least in sorted(self._edges[feature].values())
            if least < edge
        ]
        return f"CASE {' '.join(whens)} ELSE x{feature} END" if whens else f"x{feature}"

    def write(self, term: AdditiveTerm, target: int) -> str:
        """Return the value of a term as a CASE expression, one inside another for a surface."""

        def write_cells(axis: int, before: tuple[int, ...], indent: str) -> str:
            if axis == len(term.axes):
                return write_real(float(term.values[(*before, target)]), self._dialect)
            return self._choose(
                term.axes[axis], lambda cell: write_cells(axis + 1, (*before, cell), indent + "  "), indent
            )

        return write_cells(0, (), "")

    def _choose(self, axis: TermAxis, write_cell: Callable[[int], str], indent: str) -> str:
        """Return the CASE expression of an axis; its last cell is that of missing values."""
        name, last = self._names[axis.feature], axis.n_cells - 1
        if axis.n_levels:
            known = self._fitted.encoding.categories[self._levels[axis.feature]] or ()
            conditions = [f"{name} = {write_label(category, self._dialect)}" for category in known]
            cells = [*range(axis.n_levels), last]
        else:
            edges = [self._edges[axis.feature][edge][0] for edge in axis.edges.tolist()]
            conditions = [
                f"{name} IS NULL",
                *(f"{name} < {write_short(edge, self._dialect)}" for edge in edges),
            ]
            cells = [last, *range(last)]
        lines = [
            f"{indent}  WHEN {condition} THEN {write_cell(cell)}"
            for condition, cell in zip(conditions, cells[:-1], strict=True)
        ]
        return "\n".join(["CASE", *lines, f"{indent}  ELSE {write_cell(cells[-1])}", f"{indent}END"])


def _quote(names: list[str], letter: str, n_keys: int, dialect: str) -> list[str]:
    taken = [*(f"k{i}" for i in range(n_keys)), *(f"x{f}" for f in range(len(names)))]
    return quote_distinct(names, letter, taken, dialect)


def _name_terms(fitted: Model, terms: list[AdditiveTerm], n_keys: int, dialect: str) -> list[str]:
    """Return the names of the terms, by term and target: the names of their columns."""
    names = []
    for term in terms:
        own = " × ".join(
            fitted.column_names[int(fitted.encoding.column[axis.feature])]
            if axis.n_levels
            else fitted.feature_names[axis.feature]
            for axis in term.axes
        )
        names += [f"{own}, {label}" for label in fitted.labels] if fitted.n_targets > 1 else [own]
    return _quote(names, "t", n_keys, dialect)


def _find_bounds(fitted: Model, axis: TermAxis) -> list[tuple[float, float]]:
    """Return every edge in the user's units, and the least float64 that the model takes for it.

    Blocks of one feature read values that are not clipped to ``fitted.clip``, so edges may lie beyond it.
    """
    centre, scale = (float(array[axis.feature]) for array in fitted.normalisation)

    low = np.full(len(axis.edges), _rank(-np.finfo(np.float64).max))
    high = np.full(len(axis.edges), _rank(np.finfo(np.float64).max))
    while (low < high - 1).any():  # z of low is below the edge, that of high is not
        middle = (low >> 1) + (high >> 1) + (low & high & 1)  # the sum could overflow
        is_above = normalise_values(_unrank(middle), centre, scale) >= axis.edges
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    least, short = _unrank(high), find_edges(fitted, axis)
    edges = np.where((short >= least) & (normalise_values(short, centre, scale) == axis.edges), short, least)
    return list(zip(edges.tolist(), least.tolist(), strict=True))


def _rank(value: float) -> int:
    """Return the place of a float64 among all, as a whole number."""
    bits = int(np.float64(value).view(np.int64))
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def _unrank(ranks: NDArray[np.int64]) -> Floats:
    sizes = np.abs(ranks).view(np.float64)
    return np.where(ranks < 0, -sizes, sizes)
