"""Memory and speed of ``lhtree predict`` on a CSV larger than its memory limit."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lhtree import LHForestClassifier, save

from .common.pages import Docs, Figure, figure_table, markdown_table
from .runner import Args, Parts, Tell

_N_ROWS = 20_000  # of the part that is written over and over
_N_NUMBERS = 18
_LIMIT = 300.0  # MB

# A process inherits the peak of the one that starts it, so a small one starts the command and reports its usage.
_WATCH = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""
_LHTREE = "from lhtree.cli import main; main()"
_PANDAS = """
import sys
import pandas as pd
import lhtree
model, data, out = sys.argv[1:]
frame = pd.read_csv(data)
frame["prediction"] = lhtree.load_scorer(model).predict(frame)
frame[["prediction"]].to_csv(out, index=False)
"""


class Run(NamedTuple):
    """A child process that predicted a table."""

    way: str
    seconds: float  # of the processor
    megabytes: float  # resident at its peak


def make_part() -> Any:
    """Rows with numbers, categories and missing values, and their classes."""
    import pandas as pd

    random = np.random.default_rng(0)
    names = [f"number {i}" for i in range(_N_NUMBERS)]
    X = pd.DataFrame(random.normal(size=(_N_ROWS, _N_NUMBERS)).round(6), columns=names)
    X["colour"] = random.choice(["red", "green", "blue"], _N_ROWS)
    X["shop"] = random.choice([f"shop {i}" for i in range(20)], _N_ROWS)
    X = X.mask(random.random(X.shape) < 0.02)
    y = np.where(X["number 0"].fillna(0) + (X["colour"] == "blue") > 0.5, "sold", "kept")
    return X, y


def write_table(X: Any, path: Path, n_bytes: float) -> int:
    """Write the part over and over until the file is that large; returns how often."""
    header, _, body = X.to_csv(index=False).encode().partition(b"\n")
    n_parts = max(1, round(n_bytes / len(body)))
    with open(path, "wb") as file:
        file.write(header + b"\n")
        for _ in range(n_parts):
            file.write(body)
    return n_parts


def watch(way: str, command: list[str]) -> Run:
    """Run a command and learn its processor time and its peak of memory."""
    done = subprocess.run(
        [sys.executable, "-c", _WATCH, *command], check=True, capture_output=True, text=True
    )
    seconds, peak = map(float, done.stdout.split())
    unit = 1e-6 if sys.platform == "darwin" else 1024e-6  # what ru_maxrss counts in
    return Run(way, seconds, peak * unit)


def check_order(path: Path, labels: list[str], n_parts: int) -> None:
    """Whether a table of predictions is that of the part, over and over."""
    expected = "".join(f"{label}\n" for label in labels).encode()
    with open(path, "rb") as file:
        header = file.readline()
        is_equal = all(file.read(len(expected)) == expected for _ in range(n_parts)) and not file.read(1)
    if header != b"prediction\n" or not is_equal:
        raise RuntimeError(f"{path.name}: the predictions are not those of the rows in their order")


def measure(tell: Tell, args: Args) -> dict[str, Any]:
    """Predict a large CSV with the command line and with pandas, and check every line of both."""
    X, y = make_part()
    model = LHForestClassifier(20, random_state=0).fit(X, y)
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        saved, table, ours, theirs = (
            Path(name) / file for file in ("model.lht", "data.csv", "ours.csv", "theirs.csv")
        )
        save(model, saved)
        tell(f"writing {args.gigabytes} GB")
        n_parts = write_table(X, table, args.gigabytes * 1e9)
        n_bytes = table.stat().st_size
        options = ["predict", str(saved), str(table), "--threads", "1", "--out", str(ours)]
        runs = []
        for way, command in (
            ("lhtree predict", ["-c", _LHTREE, *options]),
            ("pandas and the model", ["-c", _PANDAS, str(saved), str(table), str(theirs)]),
        ):
            tell(way)
            runs.append(watch(way, [sys.executable, *command]))
        for path in (ours, theirs):
            check_order(path, model.predict(X).tolist(), n_parts)
    return {"n_rows": n_parts * _N_ROWS, "n_bytes": n_bytes, "runs": runs}


class Stream(Parts):
    """The question."""

    name = "stream"
    fills = "benchmarks/stream.md"
    quick = "a CSV too small to measure memory"
    parts: ClassVar = {"csv": measure}

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--gigabytes", type=float, default=2.0, help="size of the CSV; below 0.3, only a draft is written"
        )
        parser.add_argument("--folder", help="directory for the CSV, which is deleted afterwards")

    def run(self, args: Args) -> dict[str, Any]:
        args.gigabytes = 0.02 if args.quick else args.gigabytes
        return super().run(args)

    def is_draft(self, args: Args) -> bool:
        return bool(args.quick) or args.gigabytes * 1e9 < _LIMIT * 1e6

    def page(self, results: dict[str, Any], docs: Docs) -> dict[str, str]:
        found = results["csv"]
        n_rows, n_bytes = found["n_rows"], found["n_bytes"]
        ours, theirs = runs = [Run(*cells) for cells in found["runs"]]
        rows = []
        for way, seconds, megabytes in runs:
            rates = f"{n_rows / seconds:,.0f}", f"{n_bytes / 1e6 / seconds:.0f}"
            rows.append([way, f"{seconds:.0f}", *rates, f"{megabytes:.0f}"])
        memory = theirs.megabytes / ours.megabytes
        figures = [
            Figure("peak memory of lhtree predict", ours.megabytes, _LIMIT, "MB", is_floor=False),
            Figure("rows per second, relative to pandas and the model", theirs.seconds / ours.seconds, None),
            Figure("peak memory of pandas and the model, relative to lhtree predict", memory, None),
        ]
        return {
            "size": f"A CSV of {n_bytes / 1e9:.2f} GB: {n_rows:,} rows.",
            "runs": markdown_table(
                " | CPU seconds | rows per second | MB per second | peak memory, MB", rows
            ),
            "figures": figure_table(figures),
        }


QUESTION = Stream()
