"""Problems with a known Bayes error: no model can do better."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]
Draw = Callable[[np.random.Generator, int], Rows]
N_FEATURES = 10
N_CLUSTERS = 3  # of each class
ERROR = 0.05  # of Bayes' rule on the problems of the scaling study


class Problem(NamedTuple):
    """How rows are drawn, and the error that is left when their distribution is known."""

    title: str
    draw: Draw
    bayes_error: float


def mislabel(
    random: np.random.Generator, y: NDArray[np.int64], n_classes: int, share: float
) -> NDArray[np.int64]:
    """Give rows another class, chosen evenly, with this chance."""
    shift = random.integers(1, n_classes, size=len(y))
    return np.where(random.random(len(y)) < share, (y + shift) % n_classes, y)


def correlate(n_features: int, correlation: float) -> NDArray[np.float64]:
    """Covariance of features of variance 1, all equally correlated."""
    return np.full((n_features, n_features), correlation) + (1 - correlation) * np.eye(n_features)


def tilted(correlation: float = 0.8) -> Problem:
    """Two normal classes of one covariance, correlated: the best boundary is a plane across all features."""
    from scipy.stats import norm

    covariance = correlate(N_FEATURES, correlation)
    shift = np.where(np.arange(N_FEATURES) % 2, -1.0, 1.0) * np.linspace(1.0, 0.3, N_FEATURES)
    shift *= -2 * norm.ppf(ERROR) / np.sqrt(shift @ np.linalg.solve(covariance, shift))
    factor = np.linalg.cholesky(covariance)

    def draw(random: np.random.Generator, n_rows: int) -> Rows:
        y = random.integers(2, size=n_rows)
        return random.standard_normal((n_rows, N_FEATURES)) @ factor.T + np.outer(y - 0.5, shift), y

    return Problem("tilted plane, correlated features", draw, ERROR)


def _with_wrong_labels(title: str, rule: Callable[[NDArray[np.float64]], NDArray[np.bool_]]) -> Problem:
    """Normal features and a rule, with wrong labels that nobody can foresee."""

    def draw(random: np.random.Generator, n_rows: int) -> Rows:
        X = random.standard_normal((n_rows, N_FEATURES))
        return X, mislabel(random, rule(X).astype(np.int64), 2, ERROR)

    return Problem(title, draw, ERROR)


def steps() -> Problem:
    """A rule of three single features: boundaries parallel to the axes, seven features without use."""
    return _with_wrong_labels(
        "steps along single features", lambda X: (X[:, 0] > 0.5) | ((X[:, 1] > 0) & (X[:, 2] < 0.5))
    )


def ball() -> Problem:
    """Inside or outside of a ball in four features: a curved boundary; the class means are equal."""
    median = 3.3567  # of the chi-squared distribution with four degrees of freedom
    return _with_wrong_labels("ball in four features", lambda X: (X[:, :4] ** 2).sum(axis=1) > median)


def parity() -> Problem:
    """XOR of two of ten features: no single feature and no plane is informative."""
    return _with_wrong_labels("XOR of two features", lambda X: X[:, 0] * X[:, 1] > 0)


SCALING = {"tilted": tilted(), "steps": steps(), "ball": ball(), "xor": parity()}


class Clusters(NamedTuple):
    """Classes of three normal clusters each, whose centres depend on the seed.

    The centres are as far apart in units of the covariance whatever that is, so that correlation tilts the problem
    without making it easier.
    """

    n_classes: int = 2
    n_useless: int = 0  # irrelevant features beside the ten
    correlation: float = 0.3
    noise: float = 0.0  # share of wrong labels
    outliers: float = 0.0  # share of rows with one value a thousand times too large

    def centres(self, seed: int) -> NDArray[np.float64]:
        """Centres of all clusters; cluster c belongs to class c mod K."""
        spread = np.random.default_rng([seed, 1]).standard_normal((N_CLUSTERS * self.n_classes, N_FEATURES))
        return spread @ np.linalg.cholesky(correlate(N_FEATURES, self.correlation)).T

    def draw(self, seed: int, random: np.random.Generator, n_rows: int) -> tuple[Rows, float]:
        """Draw rows, and Bayes' error as their mean chance to be of another class than the likeliest.

        Values that are spoilt come after that: they make the error larger by at most their share.
        """
        centres = self.centres(seed)
        covariance = correlate(N_FEATURES, self.correlation)
        cluster = random.integers(len(centres), size=n_rows)
        noise = random.standard_normal((n_rows, N_FEATURES)) @ np.linalg.cholesky(covariance).T
        X = centres[cluster] + noise
        y = mislabel(random, cluster % self.n_classes, self.n_classes, self.noise)
        error = self._error(X, centres, covariance)
        X = np.column_stack([X, random.standard_normal((n_rows, self.n_useless))])
        spoilt = np.flatnonzero(random.random(n_rows) < self.outliers)
        X[spoilt, random.integers(N_FEATURES, size=len(spoilt))] *= 1000
        return (X, y), error

    def _error(
        self, X: NDArray[np.float64], centres: NDArray[np.float64], covariance: NDArray[np.float64]
    ) -> float:
        apart = X[:, None, :] - centres
        log_density = -0.5 * np.einsum("nci,ij,ncj->nc", apart, np.linalg.inv(covariance), apart)
        density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        share = density.reshape(len(X), N_CLUSTERS, self.n_classes).sum(axis=1)
        share /= share.sum(axis=1, keepdims=True)
        share = (1 - self.noise) * share + self.noise * (1 - share) / (self.n_classes - 1)
        return float(1 - share.max(axis=1).mean())


# Each factor changed alone from the default.
SWEEPS: dict[str, dict[str, Clusters]] = {
    "classes": {str(k): Clusters(n_classes=k) for k in (2, 3, 6)},
    "irrelevant features": {str(n): Clusters(n_useless=n) for n in (0, 10, 40)},
    "correlation": {str(value): Clusters(correlation=value) for value in (0.0, 0.3, 0.7, 0.95)},
    "wrong labels": {f"{share:.0%}": Clusters(noise=share) for share in (0.0, 0.1, 0.3)},
    "rows with an outlier": {f"{share:.1%}": Clusters(outliers=share) for share in (0.0, 0.002, 0.02, 0.1)},
}
