"""Downloads with retries."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from http.client import HTTPException
from importlib.util import find_spec
from typing import TypeVar
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from .. import __version__
from .._extras import show_progress
from ._tables import DamagedError

T = TypeVar("T")

FAULTS = (OSError, HTTPException, DamagedError)  # of the network or the server, not of the data
_TIMEOUT = 30.0  # seconds without a byte
_WAITS = (0.5, 1.0, 2.0)  # seconds before the second, third and fourth try
_MOST_BYTES = 50_000_000
_PART = 1 << 16


def download(url: str, read: Callable[[bytes], T]) -> tuple[bytes, T]:
    """Content of a URL and the result of `read`; temporary failures are retried."""
    return _keep_trying(url, read, _WAITS)


def _keep_trying(url: str, read: Callable[[bytes], T], waits: tuple[float, ...]) -> tuple[bytes, T]:
    try:
        return _try_once(url, read)
    except FAULTS as error:
        if not waits or not _may_pass(error):
            raise
    time.sleep(waits[0])
    return _keep_trying(url, read, waits[1:])


def _may_pass(error: Exception) -> bool:
    return not isinstance(error, HTTPError) or error.code >= 500 or error.code in (408, 429)


def _try_once(url: str, read: Callable[[bytes], T]) -> tuple[bytes, T]:
    try:
        content = _get(url)
    except HTTPError as error:
        error.close()
        raise
    return content, read(content)


def _get(url: str) -> bytes:
    request = Request(url, headers={"User-Agent": f"lhtree/{__version__}"})
    content = bytearray()
    with urlopen(request, timeout=_TIMEOUT) as response:
        length = response.headers.get("Content-Length")  # UCI packs some files while it sends them: no length
        n_bytes = int(length) if length is not None and length.isdecimal() else None
        with _bar(n_bytes, url.rpartition("/")[2]) as show:
            while part := response.read(_PART):
                content += part
                if len(content) > _MOST_BYTES:
                    raise ValueError(f"it has more than {_MOST_BYTES} bytes, far more than expected")
                if show is not None:
                    show(len(content))
    if n_bytes is not None and len(content) != n_bytes:
        raise DamagedError(f"only {len(content)} of {n_bytes} bytes were received")
    return bytes(content)


def _bar(n_bytes: int | None, what: str) -> AbstractContextManager[Callable[[int], None] | None]:
    return show_progress(n_bytes, f"downloading {what}") if find_spec("rich") else nullcontext()
