"""Fits of every model on every split, cached as one JSON file each: a run can be cut short and taken up again."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import data as datasets
from .models import MODELS, version_key
from .report import RESULTS

LOG_LOSS_EPS = 1e-15
N_BINS = 15


class Task(NamedTuple):
    """One fit."""

    data: str
    model: str
    seed: int

    @property
    def path(self) -> Path:
        """Where its result is kept."""
        folder = RESULTS / "accuracy" / self.data / f"{self.model}@{version_key(self.model)}"
        return folder / f"{self.seed}.json"


def log_loss(proba: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Mean -log of the probability of the true class, clipped to [1e-15, 1 - 1e-15]."""
    own = proba[np.arange(len(y)), y]
    return float(-np.log(np.clip(own, LOG_LOSS_EPS, 1 - LOG_LOSS_EPS)).mean())


def calibration_error(proba: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Expected calibration error over 15 equal-width bins of the top-class probability."""
    top = proba.max(axis=1)
    is_right = proba.argmax(axis=1) == y
    bins = np.minimum((top * N_BINS).astype(int), N_BINS - 1)
    gaps = np.bincount(bins, weights=is_right - top, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(y))


def score(estimator: Any, part: datasets.Split) -> dict[str, Any]:
    """Fit an estimator on one split and score it, with CPU times."""
    begin = time.process_time()  # of this one thread: other work on the machine does not count
    estimator.fit(part.X, part.y)
    fit_seconds = time.process_time() - begin
    begin = time.process_time()
    proba = np.asarray(estimator.predict_proba(part.X_test), dtype=np.float64)
    proba_seconds = time.process_time() - begin
    return {
        "accuracy": float((np.ravel(estimator.predict(part.X_test)) == part.y_test).mean()),
        "log_loss": log_loss(proba, part.y_test),
        "calibration_error": calibration_error(proba, part.y_test),
        "fit_seconds": fit_seconds,
        "proba_seconds": proba_seconds,
    }


def keep(path: Path, result: dict[str, Any]) -> None:
    """Write a result whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(result))
    draft.replace(path)


def measure(task: Task) -> dict[str, Any]:
    """Fit and score one model on one split, and keep the result."""
    model = MODELS[task.model]
    estimator = model.build(task.seed)
    result = score(estimator, datasets.split(datasets.load(task.data), task.seed))
    result["n_blocks"] = int(model.count(estimator)) if model.count else None
    keep(task.path, result)
    return result


def plan(names: Sequence[str], models: Sequence[str], most_splits: int | None = None) -> list[Task]:
    """Return all fits of a run, small data sets first."""
    return [
        Task(name, model, seed)
        for name in sorted(names, key=datasets.NAMES.index)
        for model in models
        for seed in range(min(datasets.n_splits(datasets.load(name)), most_splits or sys.maxsize))
    ]


def collect(tasks: Sequence[Task]) -> dict[tuple[str, str], dict[int, dict[str, Any]]]:
    """Return what is cached, as {(data, model): {seed: result}}."""
    found: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for task in tasks:
        if task.path.exists():
            found.setdefault((task.data, task.model), {})[task.seed] = json.loads(task.path.read_text())
    return found


def _work(
    tasks: Sequence[Task], n_jobs: int, work: Callable[[Any], dict[str, Any]]
) -> Iterator[tuple[Task, dict[str, Any]]]:
    if n_jobs == 1:
        for task in tasks:
            yield task, work(task)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(n_jobs, mp_context=context) as pool:
        running = {pool.submit(work, task): task for task in tasks}
        for future in as_completed(running):
            yield running[future], future.result()


def run(
    tasks: Sequence[Task],
    n_jobs: int,
    work: Callable[[Any], dict[str, Any]] = measure,
    what: str = "accuracy",
) -> None:
    """Do what is not cached yet, with a bar in terminals and a line per fit elsewhere."""
    from rich.progress import Progress, TimeElapsedColumn

    open_tasks = [task for task in tasks if not task.path.exists()]
    print(f"{len(tasks)} fits, {len(tasks) - len(open_tasks)} of them cached", flush=True)
    with Progress(
        *Progress.get_default_columns(), TimeElapsedColumn(), disable=not sys.stdout.isatty()
    ) as bar:
        line = bar.add_task(what, total=len(open_tasks))
        for i, (task, result) in enumerate(_work(open_tasks, n_jobs, work), start=1):
            bar.update(line, advance=1, description=f"{task.data} {task.model}")
            if not sys.stdout.isatty():
                print(
                    f"{i}/{len(open_tasks)} {task.data} {task.model} {task.seed}: "
                    f"{result['accuracy']:.4f} in {result['fit_seconds']:.2f} s",
                    flush=True,
                )
