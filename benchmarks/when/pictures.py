"""Three problems of two features that show why lhtree wins or loses: a diagonal, XOR, outliers."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..common.models import ALL_MODELS
from ..common.pages import Docs, markdown_table
from ..common.scores import accuracy
from .draw import Region, draw_regions
from .problems import Rows, mislabel

_N_ROWS, _N_TEST = 250, 10_000
_N_SEEDS = 10
_SHOWN = ("boosted", "compact", "mixed_forest", "rf", "catboost")
_NOISE = 0.05  # share of wrong labels: Bayes' rule reaches 95 %


class Plane(NamedTuple):
    """A problem of two features and the models that are drawn on it."""

    title: str
    draw: Any  # (random, n_rows) -> Rows
    models: Mapping[str, Any]  # title -> build(seed)


def draw_diagonal(random: np.random.Generator, n_rows: int) -> Rows:
    """Two correlated features whose difference decides."""
    X = random.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size=n_rows)
    return X, mislabel(random, (X[:, 0] > X[:, 1]).astype(np.int64), 2, _NOISE)


def draw_xor(random: np.random.Generator, n_rows: int) -> Rows:
    """Quadrants."""
    X = random.uniform(-1, 1, (n_rows, 2))
    return X, mislabel(random, (X[:, 0] * X[:, 1] > 0).astype(np.int64), 2, _NOISE)


def draw_outliers(random: np.random.Generator, n_rows: int) -> Rows:
    """A curved boundary across the first feature, of which one value in fifty is a thousand times too large."""
    X = random.standard_normal((n_rows, 2))
    y = mislabel(random, (X[:, 0] > np.sin(2 * X[:, 1])).astype(np.int64), 2, _NOISE)
    X[random.random(n_rows) < 0.02, 0] *= 1000
    return X, y


_MODELS = {ALL_MODELS[name].title: ALL_MODELS[name].build for name in _SHOWN}
PLANES = {
    "diagonal": Plane("diagonal", draw_diagonal, _MODELS),
    "xor": Plane("XOR", draw_xor, _MODELS),
    "outliers": Plane("2 % outliers", draw_outliers, _MODELS),
}


def is_ordinary(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each row lies where the picture is."""
    return (np.abs(X) < 2.6).all(axis=1)


def measure(plane: Plane, seed: int) -> list[tuple[float, Region]]:
    """Fit the models of a problem on one drawing; accuracy and what to draw."""
    random = np.random.default_rng(seed)
    X, y = plane.draw(random, _N_ROWS)
    X_test, y_test = plane.draw(random, _N_TEST)
    shown = is_ordinary(X)
    found = []
    for title, build in plane.models.items():
        model = build(seed).fit(X, y)
        found.append((accuracy(model, X_test, y_test), Region(title, model, X[shown], y[shown])))
    return found


def draw_pictures(docs: Docs, n_seeds: int = _N_SEEDS) -> str:
    """Draw the models of the first drawing, and return a table of accuracies over all drawings."""
    rows, lines = {}, []
    for plane in PLANES.values():
        drawings = [measure(plane, seed) for seed in range(n_seeds)]
        accuracies = 100 * np.array([[score for score, _ in drawing] for drawing in drawings])
        means, spreads = accuracies.mean(axis=0), accuracies.std(axis=0)
        rows[plane.title] = [
            region._replace(title=f"{region.title}: {score:.1f} %")
            for score, (_, region) in zip(accuracies[0], drawings[0], strict=True)
        ]
        lines += [
            [plane.title if i == 0 else "", title, f"{means[i]:.1f} ± {spreads[i]:.1f}"]
            for i, title in enumerate(plane.models)
        ]
    draw_regions(docs, "when-regions", rows)
    return markdown_table("problem | model | accuracy, %", lines)
