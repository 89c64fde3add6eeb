"""Pages in Markdown: tables, figures beside their targets, sections of generated and written pages."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .results import ROOT, machine_facts

DOCS = ROOT / "docs"


def markdown_table(head: str | Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table whose columns line up in plain text too; the head may be one text, cut at " | "."""
    heads = head.split(" | ") if isinstance(head, str) else head
    cells = [[str(cell) for cell in row] for row in [heads, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


class Figure(NamedTuple):
    """A measured value beside its target, which may be missing."""

    what: str
    measured: float
    target: float | None
    unit: str = "×"
    is_floor: bool = True  # whether the target is the least or the most allowed

    @property
    def is_met(self) -> bool:
        """Whether the target is reached."""
        if self.target is None:
            return True
        return self.measured >= self.target if self.is_floor else self.measured <= self.target

    def row(self) -> list[str]:
        """Return the figure as cells: what, target, measured, verdict."""
        if self.target is None:
            return [self.what, "", self._say(self.measured), ""]
        bound = "≥" if self.is_floor else "≤"
        verdict = "met" if self.is_met else f"missed by {self._say(abs(self.measured - self.target))}"
        return [self.what, f"{bound} {self._say(self.target)}", self._say(self.measured), verdict]

    def _say(self, value: float) -> str:
        digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
        return f"{value:.{min(digits, 3)}f}{'' if self.unit in ('×', '') else ' '}{self.unit}"


def read_figures(part: Iterable[Sequence[Any]]) -> list[Figure]:
    """Return figures as JSON keeps them: one list each."""
    return [Figure(*cells) for cells in part]


def figure_table(figures: Iterable[Figure]) -> str:
    """Return figures as a table with target, measured and verdict."""
    return markdown_table("what | target | measured | verdict", [figure.row() for figure in figures])


def describe_run(builds: Mapping[str, Sequence[str]]) -> str:
    """Return the builds of lhtree, each with the parts it measured, machine and versions as sentences."""
    facts = machine_facts()
    ours = " and ".join(
        f"`{build}`" + (f" ({', '.join(dict.fromkeys(parts))})" if parts else "")
        for build, parts in builds.items()
    )
    versions = ", ".join(
        f"{package} {number}" for package, number in facts["versions"].items() if number != "not installed"
    )
    machine = f"{facts['n_cores']} cores of {facts['cpu']}, {facts['system']}, Python {facts['python']}"
    return f"lhtree build: {ours}. Measured on {machine}; {versions}."


class Docs:
    """The folder of the documentation, or one of the same layout for a draft."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or DOCS
        self.pages = self.folder / "benchmarks"
        self.pictures = self.folder / "pictures"

    def fill(self, name: str, parts: Mapping[str, str]) -> None:
        """Put generated parts into a written page, each between ``<!-- name -->`` and ``<!-- /name -->``."""
        text = (DOCS / name).read_text(encoding="utf-8")
        if self.folder != DOCS:  # a draft does not repeat the figures of the full form
            parts = dict.fromkeys(re.findall(r"<!-- ([\w-]+) -->", text), "not measured") | dict(parts)
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(fill_text(text, parts), encoding="utf-8")


def fill_text(text: str, parts: Mapping[str, str]) -> str:
    """Return a written text with generated parts between their marks."""
    for name, part in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        head, found_begin, rest = text.partition(begin)
        _, found_end, tail = rest.partition(end)
        if not (found_begin and found_end):
            raise SystemExit(f"The page has no {begin} … {end}: write both marks where the part belongs.")
        text = f"{head}{begin}\n{part}\n{end}{tail}"
    return text
