"""Formulas of a spreadsheet: as much of them as rules and additive models use."""

import math
import re
from bisect import bisect_right

_TOKEN = re.compile(
    r'"(?P<text>(?:[^"]|"")*)"|(?P<cell>[A-Z]+\d+)|(?P<name>[A-Z]+)|(?P<number>\d+(?:\.\d+)?(?:E[-+]?\d+)?)'
    r"|(?P<sign>[-+*/<>=(),{};])"
)


def _text(value):
    if isinstance(value, bool):
        return str(value).upper()
    return f"{value:.15g}" if isinstance(value, (int, float)) else str(value)


def _equal(a, b):
    """An empty cell equals "" and 0, text equals text of other case."""
    if a is None:
        return b in ("", 0)
    return a.casefold() == b.casefold() if isinstance(a, str) and isinstance(b, str) else a == b


_FUNCTIONS = {
    "IF_": lambda test, then, other: then if test else other,
    "EXACT_": lambda a, b: _text("" if a is None else a) == _text(b),
    "MIN_": min,
    "MAX_": max,
    "NOT_": lambda a: not a,
    "OR_": lambda *all_: any(all_),
    "EXP_": math.exp,
    "MATCH_": lambda value, edges: None if value is None else bisect_right(edges[0], value),
    "LOOKUP_": lambda value, edges, results: (
        None if value is None else results[0][bisect_right(edges[0], value) - 1]
    ),
    "INDEX_": lambda table, i, j: table[i - 1][j - 1],
    "TRUE_": True,
    "FALSE_": False,
    "equal": _equal,
}


_ARRAYS = {"{": "[[", ";": "],[", "}": "]]"}


def calculate(formula, cells):
    """The value of a formula; empty cells are None."""
    assert formula.startswith("=")
    parts, at = [], 1
    while at < len(formula):
        token = _TOKEN.match(formula, at)
        assert token, formula[at : at + 20]
        at = token.end()
        if token["text"] is not None:
            parts.append(repr(token["text"].replace('""', '"')))
        elif token["cell"]:
            is_test = formula[at] == "="
            parts.append(f"equal(cells[{token['cell']!r}], '')" if is_test else f"cells[{token['cell']!r}]")
            if is_test:  # the only use of "=" is the test for an empty cell
                assert formula[at:].startswith('=""')
                at += 3
        else:
            parts.append(
                f"{token['name']}_"
                if token["name"]
                else token["number"] or _ARRAYS.get(token["sign"], token["sign"])
            )
    # As in a spreadsheet, the branch of an IF that is not taken may hold what cannot be added.
    return eval("".join(parts), dict(_FUNCTIONS) | {"cells": cells})
