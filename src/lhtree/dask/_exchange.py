"""Messages to the rows of a boosted fit, which stay on the workers that have them.

A worker has one holder of its rows, the result of a task, so that Dask lets go of it with the fit. Every message is a
task at each holder; their answers are merged by a tree of tasks. If a worker dies, Dask computes its rows again
elsewhere, and a new holder is told all that changed the rows so far, so the model stays the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._extras import import_extra
from ._client import Patience, Session, fetch, is_lost, raise_error, wait_for, wait_some

_FAN_IN = 4  # answers that are merged at once, or that the client gets


class Given(NamedTuple):
    """What all parts have in common."""

    bins: dict[str, Any]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    levels: NDArray[np.int32] | None
    objective: dict[str, Any]

    def make_bins(self) -> _core.BoostBins:
        """The bins, which cannot be sent as they are."""
        return _core.BoostBins(self.bins, centre=self.centre, scale=self.scale, levels=self.levels)


class Coded(NamedTuple):
    """The rows of a part: codes of their features, and their labels."""

    codes: NDArray[np.uint8]
    labels: dict[str, Any]  # of ``BoostRows``
    first_row: int


class Holder:
    """The rows of one worker, which answer messages."""

    def __init__(self, parts: Sequence[Coded], given: Given, history: Sequence[bytes]) -> None:
        bins = given.make_bins()
        n_threads = import_extra("distributed", "dask").get_worker().state.nthreads
        self._parts = [
            _core.BoostRows(
                part.codes,
                bins,
                first_row=part.first_row,
                n_threads=n_threads,
                **given.objective,
                **part.labels,
            )
            for part in parts
        ]
        for request in history:
            for rows in self._parts:
                rows.answer(request)
        self._number, self._answer = -1, b""

    def answer(self, number: int, request: bytes) -> bytes:
        """The answer to a message; to one that is repeated, with the same number, what was answered before."""
        if number != self._number:
            self._answer = _core.merge_answers([rows.answer(request) for rows in self._parts])
            self._number = number
        return self._answer


class _Held(NamedTuple):
    """A holder, where it is, and the numbers of its parts."""

    future: Any
    address: str
    parts: list[int]


class Exchange:
    """Hands a message to all rows and returns their answers, some of them merged."""

    def __init__(self, session: Session, coded: Sequence[Any], given: Any) -> None:
        self._session, self._coded, self._given = session, list(coded), given
        self._history: list[bytes] = []
        self._number = 0
        self._held: list[_Held] = []
        self.n_messages, self.n_bytes = 0, 0  # of answers that reached the client
        self._place(range(len(self._coded)))

    def __call__(self, request: bytes) -> list[bytes]:
        """The answers to a message."""
        self._number += 1
        answers = self._ask(request)
        while answers is None:  # a worker was lost on the way
            answers = self._ask(request)
        if _core.changes_rows(request):
            self._history.append(request)
        self.n_messages += 1
        self.n_bytes += sum(map(len, answers))
        return answers

    def _ask(self, request: bytes) -> list[bytes] | None:
        """The answers; None if a worker was lost on the way, and has been replaced."""
        submit = self._session.submit
        answers = [
            submit(_answer, held.future, self._number, request, workers=[held.address]) for held in self._held
        ]
        while len(answers) > _FAN_IN:
            answers = [
                submit(_merge, answers[first : first + _FAN_IN]) for first in range(0, len(answers), _FAN_IN)
            ]
        patience, waiting = Patience(self._session.client), answers
        while waiting:
            is_done = wait_some(waiting)
            lost = [future for future in waiting if future.status != "finished" and is_lost(future)]
            if lost or not is_done:
                workers = patience.look()
                if self._replace([held for held in self._held if _is_gone(held, workers)]) or lost:
                    return None
            for future in waiting:
                if future.status == "error":
                    raise_error(future)
            waiting = [future for future in waiting if future.status != "finished"]
        return fetch(self._session.client, answers)

    def _replace(self, gone: list[_Held]) -> bool:
        """Let others hold the rows of holders that are gone; whether there were any."""
        self._held = [held for held in self._held if held not in gone]
        if gone:
            self._place([part for held in gone for part in held.parts])
        return bool(gone)

    def _place(self, parts: Sequence[int]) -> None:
        """Let every worker hold those of the parts that it has."""
        client = self._session.client
        while parts:
            wait_for(client, [self._coded[part] for part in parts])
            has = client.who_has([self._coded[part] for part in parts])
            by_worker: dict[str, list[int]] = {}
            for part in parts:
                for address in list(has.get(self._coded[part].key, ()))[:1]:
                    by_worker.setdefault(address, []).append(part)
            begun = [
                _Held(
                    self._session.submit(
                        Holder,
                        [self._coded[part] for part in own],
                        self._given,
                        self._history,
                        workers=[address],
                    ),
                    address,
                    own,
                )
                for address, own in by_worker.items()
            ]
            kept = [held for held in begun if _await(client, held)]
            self._held += kept
            placed = {part for held in kept for part in held.parts}
            parts = [part for part in parts if part not in placed]


def _await(client: Any, held: _Held) -> bool:
    """Wait until a holder is there; False if its worker is gone."""
    patience = Patience(client)
    while held.future.status != "finished":
        if not wait_some([held.future]) and held.address not in patience.look():
            return False
        if is_lost(held.future):
            return False
        if held.future.status == "error":
            raise_error(held.future)
    return True


def _is_gone(held: _Held, workers: set[str]) -> bool:
    return held.address not in workers or held.future.status != "finished"


def _answer(holder: Holder, number: int, request: bytes) -> bytes:
    return holder.answer(number, request)


def _merge(answers: list[bytes]) -> bytes:
    return _core.merge_answers(answers)
