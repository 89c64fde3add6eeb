"""The rules of a compact tree: sentences, and formulas that a person could type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..._parameters import choose
from ..outline import STATISTIC, Outline
from ._excel import write_excel
from ._python import write_python
from ._sentences import write_estimate, write_missing, write_path
from ._sql import write_sql

DIALECTS = ("sqlite", "duckdb", "postgresql")


@dataclass(frozen=True)
class Rule:
    """What holds for the rows of one leaf."""

    leaf: int  # number of the leaf
    conditions: tuple[str, ...]  # from the root down
    label: Any  # the class, or number, that is predicted; of a linear leaf, for most rows …
    estimate: str  # … and in words
    probability: float | None  # its share in the leaf; None of a number, and of a linear leaf
    n_samples: int  # training rows of the leaf

    def __str__(self) -> str:
        sure = "" if self.probability is None else f"probability {self.probability:.2f}, "
        told = f"{self.estimate} ({sure}{self.n_samples:,} rows)"
        return f"If {', and '.join(self.conditions)}: {told}." if self.conditions else f"Always {told}."


class Rules(Sequence[Rule]):
    """The rules of a compact tree, one per leaf: exactly one of them holds for a row.

    ``print(rules)`` shows sentences. ``to_python``, ``to_sql`` and ``to_excel`` give the same tree as a formula, which
    predicts the same classes or numbers.
    """

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        leaves = [block for block in outline.walk() if block.is_leaf]
        self._rules = [
            Rule(
                leaf.number,
                tuple(write_path(outline, leaf.number)),
                leaf.label,
                write_estimate(outline, leaf),
                None if leaf.is_linear else max(leaf.shares, default=None),
                leaf.n_samples,
            )
            for leaf in leaves
        ]

    def __len__(self) -> int:
        return len(self._rules)

    def __getitem__(self, index: Any) -> Any:
        return self._rules[index]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def __str__(self) -> str:
        numbered = [f"{number}. {rule}" for number, rule in enumerate(self._rules, 1)]
        return "\n".join([*numbered, *write_missing(self._outline)])

    __repr__ = __str__

    def to_python(self, name: str = "predict") -> str:
        """A Python function that takes a row as a dict by column and returns its class.

        None and NaN are missing values. It needs no library.

        Parameters
        ----------
        name : str, default="predict"
            Name of the function.

        Returns
        -------
        str
        """
        return write_python(self._check("Python"), name)

    def to_sql(self, dialect: str = "sqlite") -> str:
        """A SQL expression over the columns of a table: the class of a row.

        Parameters
        ----------
        dialect : {"sqlite", "duckdb", "postgresql"}, default="sqlite"
            Database. Numbers may be columns of any numeric type; NULL is a missing value, NaN is not.

        Returns
        -------
        str
        """
        return write_sql(self._check("SQL"), choose("dialect", dialect, DIALECTS))

    def to_excel(self, row: int = 2) -> str:
        """A formula for a spreadsheet whose columns A, B, … are the columns of the model, in their order.

        Spreadsheets compare 15 digits: a row that lies on a bound up to the 16th may go to the other side.

        Parameters
        ----------
        row : int, default=2
            Row of the sheet that the formula is about; 1 usually holds the names. Copy the formula down for others.

        Returns
        -------
        str
            The formula with its "=". An empty cell is a missing value.
        """
        return write_excel(self._check("a spreadsheet"), row)

    def _check(self, language: str) -> Outline:
        """The outline, if its values are in the table."""
        for block in self._outline.blocks:
            for term in block.terms:
                if term.kind == STATISTIC:
                    raise ValueError(
                        f"{term.name} is learned from the categories of {term.column!r}, too many for a formula in "
                        f"{language}: use export_sql, export_c or export_onnx, or group the categories before fit."
                    )
        return self._outline
