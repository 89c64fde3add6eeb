"""Encoded rows in parts on workers: what a fit does with rows, it does there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from ..tables.rows import Encoded, expand, join_rows
from ._client import Session, fetch

Rows = NDArray[np.int64]


class WorkerRows:
    """Rows of a table, or some of them, in parts on workers.

    Parameters
    ----------
    session : Session
        That of the fit.
    parts : list of Future
        Encoded rows, in their order.
    first : array of shape (n_parts + 1,)
        Number of the first row of every part, and of all rows.
    n_features : int
        Number of features.
    row : array of shape (n,), optional
        Numbers of the rows meant, ascending; None means all.
    """

    def __init__(
        self, session: Session, parts: list[Any], first: Rows, n_features: int, row: Rows | None = None
    ) -> None:
        self.session, self.parts, self.first, self._n_features, self.row = (
            session,
            parts,
            first,
            n_features,
            row,
        )

    def __len__(self) -> int:
        return int(self.first[-1]) if self.row is None else len(self.row)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return len(self), self._n_features

    def __getitem__(self, rows: NDArray[Any]) -> WorkerRows:
        """Some rows, by their places or by a mask."""
        places = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
        row = places if self.row is None else self.row[places]
        return WorkerRows(self.session, self.parts, self.first, self._n_features, row)

    def divide(self) -> Iterator[tuple[int, Rows | None]]:
        """Every part that has some of the rows, and which; None means all."""
        if self.row is None:
            yield from (
                (part, None) for part in range(len(self.parts)) if self.first[part] < self.first[part + 1]
            )
            return
        cuts = np.searchsorted(self.row, self.first)
        for part in range(len(self.parts)):
            own = self.row[cuts[part] : cuts[part + 1]] - self.first[part]
            if len(own):
                yield part, own

    def map(self, function: Callable[..., Any], *given: Any) -> list[Any]:
        """Futures of what a function gives for the rows of every part that has some; ``given`` follows the rows."""
        submit = self.session.submit
        return [submit(function, self.parts[part], own, *given) for part, own in self.divide()]

    def load(self) -> Encoded:
        """The rows themselves."""
        return join_rows(fetch(self.session, self.map(take)))

    def expand(self) -> NDArray[Any]:
        """All features of the rows, shape (n, m)."""
        return expand(self.load())

    def ask(self, model: Model, method: str) -> Any:
        """What ``model.ask`` gives for the rows."""
        given = self.session.submit(keep, model)
        found = fetch(self.session, self.map(_ask, given, method))
        if isinstance(found[0], tuple):
            return tuple(map(np.concatenate, zip(*found, strict=True)))
        return np.concatenate(found)


def keep(value: Any) -> Any:
    """Makes something the result of a task, so that it is sent once and can be computed again."""
    return value


def take(part: Encoded, rows: Rows | None) -> Encoded:
    """Some rows of a part."""
    return part if rows is None else part[rows]


def _ask(part: Encoded, rows: Rows | None, model: Model, method: str) -> Any:
    return model.ask(method, take(part, rows))
