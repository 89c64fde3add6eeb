"""A whole compact tree as text: what is printed is what predicts."""

from __future__ import annotations

from collections.abc import Iterator

from ._facts import CATEGORY, Outline, OutlineBlock
from ._words import find_left, name_value, write_number, write_sum

_WIDTH = 100  # characters of a line, where names allow it


def write_tree(outline: Outline) -> str:
    """One line per block, longer ones wrapped between terms; below each block where "yes" and "no" lead."""
    n_blocks = len(outline.blocks)
    size = f"{n_blocks} blocks, {outline.n_leaves} leaves, {outline.n_terms} terms"
    lines = [f"compact tree: {size if n_blocks > 1 else '1 block, a leaf'}"]
    work = [(0, 0, "")]
    while work:
        number, depth, answer = work.pop()
        block = outline.blocks[number]
        start = f"{'  ' * depth}{answer}{'leaf' if block.is_leaf else 'block'} {number}: "
        if block.is_leaf:
            lines += _wrap(start, _write_leaf(outline, block))
            continue
        lines += _wrap(start, write_left(block))
        work += [(block.right, depth + 1, "no: "), (block.left, depth + 1, "yes: ")]
    if any(block.is_linear for block in outline.blocks) and not outline.is_regression:
        second, first = outline.class_names[::-1]
        lines.append(f"{second} is predicted where its probability is above 0.5, otherwise {first}")
    return "\n".join([*lines, *_write_fills(outline)])


def write_left(block: OutlineBlock) -> str:
    """When a row goes left, in signs that every terminal has."""
    left = find_left(block)
    if left.sign in "<>":
        return f"{write_sum(left, name_value)} {left.sign} {write_number(left.bound)}"
    return f"{'not ' * (left.sign == '!=')}{name_value(left.terms[0])}"


def _write_leaf(outline: Outline, block: OutlineBlock) -> str:
    """The number, or the class and its share before those of others, largest first; and the training rows."""
    if block.is_linear:
        what = "" if outline.is_regression else f"probability of {outline.class_names[1]} = "
        ends = f"at least {write_number(block.low)}, at most {write_number(block.high)}"
        return f"{what}{write_sum(block, name_value)}, {ends}  ({block.n_samples:,} rows)"
    if outline.is_regression:
        return f"{outline.name_leaf(block)}  ({block.n_samples:,} rows)"
    ordered = sorted(range(len(block.shares)), key=lambda cls: (-block.shares[cls], cls))
    others = [
        f"{outline.classes[cls]} {block.shares[cls]:.2f}" for cls in ordered[1:] if block.shares[cls] >= 0.005
    ]
    told = f"{outline.name_leaf(block)}  (probability {block.shares[ordered[0]]:.2f}"
    return f"{told}{''.join(f', {other}' for other in others)}; {block.n_samples:,} rows)"


def _write_fills(outline: Outline) -> Iterator[str]:
    """What stands for missing cells."""
    terms = outline.fills.values()
    numbers = [f"{name_value(term)} {write_number(term.fill)}" for term in terms if term.is_measured]
    if numbers:
        yield from _wrap("missing numbers count as: ", ", ".join(numbers))
    if any(term.kind == CATEGORY for term in terms):
        ones = [name_value(term) for term in terms if term.kind == CATEGORY and term.fill == 1.0]
        but = f"; as 1 in {', '.join(ones)}" if ones else ""
        yield from _wrap("", f"[column = category] is 1 or 0; missing and unseen categories count as 0{but}")


def _wrap(start: str, text: str) -> list[str]:
    """Lines of at most so many characters, broken before signs and after commas, the next ones indented."""
    lines, line, indent = [], start, " " * (len(start) - len(start.lstrip()) + 4)
    for part in text.replace(" + ", "\0+ ").replace(" - ", "\0- ").replace(", ", ",\0").split("\0"):
        gap = "" if line == start else " "
        if line != start and len(line) + len(gap) + len(part) > _WIDTH:
            lines.append(line)
            line, gap = indent, ""
        line += gap + part
    return [*lines, line]
