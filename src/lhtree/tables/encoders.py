"""Column encoders: how a column becomes features, and how features become its values again.

One class per kind of column. ``learn.ColumnSummary`` decides which kind a column gets.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .columns import ArrayColumn, Category, Codes, Column, is_missing, settle
from .errors import TableError

UNSEEN_LEVEL = "(not seen in training)"  # represents such a category where a row is decoded
NUMBER, INDICATOR, LEVEL, STATISTIC = "number", "indicator", "level", "statistic"  # kinds of features
_WHOLE = re.compile(r"(-?\d+)\.0*")
_NO_ROWS = np.empty(0, dtype=np.int64)


class ColumnEncoder(ABC):
    """Encoder of one column as features.

    Attributes
    ----------
    features : tuple of str
        The kind of every feature: ``NUMBER``, ``INDICATOR``, ``LEVEL`` or ``STATISTIC``.
    categories : tuple or None
        Categories of the column, in order; None if it holds numbers.
    is_coded : bool
        Whether encoded rows store the number of the level instead of the features.
    needs_responses : bool
        Whether the features depend on the responses of the training rows.
    noun : str
        The values of the column, in messages and tables.
    comparisons : tuple of str
        Words before the share of training rows whose first feature is lower, and higher.
    """

    noun: ClassVar[str] = "numbers"
    comparisons: ClassVar[tuple[str, str]] = ("high: above", "low: below")

    categories: tuple[Category, ...] | None = None
    is_coded: ClassVar[bool] = False
    needs_responses: ClassVar[bool] = False

    @property
    @abstractmethod
    def features(self) -> tuple[str, ...]:
        """The kind of every feature."""

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features)

    @abstractmethod
    def name_features(self, column: str) -> list[str]:
        """Return the names of the features."""

    @abstractmethod
    def encode(self, column: Column, encoded: NDArray[Any]) -> Codes:
        """Write the features of the rows, or their codes; return the rows whose category was not seen in training."""

    @abstractmethod
    def decode(self, x: NDArray[Any]) -> Any:
        """Return the value that the features of a row represent; None where a category is missing."""

    def list_values(self, features: NDArray[Any]) -> NDArray[Any]:
        """Return the values that the features of rows represent: numbers, or objects."""
        return np.array([self.decode(row) for row in features], dtype=object)

    def measure(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the first feature of values of a column of numbers or dates."""
        return values

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what ``read_encoder`` takes, without the values of a target statistic."""


@dataclass(frozen=True)
class Numbers(ColumnEncoder):
    """A column of numbers: one feature and, with an indicator, a second one that is 1 where the number is missing."""

    has_indicator: bool = False

    @property
    def features(self) -> tuple[str, ...]:
        """The kind of every feature."""
        return (NUMBER, INDICATOR) if self.has_indicator else (NUMBER,)

    def name_features(self, column: str) -> list[str]:
        """Return the names of the features."""
        return [column, f"{column} is missing"][: self.n_features]

    def encode(self, column: Column, encoded: NDArray[Any]) -> Codes:
        """Write the numbers, and whether they are missing."""
        self.write(column.numbers(), encoded)
        return _NO_ROWS

    def write(self, numbers: NDArray[Any], encoded: NDArray[Any]) -> None:
        """Write the features of some numbers."""
        encoded[:, 0] = numbers
        if self.has_indicator:
            encoded[:, 1] = np.isnan(numbers)

    def decode(self, x: NDArray[Any]) -> Any:
        """Return the number."""
        return float(x[0])

    def list_values(self, features: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers."""
        return features[:, 0]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``read_encoder`` takes."""
        return {"kind": "numbers"} | ({"has_indicator": True} if self.has_indicator else {})


@dataclass(frozen=True)
class Dates(ColumnEncoder):
    """A column of dates: days before the newest training date, year, month, and weekday (1 is Monday).

    The time of day is dropped, and a date with a time zone is the date there. Where the date is missing, all features
    are NaN.

    Parameters
    ----------
    newest : int
        The newest date in training, in days since 1970-01-01.
    """

    newest: int
    noun: ClassVar[str] = "dates"
    comparisons: ClassVar[tuple[str, str]] = ("early: before", "late: after")

    @property
    def features(self) -> tuple[str, ...]:
        """The kind of every feature."""
        return (NUMBER,) * 4

    def name_features(self, column: str) -> list[str]:
        """Return the names of the features."""
        day = write_date(self.newest)
        return [
            f"{column} (days before {day})",
            *(f"{column} ({part})" for part in ("year", "month", "weekday")),
        ]

    def encode(self, column: Column, encoded: NDArray[Any]) -> Codes:
        """Write the features of the dates."""
        self.write(column.days(), encoded)
        return _NO_ROWS

    def write(self, days: NDArray[Any], encoded: NDArray[Any]) -> None:
        """Write the features of dates in days since 1970-01-01."""
        encoded[:, 0] = self.newest - days
        encoded[:, 1:] = divide_days(days)

    def decode(self, x: NDArray[Any]) -> Any:
        """Return the date as text, such as 2026-01-31; None if it is missing."""
        return None if np.isnan(x[0]) else write_date(self.newest - int(x[0]))

    def measure(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the days from dates to the newest training date."""
        return self.newest - ArrayColumn(values, "").days()

    def read_days(self, features: NDArray[Any]) -> NDArray[np.float64]:
        """Return the dates of rows in days since 1970-01-01, NaN where they are missing."""
        return np.asarray(self.newest - features[:, 0].astype(np.float64))

    def to_dict(self) -> dict[str, Any]:
        """Return what ``read_encoder`` takes."""
        return {"kind": "dates", "newest": self.newest}


@dataclass(frozen=True)
class Dropped(ColumnEncoder):
    """A column that names every row: no features."""

    @property
    def features(self) -> tuple[str, ...]:
        """No features."""
        return ()

    def name_features(self, column: str) -> list[str]:
        """Return no names."""
        return []

    def encode(self, column: Column, encoded: NDArray[Any]) -> Codes:
        """Write nothing."""
        return _NO_ROWS

    def decode(self, x: NDArray[Any]) -> Any:
        """Return None: its values are not known."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return what ``read_encoder`` takes."""
        return {"kind": "dropped"}


@dataclass(frozen=True)
class Levels(ColumnEncoder):
    """A column of categories, which are found again in every spelling; subclasses define their features."""

    categories: tuple[Category, ...] = field()
    noun: ClassVar[str] = "categories"

    @cached_property
    def _place(self) -> dict[Any, int]:
        return {category: number for number, category in enumerate(self.categories)}

    @cached_property
    def place_of_text(self) -> dict[str, int]:
        """Number of the category of every text, in the spellings of other programs."""
        spelled = {spell(str(category)): number for category, number in self._place.items()}
        return spelled | {str(category): number for category, number in self._place.items()}

    @cached_property
    def _are_texts(self) -> set[bool]:
        return {isinstance(category, str) for category in self.categories}

    def find(self, value: Any, column: Column) -> int | None:
        """Return the number of a value's category, -1 where it is missing, None where it was not seen in training.

        The value is compared as it is first, since a category may be called "-"; then as the column cleans it; then in
        the spellings of other programs.
        """
        if is_missing(value):
            return -1
        category = settle(value)
        if category in self._place:
            return self._place[category]
        cleaned = column.clean(category)
        if cleaned is None:
            return -1
        of_text = self.place_of_text
        texts = (str(category), str(cleaned), spell(str(cleaned)))
        return next((of_text[text] for text in texts if text in of_text), None)

    def find_codes(self, column: Column) -> tuple[Codes, Codes]:
        """Return the number of every row's category, -1 where missing or unseen, and the rows where it is unseen."""
        codes, found = column.distinct()
        present = np.unique(codes[codes >= 0])
        numbers = [self.find(found[code], column) for code in present]
        self._check_type(column, [found[code] for code in present])
        table = np.full(len(found) + 1, -1)
        table[present] = [-1 if number is None else number for number in numbers]
        is_unseen = np.zeros(len(found) + 1, dtype=bool)
        is_unseen[present] = [number is None for number in numbers]
        return table[codes], np.flatnonzero(is_unseen[codes])

    def _check_type(self, column: Column, found: Sequence[Any]) -> None:
        """Refuse numbers where the model has text, or the reverse, unless one of the values is known."""
        given = {isinstance(value, str) for value in found if not is_missing(value)}
        known = self._are_texts
        if given and known and not given & known and all(self.find(value, column) is None for value in found):
            raise TableError(
                f"{column.origin}: {column.title} contains {_name_type(given)}, but the model was fitted with "
                f"{_name_type(known)} such as {self.categories[0]!r}: convert the column to the type used in fit."
            )

    def encode(self, column: Column, encoded: NDArray[Any]) -> Codes:
        """Write the features or codes of the rows; return the rows whose category was not seen in training."""
        codes, unseen = self.find_codes(column)
        if not self.is_coded:
            codes[unseen] = len(self.categories)
        self.write(codes, encoded)
        return unseen

    @abstractmethod
    def write(self, codes: Codes, encoded: NDArray[Any]) -> None:
        """Write the features or codes of categories: -1 is a missing one, n_categories an unseen one."""

    @abstractmethod
    def place(self, codes: Codes) -> NDArray[np.float64]:
        """Return the features of some categories, shape (n, n_features)."""

    @abstractmethod
    def recall(self, own: NDArray[Any]) -> Codes:
        """Return the number of the category of every row of features: -1 if missing, n_categories if unseen."""

    def spread(self, most: int) -> Codes:
        """Return the numbers of at most ``most`` categories, in order."""
        return np.arange(len(self.categories))

    def decode(self, x: NDArray[Any]) -> Any:
        """Return the category that the features of a row represent; None if it is missing."""
        code = int(self.recall(x[None])[0])
        return None if code < 0 else (*self.categories, UNSEEN_LEVEL)[code]

    def list_values(self, features: NDArray[Any]) -> NDArray[Any]:
        """Return the categories of rows; None where they are missing."""
        return np.array([*self.categories, UNSEEN_LEVEL, None], dtype=object)[self.recall(features)]


@dataclass(frozen=True)
class OneHot(Levels):
    """A column of few categories: one feature for each, 1 in the rows of that category and 0 in the others.

    Where the category is missing or unseen, all of them are NaN. Encoded rows store the number of the level, -1 where
    it is missing.
    """

    is_coded: ClassVar[bool] = True

    @property
    def features(self) -> tuple[str, ...]:
        """The kind of every feature."""
        return (LEVEL,) * len(self.categories)

    def name_features(self, column: str) -> list[str]:
        """Return the names of the features, "colour = red"."""
        return [f"{column} = {category}" for category in self.categories]

    def write(self, codes: Codes, encoded: NDArray[Any]) -> None:
        """Write the levels, shape (n, 1)."""
        encoded[:, 0] = codes

    def place(self, codes: Codes) -> NDArray[np.float64]:
        """Return the features of some categories."""
        features: NDArray[np.float64] = (codes[:, None] == np.arange(len(self.categories))).astype(np.float64)
        return features

    def recall(self, own: NDArray[Any]) -> Codes:
        """Return the number of the category of every row of features, -1 where it is missing."""
        if not own.shape[1]:  # the column was missing in all training rows that have weight
            return np.full(len(own), -1)
        return np.where((own == 1.0).any(axis=1), (own == 1.0).argmax(axis=1), -1)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``read_encoder`` takes."""
        return {"kind": "one_hot", "categories": list(self.categories)}


@dataclass(frozen=True)
class LevelNumbers(Levels):
    """A column of many categories while its target statistics are not known: the feature is the number of the category.

    It is NaN where the category is missing, and the number of categories where it is unseen. No model contains it.
    """

    needs_responses: ClassVar[bool] = True

    @property
    def features(self) -> tuple[str, ...]:
        """The kind of the feature."""
        return (NUMBER,)

    def name_features(self, column: str) -> list[str]:
        """Return the name of the feature."""
        return [column]

    def write(self, codes: Codes, encoded: NDArray[Any]) -> None:
        """Write the numbers."""
        encoded[:] = self.place(codes)

    def place(self, codes: Codes) -> NDArray[np.float64]:
        """Return the numbers of some categories."""
        return np.where(codes < 0, np.nan, codes)[:, None]

    def recall(self, own: NDArray[Any]) -> Codes:
        """Return the numbers as integers."""
        codes: Codes = np.nan_to_num(own[:, 0], nan=-1.0).astype(np.int64)
        return codes

    def to_dict(self) -> dict[str, Any]:
        """Raise an error: fitting replaces it by a target statistic."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class TargetStatistic(Levels):
    """A column of many categories: one feature per target, the shrunken mean response of the category.

    An unseen category has the prior; where the category is missing, the features are NaN. The values of the first
    target are all different, so that the category can be found from them (see ``statistics.part_values``).

    Parameters
    ----------
    values : array of shape (n_targets, n_categories + 1)
        Features of every category; the last column holds the prior.
    targets : tuple of str
        Names of the targets; empty if there is only one.
    """

    needs_responses: ClassVar[bool] = True
    values: NDArray[np.float64]
    targets: tuple[str, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """The kind of every feature."""
        return (STATISTIC,) * len(self.values)

    def name_features(self, column: str) -> list[str]:
        """Return the names of the features: the column's, or "carrier → late" for several targets."""
        return [f"{column} → {target}" for target in self.targets] or [column]

    def write(self, codes: Codes, encoded: NDArray[Any]) -> None:
        """Write the features, shape (n, n_targets)."""
        encoded[:] = self.place(codes)

    def place(self, codes: Codes) -> NDArray[np.float64]:
        """Return the features of some categories, shape (n, n_targets)."""
        features: NDArray[np.float64] = np.where(codes < 0, np.nan, self.values[:, codes]).T
        return features

    def spread(self, most: int) -> Codes:
        """Return the numbers of at most ``most`` categories, evenly spaced by the statistics of every target."""
        n_levels, n_targets = len(self.categories), len(self.values)
        if n_levels <= most:
            return np.arange(n_levels)
        order = np.argsort(self.values[:, :-1], axis=1, kind="stable")
        place = np.linspace(0, n_levels - 1, max(2, most // n_targets)).round().astype(np.int64)
        return np.unique(order[:, place])

    @cached_property
    def _order(self) -> Codes:
        return np.argsort(self.values[0], kind="stable")

    def recall(self, own: NDArray[Any]) -> Codes:
        """Return the number of the category of every row of features: -1 if missing, the last one if unseen."""
        place = np.searchsorted(self.values[0], own[:, 0], sorter=self._order)
        codes = self._order[np.minimum(place, len(self._order) - 1)]
        codes[self.values[0, codes] != own[:, 0]] = len(self.categories)  # no value of a category
        codes[np.isnan(own[:, 0])] = -1
        return codes

    def to_dict(self) -> dict[str, Any]:
        """Return what ``read_encoder`` takes, without the values."""
        return {
            "kind": "target_statistic",
            "categories": list(self.categories),
            "targets": list(self.targets),
        }

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TargetStatistic)
            and (self.categories, self.targets) == (other.categories, other.targets)
            and np.array_equal(self.values, other.values)
        )

    def __hash__(self) -> int:
        return hash((self.categories, self.targets))


def read_encoder(facts: dict[str, Any], values: NDArray[np.float64] | None = None) -> ColumnEncoder:
    """Return the encoder that ``to_dict`` described; ``values`` has the statistics of a target statistic."""
    kind = facts["kind"]
    if kind == "numbers":
        return Numbers(facts.get("has_indicator", False))
    if kind == "one_hot":
        return OneHot(tuple(facts["categories"]))
    if kind == "dates":
        return Dates(facts["newest"])
    if values is None:
        return Dropped()
    return TargetStatistic(tuple(facts["categories"]), values, tuple(facts["targets"]))


def write_date(day: float) -> str:
    """Return a date in days since 1970-01-01 as text."""
    return str(np.datetime64(int(day), "D"))


def make_dates(days: NDArray[Any]) -> NDArray[np.datetime64]:
    """Return days since 1970-01-01 as dates; NaN is a missing one."""
    is_known = ~np.isnan(days)
    dates = np.full(len(days), "NaT", dtype="M8[s]")
    dates[is_known] = days[is_known].astype(np.int64).astype("M8[D]")
    return dates


def divide_days(days: NDArray[Any]) -> NDArray[np.float64]:
    """Return year, month and weekday of days since 1970-01-01, shape (n, 3); NaN where they are missing."""
    is_known = ~np.isnan(days)
    whole = days[is_known].astype(np.int64)
    dates, parts = whole.astype("M8[D]"), np.full((len(days), 3), np.nan)
    parts[is_known, 0] = dates.astype("M8[Y]").astype(np.int64) + 1970
    parts[is_known, 1] = dates.astype("M8[M]").astype(np.int64) % 12 + 1
    parts[is_known, 2] = (whole + 3) % 7 + 1
    return parts


def spell(text: str) -> str:
    """Return one spelling for equal values: 1.0 becomes 1, and TRUE becomes true."""
    if text.lower() in ("true", "false"):
        return text.lower()
    return _WHOLE.sub(r"\1", text) if _WHOLE.fullmatch(text) else text


def _name_type(is_text: set[bool]) -> str:
    return "text" if True in is_text else "numbers"
