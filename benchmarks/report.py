"""Results as JSON with the facts of the machine, and pages in Markdown."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

from .models import PACKAGES

_ROOT = Path(__file__).resolve().parents[1]
RESULTS = _ROOT / "benchmarks" / "results"
PAGES = _ROOT / "docs" / "benchmarks"


def machine_facts() -> dict[str, Any]:
    """Processor, cores and versions; nothing that names the machine."""
    cpu = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [
            line.split(":")[1] for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        cpu = models[0].strip() if models else cpu
    installed = {found.name.lower(): found.version for found in distributions()}
    versions = {package: installed.get(package, "not installed") for package in PACKAGES}
    return {
        "cpu": cpu,
        "n_cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": versions,
    }


def write_json(name: str, results: Any) -> None:
    """Keep results with the facts they depend on."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine_facts(), "results": results}, indent=1) + "\n")


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table whose columns line up in plain text too."""
    cells = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


class Figure(NamedTuple):
    """A measured value beside its target; without a target it is only told."""

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


def figure_table(figures: Sequence[Figure]) -> str:
    """Return figures as a table with target, measured and verdict."""
    return markdown_table(["what", "target", "measured", "verdict"], [figure.row() for figure in figures])


def describe_machine() -> str:
    """Return machine and versions as a sentence."""
    facts = machine_facts()
    versions = ", ".join(f"{package} {number}" for package, number in facts["versions"].items())
    machine = f"{facts['n_cores']} cores of {facts['cpu']}, {facts['system']}, Python {facts['python']}"
    return f"Measured on {machine}; {versions}."


def write_page(name: str, title: str, parts: Sequence[str], folder: Path = PAGES) -> Path:
    """Write a page, by default below docs/benchmarks, with the machine it was measured on at its foot."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n\n".join([f"# {title}", *parts, describe_machine()]) + "\n"
    path = folder / f"{name}.md"
    path.write_text(text, encoding="utf-8")
    return path


def fill_page(path: Path, parts: Mapping[str, str]) -> None:
    """Put generated parts into a written page, each between ``<!-- name -->`` and ``<!-- /name -->``."""
    text = path.read_text(encoding="utf-8")
    for name, part in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        head, found_begin, rest = text.partition(begin)
        _, found_end, tail = rest.partition(end)
        if not (found_begin and found_end):
            raise SystemExit(f"{path.name} has no {begin} … {end}: write both where the part belongs.")
        text = f"{head}{begin}\n{part}\n{end}{tail}"
    path.write_text(text, encoding="utf-8")
