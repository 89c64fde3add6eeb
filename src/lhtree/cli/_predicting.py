"""Predicting the rows of a table, batch by batch, in one process or in several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..io.fields import FileRows
from ..io.streams import Stream
from ..scorer import Scorer
from ..tables.errors import check_known
from ._errors import Problem
from ._model import Encoder
from ._output import make_flat


@dataclass(frozen=True)
class Wanted:
    """What to write of every row."""

    proba: bool
    confidence: bool
    interval: float | None
    keep: tuple[str, ...]
    keeps_all: bool
    unseen: str
    most_rows: int | None  # per batch


class Done(NamedTuple):
    """A record batch of the output, and how far the table has been read."""

    batch: Any
    share: float
    n_rows: int


class Predicting:
    """A model and the columns of a table that it needs."""

    def __init__(self, scorer: Scorer, stream: Stream, wanted: Wanted, n_threads: int) -> None:
        self._encoder = Encoder(scorer, stream, wanted.unseen)
        check_known("keep", wanted.keep, stream.names, stream.name)
        self._kept = stream.names if wanted.keeps_all else list(dict.fromkeys(wanted.keep))
        self.columns = list(dict.fromkeys([*self._encoder.columns, *self._kept]))
        self.n_unseen = self._encoder.n_unseen
        self._wanted, self._n_threads = wanted, n_threads

    def predict(self, batches: Iterable[FileRows]) -> Iterator[Any]:
        """A record batch of the output for every batch of rows."""
        for rows in batches:
            columns = self._predict(self._encoder.encode(rows))
            yield _make_batch(rows.records, self._kept, columns)

    def _predict(self, features: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
        """Columns of the output; a scorer does not accept a table without rows."""
        scorer, wanted, n_threads = self._encoder.scorer, self._wanted, self._n_threads
        labels, n_rows = scorer.classes_, len(features)
        nothing = np.empty(0) if scorer._model.is_regression else labels[:0]
        columns = {"prediction": scorer.predict(features, n_threads) if n_rows else nothing}
        if wanted.interval is not None:
            ends = (
                scorer.predict_interval(features, wanted.interval, n_threads) if n_rows else np.empty((0, 2))
            )
            columns |= {"low": ends[:, 0], "high": ends[:, 1]}
        for is_wanted, name, method in (
            (wanted.proba, "proba", scorer.predict_proba),
            (wanted.confidence, "confidence", scorer.predict_confidence),
        ):
            if is_wanted:
                values = method(features, n_threads) if n_rows else np.empty((0, len(labels)))
                columns |= {f"{name} {label}": values[:, i] for i, label in enumerate(labels.tolist())}
        return columns


def _make_batch(batch: Any, kept: list[str], predictions: dict[str, NDArray[Any]]) -> Any:
    """A record batch of the output."""
    pa = import_extra("pyarrow", "cli")
    twice = next((name for name in kept if name in predictions), None)
    if twice is not None:
        raise Problem(
            f"the table already has a column {twice!r}: rename it, or select other columns with --keep"
        )
    columns = {name: make_flat(batch.column(name)) for name in kept}
    columns |= {name: pa.array(values) for name, values in predictions.items()}
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))
