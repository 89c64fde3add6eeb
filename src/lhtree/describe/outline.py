"""A compact tree for people: blocks with terms in the user's units, leaves with shares or numbers, and its text.

The outline predicts like the model: a row goes left in a block if the sum of weight · value, added from left to right,
is below the bound, and a missing cell counts as the fill of its term.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..model.model import Model
from ..model.numbers import write_probability
from ..model.shares import shares_at
from ..tables.encoders import Dates

# Factor of a weight: the number in a cell; 1 if the cell has a category, else 0; 1 if it is missing, else 0; the target
# statistic of the category in the cell.
NUMBER, CATEGORY, MISSING, STATISTIC = "number", "category", "missing", "statistic"
OPPOSITE = {"<": ">=", ">": "<=", "=": "!=", "!=": "="}
_WIDTH = 100  # characters of a line, unless names are longer
# Names that could be read as a part of a sum, or that break a line.
_ODD = re.compile(r'^$|["\[\]*<>,;]| [-+] |[\x00-\x1f\x7f\x85\u2028\u2029]')


@dataclass(frozen=True)
class OutlineTerm:
    """One term of a block: its weight times the value of a cell."""

    weight: float  # per unit of the user
    column: str
    kind: str
    category: Any  # of a CATEGORY; the name of a STATISTIC
    others: tuple[Any, ...]  # the other categories of the column
    fill: float  # value of a missing cell; 1 or 0 for a CATEGORY, which also applies to unseen categories
    size: float  # effect of a usual change of the value, relative to the largest term of the block
    opposite: Any = None  # the other one of two categories, if a missing cell counts as one of the two

    @property
    def is_measured(self) -> bool:
        """Whether the value is any number, not 1 or 0."""
        return self.kind in (NUMBER, STATISTIC)

    @property
    def name(self) -> str:
        """Name of the value: "age", "colour = red" or "age is missing"."""
        if self.kind == CATEGORY:
            return f"{self.column} = {self.category}"
        if self.kind == STATISTIC:
            return f"mean target of {self.category}"
        return self.column if self.kind == NUMBER else f"{self.column} is missing"


@dataclass(frozen=True)
class OutlineBlock:
    """A block of the tree.

    A linear leaf of two classes, or of a regression, estimates start + Σ terms, at least low and at most high: the
    probability of the second class, or the number. Other leaves have no terms.
    """

    number: int
    depth: int
    terms: tuple[OutlineTerm, ...]
    bound: float  # of a branching block
    left: int  # number of the block for rows whose sum is below the bound; -1 in a leaf
    right: int
    n_samples: int
    weight: float
    shares: tuple[float, ...]  # of every class; empty if a number is predicted
    label: Any  # the class with the largest share, or the predicted number
    start: float = 0.0
    low: float = 0.0
    high: float = 1.0

    @property
    def is_leaf(self) -> bool:
        """Whether it is a leaf."""
        return self.left < 0

    @property
    def is_linear(self) -> bool:
        """Whether it is a leaf whose estimate depends on the row."""
        return self.is_leaf and bool(self.terms)

    @property
    def settled(self) -> int | None:
        """Index of the class that a linear leaf of two classes predicts for all rows; None if it depends on the row.

        The second class is predicted if its probability is above 1/2.
        """
        if self.low > 0.5:
            return 1
        return 0 if self.high <= 0.5 else None


@dataclass(frozen=True)
class Outline:
    """All blocks of a compact tree, numbered as in the model."""

    blocks: tuple[OutlineBlock, ...]
    classes: tuple[Any, ...]  # empty if a number is predicted
    prior: tuple[float, ...]  # share of every class in training
    columns: tuple[str, ...]  # of the table, used or not; instead of a date, its parts

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return sum(block.is_leaf for block in self.blocks)

    @property
    def n_terms(self) -> int:
        """Number of terms of all blocks."""
        return sum(len(block.terms) for block in self.blocks)

    @property
    def branching(self) -> list[OutlineBlock]:
        """The branching blocks."""
        return [block for block in self.blocks if not block.is_leaf]

    @cached_property
    def predicted(self) -> list[int]:
        """Codes of the classes that some leaf predicts, ascending."""
        leaves = [block for block in self.blocks if block.is_leaf]
        if any(block.is_linear for block in leaves):  # of two classes
            return list(range(len(self.classes)))
        return sorted({self.classes.index(block.label) for block in leaves}) if self.classes else []

    @cached_property
    def used(self) -> list[str]:
        """The columns that some block uses, in the order of the table."""
        found = {term.column for block in self.blocks for term in block.terms}
        return [column for column in self.columns if column in found]

    @cached_property
    def fills(self) -> dict[str, OutlineTerm]:
        """The terms that have a value for missing cells, by their name, in the order of the table."""
        found = {term.name: term for block in self.blocks for term in block.terms if term.kind != MISSING}
        ordered = sorted(found, key=lambda name: self.columns.index(found[name].column))
        return {name: found[name] for name in ordered}

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes in sentences: text as it is, "class 3" for a number."""
        return tuple(label if isinstance(label, str) else f"class {label}" for label in self.classes)

    def name_leaf(self, block: OutlineBlock, digits: int = 17) -> str:
        """Return the name of the class that a leaf predicts, or its number."""
        if not self.classes:
            return write_number(float(f"{block.label:.{digits}g}"))
        return self.class_names[self.classes.index(block.label)]

    def walk(self, first: int = 0) -> list[OutlineBlock]:
        """Return a block and all below it, parents first, left before right."""
        found, work = [], [first]
        while work:
            block = self.blocks[work.pop()]
            found.append(block)
            if not block.is_leaf:
                work += [block.right, block.left]
        return found

    def place(self) -> dict[int, tuple[float, int]]:
        """Return the position of every block: from left to right in widths of a leaf, and its depth."""
        x = {block.number: n + 0.5 for n, block in enumerate(b for b in self.walk() if b.is_leaf)}
        for block in sorted(self.branching, key=lambda block: -block.depth):
            x[block.number] = (x[block.left] + x[block.right]) / 2.0
        return {block.number: (x[block.number], block.depth) for block in self.blocks}


def has_outline(model: Model) -> bool:
    """Return whether a model is one compact tree, which is evaluated in the user's units."""
    return model.trees.has_units and model.trees.n_trees == 1


def read_outline(model: Model) -> Outline:
    """Return the outline of a compact tree; other models are refused."""
    if not has_outline(model):
        raise TypeError(
            "the model is not one compact tree: fit a CompactLHTClassifier or a CompactLHTRegressor."
        )
    trees, labels = model.trees, model.labels
    depth, starts = trees.depths().tolist(), trees.unit_intercept if trees.has_slopes else trees.intercept
    shares = _find_shares(model, starts)
    hyperplanes = trees.hyperplane_ptr, trees.hyperplane_feature, trees.unit_weight, trees.hyperplane_weight
    slopes = trees.membership_ptr, trees.membership_feature, trees.unit_slope, trees.membership_slope
    terms = [
        _read_terms(model, number, *(slopes if left < 0 else hyperplanes))
        for number, left in enumerate(trees.left.tolist())
    ]
    sums = [
        (own, bound) if left < 0 else _affirm(own, bound)
        for own, bound, left in zip(terms, trees.unit_offset.tolist(), trees.left.tolist(), strict=True)
    ]
    blocks = tuple(
        OutlineBlock(
            number=number,
            depth=depth[number],
            terms=sums[number][0],
            bound=sums[number][1],
            left=left,
            right=left + 1 if left >= 0 else -1,
            n_samples=int(trees.n_samples[number]),
            weight=float(trees.weight[number]),
            shares=tuple(shares[number].tolist()),
            label=labels[int(shares[number].argmax())] if labels else float(model.outcome[number]),
            start=float(starts[number]),
            low=float(trees.low[number]),
            high=float(trees.high[number]),
        )
        for number, left in enumerate(trees.left.tolist())
    )
    prior = tuple(model.prior.tolist()[: len(labels)])
    encoding = model.encoding
    columns = (
        encoder.name_features(name) if isinstance(encoder, Dates) else [name]
        for name, encoder in zip(encoding.names, encoding.encoders, strict=True)
    )
    return Outline(blocks, tuple(labels), prior, tuple(chain.from_iterable(columns)))


def _find_shares(model: Model, starts: Any) -> Any:
    """Return the share of every class in every block, shape (n_blocks, K); in a leaf, the predicted one."""
    trees = model.trees
    if not model.labels:
        return np.empty((trees.n_blocks, 0))
    if model.head.shares_classes:
        return shares_at(trees, np.arange(trees.n_blocks), model.n_classes)
    is_constant = (trees.left < 0) & (np.diff(trees.membership_ptr) == 0)
    share = np.where(is_constant, starts, trees.n_target / trees.weight)
    share = np.clip(share, trees.low, trees.high)
    return np.column_stack([1.0 - share, share])


def _read_terms(
    model: Model, block: int, ptr: Any, features: Any, weights: Any, normalised: Any
) -> tuple[OutlineTerm, ...]:
    encoding, centre, terms = model.encoding, model.normalisation.centre, list[OutlineTerm]()
    some = slice(ptr[block], ptr[block + 1])
    used = {*model.trees.hyperplane_feature.tolist(), *model.trees.membership_feature.tolist()}
    size = np.abs(normalised[some].astype(np.float64))
    size /= size.max(initial=0.0)
    for feature, weight, relative in zip(
        features[some].tolist(), weights[some].tolist(), size.tolist(), strict=True
    ):
        column = int(encoding.column[feature])
        kind, category, others = NUMBER, None, list[Any]()
        opposite = encoding.opposites.get(feature)
        if encoding.is_one_hot[feature]:
            kind, others, first = CATEGORY, list(encoding.categories[column] or ()), int(encoding.ptr[column])
            category = others.pop(feature - first)
            # With as many rows of both categories, a missing cell counts as neither: both cannot be named.
            if opposite is not None and centre[first] + centre[first + 1] != 1.0:
                opposite = None if 2 * first + 1 - feature in used else opposite
        elif encoding.is_indicator[feature]:
            kind = MISSING
        elif encoding.is_statistic[feature]:
            kind, category = STATISTIC, model.feature_names[feature]
        terms.append(
            OutlineTerm(
                weight,
                model.feature_names[feature] if encoding.is_date[feature] else encoding.names[column],
                kind,
                category,
                tuple(others),
                float(centre[feature]),
                relative,
                opposite,
            )
        )
    return tuple(terms)


def _affirm(terms: tuple[OutlineTerm, ...], bound: float) -> tuple[tuple[OutlineTerm, ...], float]:
    """Return terms and bound of a block that goes left unless a column has one of two categories: by the other one."""
    term = terms[0]
    if len(terms) > 1 or term.opposite is None or not 0.0 < bound <= term.weight:
        return terms, bound
    named = {"category": term.opposite, "others": (term.category,), "opposite": term.category}
    return (replace(term, weight=-1.0, fill=1.0 - term.fill, **named),), -0.5


class Side(NamedTuple):
    """Condition to go left: the sum of ``terms`` is below or above the bound, or a category is present or absent."""

    sign: str  # "<" or ">" for numbers, "=" or "!=" for a category
    terms: tuple[OutlineTerm, ...]
    bound: float


def find_left(block: OutlineBlock) -> Side:
    """Return the simplest condition to go left: with a single term of weight 1 or -1, one on its value alone."""
    term = block.terms[0]
    alone = (replace(term, weight=1.0),)
    if len(block.terms) == 1 and term.is_measured and abs(term.weight) == 1.0:
        return Side("<" if term.weight > 0.0 else ">", alone, term.weight * block.bound)
    if len(block.terms) == 1 and not term.is_measured and (term.weight < block.bound) != (block.bound > 0.0):
        return Side("=" if term.weight < block.bound else "!=", alone, 1.0)
    return Side("<", block.terms, block.bound)


def write_number(value: float) -> str:
    """Format a number with the fewest digits that read back as the same float64."""
    return repr(float(value)).removesuffix(".0")


def name_value(term: OutlineTerm) -> str:
    """Name a value in a sum: a column, quoted if it could be misread, or a 1-or-0 value in brackets."""
    if term.kind != NUMBER:
        return f"[{term.name}]"
    is_plain = term.column.strip() == term.column and not _ODD.search(term.column)
    return term.column if is_plain else json.dumps(term.column, ensure_ascii=False)


def write_sum(
    block: Side | OutlineBlock,
    write_value: Callable[[OutlineTerm], str] = name_value,
    *,
    times: str = " * ",
    gap: str = " ",
    write: Callable[[float], str] = write_number,
) -> str:
    """Format the sum of a block in any language that reads signs as usual: "1.2 * age - 3 * income".

    The sum of a linear leaf starts with its intercept. ``write`` formats a number.
    """
    written = write(block.start) if isinstance(block, OutlineBlock) and block.is_leaf else ""
    for term in block.terms:
        size = abs(term.weight)
        product = write_value(term) if size == 1.0 else f"{write(size)}{times}{write_value(term)}"
        sign = "-" if term.weight < 0.0 else "+"
        written += f"{gap}{sign}{gap}{product}" if written else f"{sign.strip('+')}{product}"
    return written


def write_tree(outline: Outline) -> str:
    """Format the whole tree, one line per block, wrapped between terms; "yes" leads left and "no" right."""
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
        lines += _wrap(start, _write_left(block))
        work += [(block.right, depth + 1, "no: "), (block.left, depth + 1, "yes: ")]
    if any(block.is_linear for block in outline.blocks) and outline.classes:
        second, first = outline.class_names[::-1]
        lines.append(f"{second} is predicted where its probability is above 0.5, otherwise {first}")
    return "\n".join([*lines, *_write_fills(outline)])


def _write_left(block: OutlineBlock) -> str:
    """Format the condition to go left with ASCII signs."""
    left = find_left(block)
    if left.sign in "<>":
        return f"{write_sum(left)} {left.sign} {write_number(left.bound)}"
    return f"{'not ' * (left.sign == '!=')}{name_value(left.terms[0])}"


def _write_leaf(outline: Outline, block: OutlineBlock) -> str:
    """Format the number or the classes with their shares, largest first, and the number of training rows."""
    if block.is_linear:
        what = f"probability of {outline.class_names[1]} = " if outline.classes else ""
        ends = f"at least {write_number(block.low)}, at most {write_number(block.high)}"
        return f"{what}{write_sum(block)}, {ends}  ({block.n_samples:,} rows)"
    if not outline.classes:
        return f"{outline.name_leaf(block)}  ({block.n_samples:,} rows)"
    ordered = sorted(range(len(block.shares)), key=lambda cls: (-block.shares[cls], cls))
    others = [
        f", {outline.classes[cls]} {write_probability(block.shares[cls])}"
        for cls in ordered[1:]
        if block.shares[cls] >= 0.005
    ]
    first = f"{outline.name_leaf(block)}  (probability {write_probability(block.shares[ordered[0]])}"
    return f"{first}{''.join(others)}; {block.n_samples:,} rows)"


def _write_fills(outline: Outline) -> Iterator[str]:
    """Format the values that replace missing cells."""
    terms = outline.fills.values()
    numbers = [f"{name_value(term)} {write_number(term.fill)}" for term in terms if term.is_measured]
    if numbers:
        yield from _wrap("missing numbers count as: ", ", ".join(numbers))
    if any(term.kind == CATEGORY for term in terms):
        ones = [name_value(term) for term in terms if term.kind == CATEGORY and term.fill == 1.0]
        but = f"; as 1 in {', '.join(ones)}" if ones else ""
        yield from _wrap("", f"[column = category] is 1 or 0; missing and unseen categories count as 0{but}")


def _wrap(start: str, text: str) -> list[str]:
    """Break text into lines of at most ``_WIDTH`` characters, before signs and after commas."""
    lines, line, indent = [], start, " " * (len(start) - len(start.lstrip()) + 4)
    for part in text.replace(" + ", "\0+ ").replace(" - ", "\0- ").replace(", ", ",\0").split("\0"):
        gap = "" if line == start else " "
        if line != start and len(line) + len(gap) + len(part) > _WIDTH:
            lines.append(line)
            line, gap = indent, ""
        line += gap + part
    return [*lines, line]
