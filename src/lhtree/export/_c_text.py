"""Numbers, text and arrays in C."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_MOST_TEXT = 4095  # bytes of a string that every C99 compiler takes


def doubles(name: str, values: NDArray[np.float64]) -> str:
    return array("double", name, map(repr, values.tolist()))


def array(kind: str, name: str, values: Iterable[str]) -> str:
    """An array; C does not allow empty ones, so these get an unused 0."""
    lines = textwrap.wrap(", ".join(values) or "0", 100, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"static const {kind} {name}[] = {{", *(f"    {line}" for line in lines), "};"])


def strings(texts: list[str]) -> str:
    return "\n".join(f"    {quote(text)}," for text in texts)


def quote(text: str) -> str:
    """Text as a C string in UTF-8; bytes other than plain characters as octal escapes."""
    data = text.encode()
    if len(data) > _MOST_TEXT:
        raise ValueError(
            f"the name {text[:20]!r}... has {len(data)} bytes, but C99 allows {_MOST_TEXT}: shorten it."
        )
    plain = re.compile(
        rb"[A-Za-z0-9 _.,:;=+*/()<>\[\]{}'!#$%&@^`|~-]"
    )  # no quotes, backslashes and trigraphs
    return '"' + "".join(chr(b) if plain.match(bytes([b])) else f"\\{b:03o}" for b in data) + '"'
