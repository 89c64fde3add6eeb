"""Reader and writer of the file format: arrays and text in the format of safetensors.

Eight bytes give the length of the header; the header is JSON; the arrays follow one after the other. lhtree has its
own reader, because scoring needs NumPy only, and because this reader is stricter: the sha256 in the header covers every
bit of a file, and no memory is allocated before the size of the file is known to match its header.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import stat
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

# The beginning of every header: the digest has a fixed position, because it is not part of the digested bytes.
_PREFIX = b'{"__metadata__":{"sha256":"'
_DIGEST = slice(8 + len(_PREFIX), 8 + len(_PREFIX) + 64)
_BLANK = b"0" * 64
_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I8": "|i1"}
_MAX_HEADER = 1 << 24
_HASHED_AT_ONCE = 1 << 24
_NAMES = ("sha256", "format", "version", "model")  # required texts
_MAX_DEPTH = 32  # of nested brackets
_MAX_BRACKETS = 100_000  # an empty list takes twenty times its two bytes
BITS64 = range(-(2**63), 2**64)  # a file could choose larger integers that all have the same hash


class ModelFileError(ValueError):
    """A file that is not a valid model file of a version that this lhtree reads.

    Examples
    --------
    >>> import lhtree
    >>> with open("damaged.lht", "wb") as file:
    ...     _ = file.write(b"not a model")
    >>> lhtree.load("damaged.lht")
    Traceback (most recent call last):
        ...
    lhtree.files.container.ModelFileError: path='damaged.lht' is not a valid lhtree model file: it is too short.
    """


def check(holds: bool, what: str) -> None:
    """Raise ``ModelFileError`` unless a condition holds."""
    if not holds:
        raise ModelFileError(what)


class Container(NamedTuple):
    """Contents of a file."""

    model: str  # JSON
    arrays: dict[str, NDArray[Any]]
    version: tuple[int, int]
    sha256: str
    n_bytes: int


class _FileHeader(NamedTuple):
    """The header of a file."""

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


def parse(content: NDArray[np.uint8], *, is_new: bool = False) -> Container:
    """Parse the bytes of a file. The digest of ``pack_container`` is not computed again (``is_new``)."""
    head = _read_head(io.BytesIO(content.data), len(content))
    return _finish(head, content[len(head.raw) :], is_new=is_new)


def _read_head(file: BinaryIO, n_bytes: int) -> _FileHeader:
    """Read the header and check that its sizes match that of the file."""
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
        if not is_entry:
            raise ModelFileError(f"array {name[:50]!r} is not described by dtype, shape and data_offsets")
        n_data = max([n_data, *_check_counts(name, entry["data_offsets"])])
    check(
        len(raw) + n_data == n_bytes, f"it has {n_bytes} bytes, but its header describes {len(raw) + n_data}"
    )
    return _FileHeader(raw, text, entries, n_data)


def _finish(head: _FileHeader, data: NDArray[np.uint8], *, is_new: bool = False) -> Container:
    """Check the digest, unless the content is new, the format and the arrays, in this order."""
    digest = head.raw[_DIGEST]
    check(
        is_new or digest == _digest(head.raw, data),
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
    """Return major and minor version."""
    major, _, minor = text.partition(".")
    is_version = all(part.isascii() and part.isdecimal() and len(part) < 5 for part in (major, minor))
    check(is_version, f"its format version {text[:20]!r} is not a version")
    return int(major), int(minor)


def _digest(head: bytes, data: NDArray[np.uint8]) -> bytes:
    sha256 = hashlib.sha256(head[: _DIGEST.start] + _BLANK + head[_DIGEST.stop :])
    for begin in range(0, len(data), _HASHED_AT_ONCE):
        sha256.update(data[begin : begin + _HASHED_AT_ONCE].data)
    return sha256.hexdigest().encode()


def _check_counts(name: str, numbers: Any) -> list[int]:
    """Check sizes or offsets: at most two integers of at least 0."""
    is_list = isinstance(numbers, list) and len(numbers) <= 2
    if not is_list or not all(type(number) is int and number >= 0 for number in numbers):
        raise ModelFileError(f"array {name[:50]!r} has an invalid shape or invalid offsets")
    return numbers  # type: ignore[no-any-return]


def _find_arrays(entries: dict[str, Any], data: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """Return views of the arrays, which must fill the data without gap or overlap, in the order of the header."""
    arrays, at = {}, 0
    for name, entry in entries.items():
        shape, offsets = _check_counts(name, entry["shape"]), entry["data_offsets"]
        is_known = isinstance(entry["dtype"], str) and entry["dtype"] in _DTYPES
        if not is_known:
            raise ModelFileError(f"array {name[:50]!r} has an unsupported dtype")
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        end = at + math.prod(shape) * dtype.itemsize
        if offsets != [at, end] or end > len(data):
            raise ModelFileError(f"array {name[:50]!r} is not at its expected offset")
        if at % dtype.itemsize:
            raise ModelFileError(f"array {name[:50]!r} is not aligned")
        arrays[name] = data[at:end].view(dtype).reshape(shape)
        at = end
    check(at == len(data), "it has trailing bytes after its arrays")
    return arrays


def pack_container(arrays: dict[str, NDArray[Any]], model: str, version: str) -> NDArray[np.uint8]:
    """Return the bytes of a file; ``model`` is JSON. Larger types come first, so that every array is aligned."""
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


def parse_json(raw: bytes) -> dict[str, Any]:
    """Parse a JSON object; reject duplicate keys, deep nesting, integers beyond 64 bits and infinite numbers."""
    _check_nesting(raw)
    try:
        value = json.loads(
            raw.decode(),
            object_pairs_hook=_unique,
            parse_int=_bounded,
            parse_float=_finite,
            parse_constant=_refuse_constant,
        )
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its header is not valid JSON ({str(error)[:100]})") from None
    check(isinstance(value, dict), "its header is not a JSON object")
    return value  # type: ignore[no-any-return]


def _check_nesting(raw: bytes) -> None:
    """Check the depth and number of brackets outside strings, before the text is parsed."""
    letters = np.frombuffer(raw.replace(b"\\\\", b"").replace(b'\\"', b""), np.uint8)
    is_outside = np.bitwise_xor.accumulate((letters == ord('"')).view(np.uint8)) == 0
    opens = is_outside & ((letters == ord("[")) | (letters == ord("{")))
    closes = is_outside & ((letters == ord("]")) | (letters == ord("}")))
    depth = np.cumsum(opens.view(np.int8) - closes.view(np.int8), dtype=np.int32)
    check(int(depth.max(initial=0)) <= _MAX_DEPTH, f"its header is nested deeper than {_MAX_DEPTH} levels")
    check(int(opens.sum()) <= _MAX_BRACKETS, f"its header has more than {_MAX_BRACKETS} lists and objects")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    check(len(found) == len(pairs), "its header has a duplicate key")
    return found


def _bounded(number: str) -> int:
    value = int(number) if len(number) <= 20 else None  # do not parse long integers
    check(value is not None and value in BITS64, "its header has an integer of more than 64 bits")
    return value  # type: ignore[return-value]  # checked


def _finite(number: str) -> float:
    value = float(number)
    check(math.isfinite(value), "its header has a number that is not finite")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ModelFileError(f"its header contains {name}, which is not valid JSON")
