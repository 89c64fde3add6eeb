"""A summary of the training table: shares of bins and categories, and joint spread, with which rows are compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..tables.encoders import Levels
from ..tables.encoding import Encoding
from ..tables.rows import EncodedRows

if TYPE_CHECKING:
    from .model import Model

MOST_FEATURES = 100  # a model with more has no joint spread: it would be larger than many models
_MOST_JOINT = 500  # of the sample
_LEAST_ROWS = 20
_UNIT = 16.0  # normalised values are rounded to steps of 1/16, so that sums are exact in any order
_FAR = 5.0  # limit of normalised values
_SHARE = 0.99  # of the sampled rows that are plausible
_LEAST_VARIANCE = 0.01  # in steps
_ROWS_AT_ONCE = 64  # so few that products of matrices start no threads

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointSpread:
    """Sums and products of the features of sampled training rows, in steps of 1/16 of their scales.

    A row is plausible if its Mahalanobis distance from the mean is at most ``limit``, that of 99 % of the sampled rows.
    Missing values count as the centre. The covariance is shrunk towards its diagonal by m / (m + n) for m features and
    n rows.
    """

    n_rows: int
    sums: NDArray[np.int64]
    products: NDArray[np.int64]  # lower triangle, row by row
    limit: float

    @classmethod
    def learn(cls, model: Model, rows: EncodedRows) -> JointSpread | None:
        """Return the spread of training rows; None of few rows or very many features."""
        if model.n_features > MOST_FEATURES or len(rows) < _LEAST_ROWS:
            return None
        steps = _find_steps(model, rows.thin(_MOST_JOINT).expand())
        n_rows, sums, products = len(steps), steps.sum(axis=0), steps.T @ steps
        distances = _measure(steps - sums / n_rows, _invert(n_rows, sums, products))
        place = math.ceil(_SHARE * n_rows) - 1
        limit = math.ceil(100.0 * float(np.partition(distances, place)[place])) / 100.0
        lower = products[_find_lower(len(sums))]
        return cls(n_rows, sums.astype(np.int64), lower.astype(np.int64), limit)

    @cached_property
    def _inverse(self) -> Floats:
        """The inverse of the shrunken covariance."""
        n_features = len(self.sums)
        products = np.zeros((n_features, n_features))
        products[_find_lower(n_features)] = self.products
        products += np.tril(products, -1).T
        return _invert(self.n_rows, self.sums, products)

    def distances(self, model: Model, rows: Floats) -> Floats:
        """Return the Mahalanobis distance of encoded rows from the mean of the training rows."""
        return _measure(_find_steps(model, rows) - self.sums / self.n_rows, self._inverse)


def _find_steps(model: Model, rows: NDArray[Any]) -> Floats:
    """Return the normalised values of encoded rows in whole steps; 0 where they are missing."""
    with np.errstate(over="ignore"):
        normalised = rows / model.normalisation.scale - model.normalisation.centre / model.normalisation.scale
    steps = np.rint(_UNIT * np.clip(normalised, -_FAR, _FAR))
    steps[np.isnan(steps)] = 0.0
    return steps


def _invert(n_rows: int, sums: NDArray[Any], products: Floats) -> Floats:
    """Return the inverse of the shrunken covariance, which is positive definite."""
    mean, n_features = sums / n_rows, len(sums)
    covariance = products / n_rows - np.outer(mean, mean)
    variance = np.maximum(covariance.diagonal(), 0.0) + _LEAST_VARIANCE
    share = n_features / (n_features + n_rows)
    covariance *= 1.0 - share
    covariance.flat[:: n_features + 1] += share * variance
    return np.asarray(np.linalg.inv(covariance), dtype=np.float64)


def _measure(apart: Floats, inverse: Floats) -> Floats:
    """Return the Mahalanobis length of differences from the mean, shape (n, m)."""
    squares = [
        ((some @ inverse) * some).sum(axis=1)
        for some in (apart[first : first + _ROWS_AT_ONCE] for first in range(0, len(apart), _ROWS_AT_ONCE))
    ]
    return np.asarray(np.sqrt(np.maximum(np.concatenate(squares), 0.0)))


def _find_lower(n_features: int) -> NDArray[np.bool_]:
    """Return which products are stored: the lower triangle, row by row."""
    return np.tri(n_features, dtype=bool)


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


@dataclass(frozen=True, eq=False)
class TableProfile:
    """Distributions of the columns and of the score in the training table, as the arrays of model files.

    Numbers have bins, and categories a share for each of the most frequent and one for all others.
    """

    n_rows: int  # that numbers and scores were sampled from it
    is_category: tuple[bool, ...]  # of every column
    ptr: NDArray[
        np.int64
    ]  # first share of every column and of the score, which is last; a column without is ignored
    share: NDArray[np.float64]  # among values that are not missing
    bound: NDArray[
        np.float64
    ]  # upper end of every bin, or code of every category; the last of a column is infinite
    missing: NDArray[np.float64]  # share of the rows of every column and of the score

    @classmethod
    def join(
        cls, n_rows: int, columns: Sequence[ColumnProfile | None], is_category: tuple[bool, ...]
    ) -> TableProfile:
        """Return the profiles of the columns and, last, of the score as arrays."""
        n_shares = [0 if one is None else len(one.shares) for one in columns]
        shares = [share for one in columns if one is not None for share in one.shares]
        bounds = [bound for one in columns if one is not None for bound in (*one.edges, *one.codes, math.inf)]
        missing = [0.0 if one is None else one.missing for one in columns]
        ptr = np.cumsum([0, *n_shares], dtype=np.int64)
        return cls(n_rows, is_category, ptr, np.array(shares), np.array(bounds), np.array(missing))

    @cached_property
    def columns(self) -> tuple[ColumnProfile | None, ...]:
        """The profile of every column; None of a column that the model ignores."""
        return tuple(map(self._read, range(len(self.is_category)), self.is_category))

    @property
    def score(self) -> ColumnProfile:
        """The profile of the score."""
        profile = self._read(len(self.is_category), is_category=False)
        assert profile is not None  # files are checked
        return profile

    def _read(self, number: int, is_category: bool) -> ColumnProfile | None:
        own = slice(*self.ptr[number : number + 2].tolist())
        shares, bounds = tuple(self.share[own].tolist()), self.bound[own][:-1]
        if not shares:
            return None
        missing = float(self.missing[number])
        if is_category:
            return ColumnProfile(missing, (), shares, tuple(bounds.astype(np.int64).tolist()))
        return ColumnProfile(missing, tuple(bounds.tolist()), shares)


Facts: TypeAlias = tuple[TableProfile | None, JointSpread | None]


class Summary:
    """Profile of the training table and joint spread of its rows.

    After a fit, both are computed when they are first read: most models of a search are never saved nor compared with
    new rows. Until then, the summary keeps the sampled rows; files and pickles never contain them.
    """

    def __init__(
        self,
        profile: TableProfile | None,
        joint: JointSpread | None,
        later: Callable[[], Facts] | None = None,
    ) -> None:
        self._facts: Facts = profile, joint
        self._later = later

    def read(self) -> Facts:
        """Return the profile and the joint spread."""
        later = self._later
        if later is not None:
            self._facts = later()
            self._later = None  # frees the rows; last, because another thread may read at the same time
        return self._facts

    def __reduce__(self) -> tuple[Any, ...]:
        return Summary, self.read()


class Profiler:
    """Sampled training rows, from which the summary of a model is computed.

    Parameters
    ----------
    encoding : Encoding
        The encoding of the columns.
    rows : EncodedRows
        The sample of rows that scales are learned from. It does not depend on where rows are stored.
    counts : mapping
        By column of categories, the rows of every category of the encoder, and the missing ones.
    """

    def __init__(self, encoding: Encoding, rows: EncodedRows, counts: CategoryCounts) -> None:
        self._rows = None if encoding.n_columns > MOST_COLUMNS else rows.thin(_MOST_ROWS, copy=True)
        self._counts = counts

    def summarise(self, model: Model) -> Summary | None:
        """Return the summary of a model; None of a table with very many columns."""
        rows, counts = self._rows, self._counts
        if rows is None:
            return None
        return Summary(
            None, None, lambda: (_profile_table(model, rows, counts), JointSpread.learn(model, rows))
        )


def _profile_table(model: Model, rows: EncodedRows, counts: CategoryCounts) -> TableProfile:
    """Return the profile of sampled rows, with the scores of the model."""
    encoders = model.encoding.encoders
    columns: list[ColumnProfile | None] = [None] * len(encoders)
    for column, (own, n_missing) in counts.items():
        columns[column] = _profile_categories(own, n_missing)
    numbers = {
        column: values
        for column, values in list_columns(model.encoding, rows)
        if encoders[column].categories is None
    }
    if numbers:
        for column, profile in zip(numbers, _profile_columns(np.array([*numbers.values()])), strict=True):
            columns[column] = profile
    score = profile_numbers(find_scores(model, rows))
    return TableProfile.join(len(rows), [*columns, score], find_categories(model.encoding))


def find_categories(encoding: Encoding) -> tuple[bool, ...]:
    """Return which columns hold categories."""
    return tuple(encoder.categories is not None for encoder in encoding.encoders)


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
    n_columns, n_rows = columns.shape
    n_known, has_missing = np.full(n_columns, n_rows), np.isnan(columns[:, -1])
    n_known[has_missing] -= np.isnan(columns[has_missing]).sum(axis=1)
    places = np.arange(1, _N_BINS + 1) * n_known[:, None] // _N_BINS
    places[:, -1] -= 1  # the largest value
    ends = np.take_along_axis(columns, np.maximum(places, 0), axis=1).astype(np.float64)
    is_edge = ends < ends[:, -1:]
    is_edge[:, 1:] &= ends[:, 1:] != ends[:, :-1]
    below = np.repeat(n_known[:, None], _N_BINS + 1, axis=1)  # rows up to the end of every bin
    below[:, 0] = 0
    all_edges = [own[some] for own, some in zip(ends, is_edge, strict=True)]
    for known, edges, own, n_own in zip(columns, all_edges, below, n_known.tolist(), strict=True):
        own[1 : len(edges) + 1] = known[:n_own].searchsorted(edges, side="right")
    shares = (np.diff(below) / np.maximum(n_known, 1)[:, None]).round(_DIGITS)
    shares[n_known == 0, 0] = 1.0
    missing = (1.0 - n_known / n_rows).round(_DIGITS).tolist()
    return [
        ColumnProfile(lost, tuple(edges.tolist()), tuple(own[: len(edges) + 1]))
        for lost, edges, own in zip(missing, all_edges, shares.tolist(), strict=True)
    ]


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
        if encoder.categories is not None
    }
