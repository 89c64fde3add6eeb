"""Encoding of tables: one feature per numeric column, one per category or one per target of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import UNSEEN
from .columns import ArrayColumn, Category, Column, settle
from .encoders import LevelNumbers, Levels, Numbers, OneHot, TargetStatistic, Treatment, read_treatment
from .errors import OptionError, TableError, check_names, find_nearest, shorten
from .frames import take_table
from .rows import CodedRows, Encoded, expand


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become features.

    Parameters
    ----------
    names : tuple of str
        Names of the columns: x0, x1, … where the table had none.
    treatments : tuple of Treatment
        What becomes of every column.
    has_names : bool
        Whether the table had names.
    """

    names: tuple[str, ...]
    treatments: tuple[Treatment, ...]
    has_names: bool = True

    @classmethod
    def plain(cls, n_columns: int, names: Sequence[str] | None = None) -> Encoding:
        """The encoding of columns of numbers."""
        told = names or [f"x{number}" for number in range(n_columns)]
        return cls(tuple(told), (Numbers(),) * n_columns, names is not None)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    @cached_property
    def is_plain(self) -> bool:
        """Whether all columns are numeric, so that features are columns."""
        return all(treatment == Numbers() for treatment in self.treatments)

    @cached_property
    def takes_arrays(self) -> bool:
        """Whether a numeric array of the exact type can be used without encoding."""
        return self.is_plain and not self.has_names

    @cached_property
    def categories(self) -> tuple[tuple[Category, ...] | None, ...]:
        """Categories of every column; None for numeric ones."""
        return tuple(each.categories if isinstance(each, Levels) else None for each in self.treatments)

    @cached_property
    def ptr(self) -> NDArray[np.int64]:
        """First feature of every column, and the number of features."""
        return np.cumsum([0] + [treatment.n_features for treatment in self.treatments])

    @cached_property
    def column(self) -> NDArray[np.int64]:
        """Index of every feature's column, shape (m,)."""
        return np.repeat(np.arange(self.n_columns), np.diff(self.ptr))

    @cached_property
    def is_category(self) -> NDArray[np.bool_]:
        """Which features represent a category, shape (m,)."""
        return np.array([some is not None for some in self.categories])[self.column]

    @cached_property
    def is_one_hot(self) -> NDArray[np.bool_]:
        """Which features are 1 for one category and 0 for the others, shape (m,)."""
        return np.array([isinstance(each, OneHot) for each in self.treatments])[self.column]

    @cached_property
    def is_indicator(self) -> NDArray[np.bool_]:
        """Which features say that a number is missing, shape (m,)."""
        parts = [
            np.arange(each.n_features) > 0 if isinstance(each, Numbers) else np.zeros(each.n_features, bool)
            for each in self.treatments
        ]
        return np.concatenate(parts)

    @cached_property
    def is_statistic(self) -> NDArray[np.bool_]:
        """Which features are target statistics of a category, shape (m,)."""
        return np.array([isinstance(each, TargetStatistic) for each in self.treatments])[self.column]

    def statistic_of(self, column: int) -> TargetStatistic | None:
        """The target statistic of a column, if it has one."""
        treatment = self.treatments[column]
        return treatment if isinstance(treatment, TargetStatistic) else None

    @cached_property
    def feature_names(self) -> list[str]:
        """Names of the features, such as "colour = red" for a category."""
        pairs = zip(self.names, self.treatments, strict=True)
        return [feature for name, treatment in pairs for feature in treatment.name_features(name)]

    @cached_property
    def levels(self) -> NDArray[np.int32]:
        """Number of levels of every column as ``CodedRows`` stores it, 0 for every feature that is a number."""
        levels: list[int] = []
        for treatment in self.treatments:
            n_features = treatment.n_features
            levels += [n_features] * (n_features > 0) if isinstance(treatment, OneHot) else [0] * n_features
        return np.array(levels, dtype=np.int32)

    @cached_property
    def number_of(self) -> NDArray[np.int64]:
        """Place of every feature among those that are numbers, shape (m,); of no meaning for levels."""
        return np.cumsum(np.repeat(self.levels == 0, np.maximum(self.levels, 1))) - 1

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.ptr[-1])

    def features_of(self, column: int) -> slice:
        """The features of a column."""
        return slice(int(self.ptr[column]), int(self.ptr[column + 1]))

    def sum_columns(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up the features of every column along the last axis."""
        if self.is_plain:
            return values
        summed = np.zeros((*values.shape[:-1], self.n_columns))
        for feature, column in enumerate(self.column):
            summed[..., column] += values[..., feature]
        return summed

    def encode(self, X: Any, **options: Any) -> NDArray[Any]:
        """All features of the rows of a table, shape (n, n_features); options as for ``code``."""
        return expand(self.code(X, **options))

    def code(
        self,
        X: Any,
        *,
        unseen: str = "missing",
        owner: str = "LHTClassifier",
        n_unseen: Counter[str] | None = None,
        warns: bool = True,
    ) -> Encoded:
        """Rows of a table as numbers, and as codes where columns hold categories.

        Parameters
        ----------
        X : table of shape (n, n_columns)
            A frame, an array, or ``FileRows``, whose columns must be the model's.
        unseen : {"missing", "error"}
            Whether a category that was not there in training counts as missing, or is an error.
        owner : str
            Who asks, for messages.
        n_unseen : Counter, optional
            The values that counted as missing are added to it by column.
        warns : bool
            Whether to warn, as scikit-learn does, where only one of X and the model has names of columns.

        Returns
        -------
        array of shape (n, n_features), or CodedRows if there are categories
            float64, or float32 where X is that; X itself where it is such an array already. Infinities of a whole
            table of numbers stay; the core refuses them.
        """
        if unseen not in UNSEEN:
            raise OptionError("unseen", unseen, "is not valid: pass 'missing' or 'error'.")
        table = take_table(X, owner)
        if table.checks_names:
            check_names(self.names if self.has_names else None, table.names, owner, warns=warns)
        if self._holds_numbers and table.holds_numbers():
            array = table.array()
            self._check_width(array.shape[1], owner)
            return array if self.is_plain else self._add_indicators(array)
        columns = table.columns()
        self._check_width(len(columns), owner)
        return self._encode_columns(columns, unseen, n_unseen)

    @cached_property
    def _holds_numbers(self) -> bool:
        return all(isinstance(treatment, Numbers) for treatment in self.treatments)

    def _add_indicators(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array of numbers with an indicator behind each column that has one."""
        features = array[:, self.column]
        features[:, self.is_indicator] = np.isnan(features[:, self.is_indicator])
        return features

    def _check_width(self, n_columns: int, owner: str) -> None:
        if n_columns != self.n_columns:
            raise TableError(
                f"X has {n_columns} features, but {owner} is expecting {self.n_columns} features as input. Pass the "
                "columns the model was fitted with, in the same order."
            )

    def _encode_columns(
        self, columns: Sequence[Column], unseen: str, n_unseen: Counter[str] | None
    ) -> Encoded:
        n_rows, levels = len(columns[0]), self.levels
        numbers = np.empty((n_rows, int((levels == 0).sum())))
        codes = np.empty((n_rows, int((levels > 0).sum()) + 1), dtype=np.int32)  # one may have no levels
        n_read, n_coded = 0, 0
        for number, (column, treatment) in enumerate(zip(columns, self.treatments, strict=True)):
            if isinstance(treatment, OneHot):
                rows = treatment.encode(column, codes[:, n_coded])
                n_coded += treatment.n_features > 0
            else:
                rows = treatment.encode(column, numbers[:, n_read : n_read + treatment.n_features])
                n_read += treatment.n_features
            if len(rows):
                if unseen == "error":
                    raise self._refuse_unseen(number, column, rows)
                if n_unseen is not None:
                    n_unseen[self.names[number]] += len(rows)
        if not n_coded:
            return numbers
        return CodedRows(numbers, np.ascontiguousarray(codes[:, :n_coded]), levels)

    def _refuse_unseen(self, number: int, column: Column, rows: NDArray[np.int64]) -> TableError:
        codes, found = column.distinct()
        value = settle(found[codes[rows[0]]])
        more = f"{len(rows) - 1} more such rows; " if len(rows) > 1 else ""
        nearest = find_nearest(str(value), [str(category) for category in self.categories[number] or ()])
        return TableError(
            f"{column.locate(int(rows[0]))}: {column.title} is {shorten(value)}, a category not seen in training "
            f"({more}{nearest}): correct it, or treat unseen categories as missing",
            unseen="missing",
        )

    def encode_row(self, values: Sequence[Any], *, unseen: str = "missing") -> NDArray[np.float64]:
        """One row, a value per column, as numbers, shape (m,)."""
        columns = [
            ArrayColumn(np.array([value], dtype=object), name)
            for name, value in zip(self.names, values, strict=True)
        ]
        row: NDArray[np.float64] = expand(self._encode_columns(columns, unseen, None))[0]
        return row

    def decode(self, x: NDArray[Any]) -> dict[str, Any]:
        """The values of a row by column; None where a category is missing."""
        pairs = zip(self.names, self.treatments, strict=True)
        return {name: each.decode(x[self.features_of(i)]) for i, (name, each) in enumerate(pairs)}

    def find_columns(self, names: Sequence[str], where: str) -> list[str]:
        """The columns of the model among the names of a file: by name, or in order where the model has no names."""
        known = set(names)
        found = [name if name in known else name.strip() for name in self.names]
        lacking = [name for name in found if name not in known]
        if lacking and not self.has_names:
            if len(names) == self.n_columns:
                return list(names)
            raise TableError(
                f"{where} has {len(names)} columns, but the model expects {self.n_columns} unnamed ones: pass a table "
                "with exactly these columns, in the same order"
            )
        if lacking:
            more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            unused = [name for name in names if name not in found] or names
            nearest = find_nearest(lacking[0], unused)
            raise TableError(f"{where} has no column {lacking[0]!r}{more}, which the model needs ({nearest})")
        return found

    @cached_property
    def counted(self) -> list[int]:
        """The columns whose treatment depends on the responses."""
        kinds = (LevelNumbers, TargetStatistic)
        return [number for number, each in enumerate(self.treatments) if isinstance(each, kinds)]

    def replace(self, treatments: dict[int, Treatment]) -> Encoding:
        """The same with other treatments of some columns."""
        return replace(
            self, treatments=tuple(treatments.get(i, each) for i, each in enumerate(self.treatments))
        )

    def to_numbers(self) -> Encoding:
        """The same, but for the numbers of categories in place of their statistics."""
        return self.replace({i: LevelNumbers(self.categories[i] or ()) for i in self.counted})

    def to_dict(self) -> dict[str, Any]:
        """The encoding as plain Python values that can be written as JSON, but for the values of ``statistics``."""
        return {
            "names": list(self.names),
            "has_names": self.has_names,
            "columns": [_describe(treatment) for treatment in self.treatments],
        }

    @property
    def statistics(self) -> NDArray[np.float64]:
        """The values of all target statistics, one after the other."""
        found = [self.statistic_of(column) for column in self.counted]
        return np.concatenate([np.empty(0), *(each.values.ravel() for each in found if each is not None)])

    @classmethod
    def from_dict(cls, facts: dict[str, Any], statistics: NDArray[np.float64] | None = None) -> Encoding:
        """The encoding that ``to_dict`` and ``statistics`` described."""
        treatments, first = [], 0
        for column in facts["columns"]:
            values = None
            if column["kind"] == "target_statistic" and statistics is not None:
                n_targets = len(column["targets"]) or 1
                last = first + n_targets * (len(column["categories"]) + 1)
                values, first = statistics[first:last].reshape(n_targets, -1), last
            treatments.append(read_treatment(column, values))
        return cls(tuple(facts["names"]), tuple(treatments), facts["has_names"])


def _describe(treatment: Treatment) -> dict[str, Any]:
    assert not isinstance(treatment, LevelNumbers)  # of which fitting makes statistics
    return treatment.to_dict()
