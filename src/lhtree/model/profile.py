"""A summary of the training table: shares of bins and categories, with which new rows are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tables.encoders import Levels
from ..tables.encoding import Encoding
from ..tables.rows import EncodedRows
from .joint import JointSpread

if TYPE_CHECKING:
    from .model import Model

CategoryCounts = dict[
    int, tuple[NDArray[np.int64], int]
]  # by column: rows of every category, and missing ones
MOST_COLUMNS = 1000  # tables with more have no profile: it would be larger than many models
_MOST_ROWS = 2000  # of the sample that bins are learned from
_N_BINS = 10
_MOST_CATEGORIES = 50
_DIGITS = 6  # of shares


class ColumnProfile(NamedTuple):
    """Distribution of a column, or of the score, in the training table."""

    missing: float  # share of the rows
    edges: tuple[float, ...]  # numbers: upper ends of all bins but the last
    shares: tuple[float, ...]  # of bins, or of categories and all others, among values that are not missing
    codes: tuple[int, ...] = ()  # categories: the most frequent, as numbers in the encoding

    def count_rows(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return counts of rows by bin, then of missing values; ``values`` are numbers, or codes of categories."""
        if values.dtype.kind == "f":
            known = values[~np.isnan(values)]
            places = np.searchsorted(np.array(self.edges), known)
        else:
            known = values[values >= 0]
            place = np.full(max(int(known.max(initial=0)), *self.codes, 0) + 1, len(self.codes))
            place[list(self.codes)] = np.arange(len(self.codes))
            places = place[known]
        n_bins = len(self.shares)
        return np.append(np.bincount(places, minlength=n_bins)[:n_bins], len(values) - len(known))


class TableProfile(NamedTuple):
    """Summary of the training table."""

    n_rows: int  # that numbers and scores were sampled from it
    columns: tuple[ColumnProfile | None, ...]  # None: a column that the model ignores
    score: ColumnProfile

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the header of a model file."""
        columns = [None if one is None else _to_dict(one) for one in self.columns]
        return {"n_rows": self.n_rows, "columns": columns, "score": _to_dict(self.score)}

    @classmethod
    def from_dict(cls, header: dict[str, Any]) -> TableProfile:
        """Read the plain values of a header."""
        columns = tuple(None if one is None else _from_dict(one) for one in header["columns"])
        return cls(header["n_rows"], columns, _from_dict(header["score"]))


def _to_dict(column: ColumnProfile) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in column._asdict().items()
    }


def _from_dict(column: dict[str, Any]) -> ColumnProfile:
    return ColumnProfile(column["missing"], *(tuple(column[name]) for name in ("edges", "shares", "codes")))


class Profiler:
    """Learns the profile: columns before trees are grown, the score afterwards.

    Parameters
    ----------
    encoding : Encoding
        The encoding of the columns.
    rows : EncodedRows
        The sample of rows that scales are learned from. It does not depend on where rows are stored.
    counts : mapping
        By column of categories, the rows of every category of the encoder, and the missing ones.
    """

    def __init__(
        self, encoding: Encoding, rows: EncodedRows, counts: Mapping[int, tuple[NDArray[np.int64], int]]
    ) -> None:
        self._rows: EncodedRows | None = None
        self._columns: tuple[ColumnProfile | None, ...] = ()
        if encoding.n_columns > MOST_COLUMNS:
            return
        self._rows = rows.thin(_MOST_ROWS)
        columns: list[ColumnProfile | None] = [None] * encoding.n_columns
        for column, (own, n_missing) in counts.items():
            columns[column] = _profile_categories(own, n_missing)
        numbers = {
            column: values
            for column, values in list_columns(encoding, self._rows)
            if encoding.encoders[column].categories is None
        }
        if numbers:
            for column, profile in zip(numbers, _profile_columns(np.array([*numbers.values()])), strict=True):
                columns[column] = profile
        self._columns = tuple(columns)

    def finish(self, model: Model) -> TableProfile | None:
        """Return the profile with the scores of the sampled rows; None of a table with very many columns."""
        if self._rows is None:
            return None
        score = profile_numbers(find_scores(model, self._rows))
        return TableProfile(len(self._rows), self._columns, score)

    def find_joint(self, model: Model) -> JointSpread | None:
        """Return how the sampled rows spread jointly."""
        return None if self._rows is None else JointSpread.learn(model, self._rows)


def find_scores(model: Model, rows: EncodedRows) -> NDArray[np.float64]:
    """Return the score of every row: the probability of the positive class, else of the second of two classes.

    Without either, it is the largest probability; for a regression, the prediction, or the mean of several.
    """
    if not model.labels:
        values = np.asarray(rows.score(getattr(model.scorer, model.head.predicts), 1), dtype=np.float64)
        return values if values.ndim == 1 else values.mean(axis=1)
    proba: NDArray[np.float64] = rows.score(model.scorer.proba, 1)
    code = 1 if model.positive is None and model.n_classes == 2 else model.positive
    return proba.max(axis=1) if code is None else proba[:, code]


def list_columns(encoding: Encoding, rows: EncodedRows) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the columns of encoded rows: numbers as floats, categories as codes, -1 where missing or not known."""
    for first, values, n_levels in rows.columns():
        column = int(encoding.column[first])
        encoder, own = encoding.encoders[column], encoding.features_of(column)
        if n_levels:
            yield column, values
        elif first == own.start and isinstance(encoder, Levels):
            codes = encoder.recall(rows.transpose(own).T)
            yield column, np.where(codes < len(encoder.categories), codes, -1)
        elif first == own.start:
            yield column, values


def profile_numbers(values: NDArray[Any]) -> ColumnProfile:
    """Return the shares of about ten bins with as many values each; equal values are in one bin."""
    return _profile_columns(np.array([values]))[0]


def _profile_columns(columns: NDArray[Any]) -> list[ColumnProfile]:
    """Return the profiles of numbers, shape (n_columns, n); sorts the columns in place."""
    columns.sort(axis=1)  # missing values are last
    n_rows = columns.shape[1]
    n_known = n_rows - np.isnan(columns).sum(axis=1)
    places = np.arange(1, _N_BINS + 1) * n_known[:, None] // _N_BINS
    places[:, -1] -= 1  # the largest value
    ends = np.take_along_axis(columns, np.maximum(places, 0), axis=1).astype(np.float64)
    is_edge = ends < ends[:, -1:]
    is_edge[:, 1:] &= ends[:, 1:] != ends[:, :-1]
    profiles = []
    for known, edges, n_own in zip(columns, map(np.compress, is_edge, ends), n_known.tolist(), strict=True):
        if not n_own:
            profiles.append(ColumnProfile(1.0, (), (1.0,)))
            continue
        below = [0, *known[:n_own].searchsorted(edges, side="right").tolist(), n_own]
        shares = np.array([upper - lower for lower, upper in pairwise(below)]) / n_own
        missing = round(1.0 - n_own / n_rows, _DIGITS)
        profiles.append(ColumnProfile(missing, tuple(edges.tolist()), tuple(shares.round(_DIGITS).tolist())))
    return profiles


def _profile_categories(counts: NDArray[np.int64], n_missing: int) -> ColumnProfile:
    order = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
    total = max(int(counts.sum()), 1)
    shares = np.append(counts[order], counts.sum() - counts[order].sum()) / total
    missing = round(n_missing / max(int(counts.sum()) + n_missing, 1), _DIGITS)
    return ColumnProfile(missing, (), tuple(shares.round(_DIGITS).tolist()), tuple(order.tolist()))


def count_categories(encoding: Encoding, columns: Any) -> CategoryCounts:
    """Return the rows of every category of the encoder, and the missing ones, from the summaries of the columns."""
    return {
        number: (summary.count(encoder), summary.n_missing)
        for number, (encoder, summary) in enumerate(zip(encoding.encoders, columns, strict=True))
        if isinstance(encoder, Levels)
    }
