"""Studies behind the paper's claims, each kept as one JSON file."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import data as datasets
from ..common.models import version_key
from ..common.results import Result, read_json, write_json
from .printed import BETAS
from .runs import find_seen

# The paper names neither gamma nor the normalisation.
SETTINGS: dict[str, dict[str, Any]] = {
    "gamma=10, robust (default)": {},
    "gamma=1, robust": {"gamma": 1},
    "gamma=1, z-scores": {"gamma": 1, "normalize": "standard"},
}
TREES = {f"one tree, {title}": params for title, params in SETTINGS.items()}
LUCKIEST = "one tree, the luckiest of 15 settings, chosen on the test rows"
NORMALIZE = ("standard", "minmax", "robust")
HUNDRED = ("wine", "wdbc", "banknote")
SMOOTHED = ("wdbc", "banknote", "rice")
N_TREES = (1, 10, 100)
N_STEPS = 10_000
LEAST_JUMP = 0.0005


def _tree(**params: Any) -> Any:
    from lhtree import LHTClassifier

    return LHTClassifier(n_jobs=1, **params)


def _forest(n_trees: int, **params: Any) -> Any:
    from lhtree import LHForestClassifier

    return LHForestClassifier(n_trees, n_jobs=1, random_state=0, **params)


def leading_features(tree: Any, n_blocks: int) -> list[int]:
    """Return the feature that weighs most in each of the first branching blocks, breadth-first; -1 where none is."""
    names = list(tree.feature_names)
    leads = []
    for block in np.flatnonzero(tree.left >= 0)[:n_blocks]:
        weights = tree.weights(int(block))
        leads.append(names.index(max(weights, key=lambda name: abs(weights[name]))))
    return leads + [-1] * (n_blocks - len(leads))


def study_wine(n_splits: int) -> Result:
    """Trees on wine by beta: accuracies, blocks of every class, and what leads in the blocks of class 0."""
    data = datasets.load("wine")
    kept: Result = {}
    for title, params in SETTINGS.items():
        rows = []
        for seed in range(n_splits):
            part = datasets.split(data, seed)
            models = {beta: _tree(beta=beta, **params).fit(part.X, part.y) for beta in BETAS}
            first, second = (models[beta].trees_[0].left for beta in (0.0, 0.25))
            rows.append(
                {
                    "train": [model.score(part.X, part.y) for model in models.values()],
                    "test": [model.score(part.X_test, part.y_test) for model in models.values()],
                    "n_blocks": [[tree.n_blocks for tree in model.trees_] for model in models.values()],
                    "is_same": np.array_equal(first, second),  # structure of class 0 for beta 0 and 0.25
                    "leads": leading_features(models[0.0].trees_[0], 3),
                }
            )
        kept[title] = rows
    return kept


def study_hundred(n_splits: int) -> Result:
    """Test errors of ours over many splits of the sets for which the paper prints 100 %."""
    builds: dict[str, list[Any]] = {
        **{title: [_tree(**params)] for title, params in TREES.items()},
        LUCKIEST: [_tree(beta=beta, **params) for beta in BETAS for params in TREES.values()],
        "LH forest": [_forest(100)],
        "mixed forest (ours)": [_forest(100, direction="mixed")],
    }
    kept: Result = {}
    for name in HUNDRED:
        data = datasets.load(name)
        errors: dict[str, list[int]] = {title: [] for title in builds}
        for seed in range(n_splits):
            part = datasets.split(data, seed)
            for title, models in builds.items():
                found = [(model.fit(part.X, part.y).predict(part.X_test) != part.y_test) for model in models]
                errors[title].append(min(int(is_wrong.sum()) for is_wrong in found))
        kept[name] = {"n_test": len(part.y_test), "errors": errors}
    return kept


def find_jumps(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much each step along the last axis, but the first and the last, exceeds both steps beside it.

    A piecewise linear function has equal steps but where it bends or jumps.
    """
    steps = np.abs(np.diff(values, axis=-1))
    beside = np.maximum(steps[..., :-2], steps[..., 2:])
    jumps: NDArray[np.float64] = np.maximum(steps[..., 1:-1] - beside, 0.0)
    return jumps


def study_wolf(n_segments: int) -> Result:
    """Largest jumps of WOLF along segments between test rows of different classes, by number of trees."""
    random = np.random.default_rng(0)
    kept: Result = {}
    for name in SMOOTHED:
        part = datasets.split(datasets.load(name), 0)
        ends = [random.choice(part.X_test[part.y_test == code], size=n_segments) for code in (0, 1)]
        shares = np.linspace(0, 1, N_STEPS + 1)
        kept[name] = {}
        for n_trees in N_TREES:
            model = (_tree() if n_trees == 1 else _forest(n_trees)).fit(part.X, part.y)
            segments = (a + shares[:, None] * (b - a) for a, b in zip(*ends, strict=True))
            wolf = np.array([model.predict_wolf(segment)[:, 1] for segment in segments])
            jumps = find_jumps(wolf)
            if n_trees == 1:
                shown = int(jumps.max(axis=1).argmax())
            kept[name][str(n_trees)] = {
                "largest": jumps.max(axis=1).tolist(),
                "n_jumps": (jumps > LEAST_JUMP).sum(axis=1).tolist(),
                "shown": np.round(wolf[shown, ::5], 5).tolist(),
            }
    return kept


def study_eeg(n_splits: int) -> Result:
    """Return accuracies of the paper's forest on EEG by normalisation."""
    data = datasets.load("eeg")
    kept: Result = {how: [] for how in NORMALIZE}
    for seed in range(n_splits):
        part = datasets.split(data, seed)
        for how in NORMALIZE:
            model = _forest(100, normalize=how).fit(part.X, part.y)
            kept[how].append(model.score(part.X_test, part.y_test))
    return kept


def study_skin(n_splits: int) -> Result:
    """Return how many rows of skin are distinct, and which share of a test part is in the training part too."""
    data = datasets.load("skin")
    parts = [datasets.split(data, seed) for seed in range(n_splits)]
    n_distinct = len(np.unique(np.column_stack([data.X, data.y]), axis=0))
    return {
        "n_rows": len(data.y),
        "n_distinct": n_distinct,
        "seen_shares": [float(find_seen(part.X, part.X_test).mean()) for part in parts],
        "n_points": len(np.unique(data.X, axis=0)),  # fewer than n_distinct where a point has both classes
    }


# By name: the study, how many splits (segments for WOLF) it takes, and how many in a quick run (0: left out).
STUDIES: dict[str, tuple[Callable[[int], Result], int, int]] = {
    "wine": (study_wine, 200, 20),
    "hundred": (study_hundred, 100, 10),
    "wolf": (study_wolf, 100, 5),
    "skin": (study_skin, 3, 0),
    "eeg": (study_eeg, 10, 0),
}


def run_studies(*, is_quick: bool, is_shown: bool) -> dict[str, Result]:
    """Do the studies that are not kept yet (unless they are only shown); return all that are kept."""
    found = {}
    for name, (study, n_full, n_quick) in STUDIES.items():
        if n := n_quick if is_quick else n_full:
            path = f"paper/studies/{version_key('paper_forest')}/{name}-{n}"
            if read_json(path) is None and not is_shown:
                print(f"{name}: {n} splits or segments", flush=True)
                write_json(path, study(n))
            if kept := read_json(path):
                found[name] = kept
    return found
