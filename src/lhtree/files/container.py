"""Arrays and text in one file, in the format of safetensors; anything that deviates from it is refused.

Eight bytes give the length of the header; the header is JSON; the arrays follow one after the other. lhtree reads it by
itself, because a model must be scored with NumPy alone, and because it is stricter: the sha256 in the header covers
every bit of a file, and no memory is allocated before the size of the file is known to match its header.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import stat
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .strict_json import ModelFileError, check, parse_json

# How every header begins: the digest has a fixed place, so that it can be excluded from itself.
_PREFIX = b'{"__metadata__":{"sha256":"'
_DIGEST = slice(8 + len(_PREFIX), 8 + len(_PREFIX) + 64)
_BLANK = b"0" * 64
_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I8": "|i1"}
_MAX_HEADER = 1 << 24
_HASHED_AT_ONCE = 1 << 24
_NAMES = ("sha256", "format", "version", "model")  # of the text that every file has


class Container(NamedTuple):
    """What a file holds."""

    model: str  # JSON
    arrays: dict[str, NDArray[Any]]
    version: tuple[int, int]
    sha256: str
    n_bytes: int


class _Head(NamedTuple):
    """What the header promises."""

    raw: bytes  # from the first byte to the end of the header
    text: dict[str, str]
    entries: dict[str, Any]
    n_data: int  # bytes of all arrays


def read_container(path: str | os.PathLike[str]) -> Container:
    """Read a file: first its header, then, if the size is right, its arrays."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait for ever
        raise ModelFileError("it is not a regular file")
    with open(path, "rb") as file:
        head = _read_head(file, os.fstat(file.fileno()).st_size)
        try:
            data = np.empty(head.n_data, np.uint8)
        except MemoryError:
            raise ModelFileError(
                f"its arrays need {head.n_data} bytes, more than the available memory"
            ) from None
        check(file.readinto(data.data) == head.n_data, "it was truncated while being read")
    return _finish(head, data)


def parse(content: NDArray[np.uint8]) -> Container:
    """The same for the bytes of a file."""
    head = _read_head(io.BytesIO(content.data), len(content))
    return _finish(head, content[len(head.raw) :])


def _read_head(file: BinaryIO, n_bytes: int) -> _Head:
    """Read and check the header: the lengths it promises have to be those of the file."""
    start = file.read(_DIGEST.stop)
    check(len(start) == _DIGEST.stop, "it is too short")
    check(start[8 : _DIGEST.start] == _PREFIX, "it was not written by lhtree.save")
    length = int.from_bytes(start[:8], "little")
    check(length <= _MAX_HEADER, f"its header is longer than {_MAX_HEADER} bytes")
    check(length <= n_bytes - 8, "it is truncated: its header is longer than the file")
    check(length >= _DIGEST.stop - 8, "its header is too short")
    raw = start + file.read(8 + length - len(start))
    check(len(raw) == 8 + length, "it was truncated while being read")
    entries = parse_json(raw[8:])
    text = entries.pop("__metadata__")
    check(
        all(isinstance(value, str) for value in text.values()),
        "its __metadata__ has values that are not text",
    )
    n_data = 0
    for name, entry in entries.items():
        is_entry = isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"}
        check(is_entry, f"array {name[:50]!r} is not described by dtype, shape and data_offsets")
        n_data = max([n_data, *_check_counts(name, entry["data_offsets"])])
    check(
        len(raw) + n_data == n_bytes,
        f"it has {n_bytes} bytes, but its header describes {len(raw) + n_data}",
    )
    return _Head(raw, text, entries, n_data)


def _finish(head: _Head, data: NDArray[np.uint8]) -> Container:
    """Check the digest, then what the file is, then its arrays."""
    digest = head.raw[_DIGEST]
    check(
        digest == _digest(head.raw, data),
        "checksum mismatch; the file is damaged: copy it or save the model again",
    )
    check(head.text.get("format") == "lhtree", "it was written by another library")
    check(set(_NAMES) <= set(head.text), f"its __metadata__ needs all of {', '.join(_NAMES)}")
    version = _parse_version(head.text["version"])
    check(len(head.raw) % 8 == 0, "its arrays are not aligned")
    return Container(
        head.text["model"],
        _find_arrays(head.entries, data),
        version,
        digest.decode(),
        len(head.raw) + len(data),
    )


def _parse_version(text: str) -> tuple[int, int]:
    """Major and minor version; version 1 had no minor one."""
    major, _, minor = text.partition(".")
    is_version = all(part.isascii() and part.isdecimal() and len(part) < 5 for part in (major, minor or "0"))
    check(is_version, f"its format version {text[:20]!r} is not a version")
    return int(major), int(minor or "0")


def _digest(head: bytes, data: NDArray[np.uint8]) -> bytes:
    sha256 = hashlib.sha256(head[: _DIGEST.start] + _BLANK + head[_DIGEST.stop :])
    for begin in range(0, len(data), _HASHED_AT_ONCE):
        sha256.update(data[begin : begin + _HASHED_AT_ONCE].data)
    return sha256.hexdigest().encode()


def _check_counts(name: str, numbers: Any) -> list[int]:
    """Sizes or offsets: at most two integers of at least 0."""
    is_list = isinstance(numbers, list) and len(numbers) <= 2
    check(
        is_list and all(type(number) is int and number >= 0 for number in numbers),
        f"array {name[:50]!r} has an invalid shape or invalid offsets",
    )
    return numbers  # type: ignore[no-any-return]


def _find_arrays(entries: dict[str, Any], data: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """Views of the arrays, which have to fill the data without gap or overlap, in the order of their names."""
    arrays, at = {}, 0
    for name, entry in entries.items():
        what = f"array {name[:50]!r}"
        shape, offsets = _check_counts(name, entry["shape"]), entry["data_offsets"]
        is_known = isinstance(entry["dtype"], str) and entry["dtype"] in _DTYPES
        check(is_known, f"{what} has an unsupported dtype")
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        end = at + math.prod(shape) * dtype.itemsize
        check(offsets == [at, end] and end <= len(data), f"{what} is not at its expected offset")
        check(at % dtype.itemsize == 0, f"{what} is not aligned")
        arrays[name] = data[at:end].view(dtype).reshape(shape)
        at = end
    check(at == len(data), "it has trailing bytes after its arrays")
    return arrays


def pack_container(arrays: dict[str, NDArray[Any]], model: str, version: str) -> NDArray[np.uint8]:
    """The bytes of a file; ``model`` is JSON. Larger types come first, so that every array is aligned."""
    dtypes = {dtype: name for name, dtype in _DTYPES.items()}
    plain = {
        name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for name, array in sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0]))
    }
    text = {"sha256": _BLANK.decode(), "format": "lhtree", "version": version, "model": model}
    header: dict[str, Any] = {"__metadata__": text}
    at = 0
    for name, array in plain.items():
        header[name] = {
            "dtype": dtypes[array.dtype.str],
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    head = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    head += b" " * (-len(head) % 8)
    if len(head) > _MAX_HEADER:
        raise ValueError(
            f"the header of the file would have {len(head)} bytes, more than {_MAX_HEADER}: "
            "shorten the metadata or the names of features, categories or classes."
        )
    content = np.empty(8 + len(head) + at, np.uint8)
    content[: 8 + len(head)] = np.frombuffer(len(head).to_bytes(8, "little") + head, np.uint8)
    at = 8 + len(head)
    for array in plain.values():
        content[at : at + array.nbytes] = array.reshape(-1).view(np.uint8)
        at += array.nbytes
    content[_DIGEST] = np.frombuffer(
        _digest(content[: 8 + len(head)].tobytes(), content[8 + len(head) :]), np.uint8
    )
    return content
