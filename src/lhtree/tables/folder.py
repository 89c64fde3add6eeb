"""The Parquet files of a folder as one table, and groups of their rows that can be read one by one."""

from __future__ import annotations

import bisect
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .._extras import import_extra
from .csv import settle_names
from .errors import ReadError, TableError

_BATCH_BYTES = 1 << 20


class Part(NamedTuple):
    """A row group of a file, and where its rows are in the table."""

    file: int
    group: int
    first_row: int
    n_rows: int


class ParquetFolder:
    """A folder of Parquet files, or one file, in the order of their paths.

    Folders named ``key=value`` give a column. All files have the same columns, some of a wider type than others.
    """

    def __init__(self, path: str) -> None:
        dataset = import_extra("pyarrow.dataset", "cli")
        self._path, self._is_folder = path, os.path.isdir(path)
        try:
            table = dataset.dataset(path, format="parquet", partitioning="hive")
        except (import_extra("pyarrow", "cli").ArrowException, OSError) as error:
            raise ReadError(f"{path} is not a folder of Parquet files: {_shorten(error)}") from None
        self._files = list(table.get_fragments())
        if not self._files:
            raise ReadError(f"{path} contains no Parquet file: pass a folder of .parquet files")
        self._given = self._join_schemas(table.schema)
        self.schema = name_columns(self._given)
        self._first = [0]  # row of every file, and the number of rows
        for file in self._files:
            self._first.append(self._first[-1] + int(file.metadata.num_rows))
        self._n_read = 0

    def _join_schemas(self, given: Any) -> Any:
        """The columns of all files, each of a type that holds the values of all files."""
        pa = import_extra("pyarrow", "cli")
        schemas = [self._read_schema(number) for number in range(len(self._files))]
        own = set(schemas[0].names)
        for number, schema in enumerate(schemas):
            lacking = sorted(own.symmetric_difference(schema.names))
            if lacking:
                has, other = (0, number) if lacking[0] in own else (number, 0)
                raise TableError(
                    f"{self._name(other)} has no column {lacking[0]!r}, which {self._name(has)} has: write all files "
                    "with the same columns"
                )
        try:
            joined = pa.unify_schemas(schemas, promote_options="permissive")
        except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
            raise TableError(
                f"{self._path}: a column holds different types in different files ({_shorten(error)}): write all "
                "files with the same types"
            ) from None
        return pa.schema([*joined, *(field for field in given if field.name not in own)])

    def _read_schema(self, number: int) -> Any:
        try:
            return self._files[number].physical_schema
        except (import_extra("pyarrow", "cli").ArrowException, OSError) as error:
            raise ReadError(f"{self._name(number)} is damaged: {_shorten(error)}") from None

    def parts(self) -> list[Part]:
        """The row groups of all files, in order; those without rows are left out."""
        parts, first = [], 0
        for number, file in enumerate(self._files):
            for group in file.row_groups:
                parts.append(Part(number, group.id, first, int(group.num_rows)))
                first += int(group.num_rows)
        return [part for part in parts if part.n_rows]

    def batches(self, columns: Iterable[str]) -> Iterator[Any]:
        """Record batches with these columns, of all files."""
        columns = list(columns)
        for number in range(len(self._files)):
            for batch in self._read(number, self._files[number], columns):
                self._n_read += batch.num_rows
                yield batch

    def read_part(self, part: Part, columns: Iterable[str]) -> Iterator[Any]:
        """Record batches with these columns, of a row group."""
        yield from self._read(
            part.file, self._files[part.file].subset(row_group_ids=[part.group]), list(columns)
        )

    def _read(self, number: int, rows: Any, columns: list[str]) -> Iterator[Any]:
        pa, dataset = import_extra("pyarrow", "cli"), import_extra("pyarrow.dataset", "cli")
        options = dataset.ParquetFragmentScanOptions(
            use_buffered_stream=True, buffer_size=1 << 16, pre_buffer=False
        )
        n_rows = max(1, _BATCH_BYTES // (8 * max(1, len(columns))))
        given = dict(zip(self.schema.names, self._given.names, strict=True))
        try:
            for batch in rows.to_batches(
                schema=self._given,
                columns=[given[name] for name in columns],
                batch_size=n_rows,
                batch_readahead=0,
                fragment_scan_options=options,
                use_threads=False,
            ):
                yield batch.rename_columns(columns)
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, MemoryError):
                raise
            raise ReadError(f"{self._name(number)} is damaged: {_shorten(error)}") from None

    def locate(self, row: int) -> str:
        """The file of a row, where there are several, and its number there."""
        file = min(bisect.bisect_right(self._first, row) - 1, len(self._files) - 1)
        place = f"row {row - self._first[file] + 1}"
        return f"{os.path.relpath(self._files[file].path, self._path)}, {place}" if self._is_folder else place

    def share(self) -> float | None:
        """The share of the rows that has been read."""
        return self._n_read / max(1, self._first[-1])

    def estimate_bytes(self) -> int | None:
        """Eight bytes a cell."""
        return 8 * self._first[-1] * len(self.schema)

    def _name(self, number: int) -> str:
        inside = os.path.relpath(self._files[number].path, self._path)
        return os.path.join(self._path, inside) if self._is_folder else self._path


def name_columns(schema: Any) -> Any:
    """The same columns, named as those of a CSV are."""
    names = settle_names(schema.names)
    fields = [field.with_name(name) for field, name in zip(schema, names, strict=True)]
    return import_extra("pyarrow", "cli").schema(fields)


def _shorten(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
