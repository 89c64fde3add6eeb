"""Processes that predict row groups of Parquet; what they give comes back in the order of the rows.

Each worker has a pipe of its own. It ends when the pipe does, so none outlives the command, however that ends.
"""

from __future__ import annotations

import io
import multiprocessing
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from .._extras import import_extra
from ..io.streams import Part, PartedStream
from . import _signals
from ._errors import ExitCode, Problem
from ._model import load_scorer
from ._predicting import Done, Predicting, Wanted

_AHEAD = 2  # parts per worker that may wait for those before them
_SECONDS = 0.5  # between looks for a signal that a library swallowed
_PATIENCE = 30.0  # seconds until a worker that does not end is killed
_EXPECTED = (Problem, ValueError, TypeError, OSError, ModuleNotFoundError, MemoryError)


class Received(NamedTuple):
    """What became of a part."""

    batches: list[Any]  # of the output
    n_rows: int
    n_unseen: Counter[str]


class Work(NamedTuple):
    """What a worker needs to know."""

    model: str
    data: str
    wanted: Wanted
    n_threads: int


def is_parted(path: str) -> bool:
    """Whether workers can share a table: a Parquet file that is there to be opened again."""
    if path == "-":
        return False
    try:
        with open(path, "rb") as file:
            return file.seekable() and file.read(4) == b"PAR1"
    except IsADirectoryError:
        return True
    except OSError:
        return False  # whoever reads it says why


def predict_parts(work: Work, parts: list[Part], n_workers: int, n_unseen: Counter[str]) -> Iterator[Done]:
    """Predict the parts of a table in processes, in order; ``n_unseen`` gets what counted as missing."""
    n_done, n_rows = 0, sum(part.n_rows for part in parts)
    for received in _share_out(work, parts, n_workers):
        n_done += received.n_rows
        n_unseen.update(received.n_unseen)
        for batch in received.batches:
            yield Done(batch, n_done / n_rows, n_done)


def _share_out(work: Work, parts: list[Part], n_workers: int) -> Iterator[Received]:
    """What workers make of the parts, in order; none is far ahead of the one that is waited for."""
    with _start(work, n_workers) as workers:
        free, busy = list(workers), {}
        done: dict[int, Received] = {}
        n_begun = 0
        for number in range(len(parts)):
            while number not in done:
                while free and n_begun < min(len(parts), number + _AHEAD * n_workers):
                    connection = free.pop()
                    _send(connection, workers[connection], parts[n_begun])
                    busy[connection] = n_begun
                    n_begun += 1
                for ready in wait(list(busy), _SECONDS):
                    assert isinstance(ready, Connection)
                    done[busy.pop(ready)] = _receive(ready, workers[ready])
                    free.append(ready)
                _signals.check()
            yield done.pop(number)


@contextmanager
def _start(work: Work, n_workers: int) -> Iterator[dict[Connection, BaseProcess]]:
    """Processes that wait for parts, by the connection to each."""
    context = multiprocessing.get_context(
        "spawn"
    )  # threads and locks of this process would not survive a fork
    workers: dict[Connection, BaseProcess] = {}
    try:
        with _keeping_interrupts():
            for _ in range(n_workers):
                ours, theirs = context.Pipe()
                workers[ours] = context.Process(target=_serve, args=(theirs, work), daemon=True)
                workers[ours].start()
                theirs.close()  # or its end would not be seen
        yield workers
    finally:
        for connection, process in workers.items():
            connection.close()
            process.terminate()
        for process in workers.values():
            process.join(_PATIENCE)
            if process.exitcode is None:
                process.kill()
                process.join()


@contextmanager
def _keeping_interrupts() -> Iterator[None]:
    """Ctrl-C goes to all processes of a terminal; those started here never see it, and this one sees it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _send(connection: Connection, worker: BaseProcess, part: Part) -> None:
    try:
        connection.send(part)
    except ConnectionError:  # it ended after its last answer
        raise _tell_end(worker) from None


def _receive(connection: Connection, worker: BaseProcess) -> Received:
    """What a worker sent; its error, if that is what it sent."""
    try:
        content, n_rows, n_unseen = connection.recv()
    except (EOFError, OSError):  # the latter in the middle of an answer
        raise _tell_end(worker) from None
    if isinstance(content, BaseException):
        raise content
    with import_extra("pyarrow.ipc", "cli").open_stream(content) as stream:
        return Received(list(stream), n_rows, n_unseen)


def _tell_end(worker: BaseProcess) -> Problem:
    worker.join(_PATIENCE)
    code = worker.exitcode
    how = f"was killed by signal {-code}" if code is not None and code < 0 else "ended unexpectedly"
    return Problem(
        f"a worker process {how}: if memory ran out, pass fewer --workers or write smaller row groups"
    )


def _serve(connection: Connection, work: Work) -> None:
    """Predict one part after the other, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        predicting, stream = _open(work)
        while True:
            part = connection.recv()
            predicting.n_unseen.clear()
            content = _predict(predicting, stream, part, work.wanted.most_rows)
            connection.send((content, part.n_rows, predicting.n_unseen))
    except (EOFError, ConnectionError):
        return  # the command has ended
    except _EXPECTED as error:
        try:
            connection.send((error, 0, Counter()))
        except ConnectionError:
            return


def _open(work: Work) -> tuple[Predicting, PartedStream]:
    stream = PartedStream(work.data)
    return Predicting(load_scorer(work.model), stream, work.wanted, work.n_threads), stream


def _predict(predicting: Predicting, stream: PartedStream, part: Part, most_rows: int | None) -> bytes:
    """The output of a part as a stream of Arrow."""
    ipc, content, writer = import_extra("pyarrow.ipc", "cli"), io.BytesIO(), None
    for batch in predicting.predict(stream.read_part(part, predicting.columns, most_rows)):
        writer = writer or ipc.new_stream(content, batch.schema)
        writer.write_batch(batch)
    if writer is None:
        raise Problem(f"{stream.name} changed while it was read: run the command again", ExitCode.READ)
    writer.close()
    return content.getvalue()
