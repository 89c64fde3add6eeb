"""Encoding of tables: one feature per numeric column, one per category of the others."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import UNSEEN
from .columns import Category, Column, settle
from .errors import OptionError, TableError
from .frames import holds_numbers, read_array, read_names, split_columns, take_table
from .names import find_nearest, shorten
from .readers import ArrayColumn
from .text import FileRows
from .treatments import Numbers, OneHot, Treatment, read_treatment

_MOST_NAMES = 5


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become features.

    Parameters
    ----------
    names : tuple of str
        Names of the columns: x0, x1, … where the table had none.
    treatments : tuple of Numbers or OneHot
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
        return all(isinstance(treatment, Numbers) for treatment in self.treatments)

    @cached_property
    def takes_arrays(self) -> bool:
        """Whether a numeric array of the exact type can be used without encoding."""
        return self.is_plain and not self.has_names

    @cached_property
    def categories(self) -> tuple[tuple[Category, ...] | None, ...]:
        """Categories of every column; None for numeric ones."""
        return tuple(each.categories if isinstance(each, OneHot) else None for each in self.treatments)

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
    def feature_names(self) -> list[str]:
        """Names of the features, such as "colour = red" for a category."""
        pairs = zip(self.names, self.treatments, strict=True)
        return [feature for name, treatment in pairs for feature in treatment.name_features(name)]

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

    def encode(
        self,
        X: Any,
        *,
        unseen: str = "missing",
        owner: str = "LHTClassifier",
        n_unseen: Counter[str] | None = None,
        warns: bool = True,
    ) -> NDArray[Any]:
        """Rows of a table as numbers.

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
        array of shape (n, n_features)
            float64, or float32 where X is that; X itself where it is such an array already. Infinities of a whole
            table of numbers stay; the core refuses them.
        """
        if unseen not in UNSEEN:
            raise OptionError("unseen", unseen, "is not valid: pass 'missing' or 'error'.")
        X = take_table(X, owner)
        if not isinstance(X, FileRows):
            self._check_names(read_names(X), owner, warns=warns)
        if self.is_plain and holds_numbers(X):
            array = read_array(X)
            self._check_width(array.shape[1], owner)
            return array
        columns = split_columns(X)
        self._check_width(len(columns), owner)
        return self._encode_columns(columns, unseen, n_unseen)

    def _check_names(self, names: Sequence[str] | None, owner: str, *, warns: bool) -> None:
        """Compare column names as scikit-learn does, with its wording, which its checks look for."""
        if names is None or not self.has_names:
            if names is not None:
                message = f"X has feature names, but {owner} was fitted without feature names"
            else:
                message = f"X does not have valid feature names, but {owner} was fitted with feature names"
            if warns and (names is not None or self.has_names):
                warnings.warn(message, UserWarning, stacklevel=2)
            return
        if tuple(names) == self.names:
            return
        lines = ["X: The feature names should match those that were passed during fit."]
        for title, some in (
            ("Feature names unseen at fit time:", sorted(set(names) - set(self.names))),
            ("Feature names seen at fit time, yet now missing:", sorted(set(self.names) - set(names))),
        ):
            if some:
                more = ["- ..."] if len(some) > _MOST_NAMES else []
                lines += [title, *(f"- {name}" for name in some[:_MOST_NAMES]), *more]
        if len(lines) == 1:
            lines.append("Feature names must be in the same order as they were in fit.")
        lines.append("Pass the columns the model was fitted with, in the same order.")
        raise TableError("\n".join(lines))

    def _check_width(self, n_columns: int, owner: str) -> None:
        if n_columns != self.n_columns:
            raise TableError(
                f"X has {n_columns} features, but {owner} is expecting {self.n_columns} features as input. Pass the "
                "columns the model was fitted with, in the same order."
            )

    def _encode_columns(
        self, columns: Sequence[Column], unseen: str, n_unseen: Counter[str] | None
    ) -> NDArray[np.float64]:
        encoded = np.empty((len(columns[0]), self.n_features))
        for number, (column, treatment) in enumerate(zip(columns, self.treatments, strict=True)):
            rows = treatment.encode(column, encoded[:, self.features_of(number)])
            if len(rows):
                if unseen == "error":
                    raise self._refuse_unseen(number, column, rows)
                if n_unseen is not None:
                    n_unseen[self.names[number]] += len(rows)
        return encoded

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
        row: NDArray[np.float64] = self._encode_columns(columns, unseen, None)[0]
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

    def to_dict(self) -> dict[str, Any]:
        """The encoding as plain Python values that can be written as JSON."""
        return {
            "names": list(self.names),
            "has_names": self.has_names,
            "columns": [treatment.to_dict() for treatment in self.treatments],
        }

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> Encoding:
        """The encoding that ``to_dict`` described."""
        return cls(tuple(facts["names"]), tuple(map(read_treatment, facts["columns"])), facts["has_names"])
