"""A small table with numbers, text and missing values, models of it, and a way to run the command line on them."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import lhtree
from lhtree import cli


class Ran(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> Ran:
    """Run a command line in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["lhtree", *map(str, arguments)])
        capsys.readouterr()
        try:
            cli.main()
            code: Any = 0
        except SystemExit as stop:
            code = stop.code or 0
    return Ran(int(code), *capsys.readouterr())


def succeed(capsys: pytest.CaptureFixture[str], *arguments: object) -> Ran:
    """Run a command line that has to go well."""
    ran = run(capsys, *arguments)
    assert ran.code == 0, ran.err
    return ran


def fail(capsys: pytest.CaptureFixture[str], *arguments: object) -> Ran:
    """Run a command line that has to end in one line on stderr and nothing on stdout."""
    ran = run(capsys, *arguments)
    assert ran.code in (1, 2, 3, 4)
    assert ran.out == ""
    assert ran.err.startswith("lhtree: ")
    assert ran.err.count("\n") == 1
    return ran


def make_table(n_rows: int = 300) -> Any:
    """Return a pandas frame of a shop: items and their outcomes."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": generator.normal(50, 10, n_rows).round(1),
            "weight": generator.gamma(2, 3, n_rows).round(2),
            "colour": generator.choice(["red", "green", "blue"], n_rows, p=[0.5, 0.3, 0.2]),
            "shop": generator.choice(["north", "south"], n_rows),
        }
    )
    is_sold = (frame["size"] + generator.normal(0, 3, n_rows) > 55) | (frame["colour"] == "blue")
    frame["y"] = np.where(is_sold, "sold", "kept")
    frame.loc[::20, "colour"] = None
    frame.loc[::33, "size"] = np.nan
    return frame


@cache
def fit_boosted() -> Any:
    """A boosted model of the table."""
    frame = make_table()
    model = lhtree.LHBoostClassifier(10, learning_rate=0.2, random_state=0)
    return model.fit(frame.drop(columns="y"), frame["y"])


@cache
def fit_models() -> tuple[Any, Any]:
    """A forest and a tree of the table."""
    frame = make_table()
    X, y = frame.drop(columns="y"), frame["y"]
    return lhtree.LHForestClassifier(10, random_state=0).fit(X, y), lhtree.LHTClassifier(gamma=20).fit(X, y)


@cache
def fit_compact() -> Any:
    """A compact tree of the table."""
    frame = make_table()
    return lhtree.CompactLHTClassifier(max_leaf_nodes=6, penalty=0.3).fit(frame.drop(columns="y"), frame["y"])


def write_files(folder: Path) -> None:
    """Write the tables ``data``, ``test`` and ``new``, and a model each: ``model`` (a forest), ``tree``, …"""
    table = make_table()
    table.to_csv(folder / "data.csv", index=False)
    table[200:].to_csv(folder / "test.csv", index=False)
    table[:40].drop(columns="y").to_csv(folder / "new.csv", index=False)
    table[:40].drop(columns="y").to_parquet(folder / "new.parquet", index=False)
    forest, tree = fit_models()
    lhtree.save(forest, folder / "model.lht", metadata={"data": "the shop's [first] year", "rows": 300})
    lhtree.save(tree, folder / "tree.lht")
    lhtree.save(fit_boosted(), folder / "boosted.lht")
    lhtree.save(fit_compact(), folder / "compact.lht")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    write_files(tmp_path)
    return tmp_path
