"""Where tables come from: the folder LHTREE_DATA, the user's cache, UCI."""

from __future__ import annotations

import os
import sys
import warnings
from functools import partial
from pathlib import Path

from .._write import write_whole
from ._fetch import FAULTS, download
from ._sets import About, Source
from ._tables import Table, read_archive, read_csv

_UCI = "https://archive.ics.uci.edu/static/public"


def find_table(about: About, source: Source, *, download_if_missing: bool) -> Table:
    """Look a table up, nearest place first."""
    folder, cache = data_folder(), cache_folder()
    if folder is not None and (given := read_folder(folder, about, source)) is not None:
        return given
    flaw = ""
    try:
        if (kept := read_folder(cache, about, source)) is not None:
            return kept
    except ValueError as error:  # a newly downloaded file takes its place
        flaw = f" ({error})"
    url = f"{_UCI}/{source.number}/{source.archive}"
    if not download_if_missing:
        raise _missing(about, source, f"download_if_missing is False{flaw}", url)
    try:
        content, table = download(url, partial(read_archive, about=about, source=source))
    except FAULTS as error:
        raise _missing(about, source, f"{error}{flaw}", url) from error
    except ValueError as error:
        raise ValueError(f"{url} has changed: {error}. Put a copy into LHTREE_DATA.") from error
    try:
        cache.mkdir(parents=True, exist_ok=True)
        write_whole(cache / source.archive, content)
    except OSError as error:
        warnings.warn(f"{source.archive} could not be stored in {cache}: {error}.", stacklevel=4)
    return table


def read_folder(folder: Path, about: About, source: Source) -> Table | None:
    """Read a table from UCI's zip file or a gzip-compressed CSV, whichever exists; None if neither does."""
    for name, read in ((source.archive, read_archive), (f"{about.name}.csv.gz", read_csv)):
        path = folder / name
        if path.is_file():
            try:
                return read(path.read_bytes(), about, source)
            except ValueError as error:
                raise ValueError(f"{path} cannot be used: {error}. Delete or replace it.") from error
    return None


def data_folder() -> Path | None:
    """The directory in LHTREE_DATA."""
    name = os.environ.get("LHTREE_DATA")
    return Path(name).expanduser() if name else None


def cache_folder() -> Path:
    """The directory in LHTREE_CACHE, or lhtree's in the user's cache."""
    if name := os.environ.get("LHTREE_CACHE"):
        return Path(name).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "lhtree" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "lhtree"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lhtree"


def _missing(about: About, source: Source, reason: str, url: str) -> FileNotFoundError:
    return FileNotFoundError(
        f"{about.title} was not found on this computer and not downloaded: {reason}.\n"
        f"Download {url} and save it as {source.archive} in {cache_folder()}, or set the environment variable "
        f"LHTREE_DATA to a directory that contains {source.archive} or {about.name}.csv.gz."
    )
