"""What explanations cost beside predictions."""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

from . import data as datasets
from .models import fit
from .report import Figure, figure_table, write_json
from .timing import interleave

_N_ROWS = 10_000
_TREES = ("paper_tree", "readable_tree")
_FORESTS = ("paper_forest", "mixed_forest")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="fewer rounds, one data set")


def measure_batch(names: tuple[str, ...], *, is_quick: bool) -> list[Figure]:
    """Explaining 10,000 rows with one tree, in times of predicting them."""
    figures = []
    for name in names:
        data = datasets.load(name)
        rows = np.resize(np.arange(len(data.y)), _N_ROWS)
        X = np.ascontiguousarray(data.X[rows])
        for key in _TREES:
            model = fit(key, data.X, data.y)
            calls = {"predict": partial(model.predict, X), "explain": partial(model.explain_batch, X)}
            times = interleave(calls, n_rounds=3 if is_quick else 9, seconds=20)
            what = f"explain_batch, {name}, {key} ({times['explain'] * 1e3:.0f} ms for {_N_ROWS:,} rows)"
            figures.append(Figure(what, times["explain"] / times["predict"], 100.0, is_floor=False))
    return figures


def measure_one_row(names: tuple[str, ...]) -> list[Figure]:
    """One row explained in words by a forest of 100 trees per class."""
    figures = []
    for name in names:
        data = datasets.load(name)
        row = data.X[0]
        for key in _FORESTS:
            model = fit(key, data.X, data.y)
            times = interleave(
                {key: lambda model=model, row=row: str(model.explain(row))}, n_rounds=5, seconds=10
            )
            figures.append(
                Figure(f"str(explain(row)), {name}, {key}", times[key] * 1e3, 20.0, "ms", is_floor=False)
            )
    return figures


def main(args: argparse.Namespace) -> None:
    names = ("spambase",) if args.quick else ("wdbc", "spambase", "eeg", "magic")
    figures = measure_batch(names, is_quick=args.quick) + measure_one_row(
        ("wine", "wdbc") if args.quick else ("wine", "wdbc", "spambase")
    )
    print(f"\nExplaining\n\n{figure_table(figures)}\n")
    write_json("explain-quick" if args.quick else "explain", [figure._asdict() for figure in figures])
