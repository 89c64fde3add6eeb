"""Files that are read several times in batches, as training tables are read whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .batches import open_stream
from .columns import Refusal, refuse_columns
from .names import check_known
from .read import choose_columns, find_labels
from .source import Reading
from .target import Classes, find_known, read_classes, read_response
from .text import FileRows


class FilePasses:
    """A training table in a file. Making it reads the target, and columns of text, to see what they hold.

    Parameters are those of ``read_training``.
    """

    def __init__(
        self,
        path: str,
        target: str,
        reading: Reading | None = None,
        *,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
        drop_missing_target: bool = False,
        task: str | None = None,
        weight: str | None = None,
        batch_rows: int | None = None,
    ) -> None:
        self.path, self._reading, self._batch_rows = path, reading or Reading(), batch_rows
        self._target, self._weight = target, weight
        with open_stream(path, self._reading) as stream:
            given = {"target": [target], "drop": drop, "categorical": categorical}
            given["sample_weight"] = [] if weight is None else [weight]
            for option, wanted in given.items():
                check_known(option, wanted, stream.names, stream.name)
            self.names = choose_columns(stream, target, [*drop, *given["sample_weight"]])
        known, self.y = self._read_target(task)
        kept = find_known(known, target, is_dropping=drop_missing_target)
        self.n_rows, self.n_dropped = len(kept), len(known) - len(kept)
        self._known = None if not self.n_dropped else known
        self.as_categories = self._find_categories(set(categorical))

    @property
    def is_regression(self) -> bool:
        """Whether a number is to be predicted."""
        return self.y.dtype.kind == "f"

    def batches(self) -> Iterator[tuple[FileRows, NDArray[Any], NDArray[np.float64] | None]]:
        """Batches of rows whose target is known, with their targets and weights."""
        n_read = first = 0
        for rows in self._read([*self.names, *([] if self._weight is None else [self._weight])]):
            n_rows = len(rows)
            if self._known is not None:
                rows = rows.filter(self._known[n_read : n_read + n_rows])
            last = first + len(rows)
            weight = None if self._weight is None else rows.column(self._weight).numbers()
            yield rows.select(self.names), self.y[first:last], weight
            n_read, first = n_read + n_rows, last

    def _read(self, columns: Sequence[str]) -> Iterator[FileRows]:
        with open_stream(self.path, self._reading) as stream:
            yield from stream.batches(columns, self._batch_rows)

    def _read_target(self, task: str | None) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Which rows have a class or a response, and what it is for each of them."""
        are_numbers = True

        def read_parts() -> Iterator[Classes]:
            nonlocal are_numbers
            for rows in self._read([self._target]):
                are_numbers = are_numbers and rows.column(self._target).kind == "numbers"
                yield read_classes(rows, self._target)

        def read() -> NDArray[np.float64]:
            return np.concatenate([read_response(rows, self._target) for rows in self._read([self._target])])

        classes = Classes.join(() if task == "regression" else read_parts())
        return find_labels(classes, are_numbers, read, self._target, task)

    def _find_categories(self, wanted: set[str]) -> set[str]:
        """The columns that hold categories: those wanted, and text that is not all numbers."""
        with open_stream(self.path, self._reading) as stream:
            texts = [name for name in self.names if name not in wanted and stream.is_text(name)]
        refused: dict[str, Refusal | None] = {}
        found = set(wanted)
        for rows in self._read(texts) if texts else ():
            for name in texts:
                column = rows.column(name)
                if column.kind == "numbers":
                    continue
                found.add(name)
                refusal = column.find_refusal(is_category=False)
                refused[name] = refusal if name not in refused or refused[name] is not None else None
        meant = [refusal for refusal in refused.values() if refusal is not None]
        if meant:
            raise refuse_columns(meant)
        return found
