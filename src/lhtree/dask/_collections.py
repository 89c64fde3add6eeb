"""Dask arrays and DataFrames: their parts for a fit, and predictions in the same parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._extras import import_extra
from ._client import Session, fetch


class Part(NamedTuple):
    """The rows of a partition, as a worker has them."""

    X: Any
    y: Any
    weight: Any


class Table:
    """Rows in parts on workers; ``parts`` are futures of ``Part``, in the order of the rows."""

    def __init__(self, session: Session, parts: list[Any]) -> None:
        self.session, self.parts = session, parts
        counts = fetch(session, [session.submit(_count, part) for part in parts])
        for number, (n_rows, others) in enumerate(counts):
            for name, n_others in others.items():
                if n_others != n_rows:
                    raise ValueError(
                        f"partition {number} has {n_rows} rows in X, but {n_others} in {name}: divide all of them at "
                        "the same rows."
                    )
        self.sizes = [n_rows for n_rows, _ in counts]
        if not any(self.sizes):
            raise ValueError("X has no rows: pass at least one.")
        self.first_row = np.cumsum([0, *self.sizes])


def _count(part: Part) -> tuple[int, dict[str, int]]:
    others = {"y": part.y, "sample_weight": part.weight}
    return len(part.X), {name: len(values) for name, values in others.items() if values is not None}


def is_array(X: Any) -> bool:
    """Whether it is a Dask array."""
    return hasattr(X, "dask") and hasattr(X, "chunks")


def is_frame(X: Any) -> bool:
    """Whether it is a Dask DataFrame or Series."""
    return (
        hasattr(X, "dask") and hasattr(X, "npartitions") and hasattr(X, "to_delayed") and hasattr(X, "_meta")
    )


def check_collection(X: Any, name: str = "X") -> None:
    """Refuse what is not a Dask collection."""
    if not is_array(X) and not is_frame(X):
        raise TypeError(
            f"{name} is a {type(X).__name__}, not a Dask array or DataFrame: pass one, or use to_local() for rows in "
            "memory."
        )


def make_table(session: Session, X: Any, y: Any, weight: Any) -> Table:
    """The rows of collections on the workers."""
    delayed = import_extra("dask", "dask").delayed
    check_collection(X)
    chunks = X.chunks[0] if is_array(X) else None
    columns = [_divide(X, "X", chunks)]
    for values, name in ((y, "y"), (weight, "sample_weight")):
        if values is None:
            columns.append([None] * len(columns[0]))
            continue
        check_collection(values, name)
        columns.append(_divide(values, name, chunks))
        if len(columns[-1]) != len(columns[0]):
            raise ValueError(
                f"X has {len(columns[0])} partitions, but {name} has {len(columns[-1])}: divide both at the same rows."
            )
    packed = [delayed(Part)(*values) for values in zip(*columns, strict=True)]
    return Table(session, session.compute(packed))


def _divide(values: Any, name: str, chunks: tuple[Any, ...] | None) -> list[Any]:
    """The parts of a collection, one after the other, with all columns each."""
    if is_array(values):
        if values.ndim == 2 and values.numblocks[1] > 1:
            values = values.rechunk({1: -1})
        known = chunks is not None and not np.isnan((*chunks, *values.chunks[0])).any()
        if known and sum(values.chunks[0]) != sum(chunks or ()):
            raise ValueError(
                f"X has {sum(chunks or ())} rows, but {name} has {sum(values.chunks[0])}: pass one for each row."
            )
        if known and values.chunks[0] != chunks:
            values = values.rechunk({0: chunks})
    parts: list[Any] = np.ravel(values.to_delayed()).tolist()
    return parts


def map_rows(
    ask: Callable[[Any, Any, list[Any] | None], Any],
    model: Any,
    X: Any,
    dtype: Any,
    columns: list[Any] | None,
) -> Any:
    """What a function of a model and rows gives for every part of X, lazily; ``columns`` are those of a 2-D result."""
    check_collection(X)
    given = import_extra("dask", "dask").delayed(model, pure=True)
    if is_array(X):
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        width = {"drop_axis": 1} if columns is None else {"chunks": (X.chunks[0], (len(columns),))}
        empty = np.empty((0,) if columns is None else (0, 0), dtype=dtype)
        return X.map_blocks(ask, given, columns, dtype=dtype, meta=empty, **width)
    pandas = import_extra("pandas", "dask")
    index = X._meta.index
    if columns is None:
        meta: Any = pandas.Series([], dtype=dtype, index=index, name="prediction")
    else:
        meta = pandas.DataFrame({column: pandas.Series([], dtype=dtype, index=index) for column in columns})
    return X.map_partitions(ask, given, columns, meta=meta)
