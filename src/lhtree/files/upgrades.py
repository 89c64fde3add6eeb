"""How files of earlier versions become files of the present one, a version at a time."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .arrays import Arrays
from .strict_json import ModelFileError, check

VERSION = (2, 0)
Header = dict[str, Any]


def _from_1(header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Version 1 called the ranges of features low and high, and described columns only if some hold categories."""
    new_names = {"low": "feature_low", "high": "feature_high"}
    arrays = {new_names.get(name, name): values for name, values in arrays.items()}
    names, encoding = header.get("feature_names"), header.get("encoding")
    check(
        "centre" in arrays and {"feature_names", "encoding"} <= set(header),
        "it has no description of its columns",
    )
    if encoding is None:
        encoding = {"names": names, "categories": [None] * arrays["centre"].size}
        encoding["names"] = [f"x{f}" for f in range(arrays["centre"].size)] if names is None else names
    is_described = isinstance(encoding, dict) and isinstance(encoding.get("categories"), list)
    check(
        is_described and names in (None, encoding.get("names")),
        "encoding must be names and categories of the columns",
    )
    columns = [
        {"kind": "numbers"} if some is None else {"kind": "one_hot", "categories": some}
        for some in encoding["categories"]
    ]
    described = {"names": encoding["names"], "has_names": names is not None, "columns": columns}
    return header | {"encoding": described}, arrays


UPGRADES: dict[int, Callable[[Header, Arrays], tuple[Header, Arrays]]] = {1: _from_1}


def upgrade(version: tuple[int, int], header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Bring what a file of some version holds to the present version."""
    check(
        1 <= version[0] <= VERSION[0],
        f"its format version is {version[0]}.{version[1]}, but this lhtree reads up to {VERSION[0]}: update lhtree "
        f"(the file was written by lhtree {_find_writer(header)})",
    )
    for major in range(version[0], VERSION[0]):
        header, arrays = UPGRADES[major](header, arrays)
    return header, arrays


def drop_unknown(header: Header, arrays: Arrays, fields: set[str], names: set[str]) -> tuple[Header, Arrays]:
    """Without what a newer minor version has added, unless the model cannot be used without that."""
    requires = header.get("requires", {})
    is_told = isinstance(requires, dict) and all(isinstance(since, str) for since in requires.values())
    check(is_told, "requires must map names to versions")
    unknown = sorted(set(requires) - fields - names)
    if unknown:
        needed = _find_newest([requires[name] for name in unknown])
        raise ModelFileError(
            f"it uses {', '.join(unknown)[:100]} and needs lhtree {needed} or newer: update lhtree"
        )
    known = {name: value for name, value in header.items() if name in fields}
    return known, {name: values for name, values in arrays.items() if name in names}


def _find_newest(versions: list[str]) -> str:
    """The newest of some versions of lhtree."""
    return max(versions, key=lambda version: [int(n) for n in re.findall(r"\d{1,9}", version)])[:20]


def _find_writer(header: Header) -> str:
    writer = header.get("written_by")
    return str(writer.get("lhtree", "?"))[:20] if isinstance(writer, dict) else "?"
