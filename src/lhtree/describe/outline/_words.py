"""How conditions of a compact tree are written, in any language."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from ._facts import NUMBER, OutlineBlock, Term

# What would look like a part of a sum, or would not stay on its line.
_ODD = re.compile(r'^$|["\[\]*<>,;]| [-+] |[\x00-\x1f\x7f\x85\u2028\u2029]')
OPPOSITE = {"<": ">=", ">": "<=", "=": "!=", "!=": "="}


class Side(NamedTuple):
    """When a row goes left: the sum of ``terms`` is below or above the bound, or a category is there or not."""

    sign: str  # "<" or ">" of numbers, "=" or "!=" of a category
    terms: tuple[Term, ...]
    bound: float


def write_sum(
    block: Side | OutlineBlock,
    write_value: Callable[[Term], str],
    *,
    times: str = " * ",
    gap: str = " ",
    write: Callable[[float], str] | None = None,
) -> str:
    """The sum of a block in any language that reads signs as usual: "1.2 * age - 3 * income".

    That of a linear leaf starts with its intercept. ``write`` writes a number.
    """
    write = write or write_number
    written = write(block.start) if isinstance(block, OutlineBlock) and block.is_leaf else ""
    for term in block.terms:
        size = abs(term.weight)
        product = write_value(term) if size == 1.0 else f"{write(size)}{times}{write_value(term)}"
        sign = "-" if term.weight < 0.0 else "+"
        written += f"{gap}{sign}{gap}{product}" if written else f"{sign.strip('+')}{product}"
    return written


def find_left(block: OutlineBlock) -> Side:
    """When a row goes left, in the simplest words: of a single term of weight 1 or -1, its value alone decides."""
    term = block.terms[0]
    alone = (replace(term, weight=1.0),)
    if len(block.terms) == 1 and term.is_measured and abs(term.weight) == 1.0:
        return Side("<" if term.weight > 0.0 else ">", alone, term.weight * block.bound)
    if len(block.terms) == 1 and not term.is_measured and (term.weight < block.bound) != (block.bound > 0.0):
        return Side("=" if term.weight < block.bound else "!=", alone, 1.0)
    return Side("<", block.terms, block.bound)


def write_number(value: float) -> str:
    """A number in the fewest digits that read back as the same float64."""
    return repr(float(value)).removesuffix(".0")


def name_value(term: Term) -> str:
    """A value in a sum: the name of a column, quoted where it could be misread; in brackets what is 1 or 0."""
    if term.kind != NUMBER:
        return f"[{term.name}]"
    is_plain = term.column.strip() == term.column and not _ODD.search(term.column)
    return term.column if is_plain else json.dumps(term.column, ensure_ascii=False)


def settle_leaf(block: OutlineBlock) -> int | None:
    """Which of two classes a linear leaf always predicts, because of its range; None if it depends on the row.

    The second class is predicted where its probability is above 1/2.
    """
    if block.low > 0.5:
        return 1
    return 0 if block.high <= 0.5 else None
