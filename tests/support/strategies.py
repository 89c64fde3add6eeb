"""Hypothesis strategies: small hostile problems, options for `grow`, keyword arguments for the estimators.

Grids with weights in eighths sum exactly in float64, so there the core and the reference must agree to the
last bit wherever no equations are solved. Wide and hostile values agree only up to rounding.
"""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reference.trees import Options

GRIDS = [
    (0.0, 1.0),
    (-1.0, 0.0, 1.0),
    (-2.0, -1.0, 0.0, 1.0, 2.0),
    (0.0, 0.25, 0.5, 0.75, 1.0, 1.25),
    (-3.0, 0.5, 7.0),
]
HOSTILE_CELLS = (np.nan, 0.0, 1e300, -1e300, 1e30, -1e30, 5e-324, -2e-310, 1e-300)
DIRECTIONS = ("mean_difference", "fisher", "mixed")
MEMBERSHIPS = ("marginal", "least_squares", "constant")


class Problem(NamedTuple):
    """`X` (n, m), float32 where already normalised; `y` (n,) of 0 to K - 1, each present; `weight` (n,)."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray


@st.composite
def shapes(draw, max_rows=60, max_features=12, min_classes=2, max_classes=5):
    """(n, m, K) with n >= K, and m often above 8, where the lanes of the feature sum wrap."""
    n_classes = draw(st.integers(min_classes, max_classes))
    n_features = draw(
        st.one_of(st.integers(1, max_features), st.integers(min(9, max_features), max_features))
    )
    return draw(st.integers(n_classes, max_rows)), n_features, n_classes


def indices(n, size):
    """`n` integers below `size`: mostly alike and well shrinkable, or mixed, which grows larger trees."""
    alike = hnp.arrays(np.int64, n, elements=st.integers(0, size - 1))
    mixed = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).integers(0, size, n))
    return st.one_of(alike, mixed, mixed)


@st.composite
def classes(draw, n, n_classes):
    """`y` with every class present: the first rows take one class each, wherever the shuffle puts them."""
    y = np.concatenate([np.arange(n_classes), draw(indices(n - n_classes, n_classes))])
    return y[draw(st.permutations(range(n)))] if draw(st.booleans()) else y


@st.composite
def grid_columns(draw, n):
    """A column of few distinct values (many ties), or a constant one."""
    grid = np.array(draw(st.sampled_from(GRIDS)))
    if draw(st.integers(0, 7)) == 7:
        return np.full(n, grid[-1])
    return grid[draw(indices(n, len(grid)))]


@st.composite
def grid_cells(draw, n, n_features):
    """Independent grid columns, some of them a copy or the negative of the first."""
    X = np.column_stack([draw(grid_columns(n)) for _ in range(n_features)])
    for feature in range(1, n_features):
        factor = draw(st.sampled_from([None] * 6 + [1.0, -1.0]))
        if factor is not None:
            X[:, feature] = factor * X[:, 0]
    return X


@st.composite
def wide_cells(draw, n, n_features):
    """Floats without ties, from well-scaled ones to some that span sixteen powers of ten."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    exponent = draw(st.sampled_from([0, 0, 1, 8])) * generator.uniform(-1, 1, (n, n_features))
    return generator.normal(size=(n, n_features)) * 10.0**exponent


@st.composite
def weights(draw, n, is_exact=True):
    """Ones, integers (equal to repetition), eighths; where it need not be exact, any positive floats."""
    kinds = ["ones", "integers", "eighths"] + ([] if is_exact else ["floats"])
    kind = draw(st.sampled_from(kinds))
    if kind == "ones":
        return np.ones(n)
    if kind == "floats":
        return draw(hnp.arrays(np.float64, n, elements=st.floats(0.01, 9.0)))
    return 1.0 + draw(indices(n, 4)) if kind == "integers" else (1.0 + draw(indices(n, 24))) / 8


@st.composite
def conflicts(draw, X, y):
    """Copy rows over others and leave the classes as they are: duplicates that no hyperplane can part."""
    n = len(y)
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    for source, copy in draw(st.lists(pairs, max_size=n // 2)):
        X[copy] = X[source]
    return X


@st.composite
def grid_problems(draw, **limits):
    """Raw problems whose sums are exact."""
    n, n_features, n_classes = draw(shapes(**limits))
    y = draw(classes(n, n_classes))
    return Problem(draw(conflicts(draw(grid_cells(n, n_features)), y)), y, draw(weights(n)))


@st.composite
def wide_problems(draw, **limits):
    """Raw problems with next to no ties."""
    n, n_features, n_classes = draw(shapes(**limits))
    y = draw(classes(n, n_classes))
    return Problem(draw(conflicts(draw(wide_cells(n, n_features)), y)), y, draw(weights(n, is_exact=False)))


@st.composite
def hostile_problems(draw, **limits):
    """Raw problems with NaN, huge and denormal cells, and now and then a column of nothing else."""
    n, n_features, n_classes = draw(shapes(**limits))
    y = draw(classes(n, n_classes))
    X = draw(st.one_of(grid_cells(n, n_features), wide_cells(n, n_features)))
    cells = st.tuples(st.integers(0, n - 1), st.integers(0, n_features - 1), st.sampled_from(HOSTILE_CELLS))
    for row, feature, value in draw(st.lists(cells, max_size=2 * n)):
        X[row, feature] = value
    for feature, value in draw(
        st.dictionaries(st.integers(0, n_features - 1), st.sampled_from(HOSTILE_CELLS))
    ).items():
        X[:, feature] = value
    return Problem(draw(conflicts(X, y)), y, draw(weights(n, is_exact=False)))


def problems(**limits):
    """Raw problems of every kind."""
    return st.one_of(grid_problems(**limits), wide_problems(**limits), hostile_problems(**limits))


def as_normalised(problem):
    """Return the input of `grow`: float32 cells within 1e30, a response of 0 and 1."""
    Z = np.clip(np.nan_to_num(problem.X), -1e30, 1e30).astype(np.float32)
    return Problem(Z, problem.y.astype(np.uint8), problem.weight)


def grid_blocks():
    """Two classes, normalised, exact: for tests that demand the same tree to the last bit."""
    return grid_problems(max_classes=2).map(as_normalised)


def blocks():
    """Two classes, normalised, every kind."""
    return problems(max_classes=2).map(as_normalised)


def keys():
    """64-bit keys of `grow`."""
    return st.integers(0, 2**64 - 1)


def offsets(direction):
    """The offsets that a direction allows."""
    return st.just("gini") if direction == "mixed" else st.sampled_from(["purity", "gini"])


@st.composite
def options(draw, directions=DIRECTIONS, memberships=MEMBERSHIPS):
    """Valid `Options`; the values of alpha are none that the variance of a small grid hits exactly."""
    direction = draw(st.sampled_from(directions))
    return Options(
        direction=direction,
        offset=draw(offsets(direction)),
        membership=draw(st.sampled_from(memberships)),
        alpha=draw(st.sampled_from([0.0, 0.0, 1e-6, 0.1371, 0.7193])),
        beta=draw(st.sampled_from([0.0, 0.0, 0.1, 0.5, 0.99])),
        gamma=draw(st.sampled_from([1.0, 2.0, 3.0, 7.0, 0.5, 2.625, 100.0])),
        min_samples_split=draw(st.sampled_from([2.0, 2.0, 1.0, 3.5, 10.0])),
        min_samples_leaf=draw(st.sampled_from([1.0, 1.0, 0.125, 2.0, 3.5])),
        max_depth=draw(st.sampled_from([None, None, 1, 2, 5])),
        max_features=draw(st.sampled_from([None, None, 1, 2, 3, 7, 12])),
        shrinkage=draw(st.sampled_from([1e-3, 1e-3, 1e-6, 0.1, 1.0])),
    )


@st.composite
def estimator_arguments(draw, n_features=1):
    """Valid keyword arguments of `LHTClassifier` and `LHForestClassifier`; an absent one is the default."""
    arguments = draw(
        st.fixed_dictionaries(
            {"direction": st.sampled_from(DIRECTIONS)},
            optional={
                "membership": st.sampled_from(MEMBERSHIPS),
                "confidence": st.sampled_from(["auto", "last", "path", None]),
                "normalize": st.sampled_from(["robust", "standard", "minmax", None]),
                "alpha": st.sampled_from([0.0, 1e-6, 0.1371]),
                "beta": st.sampled_from(["auto", 0.0, 0.1, 0.5, 0.99]),
                "gamma": st.one_of(st.integers(1, 10), st.sampled_from([0.02, 0.11, 0.3])),
                "min_samples_split": st.one_of(st.just("auto"), st.integers(2, 10)),
                "min_samples_leaf": st.integers(1, 4),
                "max_depth": st.one_of(st.none(), st.integers(1, 6)),
                "max_features": st.one_of(st.sampled_from(["auto", None]), st.integers(1, n_features)),
            },
        )
    )
    if draw(st.booleans()):
        arguments["offset"] = draw(st.one_of(st.just("auto"), offsets(arguments["direction"])))
    return arguments
