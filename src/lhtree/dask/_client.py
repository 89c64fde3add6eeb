"""Work for Dask's workers, and waiting for it, never without a way out.

A wait ends when the work is done or fails, when the client is closed, and when no worker has taken tasks for a while.
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


def find_client(client: Any) -> Any:
    """Return the client given, or the one in use."""
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
        self._current = self.client.as_current()  # Dask waits with the current client
        self._current.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        for future in list(self._futures):
            future.release()
        self._current.__exit__(*error)

    def submit(self, function: Callable[..., Any], *given: Any, workers: list[str] | None = None) -> Any:
        """Return a future of the result of a function, on one of ``workers`` if they are given."""
        check_open(self.client)
        future = self.client.submit(function, *given, workers=workers, pure=False)
        self._futures.add(future)
        return future

    def map(
        self,
        function: Callable[..., Any],
        items: Sequence[Any],
        *,
        workers: list[str] | None = None,
        **given: Any,
    ) -> list[Any]:
        """Return futures of the results of a function for each item, on ``workers`` if they are given.

        Dask needs half the time for a task that it needs if each is submitted.
        """
        check_open(self.client)
        futures: list[Any] = self.client.map(function, items, workers=workers, pure=False, **given)
        self._futures.update(futures)
        return futures

    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        """Return futures of delayed values."""
        futures: list[Any] = self.client.compute(list(delayed))
        self._futures.update(futures)
        return futures


class Patience:
    """Looks whether waiting still makes sense."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._gone_since: float | None = None  # the first look that found no worker

    def look(self) -> set[str]:
        """Return the addresses of the workers that take tasks; raise an error if no worker can finish the work.

        A worker that leaves, or that Dask pauses because its memory is full, takes none.
        """
        now = time.monotonic()
        check_open(self._client)
        known = self._client.scheduler_info(n_workers=-1).get("workers", {})
        workers = {address for address, worker in known.items() if worker["status"] == "running"}
        if workers and self._client.status == "running":
            self._gone_since = None
        elif self._gone_since is None:
            self._gone_since = now
        elif now - self._gone_since > _PATIENCE:
            raise RuntimeError(
                f"no Dask worker took tasks for {_PATIENCE:.0f} seconds, so the fit ends: start some and fit again."
            )
        return workers


Check = Callable[[set[str]], None]  # raises an error if these workers cannot finish the work


class Wait:
    """A wait for some futures.

    The state "lost" is no end: Dask may be about to compute the result again. Whether it can, is seen by a task that
    needs the result: Dask cancels that if it does not know the result any more.
    """

    def __init__(self, session: Session, futures: Sequence[Any], check: Check | None = None) -> None:
        self._session, self._futures, self._check = session, futures, check
        self._patience = Patience(session.client)
        self._probes: dict[str, Any] = {}

    def finish(self) -> None:
        """Wait until all results are there."""
        distributed = import_extra("distributed", "dask")
        while any(future.status != "finished" for future in self._futures):
            try:
                distributed.wait(self._futures, timeout=SECONDS)
            except (TimeoutError, distributed.CancelledError):
                self.look()
            for future in self._futures:
                if future.status == "error":
                    raise_error(future)

    def look(self) -> None:
        """Raise an error if the results cannot be computed any more."""
        workers = self._patience.look()
        if self._check is not None:
            self._check(workers)
        for future in self._futures:
            probe = self._probes.get(future.key)
            is_unknown = future.status == "lost" and probe is not None and probe.status == "cancelled"
            if is_unknown or future.status in ("error", "cancelled"):
                raise_error(future)
            if future.status == "lost" and (probe is None or probe.status != "pending"):
                self._probes[future.key] = self._session.submit(_need, future)


def _need(result: Any) -> None:
    """Do nothing; the argument makes Dask compute a result."""


def wait_for(session: Session, futures: Sequence[Any], check: Check | None = None) -> None:
    """Wait until all are done; raise the error of one that failed."""
    Wait(session, futures, check).finish()


def fetch(session: Session, futures: Sequence[Any], check: Check | None = None) -> list[Any]:
    """Return the results of all, in order."""
    distributed = import_extra("distributed", "dask")
    client, seconds = session.client, SECONDS

    async def gather() -> Any:
        return await client.gather(futures, asynchronous=True)

    wait = Wait(session, futures, check)
    while True:
        wait.finish()
        try:
            found: list[Any] = client.sync(gather, callback_timeout=seconds)
            return found
        except (TimeoutError, distributed.CancelledError, distributed.KilledWorker, OSError):
            wait.look()  # a large result, or a worker that was lost on the way: Dask computes it again
            seconds *= 2


def raise_error(future: Any) -> NoReturn:
    """Raise what ended a future."""
    error = future.exception(timeout=_PATIENCE) if future.status == "error" else None
    if error is not None and not isinstance(error, import_extra("distributed", "dask").KilledWorker):
        raise error
    raise RuntimeError(
        "Dask lost a part of the rows and cannot compute it again, so the fit ends: rows that were scattered, or that "
        "workers die from, are gone with their worker. Load them by tasks (for example dask.dataframe.read_parquet), "
        "or give workers more memory."
    ) from error
