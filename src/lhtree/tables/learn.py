"""Learn how the columns of a table become features."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import check_count, is_integer, refuse
from .columns import Category, Column, Refusal, refuse_columns
from .encoders import Dropped, LevelNumbers, Numbers, OneHot, Treatment
from .encoding import Encoding
from .errors import TableError, TableWarning, find_nearest
from .frames import refuse_infinity, take_table
from .normalise import Span
from .rows import CodedRows, Encoded, KeyedSample

_MAX_ONE_HOT = 20
_MOST_NAMES = 50  # up to this many categories never count as names of the rows
_FEWEST_GAPS = 5  # missing values that an indicator needs
_CALLER = 6  # who called fit
_NAMING = 0.9  # share of the rows that have a category of their own


def learn_encoding(
    X: Any,
    categorical_features: Any,
    sample_weight: Any = None,
    *,
    max_one_hot: int = _MAX_ONE_HOT,
    missing_indicator: bool = False,
    owner: str = "LHTClassifier",
) -> Encoding:
    """How the columns of a table become features.

    Parameters
    ----------
    X : table of shape (n, n_columns)
        Anything that ``take_table`` takes.
    categorical_features : "from_dtype", None or list
        As for the estimators.
    sample_weight : array-like of shape (n,), optional
        Rows of weight 0 bring no categories.
    max_one_hot : int
        A column of more categories becomes the number of its category, which ``cross_fit`` makes a target statistic.
    missing_indicator : bool
        Whether columns of numbers with missing values get a feature for them.
    owner : str
        Who asks, for messages.

    Returns
    -------
    Encoding
    """
    check_count("max_one_hot", max_one_hot, 0)
    X = take_table(X, owner)
    names = X.names
    by_type = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    if (by_type or categorical_features is None) and X.holds_numbers():
        plain = Encoding.plain(X.n_columns, names)
        if not missing_indicator:
            return plain
        array = plain.encode(X, owner=owner)
        is_kept = _find_kept(sample_weight, len(array))
        treatments = [_treat_numbers(array[:, column], is_kept) for column in range(array.shape[1])]
        return check_features(Encoding(plain.names, tuple(treatments), plain.has_names))
    columns = X.columns()
    chosen = choose_columns(columns, categorical_features)
    is_kept = _find_kept(sample_weight, len(columns[0]))
    refuse_unusable(columns, chosen)
    treatments = []
    for number, column in enumerate(columns):
        if number in chosen:
            treatments.append(_treat_categories(column, is_kept, max_one_hot))
        else:
            treatments.append(_treat_numbers(column.numbers(), is_kept) if missing_indicator else Numbers())
    told = names or [f"x{number}" for number in range(len(columns))]
    return check_features(Encoding(tuple(told), tuple(treatments), names is not None))


def refuse_unusable(columns: Sequence[Column], chosen: set[int]) -> None:
    """One error lists all columns that cannot be used."""
    refused: list[Refusal] = []
    for number, column in enumerate(columns):
        refusal = column.find_refusal(is_category=number in chosen)
        if refusal is None and number not in chosen and column.kind == "categories":
            remedy = "name it there, or pass categorical_features='from_dtype'"
            reason = "holds text or categories, and categorical_features does not name it"
            refusal = Refusal(column, reason, remedy, {})
        refused += [] if refusal is None else [refusal]
    if refused:
        raise refuse_columns(refused)


def _treat_categories(column: Column, is_kept: NDArray[np.bool_] | None, max_one_hot: int) -> Treatment:
    """The treatment of a column of categories, by how many of them the rows kept have."""
    codes, known = column.categories()
    if is_kept is not None:
        codes = codes[is_kept]
    n_rows = np.bincount(codes[codes >= 0], minlength=len(known))
    found = [known[code] for code in np.flatnonzero(n_rows)]
    return treat_counts(column.origin, column.title, found, int(n_rows.sum()), max_one_hot)


def treat_counts(
    origin: str, title: str, found: Sequence[Category], n_rows: int, max_one_hot: int
) -> Treatment:
    """The treatment of a column of these categories, by how many there are in how many rows."""
    if len(found) > max(_MOST_NAMES, _NAMING * n_rows):
        warnings.warn(
            f"{origin}: {title} has {len(found):,} categories in {n_rows:,} rows, so it names rows "
            "and is ignored: drop it, or merge its categories.",
            TableWarning,
            stacklevel=_CALLER,
        )
        return Dropped()
    return OneHot(tuple(found)) if len(found) <= max_one_hot else LevelNumbers(tuple(found))


def _treat_numbers(numbers: NDArray[Any], is_kept: NDArray[np.bool_] | None) -> Treatment:
    """Numbers, with an indicator where enough of the rows kept have a number and enough have none."""
    is_missing = np.isnan(numbers if is_kept is None else numbers[is_kept])
    return Numbers(has_indicator=has_gaps(int(is_missing.sum()), len(is_missing)))


def has_gaps(n_missing: int, n_rows: int) -> bool:
    """Whether enough rows of a column have a number, and enough have none."""
    return min(n_missing, n_rows - n_missing) >= _FEWEST_GAPS


def _find_kept(sample_weight: Any, n_rows: int) -> NDArray[np.bool_] | None:
    """Which rows have weight; None for all, and for invalid weights, which are reported elsewhere."""
    try:
        weight = np.asarray(sample_weight)
    except ValueError:  # rows of different lengths
        return None
    return weight != 0 if weight.dtype.kind in "biuf" and weight.shape == (n_rows,) else None


def choose_columns(columns: Sequence[Column], categorical_features: Any) -> set[int]:
    """Indices of the columns of categories: by their types, or listed by name, by index or by a mask."""
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return {number for number, column in enumerate(columns) if column.kind == "categories"}
    if categorical_features is None:
        return set()
    remedy = "'from_dtype', None, or a list of column names, of column indices or of one bool per column"
    if isinstance(categorical_features, str) or not hasattr(categorical_features, "__iter__"):
        raise refuse("categorical_features", categorical_features, remedy)
    listed = list(categorical_features)
    if listed and all(isinstance(flag, (bool, np.bool_)) for flag in listed):
        if len(listed) != len(columns):
            raise refuse(
                "categorical_features",
                categorical_features,
                f"a mask with one value for each of the {len(columns)} columns",
            )
        return set(np.flatnonzero(listed).tolist())
    names = [column.name for column in columns]
    chosen = set()
    for each in listed:
        if isinstance(each, str):
            if each not in names:
                texts = [name for name in names if isinstance(name, str)]
                hint = find_nearest(each, texts) if texts else "the columns of X have no names"
                raise refuse(
                    "categorical_features",
                    categorical_features,
                    f"names of columns: {each!r} is not one ({hint})",
                )
            chosen.add(names.index(each))
        elif is_integer(each) and -len(columns) <= each < len(columns):
            chosen.add(range(len(columns))[each])
        else:
            raise refuse("categorical_features", categorical_features, f"{remedy}: {each!r} is not a column")
    return chosen


def check_features(encoding: Encoding) -> Encoding:
    """Check that feature names are unique and that there is at least one."""
    seen: set[str] = set()
    for name in encoding.feature_names:
        if name in seen:
            raise TableError(
                f"X: two features would both be named {name!r}: rename a column or merge the categories."
            )
        seen.add(name)
    if not seen:
        raise TableError(
            "X: no column is left: pass at least one column with values, other than names of the rows."
        )
    return encoding


Kept = NDArray[np.int64] | None  # places of the rows that count in a batch; None: all


class Survey:
    """A pass over a table in batches, of which only rows of the sample are remembered.

    Parameters
    ----------
    categorical_features : "from_dtype", None or list
        As for the estimators.
    seed : int
        That of the sample.
    as_categories : set of str, optional
        Of a file: the columns that hold categories.
    missing_indicator : bool
        Whether columns of numbers with missing values get a feature for them.
    """

    def __init__(
        self,
        categorical_features: Any,
        seed: int,
        as_categories: set[str] | None = None,
        *,
        missing_indicator: bool = False,
    ) -> None:
        self._wanted, self._as_categories = categorical_features, as_categories
        self._has_indicators = missing_indicator
        self.sample = KeyedSample(seed)
        self.n_rows = 0
        self._names: list[str] | None = None
        self._columns: list[_Column] = []
        self._is_first, self._is_array = True, False
        self._arrays: list[NDArray[Any]] = []  # of the sample, where batches are arrays of numbers
        self._span = Span.unknown(0)

    def add(self, X: Any, kept: Kept) -> None:
        """Look at the next batch, a result of ``take_table``; rows that are not kept do not count."""
        names, n_columns = X.names, X.n_columns
        is_array = X.names is None and X.holds_numbers() and self._takes_types
        if self._is_first:
            self._names, self._is_array, self._n_columns = names, is_array, n_columns
            self._span, self._n_missing = Span.unknown(n_columns), np.zeros(n_columns, dtype=np.int64)
        elif (names, is_array, n_columns) != (self._names, self._is_array, self._n_columns):
            raise TableError("X: batches differ in their columns: give all of them the same names and types.")
        self._add_array(X.array(), kept) if is_array else self._add_columns(X, kept)
        self._is_first = False
        stays = self.sample.prune()
        if stays is not None:
            self._keep(stays)

    @property
    def _takes_types(self) -> bool:
        wanted = self._wanted
        return wanted is None or (isinstance(wanted, str) and wanted == "from_dtype")

    def _add_array(self, X: NDArray[Any], kept: Kept) -> None:
        rows = X if kept is None else X[kept]
        span = self._span.widen(rows) if len(rows) else self._span
        if np.isinf(span.low).any() or np.isinf(span.high).any():
            given = np.arange(self.n_rows, self.n_rows + len(X))
            refuse_infinity(rows, given if kept is None else given[kept])
        self._span = span
        self._n_missing += np.isnan(rows).sum(axis=0)
        self._arrays.append(rows[self.sample.offer(len(rows))])
        self.n_rows += len(rows)

    def _add_columns(self, X: Any, kept: Kept) -> None:
        columns = X.columns()
        chosen = self._choose(columns)
        if self._is_first:
            self._columns = [_Column() for _ in columns]
        refuse_unusable(columns, chosen)
        n_rows = len(columns[0]) if kept is None else len(kept)
        sampled = self.sample.offer(n_rows)
        for number, (column, known) in enumerate(zip(columns, self._columns, strict=True)):
            known.add(column, kept, sampled, is_category=number in chosen)
        self.n_rows += n_rows

    def _choose(self, columns: Sequence[Column]) -> set[int]:
        if self._as_categories is not None:
            return {number for number, column in enumerate(columns) if column.name in self._as_categories}
        return choose_columns(columns, self._wanted)

    def _keep(self, stays: NDArray[np.int64]) -> None:
        if self._is_array:
            self._arrays = [np.concatenate(self._arrays)[stays]]
        for column in self._columns:
            column.keep(stays)

    def finish(self, max_one_hot: int) -> Encoding:
        """How columns become features, once all batches are added; the sample is complete."""
        stays = self.sample.prune(is_last=True)
        if stays is not None:
            self._keep(stays)
        if self._is_array and not self._has_indicators:
            return Encoding.plain(self._n_columns, self._names)
        names = self._names or [f"x{number}" for number in range(self._n_columns)]
        is_text = self._as_categories is not None
        treatments = [column.treat(max_one_hot, is_text=is_text) for column in self._columns]
        n_missing = self._n_missing if self._is_array else [column.n_missing for column in self._columns]
        if self._is_array:
            treatments = [Numbers()] * self._n_columns
        if self._has_indicators:
            treatments = [
                Numbers(has_gaps(int(n), self.n_rows)) if isinstance(treatment, Numbers) else treatment
                for treatment, n in zip(treatments, n_missing, strict=True)
            ]
        return check_features(Encoding(tuple(names), tuple(treatments), self._names is not None))

    def sampled(self, encoding: Encoding) -> Encoded:
        """The rows of the sample, with numbers of categories in place of their statistics."""
        if self._is_array:
            return encoding.code(np.concatenate(self._arrays))
        numbers, codes = [], []
        for column, treatment in zip(self._columns, encoding.treatments, strict=True):
            if isinstance(treatment, OneHot) and treatment.n_features:
                codes.append(column.codes(treatment))
            elif isinstance(treatment, LevelNumbers):
                own = column.codes(treatment)
                numbers.append(np.where(own < 0, np.nan, own))
            elif isinstance(treatment, Numbers):
                numbers.append(column.numbers())
                if treatment.has_indicator:
                    numbers.append(np.isnan(numbers[-1]).astype(np.float64))
        n_sampled = len(self.sample.rows)
        X = np.stack(numbers, axis=1) if numbers else np.empty((n_sampled, 0))
        if not codes:
            return X
        return CodedRows(X, np.stack(codes, axis=1).astype(np.int32), encoding.levels)

    def count_missing(self) -> dict[str, int]:
        """Missing values by column, where there are any."""
        pairs = zip(self._names or (), self._columns, strict=False)
        return {name: column.n_missing for name, column in pairs if column.n_missing}

    def span(self, encoding: Encoding) -> Span:
        """Ranges of all features; unknown of columns that become statistics."""
        span = Span.unknown(encoding.n_features)
        for number, treatment in enumerate(encoding.treatments):
            own = encoding.features_of(number)
            if isinstance(treatment, Numbers):  # an indicator is 0 in some rows and 1 in others
                low, high = self._find_range(number)
                span.low[own] = [low, 0.0][: treatment.n_features]
                span.high[own] = [high, 1.0][: treatment.n_features]
            elif isinstance(treatment, OneHot) and treatment.n_features:
                counts = self._columns[number].count(treatment)
                span.low[own], span.high[own] = counts == counts.sum(), counts > 0
        return span

    def _find_range(self, number: int) -> tuple[float, float]:
        if self._is_array:
            return float(self._span.low[number]), float(self._span.high[number])
        return self._columns[number].low, self._columns[number].high


class _Column:
    """What is known of one column so far; categories are numbered as they come."""

    def __init__(self) -> None:
        self._is_category: bool | None = None  # None: all values were missing so far
        self._place: dict[Category, int] = {}
        self._counts = np.zeros(0, dtype=np.int64)
        self._order: list[Category] | None = None  # where the type of the column gives one
        self._keeps_order = True
        self._parts: list[NDArray[Any]] = []  # of the sample: numbers, or numbers of categories
        self.low = self.high = np.nan
        self.n_missing = 0
        self._origin = self._title = ""

    def add(self, column: Column, kept: Kept, sampled: NDArray[np.int64], *, is_category: bool) -> None:
        self._origin, self._title = column.origin, column.title
        if is_category:
            codes = self._number(column, kept)
            self.n_missing += int((codes < 0).sum())
            self._parts.append(codes[sampled])
        else:
            numbers = column.numbers()
            numbers = numbers if kept is None else numbers[kept]
            self.n_missing += int(np.isnan(numbers).sum())
            self.low = float(np.fmin(self.low, np.fmin.reduce(numbers, initial=np.nan)))
            self.high = float(np.fmax(self.high, np.fmax.reduce(numbers, initial=np.nan)))
            self._parts.append(numbers[sampled])
        if is_category or not np.isnan(self.low):
            if self._is_category not in (None, is_category):
                raise TableError(
                    f"{column.origin}: {column.title} holds numbers in some batches and text in others: make it all "
                    "text, or all numbers."
                )
            self._is_category = is_category

    def _number(self, column: Column, kept: Kept) -> NDArray[np.int64]:
        codes, known = column.categories()
        codes = codes if kept is None else codes[kept]
        if self._order is None:
            self._order = list(known)
        self._keeps_order = self._keeps_order and column.keeps_order and self._order == known
        counts = np.bincount(codes[codes >= 0], minlength=len(known))
        table = np.full(len(known) + 1, -1)
        for number in np.flatnonzero(counts):
            table[number] = self._place.setdefault(known[number], len(self._place))
        self._counts = np.concatenate(
            [self._counts, np.zeros(len(self._place) - len(self._counts), dtype=np.int64)]
        )
        np.add.at(self._counts, table[:-1][counts > 0], counts[counts > 0])
        return table[codes]

    def keep(self, stays: NDArray[np.int64]) -> None:
        self._parts = [self._join()[stays]]

    def _join(self) -> NDArray[Any]:
        return np.concatenate(self._parts)

    def treat(self, max_one_hot: int, *, is_text: bool) -> Treatment:
        if not self._is_category:
            return Numbers()
        found = list(self._place)
        if is_text:  # as tables from files are ordered and stored
            found = sorted(str(category) for category in found)
        elif self._keeps_order and self._order is not None:
            found = [category for category in self._order if category in self._place]
        else:
            found.sort(key=lambda category: (isinstance(category, str), category))
        return treat_counts(self._origin, self._title, found, int(self._counts.sum()), max_one_hot)

    def numbers(self) -> NDArray[np.float64]:
        numbers: NDArray[np.float64] = self._join().astype(np.float64)
        return numbers

    def _renumber(self, treatment: OneHot | LevelNumbers) -> NDArray[np.int64]:
        """The final number of every category, and -1 for a missing one."""
        place = {category: number for number, category in enumerate(treatment.categories)}
        own = [place[one] if one in place else place[str(one)] for one in self._place]
        return np.array([*own, -1], dtype=np.int64)

    def codes(self, treatment: OneHot | LevelNumbers) -> NDArray[np.int64]:
        joined = self._join()
        # Batches in which all values were missing came as numbers.
        codes: NDArray[np.int64] = np.nan_to_num(joined, nan=-1.0).astype(np.int64)
        return self._renumber(treatment)[codes]

    def count(self, treatment: OneHot | LevelNumbers) -> NDArray[np.int64]:
        counts = np.zeros(len(treatment.categories), dtype=np.int64)
        counts[self._renumber(treatment)[:-1]] = self._counts
        return counts
