"""JSON from files that may be hostile, and the error that refuses them."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

import numpy as np

_MAX_DEPTH = 32  # of brackets …
_MAX_BRACKETS = 100_000  # … and how many: an empty list takes twenty times its two bytes
_BITS64 = range(-(2**63), 2**64)  # larger integers could be chosen so that all have one hash


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
    lhtree.files.strict_json.ModelFileError: path='damaged.lht' is not a valid lhtree model file: it is too short.
    """


def check(holds: bool, what: str) -> None:
    """Raise ``ModelFileError`` unless a condition holds."""
    if not holds:
        raise ModelFileError(what)


def parse_json(raw: bytes) -> dict[str, Any]:
    """A JSON object without duplicate keys, deep nesting, integers beyond 64 bits or numbers that are not finite."""
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
    """Count brackets outside strings before a parser meets them."""
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
    value = int(number) if len(number) <= 20 else None  # before a long one is parsed
    check(value is not None and value in _BITS64, "its header has an integer of more than 64 bits")
    return value  # type: ignore[return-value]  # checked


def _finite(number: str) -> float:
    value = float(number)
    check(math.isfinite(value), "its header has a number that is not finite")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ModelFileError(f"its header contains {name}, which is not valid JSON")
