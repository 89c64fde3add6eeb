"""Classes to and from JSON, with their type."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .strict_json import check

# Truth values, whole numbers, numbers, and text of a width; "object" is an array of str.
_DTYPE = re.compile(r"\|b1|[<>|][iu][1248]|[<>]f[248]|[<>]U[0-9]{1,7}|object")
_MAX_BYTES = 1 << 26
_PLAIN = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}


def encode_classes(classes: NDArray[Any]) -> dict[str, Any]:
    """Type and values of the classes, for JSON; refuses what does not come back the same."""
    name = "object" if classes.dtype == object else classes.dtype.str
    values = classes.tolist()
    strange = next((value for value in values if type(value) is not _PLAIN.get(classes.dtype.kind)), None)
    if strange is not None or not _DTYPE.fullmatch(name) or classes.nbytes > _MAX_BYTES:
        what = (
            f"the class {strange!r} is of type {type(strange).__name__}"
            if strange is not None
            else f"dtype {name}"
        )
        raise TypeError(
            f"the classes of the model cannot be saved ({what}): fit with classes that are strings, integers, "
            "booleans or numbers of at most 64 bits."
        )
    return {"dtype": name, "values": values}


def decode_classes(told: dict[str, Any], n_classes: int) -> NDArray[Any]:
    """The classes again, n_classes of them."""
    check(
        isinstance(told["values"], list)
        and len(told["values"]) == n_classes
        and isinstance(told["dtype"], str)
        and _DTYPE.fullmatch(told["dtype"]) is not None,
        "its classes are not described by a dtype and one value per share",
    )
    dtype, values = np.dtype(told["dtype"]), told["values"]
    check(dtype.itemsize * len(values) <= _MAX_BYTES, "its classes are too wide")
    check(all(type(value) is _PLAIN[dtype.kind] for value in values), "its classes are not of their type")
    try:
        with np.errstate(over="ignore"):
            classes = np.array(values, dtype=dtype)
    except OverflowError:
        classes = np.empty(0, dtype=dtype)
    check(classes.tolist() == values, "its classes do not fit their type")
    check(len(set(values)) == len(values), "it has a duplicate class")
    return classes
