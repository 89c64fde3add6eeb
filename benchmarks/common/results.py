"""Results as JSON with the facts of the machine; a fit keeps its own file."""

import json
import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

from .models import PACKAGES, version_key

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"

Result = dict[str, Any]
Results = dict[tuple[str, str], dict[int, Result]]  # by data and model, then by seed


def machine_facts() -> dict[str, Any]:
    """Processor, cores and versions; nothing that names the machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    installed = {found.name.lower(): found.version for found in distributions()}
    return {
        "cpu": models[0] if models else platform.machine(),
        "n_cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {package: installed.get(package, "not installed") for package in PACKAGES},
    }


def write_json(name: str, results: Any) -> None:
    """Keep results with the facts they depend on."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine_facts(), "results": results}, indent=1) + "\n")


def read_json(name: str) -> Any:
    """Return stored results; None if the file is missing."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text())["results"] if path.exists() else None


class Task(NamedTuple):
    """One fit."""

    question: str
    data: str
    model: str
    seed: int

    @property
    def path(self) -> Path:
        """Path of its result."""
        return self.path_of(version_key(self.model))

    def path_of(self, key: str) -> Path:
        """Return the path of the result of a version of the model."""
        return RESULTS / self.question / self.data / f"{self.model}@{key}" / f"{self.seed}.json"

    def keep(self, result: Result) -> None:
        """Write the result whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(result))
        draft.replace(self.path)


def collect(tasks: Iterable[Task]) -> Results:
    """Return the results that are kept."""
    found: Results = {}
    for task in tasks:
        if task.path.exists():
            found.setdefault((task.data, task.model), {})[task.seed] = json.loads(task.path.read_text())
    return found


def write_runs(question: str, results: Results, kept: Sequence[str] = ()) -> None:
    """Keep all fits of a question in one file, which other questions read.

    Models in ``kept`` keep their old fits, other models those of the same version on further splits.
    """
    stored = read_json(question) or {"keys": {}, "runs": []}
    keys = {model: version_key(model) for _, model in results}
    every: Results = {
        (run["data"], run["model"]): {int(seed): result for seed, result in run["splits"].items()}
        for run in stored["runs"]
        if run["model"] in kept or keys.get(run["model"]) == stored["keys"][run["model"]]
    }
    for place, splits in results.items():
        every[place] = dict(sorted((every.get(place, {}) | splits).items()))
    runs = [{"data": name, "model": model, "splits": splits} for (name, model), splits in every.items()]
    write_json(question, {"keys": {model: stored["keys"][model] for model in kept} | keys, "runs": runs})


def restore_runs(question: str) -> None:
    """Write the files of all fits that are kept in the one file, which is committed, and nowhere else."""
    keys = (read_json(question) or {"keys": {}})["keys"]
    for (data, model), splits in read_runs(question).items():
        for seed, result in splits.items():
            path = Task(question, data, model, seed).path_of(keys[model])
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(result))


def read_runs(question: str) -> Results:
    """Return all fits of a question; none where it was not run."""
    kept = read_json(question) or {"runs": []}
    return {
        (run["data"], run["model"]): {int(seed): result for seed, result in run["splits"].items()}
        for run in kept["runs"]
    }


def keep_complete(results: Results, models: Sequence[str]) -> Results:
    """Return the results on splits that every one of the models has been fitted on."""
    kept = {}
    for name in {key[0] for key in results}:
        seeds = set.intersection(*(set(results.get((name, model), {})) for model in models))
        for model in models if seeds else ():
            kept[name, model] = {seed: results[name, model][seed] for seed in sorted(seeds)}
    return kept


def values(results: Results, name: str, model: str, metric: str = "accuracy") -> list[float]:
    """Return a metric over the splits that have it."""
    splits = results.get((name, model), {})
    return [splits[seed][metric] for seed in sorted(splits) if metric in splits[seed]]
