"""Arrays and text in one file, in the format of safetensors; what is not exactly so is refused.

Eight bytes give the length of the header; the header is JSON; the arrays follow one after the other. lhtree reads it by
itself, because a model must be scored with NumPy alone, and because it is stricter: every bit of a file is under the
sha256 in its header, and nothing is believed of a size before the file is known to have it.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import stat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._json import ModelFileError, check, parse_json

FORMAT_VERSION = 1
# How every header begins: the digest has a place of its own, so that it can be left out of itself.
_PREFIX = b'{"__metadata__":{"sha256":"'
_DIGEST = slice(8 + len(_PREFIX), 8 + len(_PREFIX) + 64)
_BLANK = b"0" * 64
_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4"}
_MAX_HEADER = 1 << 24
_LARGE = 1 << 20  # files of this size are mapped rather than read
_HASHED_AT_ONCE = 1 << 24


class Container(NamedTuple):
    """What a file holds; the arrays may lie in the mapped file."""

    model: str  # JSON
    arrays: dict[str, NDArray[Any]]
    sha256: str
    n_bytes: int


def read_container(path: str | os.PathLike[str], *, is_mapped: bool = False) -> Container:
    """Read a file, or map it into memory if it is large."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait for ever
        raise ModelFileError("it is not a regular file")
    with open(path, "rb") as file:
        n_bytes = os.fstat(file.fileno()).st_size
        check(n_bytes >= _DIGEST.stop, "it is too short for a model file")
        if is_mapped and n_bytes >= _LARGE:
            content = np.frombuffer(mmap.mmap(file.fileno(), n_bytes, access=mmap.ACCESS_READ), np.uint8)
        else:
            content = np.empty(n_bytes, np.uint8)
            check(file.readinto(content.data) == n_bytes, "it became shorter while it was read")
    return parse(content)


def parse(content: NDArray[np.uint8]) -> Container:
    """Find text and arrays in the bytes of a file."""
    check(len(content) >= _DIGEST.stop, "it is too short for a model file")
    length = int.from_bytes(content[:8].tobytes(), "little")
    check(
        content[8 : _DIGEST.start].tobytes() == _PREFIX, "it does not begin as the model files of lhtree do"
    )
    check(length <= len(content) - 8, "it is cut short: its header goes on beyond its end")
    check(length <= _MAX_HEADER, f"its header has more than {_MAX_HEADER} bytes")
    digest = content[_DIGEST].tobytes()
    check(
        digest == _digest(content), "it is damaged: its sha256 is another one; copy it or save the model anew"
    )

    entries = parse_json(content[8 : 8 + length].tobytes())
    text = entries.pop("__metadata__")
    _check_text(text)  # first of all: a newer version may have other arrays
    check(length % 8 == 0, "its arrays are not aligned")
    arrays = _find_arrays(entries, content[8 + length :])
    return Container(text["model"], arrays, digest.decode(), len(content))


def _check_text(text: dict[str, Any]) -> None:
    """Whose file it is, and of which version."""
    check(
        all(isinstance(value, str) for value in text.values()), "its __metadata__ has values other than text"
    )
    version = text.get("version", "")
    check(text.get("format") == "lhtree", "it is of another library")
    check(
        version == str(FORMAT_VERSION),
        f"it is of format version {version[:20]!r} and this lhtree reads version {FORMAT_VERSION}; update lhtree, "
        "or save the model with the version of lhtree that is to load it",
    )
    check(set(text) == {"sha256", "format", "version", "model"}, "its __metadata__ has other keys")


def _digest(content: NDArray[np.uint8]) -> bytes:
    sha256 = hashlib.sha256(content[: _DIGEST.start].data)
    sha256.update(_BLANK)
    for begin in range(_DIGEST.stop, len(content), _HASHED_AT_ONCE):
        sha256.update(content[begin : begin + _HASHED_AT_ONCE].data)
    return sha256.hexdigest().encode()


def _find_arrays(entries: dict[str, Any], data: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """Views of the arrays, which have to fill the data without gap or overlap, in the order of their names."""
    arrays, at = {}, 0
    for name, entry in entries.items():
        what = f"array {name[:50]!r}"
        check(
            isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"},
            f"{what} is not described by dtype, shape and data_offsets",
        )
        shape, offsets = entry["shape"], entry["data_offsets"]
        check(
            isinstance(entry["dtype"], str) and entry["dtype"] in _DTYPES,
            f"{what} is of a dtype that no model has",
        )
        for numbers in (shape, offsets):
            check(
                isinstance(numbers, list)
                and len(numbers) <= 2
                and all(type(number) is int and 0 <= number <= len(data) for number in numbers),
                f"{what} has sizes that are not counts or go beyond the file",
            )
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        end = at + math.prod(shape) * dtype.itemsize
        check(offsets == [at, end] and end <= len(data), f"{what} does not lie where it has to")
        check(at % dtype.itemsize == 0, f"{what} is not aligned")
        arrays[name] = data[at:end].view(dtype).reshape(shape)
        at = end
    check(at == len(data), "it is longer than its arrays")
    return arrays


def pack_container(arrays: dict[str, NDArray[Any]], model: str) -> NDArray[np.uint8]:
    """The bytes of a file; ``model`` is JSON. Larger types come first, so that every array is aligned."""
    dtypes = {dtype: name for name, dtype in _DTYPES.items()}
    plain = {
        name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for name, array in sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0]))
    }
    text = {"format": "lhtree", "version": str(FORMAT_VERSION), "model": model}
    header: dict[str, Any] = {"__metadata__": {"sha256": _BLANK.decode()} | text}
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
            f"the header of the file would have {len(head)} bytes and can have {_MAX_HEADER}: "
            "shorten metadata, names of features or classes."
        )
    content = np.empty(8 + len(head) + at, np.uint8)
    content[: 8 + len(head)] = np.frombuffer(len(head).to_bytes(8, "little") + head, np.uint8)
    at = 8 + len(head)
    for array in plain.values():
        content[at : at + array.nbytes] = array.reshape(-1).view(np.uint8)
        at += array.nbytes
    content[_DIGEST] = np.frombuffer(_digest(content), np.uint8)
    return content
