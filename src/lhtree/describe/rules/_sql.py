"""A compact tree as an expression in SQL."""

from __future__ import annotations

from ...export._sql_text import quote_name, write_label
from ...export._sql_text import write_number as write_exactly
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

_MOST_DIGITS = 15  # that every engine reads as the nearest float64


def write_sql(outline: Outline, dialect: str) -> str:
    """The expression, a CASE in another."""
    check_labels(list(outline.classes), "SQL")

    def write(number: int, depth: int) -> str:
        block, indent = outline.blocks[number], "  " * depth
        if block.is_linear:
            return _write_linear(outline, block, dialect)
        if block.is_leaf:
            return (
                _write_float(block.label, dialect)
                if outline.is_regression
                else write_label(block.label, dialect)
            )
        condition, is_left = _write_condition(block, dialect)
        below = (block.left, block.right) if is_left else (block.right, block.left)
        then, otherwise = (write(number, depth + 1) for number in below)
        return f"CASE WHEN {condition}\n{indent}  THEN {then}\n{indent}  ELSE {otherwise} END"

    return write(0, 0)


def _write_condition(block: OutlineBlock, dialect: str) -> tuple[str, bool]:
    """A condition, and whether rows for which it is true go left; for the others it is false or NULL."""
    left = find_left(block)
    if left.sign in "<>":
        return f"{_write_sum(left, dialect)} {left.sign} {_write(left.bound, dialect)}", True
    return _write_holds(left.terms[0], dialect), left.sign == "="


def _write_sum(block: Side | OutlineBlock, dialect: str) -> str:
    return write_sum(
        block, lambda term: _write_value(term, dialect), write=lambda value: _write(value, dialect)
    )


def _write_linear(outline: Outline, block: OutlineBlock, dialect: str) -> str:
    """What a linear leaf predicts."""
    total = _write_sum(block, dialect)
    if outline.is_regression:
        least, most = ("MIN", "MAX") if dialect == "sqlite" else ("LEAST", "GREATEST")
        low, high = (_write_float(end, dialect) for end in (block.low, block.high))
        return f"{least}({most}({total}, {low}), {high})"
    first, second = (write_label(label, dialect) for label in outline.classes)
    always = settle_leaf(block)
    if always is not None:
        return (first, second)[always]
    return f"CASE WHEN {total} > 0.5 THEN {second} ELSE {first} END"


def _write_value(term: Term, dialect: str) -> str:
    if term.kind == NUMBER:
        return f"COALESCE({quote_name(term.column, dialect)}, {_write_float(term.fill, dialect)})"
    one, zero = (_write_float(value, dialect) for value in (1.0, 0.0))
    return f"CASE WHEN {_write_holds(term, dialect)} THEN {one} ELSE {zero} END"


def _write_holds(term: Term, dialect: str) -> str:
    """Whether what is 1 or 0 is 1; NULL counts as false."""
    cell = quote_name(term.column, dialect)
    if term.kind == MISSING:
        return f"{cell} IS NULL"
    if term.fill == 0.0:
        return f"{cell} = {write_label(term.category, dialect)}"
    others = ", ".join(write_label(other, dialect) for other in term.others)
    return f"{cell} IS NULL OR {cell} NOT IN ({others})"


def _write(value: float, dialect: str) -> str:
    """A number that meets a float64, and so becomes one."""
    text = write_number(value)
    is_short = sum(sign.isdigit() for sign in text.partition("e")[0].lstrip("-0.")) <= _MOST_DIGITS
    return text if is_short and "e" not in text else write_exactly(value, dialect)


def _write_float(value: float, dialect: str) -> str:
    """A number that is a float64 by itself: decimal numbers would be added up to other sums."""
    text = _write(value, dialect)
    if text != write_number(value):
        return text
    return {"sqlite": text if "." in text else f"{text}.0", "duckdb": f"{text}e0"}.get(
        dialect, f"{text}::float8"
    )
