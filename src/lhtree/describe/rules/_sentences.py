"""Rules in words."""

from __future__ import annotations

from ..outline import (
    CATEGORY,
    OPPOSITE,
    Outline,
    OutlineBlock,
    find_left,
    name_value,
    write_number,
    write_sum,
)

_WORDS = {"<": "is below", ">": "is above", ">=": "is at least", "<=": "is at most"}


def write_path(outline: Outline, leaf: int) -> list[str]:
    """The conditions on the way to a leaf, from the root down."""
    above = {
        below: (block, side)
        for block in outline.branching
        for side, below in (("left", block.left), ("right", block.right))
    }
    conditions: list[str] = []
    while leaf in above:
        block, side = above[leaf]
        conditions.insert(0, write_side(block, side))
        leaf = block.number
    return conditions


def write_side(block: OutlineBlock, side: str) -> str:
    """The condition of one side of a block in words."""
    left = find_left(block)
    sign = left.sign if side == "left" else OPPOSITE[left.sign]
    if sign in _WORDS:
        return f"{write_sum(left, name_value, times=' × ')} {_WORDS[sign]} {write_number(left.bound)}"
    term = left.terms[0]
    not_ = "" if sign == "=" else "not "
    if term.kind == CATEGORY:
        return f"{term.column} is {not_}{term.category}"
    return f"{term.column} is {not_}missing"


def write_estimate(outline: Outline, block: OutlineBlock) -> str:
    """What a leaf predicts, in words."""
    if not block.is_linear:
        return outline.name_leaf(block)
    total = write_sum(block, name_value, times=" × ")
    ends = f"at least {write_number(block.low)} and at most {write_number(block.high)}"
    if outline.is_regression:
        return f"{total}, {ends}"
    second, first = outline.class_names[::-1]
    return f"{second} if its probability, {total}, {ends}, is above 0.5, otherwise {first}"


def write_missing(outline: Outline) -> list[str]:
    """What stands for missing cells, and what brackets mean, in sentences."""
    terms = outline.fills.values()
    numbers = [f"{name_value(term)} {write_number(term.fill)}" for term in terms if term.is_measured]
    ones = [term.name for term in terms if term.kind == CATEGORY and term.fill == 1.0]
    sentences = []
    if any(not term.is_measured and len(block.terms) > 1 for block in outline.blocks for term in block.terms):
        sentences.append("What is in brackets is 1 where it holds, otherwise 0.")
    if numbers:
        sentences.append(f"A missing number counts as: {', '.join(numbers)}.")
    if any(term.kind == CATEGORY for term in terms):
        sentences.append(
            "A category that is missing, or was not seen in training, counts as 0 in brackets"
            + (f", but as 1 in: {', '.join(ones)}." if ones else ".")
        )
    return sentences
