"""What becomes of a column: the kinds of treatment that an encoding has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .columns import Category, Codes, Column, is_missing, settle
from .errors import TableError
from .values import spell


@dataclass(frozen=True)
class Numbers:
    """A column of numbers: one feature."""

    @property
    def n_features(self) -> int:
        """Number of features."""
        return 1

    def name_features(self, column: str) -> list[str]:
        """Names of the features."""
        return [column]

    def encode(self, column: Column, encoded: NDArray[np.float64]) -> Codes:
        """Write the features, shape (n, 1), of the rows; returns the rows whose value was not seen in training."""
        encoded[:, 0] = column.numbers()
        return np.empty(0, dtype=np.int64)

    def decode(self, x: NDArray[Any]) -> Any:
        """The value that the features of a row represent."""
        return float(x[0])

    def to_dict(self) -> dict[str, Any]:
        """What ``read_treatment`` takes."""
        return {"kind": "numbers"}


@dataclass(frozen=True)
class OneHot:
    """A column of categories: one feature for each, 1 in the rows of that category and 0 in the others.

    Where the category is missing, or was not there in training, all of them are NaN.
    """

    categories: tuple[Category, ...]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.categories)

    def name_features(self, column: str) -> list[str]:
        """Names of the features, "colour = red"."""
        return [f"{column} = {category}" for category in self.categories]

    @cached_property
    def _place(self) -> dict[Any, int]:
        return {category: number for number, category in enumerate(self.categories)}

    @cached_property
    def _place_of_text(self) -> dict[str, int]:
        spelled = {spell(str(category)): number for category, number in self._place.items()}
        return spelled | {str(category): number for category, number in self._place.items()}

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

    def encode(self, column: Column, encoded: NDArray[np.float64]) -> Codes:
        """Write the features, shape (n, m), of the rows; returns the rows whose value was not seen in training."""
        codes, found = column.distinct()
        numbers = [self.find(value, column) for value in found]
        self._check_type(column, [found[code] for code in np.unique(codes[codes >= 0])])
        own = np.array([*(-1 if number is None else number for number in numbers), -1])[codes]
        rows = np.flatnonzero(own >= 0)
        encoded[:] = 0.0
        encoded[rows, own[rows]] = 1.0
        encoded[own < 0] = np.nan
        is_unseen = np.array([*(number is None for number in numbers), False])
        return np.flatnonzero(is_unseen[codes])

    def _check_type(self, column: Column, found: Sequence[Any]) -> None:
        """Refuse numbers where the model knows text, or the reverse; one known value shows that all is well."""
        given = {isinstance(value, str) for value in found if not is_missing(value)}
        known = {isinstance(category, str) for category in self.categories}
        if given and known and not given & known and all(self.find(value, column) is None for value in found):
            raise TableError(
                f"{column.origin}: {column.title} contains {_name_type(given)}, but the model was fitted with "
                f"{_name_type(known)} such as {self.categories[0]!r}: convert the column to the type used in fit."
            )

    def decode(self, x: NDArray[Any]) -> Any:
        """The category that the features of a row represent; None if it is missing."""
        return self.categories[int(x.argmax())] if (x == 1.0).any() else None

    def to_dict(self) -> dict[str, Any]:
        """What ``read_treatment`` takes."""
        return {"kind": "one_hot", "categories": list(self.categories)}


def _name_type(is_text: set[bool]) -> str:
    return "text" if True in is_text else "numbers"


Treatment: TypeAlias = Numbers | OneHot


def read_treatment(facts: dict[str, Any]) -> Treatment:
    """The treatment that ``to_dict`` described."""
    return Numbers() if facts["kind"] == "numbers" else OneHot(tuple(facts["categories"]))
