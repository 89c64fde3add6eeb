"""A compact tree as a function in Python."""

from __future__ import annotations

import keyword

from ..._parameters import refuse
from ..outline import (
    MISSING,
    NUMBER,
    Outline,
    OutlineBlock,
    Term,
    find_left,
    settle_leaf,
    write_number,
    write_sum,
)


def write_python(outline: Outline, name: str) -> str:
    """The function; what is missing is filled first."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise refuse("name", name, "a name that Python allows for a function")
    fills = [
        f"{term.column!r}: {write_number(term.fill)}"
        for term in outline.fills.values()
        if term.kind == NUMBER
    ]
    answer = "number" if outline.is_regression else "class"
    lines = [
        f"def {name}(row):",
        f'    """Return the {answer} of a row, a dict by column; None and NaN are missing values."""',
    ]
    if outline.used:
        lines.append("    given = {name: x for name, x in row.items() if x is not None and x == x}")
        lines.append(f"    x = {{{', '.join(fills)}}} | given")
    work = [(0, 1)]
    while work:
        number, depth = work.pop()
        block, indent = outline.blocks[number], "    " * depth
        if block.is_leaf:
            lines.append(f"{indent}return {_write_leaf(outline, block)}")
            continue
        lines.append(f"{indent}if {_write_left(block)}:")
        work += [(block.right, depth), (block.left, depth + 1)]
    return "\n".join(lines)


def _write_leaf(outline: Outline, block: OutlineBlock) -> str:
    if not block.is_linear:
        return repr(block.label)
    total = write_sum(block, _write_value)
    if outline.is_regression:
        return f"min(max({total}, {write_number(block.low)}), {write_number(block.high)})"
    always = settle_leaf(block)
    if always is not None:
        return repr(outline.classes[always])
    return f"{outline.classes[1]!r} if {total} > 0.5 else {outline.classes[0]!r}"


def _write_left(block: OutlineBlock) -> str:
    left = find_left(block)
    if left.sign in "<>":
        return f"{write_sum(left, _write_value)} {left.sign} {write_number(left.bound)}"
    return _write_value(left.terms[0]) if left.sign == "=" else f"not {_write_value(left.terms[0])}"


def _write_value(term: Term) -> str:
    cell = f"x[{term.column!r}]"
    if term.kind == NUMBER:
        return cell
    if term.kind == MISSING:
        return f"({term.column!r} not in given)"
    cell = f"given.get({term.column!r})"
    return f"({cell} == {term.category!r})" if term.fill == 0.0 else f"({cell} not in {list(term.others)!r})"
