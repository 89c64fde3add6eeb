"""Columns of pandas, polars, NumPy and Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .columns import Codes, Column, find_kind, is_missing, make_numbers, number_distinct


class PandasColumn(Column):
    """A Series of pandas."""

    def __init__(self, values: Any, name: Any) -> None:
        super().__init__(values, name)
        self.keeps_order = values.dtype.name == "category"

    def _find_kind(self) -> str:
        dtype = self.values.dtype
        if self.keeps_order or dtype.name in ("str", "string"):
            return "categories"
        if dtype.kind in "biuf":
            return "numbers"
        return "times" if dtype.kind in "Mm" else find_kind(self.values.dropna())

    def _read_numbers(self) -> NDArray[np.float64]:
        numbers: NDArray[np.float64] = self.values.to_numpy(dtype=np.float64, na_value=np.nan)
        return numbers

    def _read_distinct(self) -> tuple[Codes, Sequence[Any]]:
        if self.keeps_order:
            codes = self.values.cat.codes.to_numpy().astype(np.int64)
            return codes, list(self.values.cat.categories)
        codes, found = self.values.factorize()
        return codes, found.tolist()


class PolarsColumn(Column):
    """A Series of polars."""

    def __init__(self, values: Any, name: Any) -> None:
        super().__init__(values, name)
        self._type = str(values.dtype.base_type())
        self.keeps_order = self._type == "Enum"

    def _find_kind(self) -> str:
        dtype = self.values.dtype
        if self._type in ("String", "Categorical", "Enum"):
            return "categories"
        if self._type == "Object":
            return find_kind(value for value in self.values.to_list() if not is_missing(value))
        if dtype.is_numeric() or self._type in ("Boolean", "Null"):
            return "numbers"
        return "times" if dtype.is_temporal() else "other"

    def _read_numbers(self) -> NDArray[np.float64]:
        if self._type == "Object":
            return make_numbers(self.values.to_list())
        numbers: NDArray[np.float64] = self.values.cast(float).to_numpy()
        return numbers

    def _read_distinct(self) -> tuple[Codes, Sequence[Any]]:
        if self.keeps_order:
            codes = self.values.to_physical().cast(int).fill_null(-1).to_numpy()
            return codes, self.values.dtype.categories.to_list()
        values = self.values.cast(str) if self._type == "Categorical" else self.values
        return number_distinct(values.to_list())


class ArrayColumn(Column):
    """A column of an array, or of anything NumPy makes one of."""

    @property
    def title(self) -> str:
        """How messages call the column."""
        return super().title if isinstance(self.name, str) else f"column {self.name}"

    def _find_kind(self) -> str:
        kind = self.values.dtype.kind
        if kind == "O":
            return find_kind(value for value in self.values if not is_missing(value))
        kinds = {"U": "categories", "T": "categories", "M": "times", "m": "times"}
        return "numbers" if kind in "biuf" else kinds.get(kind, "other")

    def _read_numbers(self) -> NDArray[np.float64]:
        if self.values.dtype.kind == "O":
            return make_numbers(self.values)
        numbers: NDArray[np.float64] = self.values.astype(np.float64)
        return numbers

    def _read_distinct(self) -> tuple[Codes, Sequence[Any]]:
        return number_distinct(self.values.tolist())


class ArrowColumn(Column):
    """A column of Arrow, in chunks or in one piece, by its type."""

    def _find_kind(self) -> str:
        return find_arrow_kind(self.values.type)

    def _read_numbers(self) -> NDArray[np.float64]:
        pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
        numbers: NDArray[np.float64] = pc.cast(self._flatten(), pa.float64(), safe=False).to_numpy(
            zero_copy_only=False
        )
        return numbers

    def _read_distinct(self) -> tuple[Codes, Sequence[Any]]:
        encoded = self._flatten().dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return codes, encoded.dictionary.to_pylist()

    def _flatten(self) -> Any:
        """The values in one piece, without a dictionary."""
        pa = import_extra("pyarrow", "cli")
        parts = self.values.chunks if isinstance(self.values, pa.ChunkedArray) else [self.values]
        is_text = find_arrow_kind(self.values.type) == "categories"

        def settle(values: Any) -> Any:
            return values.cast(pa.string()) if is_text else values  # many functions take no other text

        if pa.types.is_dictionary(self.values.type):
            parts = [settle(part.dictionary).take(part.indices) for part in parts]
        else:
            parts = [settle(part) for part in parts]
        if not parts:
            return pa.array([], self.values.type)
        return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


def find_arrow_kind(type_: Any) -> str:
    """What a column of Arrow holds by its type."""
    types = import_extra("pyarrow.types", "cli")
    kind = type_.value_type if types.is_dictionary(type_) else type_
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "categories"
    if types.is_temporal(kind):
        return "times"
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return "numbers" if is_number or types.is_boolean(kind) or types.is_null(kind) else "other"
