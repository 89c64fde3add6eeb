"""The rules of a compact tree: sentences, and formulas for Python and spreadsheets."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .._parameters import check_count, refuse
from ..model.numbers import write_probability
from ..model.trees import count_nesting
from ..tables.labels import check_labels
from .outline import (
    CATEGORY,
    MISSING,
    NUMBER,
    OPPOSITE,
    STATISTIC,
    Outline,
    OutlineBlock,
    OutlineTerm,
    Side,
    find_left,
    name_value,
    write_number,
    write_sum,
)

_MOST_CHARACTERS = 8192  # of a formula in Excel
_MOST_COLUMNS = 16384
MOST_LEVELS = 64  # of functions inside each other in Excel
_LEVELS_OF_A_CELL = 3  # of NOT(OR(EXACT())) and MIN(MAX(IF()))
_LETTERS = 26
_WORDS = {"<": "is below", ">": "is above", ">=": "is at least", "<=": "is at most"}


@dataclass(frozen=True)
class Rule:
    """The conditions and the prediction of one leaf."""

    leaf: int  # number of the leaf
    conditions: tuple[str, ...]  # from the root down
    label: Any  # predicted class or number; of a linear leaf, for most rows
    estimate: str  # the prediction in words
    probability: float | None  # share of the class; None for a number, and for a linear leaf
    n_samples: int  # training rows of the leaf

    def __str__(self) -> str:
        sure = "" if self.probability is None else f"probability {write_probability(self.probability)}, "
        result = f"{self.estimate} ({sure}{self.n_samples:,} rows)"
        return f"If {', and '.join(self.conditions)}: {result}." if self.conditions else f"Always {result}."


class Rules(Sequence[Rule]):
    """The rules of a compact tree, one per leaf: exactly one of them holds for a row.

    ``print(rules)`` shows sentences. ``to_python`` and ``to_excel`` return the tree as a formula with the same
    predictions; ``export_sql`` writes it for a database.
    """

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._rules = [
            Rule(
                leaf.number,
                tuple(_describe_path(outline, leaf.number)),
                leaf.label,
                _describe_leaf(outline, leaf),
                None if leaf.is_linear else max(leaf.shares, default=None),
                leaf.n_samples,
            )
            for leaf in outline.walk()
            if leaf.is_leaf
        ]

    def __len__(self) -> int:
        return len(self._rules)

    def __getitem__(self, index: Any) -> Any:
        return self._rules[index]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def __str__(self) -> str:
        numbered = [f"{number}. {rule}" for number, rule in enumerate(self._rules, 1)]
        return "\n".join([*numbered, *_describe_fills(self._outline)])

    __repr__ = __str__

    def to_python(self, name: str = "predict") -> str:
        """Return the source of a Python function that predicts a row given as a dict by column.

        None and NaN are missing values. It needs no library.

        Parameters
        ----------
        name : str, default="predict"
            Name of the function.

        Returns
        -------
        str
        """
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise refuse("name", name, "a name that Python allows for a function")
        return _write_python(self._check("Python"), name)

    def to_excel(self, row: int = 2) -> str:
        """Return a formula for a spreadsheet whose columns A, B, … are the columns of the model, in their order.

        Spreadsheets compare 15 digits: a row that lies on a bound up to the 16th may go to the other side.

        Parameters
        ----------
        row : int, default=2
            Row of the sheet that the formula refers to; row 1 usually has the names. Copy the formula down for others.

        Returns
        -------
        str
            The formula with its "=". An empty cell is a missing value.
        """
        return _write_excel(self._check("a spreadsheet"), check_count("row", row, 1))

    def _check(self, language: str) -> Outline:
        """Return the outline; refuse values that are not in the table."""
        for block in self._outline.blocks:
            for term in block.terms:
                if term.kind == STATISTIC:
                    raise ValueError(
                        f"{term.name} is learned from the categories of {term.column!r}, too many for a formula in "
                        f"{language}: use export_sql, export_c or export_onnx, or group the categories before fit."
                    )
        return self._outline


def _describe_path(outline: Outline, leaf: int) -> list[str]:
    """Return the conditions that lead to a leaf, from the root down."""
    above = {
        below: (block, side)
        for block in outline.branching
        for side, below in (("left", block.left), ("right", block.right))
    }
    conditions: list[str] = []
    while leaf in above:
        block, side = above[leaf]
        conditions.insert(0, _describe_side(block, side))
        leaf = block.number
    return conditions


def _describe_side(block: OutlineBlock, side: str) -> str:
    """Return the condition of one side of a block in words."""
    left = find_left(block)
    sign = left.sign if side == "left" else OPPOSITE[left.sign]
    if sign in _WORDS:
        return f"{write_sum(left, times=' × ')} {_WORDS[sign]} {write_number(left.bound)}"
    term, is_equal = left.terms[0], sign == "="
    if term.opposite is not None:
        return f"{term.column} is {term.category if is_equal else term.opposite}"
    value = term.category if term.kind == CATEGORY else "missing"
    return f"{term.column} is {'' if is_equal else 'not '}{value}"


def _describe_leaf(outline: Outline, block: OutlineBlock) -> str:
    """Return the prediction of a leaf in words."""
    if not block.is_linear:
        return outline.name_leaf(block)
    total = write_sum(block, times=" × ")
    ends = f"at least {write_number(block.low)} and at most {write_number(block.high)}"
    if not outline.classes:
        return f"{total}, {ends}"
    second, first = outline.class_names[::-1]
    return f"{second} if its probability, {total}, {ends}, is above 0.5, otherwise {first}"


def _describe_fills(outline: Outline) -> list[str]:
    """Return sentences about missing cells and about brackets."""
    terms = outline.fills.values()
    numbers = [f"{name_value(term)} {write_number(term.fill)}" for term in terms if term.is_measured]
    # A column of two categories names the side of missing values if it is a condition by itself.
    alone = {
        term.column: term.category if term.fill == 1.0 else term.opposite
        for block in outline.branching
        for term in block.terms
        if len(block.terms) == 1 and term.opposite is not None
    }
    categories = dict.fromkeys(
        term.name
        for block in outline.blocks
        for term in block.terms
        if term.kind == CATEGORY and (len(block.terms) > 1 or block.is_leaf or term.opposite is None)
    )
    ones = [name for name, term in outline.fills.items() if name in categories and term.fill == 1.0]
    sentences = []
    if any(not term.is_measured and len(block.terms) > 1 for block in outline.blocks for term in block.terms):
        sentences.append("What is in brackets is 1 where it holds, otherwise 0.")
    if numbers:
        sentences.append(f"A missing number counts as: {', '.join(numbers)}.")
    sentences += [
        f"{column} counts as {category} where it is missing or was not seen in training."
        for column, category in alone.items()
    ]
    if categories:
        sentences.append(
            "A category that is missing, or was not seen in training, counts as 0 in brackets"
            + (f", but as 1 in: {', '.join(ones)}." if ones else ".")
        )
    return sentences


@dataclass(frozen=True)
class Language:
    """The syntax of a language in which a compact tree is written as a formula."""

    write_value: Callable[[OutlineTerm], str]  # value of a cell, with its fill
    constant: Callable[[Any], str] = repr  # class, category or number
    number: Callable[[float], str] = write_number
    gap: str = " "
    negation: str = "not {}"
    choice: str = "{1} if {0} else {2}"  # condition, result if it holds, result if not
    clip: str = "min(max({}, {}), {})"  # value, low, high

    def write_sum(self, block: Side | OutlineBlock) -> str:
        """Return the sum of a block."""
        return write_sum(
            block, self.write_value, times=f"{self.gap}*{self.gap}", gap=self.gap, write=self.number
        )

    def write_side(self, block: OutlineBlock, *, is_left: bool = True) -> str:
        """Return the condition to go to one side."""
        left = find_left(block)
        sign = left.sign if is_left else OPPOSITE[left.sign]
        if sign in _WORDS:
            return f"{self.write_sum(left)}{self.gap}{sign}{self.gap}{self.number(left.bound)}"
        value = self.write_value(left.terms[0])
        return value if sign == "=" else self.negation.format(value)

    def write_leaf(self, outline: Outline, block: OutlineBlock) -> str:
        """Return the prediction of a leaf."""
        if not block.is_linear:
            return self.constant(block.label)
        total = self.write_sum(block)
        if not outline.classes:
            return self.clip.format(total, self.number(block.low), self.number(block.high))
        first, second = map(self.constant, outline.classes)
        if block.settled is not None:
            return (first, second)[block.settled]
        return self.choice.format(f"{total}{self.gap}>{self.gap}0.5", second, first)


def _write_python(outline: Outline, name: str) -> str:
    """Return the function; missing cells are filled first.

    The side with fewer levels is indented, because Python allows 100 levels of indentation.
    """
    fills = [
        f"{term.column!r}: {write_number(term.fill)}"
        for term in outline.fills.values()
        if term.kind == NUMBER
    ]
    answer = "class" if outline.classes else "number"
    lines = [
        f"def {name}(row):",
        f'    """Return the {answer} of a row, a dict by column; None and NaN are missing values."""',
    ]
    if outline.used:
        lines.append("    given = {name: x for name, x in row.items() if x is not None and x == x}")
        lines.append(f"    x = {{{', '.join(fills)}}} | given")
    nesting = count_nesting([(block.left, block.right) for block in outline.blocks])
    python, work = Language(_write_python_value), [(0, 1)]
    while work:
        number, depth = work.pop()
        block, indent = outline.blocks[number], "    " * depth
        if block.is_leaf:
            lines.append(f"{indent}return {python.write_leaf(outline, block)}")
            continue
        is_left = nesting[block.left] <= nesting[block.right]
        lines.append(f"{indent}if {python.write_side(block, is_left=is_left)}:")
        inner, outer = (block.left, block.right) if is_left else (block.right, block.left)
        work += [(outer, depth), (inner, depth + 1)]
    return "\n".join(lines)


def _write_python_value(term: OutlineTerm) -> str:
    if term.kind == NUMBER:
        return f"x[{term.column!r}]"
    if term.kind == MISSING:
        return f"({term.column!r} not in given)"
    cell = f"given.get({term.column!r})"
    return f"({cell} == {term.category!r})" if term.fill == 0.0 else f"({cell} not in {list(term.others)!r})"


def _write_excel(outline: Outline, row: int) -> str:
    """Return nested IFs."""
    if len(outline.columns) > _MOST_COLUMNS:
        raise ValueError(f"a sheet has {_MOST_COLUMNS} columns, but the model needs {len(outline.columns)}.")
    check_labels(list(outline.classes), "a formula")
    cells = {name: f"{name_column(i)}{row}" for i, name in enumerate(outline.columns)}
    excel = Language(
        lambda term: _write_excel_value(term, cells[term.column]),
        constant=write_excel_constant,
        number=lambda value: write_number(value).upper(),
        gap="",
        negation="NOT({})",
        choice="IF({},{},{})",
        clip="MIN(MAX({},{}),{})",
    )

    def write(number: int) -> str:
        block = outline.blocks[number]
        if block.is_leaf:
            return excel.write_leaf(outline, block)
        return excel.choice.format(excel.write_side(block), write(block.left), write(block.right))

    n_levels = _LEVELS_OF_A_CELL + max(block.depth for block in outline.blocks)
    if n_levels > MOST_LEVELS:
        raise ValueError(
            f"the formula would have functions inside each other in up to {n_levels} levels, more than Excel's "
            f"{MOST_LEVELS}: lower max_leaf_nodes."
        )
    return check_length(f"={write(0)}", "max_leaf_nodes or max_terms")


def check_length(formula: str, remedy: str) -> str:
    """Return a formula that is short enough for Excel; otherwise the error names what to lower."""
    if len(formula) > _MOST_CHARACTERS:
        raise ValueError(
            f"the formula would have {len(formula):,} characters, more than Excel's {_MOST_CHARACTERS:,}: lower "
            f"{remedy}."
        )
    return formula


def name_column(number: int) -> str:
    """Return the letters of a column: A, B, …, Z, AA, …"""
    letters = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, _LETTERS)
        letters = chr(ord("A") + letter) + letters
    return letters


def _write_excel_value(term: OutlineTerm, cell: str) -> str:
    if term.kind == NUMBER:
        return f'IF({cell}="",{write_number(term.fill).upper()},{cell})'
    if term.kind == MISSING:
        return f'({cell}="")'
    if term.fill == 0.0:  # "=" would ignore case, and an empty cell would equal 0
        return f"EXACT({cell},{write_excel_constant(term.category)})"
    others = ",".join(f"EXACT({cell},{write_excel_constant(other)})" for other in term.others)
    return f"NOT(OR({others}))"


def write_excel_constant(value: Any) -> str:
    """Return a class, a category or a number as a constant of a formula."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return write_number(value).upper() if isinstance(value, float) else str(value)
