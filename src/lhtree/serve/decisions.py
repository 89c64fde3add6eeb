"""The log of decisions: one line of JSON per request, which can be replayed."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from ..tables.errors import ReadError
from .service import Loaded, Refused


class DecisionLog:
    """Appends requests to a file, or to standard output for ``-``, before they are answered."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path, self._lock = os.fspath(path), threading.Lock()
        self._file = self._open()

    def _open(self) -> TextIO:
        return sys.stdout if self._path == "-" else open(self._path, "a", encoding="utf-8")

    def reopen(self) -> None:
        """Open the file again, so that another program can move it away."""
        file = self._open()
        with self._lock:
            self.close()
            self._file = file

    def write(self, request_id: str, loaded: Loaded, action: str, request: Any, answer: Any) -> None:
        """Append one request with the hash of the model, the inputs and the output."""
        line = {
            "time": datetime.now(timezone.utc).isoformat(),
            "request_id": request_id,
            "model": loaded.sha256,
            "action": action,
            "request": request,
            "answer": answer,
        }
        text = json.dumps(line, allow_nan=False)
        with self._lock:
            self._file.write(f"{text}\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not sys.stdout:
            self._file.close()


class Replayed(NamedTuple):
    """A decision of a log, and whether the model gives the same answer today."""

    request_id: str
    action: str
    is_same: bool
    is_same_model: bool
    before: Any
    after: Any


def replay(log: str | os.PathLike[str], loaded: Loaded) -> Iterator[Replayed]:
    """Repeat the decisions of a log with a model, and compare the answers.

    Parameters
    ----------
    log : str or path
        A log written by ``lhtree serve --log``.
    loaded : Loaded
        The model that was served, or another one (see ``load_model``).

    Yields
    ------
    Replayed
        One per line of the log.
    """
    with Path(log).open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                entry = json.loads(line)
                action, request, before = entry["action"], entry["request"], entry["answer"]
                request_id, sha256 = entry["request_id"], entry["model"]
                perform = {"predict": loaded.predict, "explain": loaded.explain}[action]
            except (ValueError, KeyError, TypeError):
                raise ReadError(
                    f"{log}, line {number} is not a decision: pass a log written by lhtree serve --log"
                ) from None
            try:
                after = json.loads(json.dumps(perform(request)))
            except Refused as error:  # by another model
                after = {"detail": error.to_list()}
            yield Replayed(request_id, action, after == before, sha256 == loaded.sha256, before, after)
