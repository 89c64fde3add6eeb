"""The paper's nine data sets: read from a folder or the cache, or downloaded from UCI, and verified.

Wine and WDBC come with scikit-learn. The others are looked up in the folder named by the environment variable
``LHTREE_DATA``, then in the cache (``LHTREE_CACHE``, by default ``~/.cache/lhtree``), then downloaded from the UCI
Machine Learning Repository and stored in the cache. The sha256 of the values, not of the file, is compared with the
expected one, because UCI may repack its files.
"""

import gzip
import hashlib
import io
import os
import zipfile
import zlib
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.request import Request, urlopen

import numpy as np
from numpy.typing import NDArray

_URL = "https://archive.ics.uci.edu/static/public"
_TIMEOUT = 30.0  # seconds without a byte


class Source(NamedTuple):
    """UCI's file: number of the data set, archive, file inside it, delimiter, and sha256 of the values."""

    number: int
    archive: str
    member: str
    delimiter: str | None  # None: white space
    digest: str


SOURCES = {
    "seeds": Source(
        236,
        "seeds.zip",
        "seeds_dataset.txt",
        None,
        "41b352d2968d69187c70399b3a4bc2bf559415f03f54b448cc22f02263bf2e0e",
    ),
    "banknote": Source(
        267,
        "banknote+authentication.zip",
        "data_banknote_authentication.txt",
        ",",
        "c8b1119eb083379bd2f3a6832ecff82d63042f0097ea0c237eda326aac6b596c",
    ),
    "rice": Source(
        545,
        "rice+cammeo+and+osmancik.zip",
        "Rice_Cammeo_Osmancik.arff",
        ",",
        "ddb5f27355f708a26ebcca9c2c455a6bef406099de65f2a296b2bee20b0ea846",
    ),
    "spambase": Source(
        94,
        "spambase.zip",
        "spambase.data",
        ",",
        "e3b33ef009af0f1c3965732caf95580e4f8fa2e68d9696397f28e8a98a62d447",
    ),
    "eeg_eye_state": Source(
        264,
        "eeg+eye+state.zip",
        "EEG Eye State.arff",
        ",",
        "f79ad2a6ab1f628e6be1a3ad6007b46a72762a160f8f9bc256ad198ffbb261ad",
    ),
    "magic": Source(
        159,
        "magic+gamma+telescope.zip",
        "magic04.data",
        ",",
        "21977d8fa5a8efd969467c0e533810acdc934dd4b9a6697a2e620e5459a6e919",
    ),
    "skin": Source(
        229,
        "skin+segmentation.zip",
        "Skin_NonSkin.txt",
        None,
        "223c928b3a7369808e25db11f620ab6c341275f02fe189b49d1f3a7aec6ff118",
    ),
}


class Table(NamedTuple):
    """Features (n, m) and labels (n,) as published."""

    X: NDArray[np.float64]
    labels: NDArray[np.str_]


def load(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Features and classes 0 … K-1, in the order of the published labels."""
    if name in ("wine", "wdbc"):
        from sklearn import datasets

        if name == "wine":
            X, y = datasets.load_wine(return_X_y=True)
        else:
            X, y = datasets.load_breast_cancer(return_X_y=True)
            y = 1 - y  # scikit-learn counts M, B
        return X, y
    table = find_table(name)
    return table.X, np.unique(table.labels, return_inverse=True)[1]


def find_table(name: str) -> Table:
    """Read a table from ``LHTREE_DATA`` or the cache, or download it into the cache."""
    source, cache = SOURCES[name], Path(os.environ.get("LHTREE_CACHE") or "~/.cache/lhtree").expanduser()
    given = os.environ.get("LHTREE_DATA")
    for folder in (*([Path(given).expanduser()] if given else []), cache):
        table = _read_folder(folder, name)
        if table is not None:
            return table
    url = f"{_URL}/{source.number}/{source.archive}"
    try:
        with urlopen(Request(url, headers={"User-Agent": "lhtree"}), timeout=_TIMEOUT) as response:
            content: bytes = response.read()
        table = read_archive(content, source)
    except (OSError, HTTPException, ValueError) as error:
        raise FileNotFoundError(
            f"{name} was not found on this computer and could not be downloaded: {error}.\n"
            f"Download {url} and save it as {source.archive} in {cache}, or set the environment variable "
            f"LHTREE_DATA to a directory that contains {source.archive} or {name}.csv.gz."
        ) from error
    cache.mkdir(parents=True, exist_ok=True)
    (cache / source.archive).write_bytes(content)
    return table


def _read_folder(folder: Path, name: str) -> Table | None:
    """Read UCI's zip file or a gzip-compressed CSV; None if neither exists."""
    source = SOURCES[name]
    for path, read in ((folder / source.archive, read_archive), (folder / f"{name}.csv.gz", read_csv)):
        if path.is_file():
            try:
                return read(path.read_bytes(), source)
            except ValueError as error:
                raise ValueError(f"{path} cannot be used: {error}. Delete or replace it.") from error
    return None


def read_csv(content: bytes, source: Source) -> Table:
    """Read a gzip-compressed CSV: a header, and the label in the last column."""
    try:
        text = gzip.decompress(content).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"it is not a complete gzip file ({error})") from error
    return _check(parse_rows(text.partition("\n")[2], ","), source)


def read_archive(content: bytes, source: Source) -> Table:
    """Read UCI's zip file, whose member may be in any folder of it."""
    name = source.member
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found = [
                member
                for member in archive.infolist()
                if PurePosixPath(member.filename).name.casefold() == name.casefold()
            ]
            if not found:
                raise ValueError(f"it contains no {name}")
            text = archive.read(found[0]).decode()
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, UnicodeDecodeError) as error:
        raise ValueError(f"it is not a complete zip file ({error})") from error
    if name.endswith(".arff"):
        text = _skip_arff_header(text)
    return _check(parse_rows(text, source.delimiter), source)


def _skip_arff_header(text: str) -> str:
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.strip().casefold() == "@data":
            return "\n".join(line for line in lines[number + 1 :] if not line.startswith("%"))
    raise ValueError("it has no @data line")


def parse_rows(text: str, delimiter: str | None) -> Table:
    """Split rows into numbers and a label."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError("it has no rows")
    cells = np.loadtxt(lines, delimiter=delimiter, dtype=str, comments=None, ndmin=2)
    return Table(
        np.ascontiguousarray(cells[:, :-1], dtype=np.float64), np.strings.strip(cells[:, -1], " '\"")
    )


def digest(table: Table) -> str:
    """The sha256 of the values; it does not depend on the file, its format and its notation of numbers."""
    n_rows, n_features = table.X.shape
    summary = hashlib.sha256(f"{n_rows} {n_features}\n".encode())
    summary.update(np.ascontiguousarray(table.X + 0.0, dtype="<f8").tobytes())  # + 0.0: no negative zero
    summary.update("\n".join(table.labels.tolist()).encode())
    return summary.hexdigest()


def _check(table: Table, source: Source) -> Table:
    """Reject a table that is not the published one."""
    if digest(table) != source.digest:
        n_rows, n_features = table.X.shape
        raise ValueError(
            f"its {n_rows} rows of {n_features} features differ from the published values "
            f"(sha256 of the values: {digest(table)}, expected {source.digest})"
        )
    return table
