"""Tables in batches, so that memory does not depend on the number of rows."""

from __future__ import annotations

import bisect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from .._extras import import_extra
from ..tables.columns import find_arrow_kind
from ..tables.errors import OptionError, ReadError, TableError, shorten
from .csv import CsvReader, settle_names
from .fields import FileRows
from .source import Reading, Source

_BATCH_BYTES = 1 << 20
_BUFFER_BYTES = 1 << 16  # of a column of a Parquet file
# pandas stores the index of a frame in these columns.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


class Reader(Protocol):
    """A table whose columns are known; every format has one."""

    schema: Any  # of Arrow: names and types of the columns

    def batches(self, columns: Iterable[str]) -> Iterator[Any]:
        """Record batches with these columns and maybe more, in the order of the rows."""

    def locate(self, row: int) -> str:
        """Name of a data row in messages, counted from 0."""

    def share(self) -> float | None:
        """Return the share of the table that has been read; None if it is unknown."""

    def estimate_bytes(self) -> int | None:
        """Return the approximate memory of the whole table; None if it is unknown."""


class Stream:
    """A table that is read once, from start to end."""

    def __init__(self, name: str, decimal: str, reader: Reader) -> None:
        self._reader = reader
        self.name, self.decimal = name, decimal
        self.names = [name for name in reader.schema.names if not _PANDAS_INDEX.fullmatch(name)]
        self.n_rows = 0  # before the batch given last
        seen: set[str] = set()
        for name in self.names:
            if name in seen:
                raise TableError(f"{self.name} has two columns named {shorten(name)}: rename one of them")
            seen.add(name)

    def batches(self, columns: Iterable[str], most_rows: int | None = None) -> Iterator[FileRows]:
        """Yield batches of rows with these columns, of limited size; one empty batch if the table has no rows."""
        columns = list(columns)
        is_empty = True
        for rows in self._divide(self._reader.batches(columns), columns, most_rows):
            yield rows
            is_empty = False
        if is_empty:
            pa, schema = import_extra("pyarrow", "cli"), self._reader.schema
            fields = [schema.field(name) for name in columns]
            yield self._name_rows(
                pa.RecordBatch.from_arrays(
                    [pa.array([], field.type) for field in fields], schema=pa.schema(fields)
                )
            )

    def _divide(
        self, batches: Iterable[Any], columns: list[str], most_rows: int | None
    ) -> Iterator[FileRows]:
        for whole in batches:
            batch = whole.select(columns)
            step = most_rows or max(1, batch.num_rows)
            for first in range(0, batch.num_rows, step):
                some = batch.slice(first, step)
                yield self._name_rows(some)
                self.n_rows += some.num_rows

    def read_all(self, columns: Iterable[str]) -> FileRows:
        """Return these columns of all rows; there is at least one row."""
        batches = [rows.records for rows in self.batches(columns)]
        if not batches[0].num_rows:
            raise TableError(f"{self.name} has a header but no rows: pass a table with rows")
        self.n_rows = 0  # the whole table is one batch now
        return self._name_rows(import_extra("pyarrow", "cli").Table.from_batches(batches))

    def _name_rows(self, records: Any) -> FileRows:
        first = self.n_rows
        return FileRows(records, self.name, self.decimal, lambda row: self.locate(first + row))

    def is_text(self, name: str) -> bool:
        """Whether a column is one of text by its type."""
        return find_arrow_kind(self._reader.schema.field(name).type) == "categories"

    def locate(self, row: int) -> str:
        """Name of a row in messages, counted from 0: "data.csv, line 17"."""
        return f"{self.name}, {self._reader.locate(row)}"

    def share(self) -> float | None:
        """Return the share of the table that has been read; None if it is unknown."""
        return self._reader.share()

    def estimate_bytes(self) -> int | None:
        """Return the approximate memory of the whole table; None if it is unknown."""
        return self._reader.estimate_bytes()


@contextmanager
def open_stream(path: str, reading: Reading) -> Iterator[Stream]:
    """Open a table in any format, or a folder of Parquet files."""
    if os.path.isdir(path):
        if reading.format not in (None, "parquet"):
            raise OptionError(
                "format", reading.format, f"does not fit {path}: of folders, Parquet files are read only"
            )
        yield Stream(path, ".", ParquetReader.open_folder(path))
        return
    source = Source(path, reading)
    try:
        kinds: dict[str, Callable[[Source], Reader]] = {
            "parquet": ParquetReader.open_file,
            "arrow": ArrowReader,
            "arrow stream": ArrowReader,
        }
        kind = kinds.get(source.format, CsvReader)
        yield Stream(source.name, source.reading.decimal, kind(source))
    finally:
        source.close()


class ArrowReader:
    """A file or a stream of Arrow's own format (Feather is such a file)."""

    def __init__(self, source: Source) -> None:
        self._source = source
        ipc = import_extra("pyarrow.ipc", "cli")
        with _telling(f"{source.name} is damaged"):
            is_stream = source.format == "arrow stream"
            self._table = ipc.open_stream(source.feed) if is_stream else ipc.open_file(source.open_whole())
        self._is_stream, self._share = is_stream, 0.0
        self.schema = name_columns(self._table.schema)

    def batches(self, columns: Iterable[str]) -> Iterator[Any]:
        """Record batches with these columns."""
        columns = list(columns)
        n_rows = max(1, _BATCH_BYTES // (8 * max(1, len(columns))))
        with _telling(f"{self._source.name} is damaged"):
            for whole in self._table if self._is_stream else self._read_file():
                batch = whole.rename_columns(self.schema.names).select(columns)
                for first in range(0, batch.num_rows, n_rows):
                    yield batch.slice(first, n_rows)

    def _read_file(self) -> Iterator[Any]:
        n_batches = self._table.num_record_batches
        for number in range(n_batches):
            self._share = (number + 1) / n_batches
            yield self._table.get_batch(number)

    def locate(self, row: int) -> str:
        """Return the number of a row: Arrow has no lines."""
        return f"row {row + 1}"

    def share(self) -> float | None:
        """Return the share of the record batches that has been read, or of the bytes of a stream."""
        return self._source.share() if self._is_stream else self._share

    def estimate_bytes(self) -> int | None:
        """Return the approximate memory: as much as in the file."""
        return self._source.n_bytes


@contextmanager
def _telling(what: str) -> Iterator[None]:
    """Explain in one line that a binary file cannot be read."""
    pa = import_extra("pyarrow", "cli")
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise ReadError(f"{what}: {_shorten(error)}") from None


class ParquetReader:
    """A Parquet file, or a folder of Parquet files in the order of their paths.

    Folders named ``key=value`` give a column. All files have the same columns, some of a wider type than others.

    Parameters
    ----------
    name : str
        What messages call the file, or the path of the folder.
    files : list of pyarrow.dataset.ParquetFileFragment
        The files.
    partitions : pyarrow.Schema, optional
        Of a folder: all columns, with those of the names of folders.
    """

    def __init__(self, name: str, files: Sequence[Any], partitions: Any = None) -> None:
        self._path, self._files, self._is_folder = name, files, partitions is not None
        schemas = []
        for number, file in enumerate(files):
            with _telling(f"{self._name(number)} is damaged"):
                schemas.append(file.physical_schema)
        self._given = self._join_schemas(schemas, partitions) if self._is_folder else schemas[0]
        self.schema = name_columns(self._given)
        self._first = [0]  # row of every file, and the number of rows
        for file in files:
            self._first.append(self._first[-1] + int(file.metadata.num_rows))
        self._n_read = 0

    @classmethod
    def open_file(cls, source: Source) -> ParquetReader:
        """Open one file."""
        return cls(source.name, [_parquet_format().make_fragment(source.open_whole())])

    @classmethod
    def open_folder(cls, path: str) -> ParquetReader:
        """Open a folder."""
        dataset = import_extra("pyarrow.dataset", "cli")
        _refuse_circles(path)
        with _telling(f"{path} is not a folder of Parquet files"):
            table = dataset.dataset(path, format=_parquet_format(), partitioning="hive")
        files = list(table.get_fragments())
        if not files:
            raise ReadError(f"{path} contains no Parquet file: pass a folder of .parquet files")
        return cls(path, files, table.schema)

    def _join_schemas(self, schemas: Sequence[Any], partitions: Any) -> Any:
        """Return the columns of all files, each of a type that holds the values of all files."""
        pa = import_extra("pyarrow", "cli")
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
        return pa.schema([*joined, *(field for field in partitions if field.name not in own)])

    def batches(self, columns: Iterable[str]) -> Iterator[Any]:
        """Record batches with these columns, of all files."""
        columns = list(columns)
        given = dict(zip(self.schema.names, self._given.names, strict=True))
        for number, file in enumerate(self._files):
            with _telling(f"{self._name(number)} is damaged"):
                for batch in self._scan(file, [given[name] for name in columns]):
                    self._n_read += batch.num_rows
                    yield batch.rename_columns(columns)

    def _scan(self, file: Any, columns: list[str]) -> Iterator[Any]:
        """Record batches of one file."""
        n_rows = max(1, _BATCH_BYTES // (8 * max(1, len(columns))))
        if self._is_folder:  # whose columns may be wider than the file
            yield from file.to_batches(
                schema=self._given, columns=columns, batch_size=n_rows, batch_readahead=0, use_threads=False
            )
            return
        # The scanner of a dataset reads ahead; here pages are read when they are needed, not whole groups of rows.
        parquet = import_extra("pyarrow.parquet", "cli")
        table = parquet.ParquetFile(file.open(), buffer_size=_BUFFER_BYTES, pre_buffer=False)
        for batch in table.iter_batches(n_rows, columns=columns, use_threads=False):
            yield batch.select(columns)

    def locate(self, row: int) -> str:
        """Return the file of a row, where there are several, and its number there."""
        file = min(bisect.bisect_right(self._first, row) - 1, len(self._files) - 1)
        place = f"row {row - self._first[file] + 1}"
        return f"{os.path.relpath(self._files[file].path, self._path)}, {place}" if self._is_folder else place

    def share(self) -> float | None:
        """Return the share of the rows that has been read."""
        return self._n_read / max(1, self._first[-1])

    def estimate_bytes(self) -> int | None:
        """Return the approximate memory: eight bytes a cell."""
        return 8 * self._first[-1] * len(self.schema)

    def _name(self, number: int) -> str:
        if not self._is_folder:
            return self._path
        return os.path.join(self._path, os.path.relpath(self._files[number].path, self._path))


def _parquet_format() -> Any:
    """Return the format of Parquet files; pages are read when they are needed, not whole groups of rows."""
    dataset = import_extra("pyarrow.dataset", "cli")
    options = dataset.ParquetFragmentScanOptions(
        use_buffered_stream=True, buffer_size=_BUFFER_BYTES, pre_buffer=False
    )
    return dataset.ParquetFileFormat(default_fragment_scan_options=options)


def _refuse_circles(path: str, above: tuple[str, ...] = ()) -> None:
    """Refuse circular symbolic links: pyarrow would read the same files again and again."""
    real = os.path.realpath(path)
    if real in above:
        raise ReadError(f"{path} is a circular symbolic link to {real}: remove it")
    if os.path.isdir(path):
        with os.scandir(path) as entries:
            inner = [each.path for each in entries if each.is_dir() and not each.name.startswith(("_", "."))]
        for folder in inner:
            _refuse_circles(folder, (*above, real))


def name_columns(schema: Any) -> Any:
    """Return the schema with names as in a CSV."""
    names = settle_names(schema.names)
    fields = [field.with_name(name) for field, name in zip(schema, names, strict=True)]
    return import_extra("pyarrow", "cli").schema(fields)


def _shorten(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
