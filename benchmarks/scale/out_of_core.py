"""Boosted fits of tables that are made batch by batch and never held, each in a process of its own."""

import json
import subprocess
import sys
from typing import Any, NamedTuple

from ..common.results import ROOT
from ..runner import Args, Tell

N_COLUMNS, N_ROUNDS = 20, 20
GROWTH = (250_000, 500_000, 1_000_000, 2_000_000)


class Fit(NamedTuple):
    """A fit in a process of its own; seconds are of the processor, bytes are anonymous memory at its peak."""

    way: str  # "batches", "memory" or "lightgbm"
    n_rows: int
    n_rounds: int
    prepare_seconds: float  # all before the first round, without making the rows
    round_seconds: float
    n_bytes: int  # without the memory of imported libraries
    n_bytes_scratch: int


def run_child(way: str, n_rows: int, n_rounds: int = N_ROUNDS) -> Fit:
    """Fit in another process."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.scale.child",
        way,
        str(n_rows),
        str(N_COLUMNS),
        str(n_rounds),
    ]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return Fit(way, n_rows, n_rounds, **json.loads(done.stdout))


def measure_growth(tell: Tell, args: Args) -> list[Fit]:
    """Fits of more and more rows, in memory and in batches."""
    sizes = (20_000,) if args.quick else GROWTH
    fits = []
    for n_rows in sizes:
        for way in ("memory", "batches", "lightgbm"):
            tell(f"{n_rows:,} rows, {way}")
            fits.append(run_child(way, n_rows))
    return fits


def measure_large(tell: Tell, args: Args) -> dict[str, Any]:
    """One fit past memory, and LightGBM on as many rows as fit."""
    n_rows, n_sample = (40_000, 20_000) if args.quick else (args.rows, args.sample)
    tell(f"{n_rows:,} rows in batches")
    ours = run_child("batches", n_rows, args.rounds)
    tell(f"LightGBM, {n_sample:,} rows in memory")
    return {"ours": ours, "theirs": run_child("lightgbm", n_sample, args.rounds)}
