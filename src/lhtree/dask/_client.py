"""Work for Dask's workers, and waiting for it, never without a way out.

A wait ends when the work is done or fails, when the client is closed, and when no worker has been there for a while.
Ctrl-C ends it, too.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .._extras import import_extra

SECONDS = 0.5  # between looks
_PATIENCE = 30.0  # seconds without a worker; one that a nanny starts again takes some
_LOST = ("cancelled", "lost")


def find_client(client: Any) -> Any:
    """The client given, or the one in use."""
    if client is not None:
        return client
    try:
        return import_extra("distributed", "dask").get_client()
    except ValueError:
        raise ValueError(
            "there is no Dask client: start one, client = dask.distributed.Client(), or pass client="
        ) from None


def check_open(client: Any) -> None:
    """Refuse a client that was closed."""
    if client.status in ("closing", "closed"):
        raise RuntimeError("the Dask client was closed, so the fit ends: pass an open client.")


class Session:
    """The tasks of one fit; all results on workers are let go when it ends, however it ends."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._futures: weakref.WeakSet[Any] = weakref.WeakSet()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: Any) -> None:
        for future in list(self._futures):
            future.release()

    def submit(self, function: Callable[..., Any], *given: Any, workers: list[str] | None = None) -> Any:
        """A future of what the function gives, on one of the workers if they are named."""
        check_open(self.client)
        future = self.client.submit(function, *given, workers=workers, pure=False)
        self._futures.add(future)
        return future

    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        """Futures of delayed values."""
        futures: list[Any] = self.client.compute(list(delayed))
        self._futures.update(futures)
        return futures


class Patience:
    """Looks whether waiting still makes sense."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._last_seen = time.monotonic()

    def look(self) -> set[str]:
        """The addresses of the workers; an error where waiting is vain."""
        now = time.monotonic()
        check_open(self._client)
        workers = set(self._client.scheduler_info(n_workers=-1).get("workers", ()))
        if workers and self._client.status == "running":
            self._last_seen = now
        elif now - self._last_seen > _PATIENCE:
            raise RuntimeError(
                f"no Dask worker has been there for {_PATIENCE:.0f} seconds, so the fit ends: start some and fit again."
            )
        return workers


def wait_some(futures: Sequence[Any]) -> bool:
    """Wait for a moment; whether all are done by then."""
    distributed = import_extra("distributed", "dask")
    try:
        distributed.wait(futures, timeout=SECONDS)
    except (TimeoutError, distributed.CancelledError):  # whose status says it
        return False
    return True


def wait_for(client: Any, futures: Sequence[Any]) -> None:
    """Wait until all are done; raise the error of one that failed."""
    patience, futures = Patience(client), list(futures)
    while futures:
        if not wait_some(futures):
            patience.look()
        for future in futures:
            if future.status in ("error", *_LOST):
                raise_error(future)
        futures = [future for future in futures if future.status != "finished"]


def fetch(client: Any, futures: Sequence[Any]) -> list[Any]:
    """The results of all, in order."""
    wait_for(client, futures)
    cancelled = import_extra("distributed", "dask").CancelledError
    patience, results = Patience(client), []
    for future in futures:
        seconds = SECONDS
        while True:
            try:
                results.append(future.result(timeout=seconds))
                break
            except TimeoutError:  # a large result, or a worker that is gone: its task runs again elsewhere
                patience.look()
                seconds *= 2
            except cancelled:
                patience.look()
                raise_error(future)
    return results


def is_lost(future: Any) -> bool:
    """Whether a future failed because of its worker, not by itself."""
    if future.status != "error":
        return future.status in _LOST
    error = future.exception(timeout=_PATIENCE)
    return isinstance(error, (import_extra("distributed", "dask").KilledWorker, OSError))


def raise_error(future: Any) -> NoReturn:
    """Raise what ended a future."""
    error = future.exception(timeout=_PATIENCE) if future.status == "error" else None
    if error is not None and not is_lost(future):
        raise error
    raise RuntimeError(
        "Dask lost a part of the rows and cannot compute it again, so the fit ends: rows that were scattered, or that "
        "workers die from, are gone with their worker. Load them by tasks (for example dask.dataframe.read_parquet), "
        "or give workers more memory."
    ) from error
