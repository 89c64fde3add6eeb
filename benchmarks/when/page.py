"""The generated parts of docs/when.md: the nine data sets with their properties, and the synthetic problems."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..common import data as datasets
from ..common.models import TITLES, version_key
from ..common.pages import describe_run, markdown_table
from ..common.results import Results, values
from ..common.statistics import Mean, subtract
from .draw import Curves
from .problems import SCALING, SWEEPS, Clusters
from .runs import COMPARED, EEG, N_TEST, scaling_key, sweep_key

PEERS = ("cart", "logistic", "rf", "extra_trees", "hist_gb", "xgboost", "lightgbm", "catboost")
OURS = ("readable_tree", "paper_forest", "mixed_forest")
# Models of the paper's tables, which are timed in one run.
TIMED_PEERS = ("cart", "rf", "xgboost", "lightgbm", "catboost")
TIMED_OURS = ("paper_tree", "paper_forest", "mixed_forest")
_N_FACT_ROWS = 5000


class Facts(NamedTuple):
    """Properties of a data set."""

    n_rows: int
    n_features: int
    n_classes: int
    correlation: float  # mean |rank correlation| over all pairs of features
    furthest: float  # largest distance of a value from its median, in robust scales


def find_facts(X: NDArray[np.float64], y: NDArray[np.int64]) -> Facts:
    """Describe a data set."""
    from scipy.stats import rankdata

    ranks = rankdata(X[:: -(-len(X) // _N_FACT_ROWS)], axis=0)
    pairs = np.corrcoef(ranks, rowvar=False)[np.triu_indices(X.shape[1], 1)]
    low, centre, high = np.percentile(X, [5, 50, 95], axis=0)
    # Outliers are not defined if nine values in ten are equal.
    varies = high > low
    scale = (high - low)[varies] / 3.29
    furthest = (np.abs(X[:, varies] - centre[varies]) / scale).max()
    return Facts(len(X), X.shape[1], len(np.unique(y)), float(np.abs(pairs).mean()), float(furthest))


def say_verdict(difference: Mean) -> str:
    """Return whether ours wins, ties or loses, with the difference in points."""
    points = f"{100 * difference.mean:+.2f}"
    if math.isinf(difference.half):  # a single drawing: no verdict
        return points
    if difference.is_level:
        return f"ties ({points})"
    return f"**{'wins' if difference.mean > 0 else 'loses'} {points}**"


def count_verdicts(results: Results, names: Sequence[str], metric: str) -> str:
    """Return on how many sets each of ours wins, ties and loses against each peer."""
    rows = []
    for ours in OURS:
        cells = []
        for peer in PEERS:
            differences = [subtract(results, name, ours, peer, metric) for name in names]
            n_ties = sum(difference.is_level for difference in differences)
            n_wins = sum(difference.mean > 0 and not difference.is_level for difference in differences)
            cells.append(f"{n_wins} / {n_ties} / {len(names) - n_wins - n_ties}")
        rows.append([TITLES[ours], *cells])
    head = f"{metric.replace('_', ' ')}: wins / ties / losses"
    return markdown_table([head, *(TITLES[peer] for peer in PEERS)], rows)


def compare_fits(results: Results, names: Sequence[str]) -> str:
    """Return the time of a fit as a multiple of each peer's in the same run, geometric mean over the sets."""

    def log_seconds(model: str) -> NDArray[np.float64]:
        return np.log([np.median(values(results, name, model, "fit_seconds")) for name in names])

    rows = [
        [
            TITLES[ours],
            *(f"{np.exp((log_seconds(ours) - log_seconds(peer)).mean()):.2g}×" for peer in TIMED_PEERS),
        ]
        for ours in TIMED_OURS
    ]
    return markdown_table(["fit time", *(TITLES[peer] for peer in TIMED_PEERS)], rows)


def table_nine(results: Results, timed: Results) -> dict[str, str]:
    """Return the nine sets with their properties and the verdicts of the mixed forest."""
    names = [name for name in datasets.NAMES if (name, "mixed_forest") in results]
    facts, verdicts = [], []
    for name in names:
        data = datasets.load(name)
        found = find_facts(data.X, data.y)
        means = {model: float(np.mean(values(results, name, model))) for model in (*PEERS, *OURS)}
        best = max(means, key=lambda model: means[model])
        shape = [f"{found.n_rows:,}", found.n_features, found.n_classes]
        loss, error = f"{100 * (means[best] - means['logistic']):.1f}", f"{100 * (1 - means[best]):.2f} %"
        spread = [f"{found.correlation:.2f}", f"{found.furthest:,.0f}"]
        facts.append([name, *shape, *spread, loss, f"{error}, {TITLES[best]}"])
        cells = [say_verdict(subtract(results, name, "mixed_forest", peer)) for peer in PEERS[1:]]
        verdicts.append([name, *cells])
    head = "data | rows | features | classes | correlation | most extreme value | linear gap | lowest error"
    return {
        "facts": markdown_table(head, facts),
        "verdicts": markdown_table(["data", *(TITLES[peer] for peer in PEERS[1:])], verdicts),
        "counts": count_verdicts(results, names, "accuracy"),
        "log-loss": count_verdicts(results, names, "log_loss"),
        "fits": compare_fits(timed, names),
    }


def table_time(nine: Results, results: Results) -> str:
    """Return accuracies on EEG with rows split at random and with pieces of the recording held out."""
    rows = []
    for model in COMPARED:
        by_time, at_random = (
            100 * np.array(values(results, EEG, model)),
            100 * np.mean(values(nine, "eeg", model)),
        )
        pieces = ", ".join(f"{value:.1f}" for value in by_time)
        rows.append([TITLES[model], f"{at_random:.1f}", f"{by_time.mean():.1f}", pieces])
    return markdown_table("accuracy on EEG, % | random split | segments held out | each segment", rows)


def _row(results: Results, key: str) -> tuple[float, list[float], Mean, str] | None:
    """Bayes accuracy, mean accuracies, mixed against the best peer, and which that is; None without results."""
    if any((key, model) not in results for model in COMPARED):
        return None
    bayes = 1 - float(np.mean(values(results, key, COMPARED[0], "bayes_error")))
    means = {model: float(np.mean(values(results, key, model))) for model in COMPARED}
    best = max(COMPARED[:-2], key=lambda model: means[model])
    # Every drawing is new: nothing is shared between seeds.
    gap = subtract(results, key, "mixed_forest", best, test_share=0.0)
    return bayes, list(means.values()), gap, best


def _cells(row: tuple[float, list[float], Mean, str]) -> list[str]:
    bayes, means, gap, best = row
    shown = [f"**{100 * value:.1f}**" if value == max(means) else f"{100 * value:.1f}" for value in means]
    gap_text = f"{say_verdict(gap)}: {TITLES[best]}"
    return [f"{100 * bayes:.1f}", *shown, gap_text]


_HEAD = ["Bayes", *(TITLES[model] for model in COMPARED), "mixed forest vs. best peer"]


def table_sweeps(results: Results) -> str:
    """Return accuracies with one property of the data changed at a time."""
    rows = []
    for factor, levels in SWEEPS.items():
        for level, clusters in levels.items():
            if found := _row(results, sweep_key(clusters)):
                base = " (base)" if clusters == Clusters() else ""
                rows.append([factor, level + base, *_cells(found)])
    return markdown_table(["property", "value", *_HEAD], rows)


def table_scaling(results: Results, sizes: Sequence[int]) -> str:
    """Return accuracies by problem and number of training rows."""
    rows = [
        [problem.title, f"{n_rows:,}", *_cells(found)]
        for name, problem in SCALING.items()
        for n_rows in sizes
        if (found := _row(results, scaling_key(name, n_rows)))
    ]
    return markdown_table(["problem", "rows", *_HEAD], rows)


def curves(results: Results, sizes: Sequence[int]) -> list[Curves]:
    """Return the scaling study as curves."""
    panels = []
    for name, problem in SCALING.items():
        found = {n_rows: _row(results, scaling_key(name, n_rows)) for n_rows in sizes}
        rows = {n_rows: row for n_rows, row in found.items() if row}
        lines = {
            TITLES[model]: ([float(n_rows) for n_rows in rows], [100 * row[1][i] for row in rows.values()])
            for i, model in enumerate(COMPARED)
        }
        panels.append(Curves(problem.title, 100 * (1 - problem.bayes_error), lines))
    return panels


def say_run(results: Results) -> str:
    """Return a description of the synthetic runs."""
    n_drawings = {len(splits) for (key, _), splits in results.items() if key != EEG}
    drawings = "–".join(str(n) for n in sorted({min(n_drawings), max(n_drawings)}))
    return (
        f"`python -m benchmarks when`. Default parameters, one thread; {drawings} random samples of each problem, the "
        f"same for every model; {N_TEST:,} test rows. {describe_run([version_key('mixed_forest')])}"
    )
