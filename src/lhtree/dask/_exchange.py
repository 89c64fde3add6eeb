"""Messages to the rows of a boosted fit, which stay on the workers that have them.

A worker has one holder of its rows, the result of a task, so that Dask lets go of it with the fit. Every message is a
task at each holder; their answers are merged by a tree of tasks. What a holder knows beyond the codes of its rows are
the messages that changed them, and the client keeps these. So a holder never moves: if its worker dies or leaves, Dask
moves or computes the codes, and a new holder is told all messages so far, which makes the model the same.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._extras import import_extra
from ._client import SECONDS, Patience, Session, fetch, wait_for

_FAN_IN = 4  # number of results that are merged at once, or sent to the client
_MOST_TRIES = 10  # of a message


class CommonFacts(NamedTuple):
    """Facts that all partitions share."""

    bins: dict[str, Any]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    levels: NDArray[np.int32] | None
    objective: dict[str, Any]

    def make_bins(self) -> _core.BoostBins:
        """Return the bins, which cannot be sent as they are."""
        return _core.BoostBins(self.bins, centre=self.centre, scale=self.scale, levels=self.levels)


class Coded(NamedTuple):
    """The rows of a part: codes of their features, and their labels."""

    codes: NDArray[np.uint8]
    labels: dict[str, Any]  # of ``BoostRows``
    first_row: int


class Holder:
    """The rows of one worker, which answer messages.

    Dask copies the results of a worker that leaves to another one. Of a holder it gets one that is empty.
    """

    def __init__(self, parts: Sequence[Coded], given: CommonFacts, history: Sequence[bytes]) -> None:
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
        self._n_changes = len(history)
        self._n_bytes = sum(part.codes.nbytes for part in parts)
        self._number, self._answers = -1, list[bytes]()
        self._lock = (
            threading.Lock()
        )  # a message that is repeated may meet itself, if the worker has several threads

    def __reduce__(self) -> Any:
        return _Empty, ()

    def __sizeof__(self) -> int:
        return self._n_bytes  # Dask does not move tasks away from large results

    def answer(self, number: int, n_changes: int, requests: list[bytes]) -> list[bytes] | None:
        """Return the answers to messages; a repeated message, with the same number, gets its first answer.

        Return None if changes are missing because Dask created the object again.
        """
        with self._lock:
            if number != self._number:
                if n_changes != self._n_changes:
                    return None
                answers = [[rows.answer(request) for request in requests] for rows in self._parts]
                self._answers = merge(answers)
                self._n_changes += sum(map(_core.changes_rows, requests))
                self._number = number
            return self._answers


class _Empty:
    """The copy of a holder, without rows."""

    def answer(self, number: int, n_changes: int, requests: list[bytes]) -> list[bytes] | None:
        """Return no answer."""
        return None


class _Held(NamedTuple):
    """A holder, where it is, and the numbers of its parts."""

    future: Any
    address: str
    parts: list[int]


class _LostError(Exception):
    """Some holders are lost."""


class Exchange:
    """Hands messages to all rows and returns their answers, some of them merged."""

    def __init__(self, session: Session, coded: Sequence[Any], given: Any) -> None:
        self._session, self._coded, self._given = session, list(coded), given
        self._history: list[bytes] = []
        self._number = 0
        self._held: list[_Held] = []
        self._place(range(len(self._coded)))

    def __call__(self, requests: list[bytes]) -> list[list[bytes]]:
        """Return the merged result of every message over all rows."""
        self._number += 1
        for _ in range(_MOST_TRIES):
            answers = self._ask(requests)
            if answers is not None:
                self._history += filter(_core.changes_rows, requests)
                return answers
        raise RuntimeError(
            f"Dask lost workers, or what they held, {_MOST_TRIES} times in a row, so the fit ends: give workers more "
            "memory."
        )

    def _ask(self, requests: list[bytes]) -> list[list[bytes]] | None:
        """Return the answers; None if a holder was lost on the way, and has been replaced."""
        own = answers = self._tell_holders(requests)
        while len(answers) > _FAN_IN:
            groups = [answers[first : first + _FAN_IN] for first in range(0, len(answers), _FAN_IN)]
            answers = self._session.map(merge, groups)
        try:
            found = fetch(self._session, answers, self._check)
            if None not in found:
                return found
            gone = self._find_unable(own)
        except _LostError:
            workers = Patience(self._session.client).look()
            gone = [held for held in self._held if _is_gone(held, workers)]
        self._held = [held for held in self._held if held not in gone]
        self._place([part for held in gone for part in held.parts])
        return None

    def _check(self, workers: set[str]) -> None:
        if any(_is_gone(held, workers) for held in self._held):
            raise _LostError

    def _tell_holders(self, requests: list[bytes]) -> list[Any]:
        """Return futures of the result of every holder, computed on its worker."""
        held = self._held
        return self._session.map(
            _answer,
            [one.future for one in held],
            workers=[one.address for one in held],
            number=self._number,
            n_changes=len(self._history),
            requests=requests,
        )

    def _find_unable(self, answers: list[Any]) -> list[_Held]:
        """Return the holders that could not answer: Dask took a copy for them, or made them again."""
        found = fetch(self._session, answers, self._check)
        return [held for held, answer in zip(self._held, found, strict=True) if answer is None]

    def _place(self, parts: Sequence[int]) -> None:
        """Assign every part to a worker that has it; other parts go to workers that hold few."""
        session, patience = self._session, Patience(self._session.client)
        while parts:
            wait_for(session, [self._coded[part] for part in parts])
            has = session.client.who_has([self._coded[part] for part in parts])
            workers = patience.look()
            if not workers:
                time.sleep(SECONDS)
                continue
            n_parts = Counter(dict.fromkeys(workers, 0))
            for held in self._held:
                n_parts[held.address] += len(held.parts)
            by_worker: dict[str, list[int]] = {}
            for part in parts:
                having = workers.intersection(has.get(self._coded[part].key, ()))
                address = min(having or workers, key=lambda one: (n_parts[one], one))
                by_worker.setdefault(address, []).append(part)
                n_parts[address] += 1
            begun = [self._begin(address, own) for address, own in by_worker.items()]
            kept = [held for held in begun if self._await(held)]
            self._held += kept
            placed = {part for held in kept for part in held.parts}
            parts = [part for part in parts if part not in placed]

    def _begin(self, address: str, parts: list[int]) -> _Held:
        coded = [self._coded[part] for part in parts]
        future = self._session.submit(Holder, coded, self._given, self._history, workers=[address])
        return _Held(future, address, parts)

    def _await(self, held: _Held) -> bool:
        """Wait until a holder is there; False if its worker is gone."""

        def check(workers: set[str]) -> None:
            if held.address not in workers:
                raise _LostError

        try:
            wait_for(self._session, [held.future], check)
        except _LostError:
            return False
        return True


def _is_gone(held: _Held, workers: set[str]) -> bool:
    return held.address not in workers or held.future.status != "finished"


def _answer(
    holder: Holder | _Empty, number: int, n_changes: int, requests: list[bytes]
) -> list[bytes] | None:
    return holder.answer(number, n_changes, requests)


def merge(answers: Sequence[list[bytes] | None]) -> Any:
    """Merge the results of several holders; None if a result is missing."""
    if None in answers:
        return None
    return [_core.merge_answers(list(of_all)) for of_all in zip(*answers, strict=True)]
