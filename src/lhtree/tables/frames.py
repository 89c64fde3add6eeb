"""Tables: a frame of pandas or polars, an Arrow table or stream, dicts, or anything NumPy converts to an array."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .columns import ArrayColumn, ArrowColumn, Column, PandasColumn, PolarsColumn
from .errors import TableError

_RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if "
    "it contains a single sample: pass a table with one row per sample and one column per feature."
)
# Remedies that are added to NumPy's messages.
_REMEDIES = {
    "could not convert": "Every column of X must be numeric, as in fit: fit with a pandas or polars frame or with "
    "categorical_features to use text, or encode it first, for example with sklearn.preprocessing.OneHotEncoder.",
    "too large to convert": "Pass numbers that fit a float.",
    "argument must be": "Every column of X must be numeric: encode objects first.",
    "with a sequence": "Pass a table: one row per sample, one column per feature.",
}


class Table(ABC):
    """A table with at least one row and column, read as its library does; ``names`` is None without names."""

    checks_names = True  # whether names of columns are compared with the model

    def __init__(self, values: Any) -> None:
        self.values = values

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @cached_property
    def names(self) -> list[str] | None:
        """Names of the columns."""
        return _check_names(list(self.values.columns))

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    @abstractmethod
    def columns(self) -> list[Column]:
        """Return the columns."""

    def select(self, names: Sequence[str]) -> Table:
        """Return the table with some of its columns, in the order of their names."""
        return type(self)(self.values[list(names)])

    def holds_numbers(self) -> bool:
        """Whether NumPy can read all columns as numbers, by their types alone.

        NumPy fails at ``pd.NA`` in a frame, and would read text of digits and times as numbers.
        """
        return False

    def array(self) -> NDArray[Any]:
        """Return a table that ``holds_numbers`` as float64, or float32 if it is that; without a copy if possible."""
        array = np.asarray(self.values)
        if array.dtype not in (np.float64, np.float32):
            try:
                array = array.astype(np.float64)
            except (ValueError, TypeError, OverflowError) as error:
                _refuse_values(error)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        # The core takes strides that are a whole number of values; packed records have others.
        is_straight = array.flags.aligned and not any(stride % array.itemsize for stride in array.strides)
        return array if is_straight else array.copy()


class PandasTable(Table):
    """A frame of pandas."""

    def columns(self) -> list[Column]:
        """Return the columns."""
        return [PandasColumn(self.values.iloc[:, i], name) for i, name in enumerate(self.values.columns)]

    def holds_numbers(self) -> bool:
        """Whether all types are NumPy's numbers."""
        return all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in self.values.dtypes)


class PolarsTable(Table):
    """A frame of polars."""

    def columns(self) -> list[Column]:
        """Return the columns."""
        return [PolarsColumn(self.values.to_series(i), name) for i, name in enumerate(self.values.columns)]

    def holds_numbers(self) -> bool:
        """Whether all types are integers or floats."""
        return all(dtype.is_integer() or dtype.is_float() for dtype in self.values.dtypes)


class ArrowTable(Table):
    """A table or a record batch of Arrow."""

    def __len__(self) -> int:
        return int(self.values.num_rows)

    @cached_property
    def names(self) -> list[str] | None:
        """Names of the columns."""
        return _check_names(list(self.values.schema.names))

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.num_columns)

    def columns(self) -> list[Column]:
        """Return the columns."""
        return [ArrowColumn(self.values.column(i), name) for i, name in enumerate(self.values.schema.names)]

    def select(self, names: Sequence[str]) -> Table:
        """Return the table with some of its columns, in the order of their names."""
        return ArrowTable(self.values.select(list(names)))


class RecordTable(Table):
    """Rows as dicts from the name of a column to its value; a row may lack names that others have."""

    def __init__(self, values: Any, names: Sequence[str] | None = None) -> None:
        super().__init__(values)
        self._names = names

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def names(self) -> list[str] | None:
        """Names of the columns."""
        if self._names is not None:
            return list(self._names)
        names = list(dict.fromkeys(name for row in self.values for name in row))
        for name in names:
            if not isinstance(name, str):
                raise TypeError(
                    f"X has a row with the name {name!r}: pass dicts whose keys are names of columns."
                )
        return names

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names or ())

    def columns(self) -> list[Column]:
        """Return the columns; every row needs a value in each of them."""
        names = self.names or []
        for number, row in enumerate(self.values):
            for name in names:
                if name not in row:
                    raise TableError(
                        f"X, row {number} has no value for {name!r}: pass None (null in JSON) where a value is missing."
                    )
        n_rows = len(self)
        return [
            ArrayColumn(np.fromiter((row[name] for row in self.values), dtype=object, count=n_rows), name)
            for name in names
        ]

    def select(self, names: Sequence[str]) -> Table:
        """Return the table with some of its columns, in the order of their names."""
        return RecordTable(self.values, names)


class ArrayTable(Table):
    """A two-dimensional array."""

    names = None

    def columns(self) -> list[Column]:
        """Return the columns."""
        return [ArrayColumn(self.values[:, i], i) for i in range(self.n_columns)]

    def holds_numbers(self) -> bool:
        """Whether the type may be read as numbers."""
        return self.values.dtype.kind not in "mM"


def is_frame(X: Any) -> bool:
    """Whether X is a frame of pandas or polars, or a table or record batch of Arrow."""
    is_polars = _find_library(X) == "polars" and hasattr(X, "to_series")
    return is_polars or is_arrow(X) or (hasattr(X, "iloc") and hasattr(X, "columns"))


def is_arrow(X: Any) -> bool:
    """Whether X is a table or a record batch of Arrow."""
    return _find_library(X) == "pyarrow" and hasattr(X, "schema") and hasattr(X, "num_rows")


def is_record_list(X: Any) -> bool:
    """Whether X is a list or a tuple of dicts."""
    return isinstance(X, (list, tuple)) and bool(X) and all(isinstance(row, Mapping) for row in X)


def _is_column(X: Any) -> bool:
    """Whether X is a single column: a Series of pandas or polars, or an array of Arrow."""
    return hasattr(X, "to_frame") or (_find_library(X) == "pyarrow" and not hasattr(X, "schema"))


def _find_library(X: Any) -> str:
    return type(X).__module__.partition(".")[0]


def take_table(X: Any, owner: str) -> Table:
    """Return X as a table with at least one row and column; messages name ``owner``."""
    library = _find_library(X)
    if library == "lhtree":  # a table already
        return X  # type: ignore[no-any-return]
    table: Table
    if type(X).__module__.startswith("scipy.sparse"):
        refuse_sparse(X)
    elif is_frame(X):
        table = {"polars": PolarsTable, "pyarrow": ArrowTable}.get(library, PandasTable)(X)
    elif isinstance(X, Mapping):
        table = RecordTable([X])
    elif is_record_list(X):
        table = RecordTable(X)
    elif hasattr(X, "__arrow_c_stream__") and not _is_column(X):  # for example a relation of DuckDB
        table = ArrowTable(import_extra("pyarrow", "cli").table(X))
    else:
        table = ArrayTable(_take_array(X, owner))
    n_rows, n_columns = len(table), table.n_columns
    for n, what in ((n_rows, "sample"), (n_columns, "feature")):
        if not n:
            raise TableError(
                f"X: Found array with 0 {what}(s) (shape=({n_rows}, {n_columns})) while a minimum of 1 is required by "
                f"{owner}. Pass at least one {'row' if what == 'sample' else 'column'}."
            )
    return table


def refuse_sparse(X: Any) -> NoReturn:
    """Raise the error for a sparse matrix, with the memory that it would take."""
    n_rows, n_columns = X.shape
    gigabytes = 4 * n_rows * n_columns / 1e9
    raise TypeError(
        f"Sparse data was passed for X, but dense data is required: trees read every value of a column, and {n_rows} × "
        f"{n_columns} values take {gigabytes:.2g} GB as float32. If that fits into memory, pass "
        "X.astype(numpy.float32).toarray(); otherwise reduce the columns first, for example with "
        "sklearn.decomposition.TruncatedSVD or sklearn.feature_selection.SelectKBest."
    )


def _take_array(X: Any, owner: str) -> NDArray[Any]:
    if hasattr(X, "collect_schema"):
        raise TableError("X is a polars LazyFrame: pass X.collect().")
    try:
        array = np.asarray(X)
        if not isinstance(X, np.ndarray) and array.dtype.kind in "USV":  # numbers among text stay numbers
            array = np.array(X, dtype=object)
    except (ValueError, TypeError) as error:
        _refuse_values(error)
    if array.dtype.kind == "c":
        raise TableError(f"Complex data not supported: X holds {array.dtype}. Pass real numbers.")
    if array.ndim < 2:
        what = "scalar" if array.ndim == 0 else "1D"
        raise TableError(
            f"X: Expected 2D array, got {what} array instead: {_shorten_array(array)}. {_RESHAPE}"
        )
    if array.ndim > 2:
        raise TableError(
            f"X: Found array with dim {array.ndim}, while dim <= 2 is required by {owner}. Pass a table: one row per "
            "sample, one column per feature."
        )
    return array


def _shorten_array(array: NDArray[Any]) -> str:
    return (
        np.array2string(array, threshold=6, edgeitems=2)
        if array.dtype.kind != "O"
        else f"shape {array.shape}"
    )


def _check_names(names: list[Any]) -> list[str] | None:
    """Check the names of the columns of a frame; None where none is text."""
    n_texts = sum(isinstance(name, str) for name in names)
    if 0 < n_texts < len(names):
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but X has names of the types "
            f"{', '.join(kinds)}: convert them, for example with X.columns = X.columns.astype(str)."
        )
    if not n_texts:
        return None
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise TableError(f"X has two columns named {name!r}: column names must be unique.")
        seen.add(name)
    return names


def _refuse_values(error: Exception) -> NoReturn:
    message = str(error)
    remedy = next(
        (remedy for part, remedy in _REMEDIES.items() if part in message), "Pass a table of numbers."
    )
    kind = TypeError if isinstance(error, TypeError) else TableError
    raise kind(f"X: {message}{'' if message.endswith('.') else '.'} {remedy}") from error


def refuse_infinity(X: NDArray[Any], given: NDArray[np.int64] | None = None) -> NoReturn:
    """Raise the error for rows with an infinity; ``given`` holds the original row numbers."""
    row, column = np.argwhere(np.isinf(X))[0]
    place = int(row if given is None else given[row])
    raise TableError(
        f"Input X contains infinity: row {place}, column {column} is {X[row, column]}. "
        "Replace infinities with NaN (missing) or finite numbers."
    )
