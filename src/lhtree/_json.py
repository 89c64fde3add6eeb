"""JSON from files that may be hostile, and the error that refuses them."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

import numpy as np

_MAX_DEPTH = 32  # of brackets …
_MAX_BRACKETS = 100_000  # … and how many: an empty list takes twenty times its two bytes


class ModelFileError(ValueError):
    """A file that is not a whole and sound model file of a version this lhtree reads."""


def check(holds: bool, what: str) -> None:
    """Refuse a file that is not as it has to be."""
    if not holds:
        raise ModelFileError(what)


def parse_json(raw: bytes) -> dict[str, Any]:
    """A JSON object without duplicate keys, deep nesting or numbers that are not finite."""
    _check_nesting(raw)
    try:
        value = json.loads(
            raw.decode(), object_pairs_hook=_unique, parse_float=_finite, parse_constant=_refuse_constant
        )
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its header is not JSON ({str(error)[:100]})") from None
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
    check(len(found) == len(pairs), "its header has a key twice")
    return found


def _finite(number: str) -> float:
    value = float(number)
    check(math.isfinite(value), "its header has a number that is not finite")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ModelFileError(f"its header has {name}, which is not JSON")
