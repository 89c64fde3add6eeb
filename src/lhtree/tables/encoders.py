"""Column encoders: how a column becomes features."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .columns import Category, Codes, Column, is_missing, settle
from .errors import TableError

UNSEEN_LEVEL = "(not seen in training)"  # stands for such a category where a row is decoded
_WHOLE = re.compile(r"(-?\d+)\.0*")
_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Levels:
    """The categories that a column had in training, in order; what their features are, its subclasses say."""

    categories: tuple[Category, ...]

    @cached_property
    def _place(self) -> dict[Any, int]:
        return {category: number for number, category in enumerate(self.categories)}

    @cached_property
    def _place_of_text(self) -> dict[str, int]:
        spelled = {spell(str(category)): number for category, number in self._place.items()}
        return spelled | {str(category): number for category, number in self._place.items()}

    @cached_property
    def _are_texts(self) -> set[bool]:
        return {isinstance(category, str) for category in self.categories}

    def find(self, value: Any, column: Column) -> int | None:
        """The number of a value's category, -1 where it is missing, None where it was not seen in training.

        A value is taken as it is first, since a category may be called "-"; then as the column cleans it; then as any
        program may have spelled it.
        """
        if is_missing(value):
            return -1
        category = settle(value)
        if category in self._place:
            return self._place[category]
        cleaned = column.clean(category)
        if cleaned is None:
            return -1
        of_text = self._place_of_text
        texts = (str(category), str(cleaned), spell(str(cleaned)))
        return next((of_text[text] for text in texts if text in of_text), None)

    def find_codes(self, column: Column) -> tuple[Codes, Codes]:
        """The number of every row's category, -1 where it is missing or unseen, and the rows where it is unseen."""
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
        """Refuse numbers where the model knows text, or the reverse; one known value shows that all is well."""
        given = {isinstance(value, str) for value in found if not is_missing(value)}
        known = self._are_texts
        if given and known and not given & known and all(self.find(value, column) is None for value in found):
            raise TableError(
                f"{column.origin}: {column.title} contains {_name_type(given)}, but the model was fitted with "
                f"{_name_type(known)} such as {self.categories[0]!r}: convert the column to the type used in fit."
            )


@dataclass(frozen=True)
class Numbers:
    """A column of numbers: one feature and, with an indicator, a second one that is 1 where the number is missing."""

    has_indicator: bool = False

    @property
    def n_features(self) -> int:
        """Number of features."""
        return 1 + self.has_indicator

    def name_features(self, column: str) -> list[str]:
        """Names of the features."""
        return [column, f"{column} is missing"][: self.n_features]

    def encode(self, column: Column, encoded: NDArray[np.float64]) -> Codes:
        """Write the features, shape (n, n_features), of the rows; returns the rows whose value was not seen."""
        encoded[:, 0] = column.numbers()
        if self.has_indicator:
            encoded[:, 1] = np.isnan(encoded[:, 0])
        return _NO_ROWS

    def decode(self, x: NDArray[Any]) -> Any:
        """The value that the features of a row represent."""
        return float(x[0])

    def to_dict(self) -> dict[str, Any]:
        """What ``read_treatment`` takes."""
        return {"kind": "numbers"} | ({"has_indicator": True} if self.has_indicator else {})


@dataclass(frozen=True)
class Dropped:
    """A column that names every row: no features."""

    n_features = 0

    def name_features(self, column: str) -> list[str]:
        """Names of the features: none."""
        return []

    def encode(self, column: Column, encoded: NDArray[np.float64]) -> Codes:
        """Write nothing."""
        return _NO_ROWS

    def decode(self, x: NDArray[Any]) -> Any:
        """Nothing is known of its values."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """What ``read_treatment`` takes."""
        return {"kind": "dropped"}


@dataclass(frozen=True)
class OneHot(Levels):
    """A column of few categories: one feature for each, 1 in the rows of that category and 0 in the others.

    Where the category is missing, or was not there in training, all of them are NaN. Rows keep the number of their
    level, -1 where it is missing; ``CodedRows`` makes features of it.
    """

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.categories)

    def name_features(self, column: str) -> list[str]:
        """Names of the features, "colour = red"."""
        return [f"{column} = {category}" for category in self.categories]

    def encode(self, column: Column, levels: NDArray[np.int32]) -> Codes:
        """Write the level, shape (n,), of the rows; returns the rows whose value was not seen in training."""
        levels[:], unseen = self.find_codes(column)
        return unseen

    def place(self, codes: Codes) -> NDArray[np.float64]:
        """The features of some categories, shape (n, m)."""
        features: NDArray[np.float64] = (codes[:, None] == np.arange(len(self.categories))).astype(np.float64)
        return features

    def recall(self, own: NDArray[Any]) -> Codes:
        """The number of the category that each row of features represents, -1 where it is missing."""
        return np.where((own == 1.0).any(axis=1), (own == 1.0).argmax(axis=1), -1)

    def spread(self, most: int) -> Codes:
        """The numbers of all categories; one-hot columns have few of them."""
        return np.arange(len(self.categories))

    def decode(self, x: NDArray[Any]) -> Any:
        """The category that the features of a row represent; None if it is missing."""
        code = int(self.recall(x[None])[0])
        return None if code < 0 else self.categories[code]

    def to_dict(self) -> dict[str, Any]:
        """What ``read_treatment`` takes."""
        return {"kind": "one_hot", "categories": list(self.categories)}


@dataclass(frozen=True)
class LevelNumbers(Levels):
    """A column of many categories before their responses are known: its feature is the number of the category.

    It is NaN where the category is missing, and the number of categories where it was not there in training.
    """

    n_features = 1

    def name_features(self, column: str) -> list[str]:
        """Name of the feature."""
        return [column]

    def encode(self, column: Column, encoded: NDArray[np.float64]) -> Codes:
        """Write the numbers; returns the rows whose value was not seen in training."""
        own, unseen = self.find_codes(column)
        encoded[:, 0] = np.where(own < 0, np.nan, own)
        encoded[unseen, 0] = len(self.categories)
        return unseen

    def decode(self, x: NDArray[Any]) -> Any:
        """The category of a number; None if it is missing."""
        return None if np.isnan(x[0]) else (*self.categories, UNSEEN_LEVEL)[int(x[0])]


@dataclass(frozen=True, eq=False)
class TargetStatistic(Levels):
    """A column of many categories: one feature per target, the shrunken mean response of the category.

    A category that was not there in training has the prior; where it is missing the features are NaN. The values of
    the first target are all different, so that they give the category back (see ``statistics.part_values``).

    Parameters
    ----------
    values : array of shape (n_targets, n_categories + 1)
        Features of every category; the last column holds the prior.
    targets : tuple of str
        Names of the targets; empty where there is one only, which needs no name.
    """

    values: NDArray[np.float64]
    targets: tuple[str, ...] = ()

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.values)

    def name_features(self, column: str) -> list[str]:
        """Names of the features: the column's, or "carrier → late" for several targets."""
        return [f"{column} → {target}" for target in self.targets] or [column]

    def encode(self, column: Column, encoded: NDArray[np.float64]) -> Codes:
        """Write the features, shape (n, n_targets), of the rows; returns the rows whose value was not seen."""
        own, unseen = self.find_codes(column)
        own[unseen] = len(self.categories)
        encoded[:] = self.place(own)
        return unseen

    def place(self, codes: Codes) -> NDArray[np.float64]:
        """The features of some categories, shape (n, n_targets); -1 is a missing one."""
        features: NDArray[np.float64] = np.where(codes < 0, np.nan, self.values[:, codes]).T
        return features

    def spread(self, most: int) -> Codes:
        """The numbers of at most so many categories, in order: evenly spaced by the statistics of every target."""
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
        """The number of the category that each row of features represents: -1 missing, the last one unseen."""
        place = np.searchsorted(self.values[0], own[:, 0], sorter=self._order)
        codes = self._order[np.minimum(place, len(self._order) - 1)]
        codes[self.values[0, codes] != own[:, 0]] = len(self.categories)  # no value of a category
        codes[np.isnan(own[:, 0])] = -1
        return codes

    def decode(self, x: NDArray[Any]) -> Any:
        """The category that the features of a row represent; None if it is missing."""
        code = int(self.recall(x[None])[0])
        if code < 0:
            return None
        return self.categories[code] if code < len(self.categories) else UNSEEN_LEVEL

    def to_dict(self) -> dict[str, Any]:
        """What ``read_treatment`` takes, but for the values."""
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


Treatment: TypeAlias = Numbers | Dropped | OneHot | LevelNumbers | TargetStatistic


def read_treatment(facts: dict[str, Any], values: NDArray[np.float64] | None = None) -> Treatment:
    """The treatment that ``to_dict`` described; ``values`` are those of a target statistic."""
    kind = facts["kind"]
    if kind == "numbers":
        return Numbers(facts.get("has_indicator", False))
    if kind == "one_hot":
        return OneHot(tuple(facts["categories"]))
    if values is None:
        return Dropped()
    return TargetStatistic(tuple(facts["categories"]), values, tuple(facts["targets"]))


def _name_type(is_text: set[bool]) -> str:
    return "text" if True in is_text else "numbers"


def spell(text: str) -> str:
    """One spelling for the same value: the number 1 may be written 1.0, and a truth value True, TRUE or true."""
    if text.lower() in ("true", "false"):
        return text.lower()
    return _WHOLE.sub(r"\1", text) if _WHOLE.fullmatch(text) else text
