"""A compact tree as people read it: every block with its terms in the user's units, every leaf with its shares.

What is written here is what predicts: a row goes left in a block if the sum of weight · value, added from left to
right, is below the bound, and a missing cell counts as the fill of its term.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

# What a term multiplies: the number in a cell; 1 where the cell has a category, else 0; 1 where it is missing, else 0;
# the target statistic of the category in the cell.
NUMBER, CATEGORY, MISSING, STATISTIC = "number", "category", "missing", "statistic"


@dataclass(frozen=True)
class Term:
    """One term of a block: its weight times the value of a cell."""

    weight: float  # per unit of the user
    column: str
    kind: str
    category: Any  # of a CATEGORY; of a STATISTIC, its name
    others: tuple[Any, ...]  # the other categories of the column
    fill: float  # what stands for a missing cell; of a CATEGORY 1 or 0, and also for a category not seen in training
    size: float  # effect of a usual change of the value, relative to the largest term of the block

    @property
    def is_measured(self) -> bool:
        """Whether the value is any number, not 1 or 0."""
        return self.kind in (NUMBER, STATISTIC)

    @property
    def name(self) -> str:
        """The value in words: "age", "colour = red" or "age is missing"."""
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
    terms: tuple[Term, ...]
    bound: float  # of a branching block
    left: int  # number of the block where rows go whose sum is below the bound; -1 in a leaf
    right: int
    n_samples: int
    weight: float
    shares: tuple[float, ...]  # of every class; none of a regression
    label: Any  # the class with the largest share; of a regression, the number that is predicted
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


@dataclass(frozen=True)
class Outline:
    """All blocks of a compact tree, numbered as in the model."""

    blocks: tuple[OutlineBlock, ...]
    classes: tuple[Any, ...]  # none of a regression
    prior: tuple[float, ...]  # share of every class in training
    columns: tuple[str, ...]  # of the table, used or not

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
    def used(self) -> list[str]:
        """The columns that some block uses, in the order of the table."""
        found = {term.column for block in self.blocks for term in block.terms}
        return [column for column in self.columns if column in found]

    @cached_property
    def fills(self) -> dict[str, Term]:
        """The terms that have a value for missing cells, by their name, in the order of the table."""
        found = {term.name: term for block in self.blocks for term in block.terms if term.kind != MISSING}
        ordered = sorted(found, key=lambda name: self.columns.index(found[name].column))
        return {name: found[name] for name in ordered}

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """The classes as people call them: a name speaks for itself, a number does not."""
        return tuple(label if isinstance(label, str) else f"class {label}" for label in self.classes)

    @property
    def is_regression(self) -> bool:
        """Whether leaves predict a number."""
        return not self.classes

    def name_leaf(self, block: OutlineBlock, digits: int = 17) -> str:
        """The class that a leaf predicts, as people call it; of a regression, its number."""
        if self.is_regression:
            return repr(float(f"{block.label:.{digits}g}")).removesuffix(".0")
        return self.class_names[self.classes.index(block.label)]

    def walk(self, first: int = 0) -> list[OutlineBlock]:
        """A block and all below it, parents first, left before right."""
        found, work = [], [first]
        while work:
            block = self.blocks[work.pop()]
            found.append(block)
            if not block.is_leaf:
                work += [block.right, block.left]
        return found

    def place(self) -> dict[int, tuple[float, int]]:
        """Where every block stands: from left to right in leaves, a leaf being 1 wide, and its depth."""
        x = {block.number: n + 0.5 for n, block in enumerate(b for b in self.walk() if b.is_leaf)}
        for block in sorted(self.branching, key=lambda block: -block.depth):
            x[block.number] = (x[block.left] + x[block.right]) / 2.0
        return {block.number: (x[block.number], block.depth) for block in self.blocks}
