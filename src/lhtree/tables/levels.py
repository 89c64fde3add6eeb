"""The categories of a column, found again however a table spells them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .columns import Category, Codes, Column, is_missing, settle
from .errors import TableError
from .values import spell


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


def _name_type(is_text: set[bool]) -> str:
    return "text" if True in is_text else "numbers"
