"""A compact tree as a formula of a spreadsheet."""

from __future__ import annotations

from typing import Any

from ..._parameters import check_count
from ...model.labels import check_labels
from ..outline import (
    MISSING,
    NUMBER,
    Outline,
    OutlineBlock,
    Side,
    Term,
    find_left,
    settle_leaf,
    write_number,
    write_sum,
)

_MOST_CHARACTERS = 8192  # of a formula in Excel
_MOST_COLUMNS = 16384
_LETTERS = 26


def write_excel(outline: Outline, row: int) -> str:
    """The formula, an IF in another."""
    check_count("row", row, 1)
    if len(outline.columns) > _MOST_COLUMNS:
        raise ValueError(f"a sheet has {_MOST_COLUMNS} columns, but the model needs {len(outline.columns)}.")
    check_labels(list(outline.classes), "a formula")
    cells = {name: f"{name_column(i)}{row}" for i, name in enumerate(outline.columns)}

    def write(number: int) -> str:
        block = outline.blocks[number]
        if block.is_leaf:
            return _write_leaf(outline, block, cells)
        return f"IF({_write_left(block, cells)},{write(block.left)},{write(block.right)})"

    formula = f"={write(0)}"
    if len(formula) > _MOST_CHARACTERS:
        raise ValueError(
            f"the formula would have {len(formula):,} characters, more than Excel's {_MOST_CHARACTERS:,}: lower "
            "max_leaf_nodes or max_terms."
        )
    return formula


def name_column(number: int) -> str:
    """The letters of a column: A, B, …, Z, AA, …"""
    letters = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, _LETTERS)
        letters = chr(ord("A") + letter) + letters
    return letters


def _write_left(block: OutlineBlock, cells: dict[str, str]) -> str:
    left = find_left(block)
    if left.sign in "<>":
        return f"{_write_sum(left, cells)}{left.sign}{_write(left.bound)}"
    value = _write_value(left.terms[0], cells)
    return value if left.sign == "=" else f"NOT({value})"


def _write_sum(block: Side | OutlineBlock, cells: dict[str, str]) -> str:
    return write_sum(block, lambda term: _write_value(term, cells), times="*", gap="", write=_write)


def _write_leaf(outline: Outline, block: OutlineBlock, cells: dict[str, str]) -> str:
    if not block.is_linear:
        return _write_constant(block.label)
    total = _write_sum(block, cells)
    if outline.is_regression:
        return f"MIN(MAX({total},{_write(block.low)}),{_write(block.high)})"
    first, second = map(_write_constant, outline.classes)
    always = settle_leaf(block)
    return f"IF({total}>0.5,{second},{first})" if always is None else (first, second)[always]


def _write_value(term: Term, cells: dict[str, str]) -> str:
    cell = cells[term.column]
    if term.kind == NUMBER:
        return f'IF({cell}="",{_write(term.fill)},{cell})'
    if term.kind == MISSING:
        return f'({cell}="")'
    if term.fill == 0.0:  # "=" would ignore case, and an empty cell would equal 0
        return f"EXACT({cell},{_write_constant(term.category)})"
    others = ",".join(f"EXACT({cell},{_write_constant(other)})" for other in term.others)
    return f"NOT(OR({others}))"


def _write(value: float) -> str:
    return write_number(value).upper()


def _write_constant(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return _write(value) if isinstance(value, float) else str(value)
