"""
Growing and scoring Learning Hyperplane Trees. Takes exact arrays; lhtree's estimators prepare them.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class BoostOptions:
    """What every tree of a boosted model is grown with."""

    def __init__(self, *, l2_regularization: float, min_samples_leaf: float, shrinkage: float, monotonic: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, max_depth: int, max_features: float, n_directed: int, learning_rate: float, subsample: float) -> None: ...

def draw_keys(seed: int, purpose: int, n: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
    """
    A random number for every row, a function of the seed, the purpose and the row's number.
    """

@overload
def boost(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], X_val: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)] | None, *, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, held: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, max_bins: int, bins: dict | None, options: BoostOptions, n_rounds: int, seed: int, patience: int, tol: float, earlier: dict | None, first: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, progress: Callable | None = None) -> dict | None: ...

@overload
def boost(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], X_val: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)] | None, *, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, held: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, max_bins: int, bins: dict | None, options: BoostOptions, n_rounds: int, seed: int, patience: int, tol: float, earlier: dict | None, first: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, progress: Callable | None = None) -> dict | None:
    """
    Boost trees on the rows of X that are not held back. Returns a dict of the arrays of the trees, the first scores, the losses before and after every round, and the bins; or None if X holds an infinity.
    """

DIRECTIONS: tuple[str, ...]

OFFSETS: tuple[str, ...]

MEMBERSHIPS: tuple[str, ...]

CONFIDENCES: tuple[str, ...]

class Options:
    """What a tree is grown with. Amounts are pairs (value, is it a share?)."""

    def __init__(self, *, direction: str, offset: str, membership: str, alpha: float, beta: float, gamma: tuple[float, bool], min_samples_split: tuple[float, bool], min_samples_leaf: tuple[float, bool], max_depth: int, max_features: int, shrinkage: float, branching_membership: bool) -> None: ...

@overload
def grow(Z: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], response: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: Options, key: int) -> tuple[dict, Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
    """Grow one tree; returns its arrays and the leaf of every row."""

@overload
def grow(Z: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], response: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: Options, key: int) -> tuple[dict, Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
    """
    The same for a response that is any number: n_target is the sum of weight times response.
    """

@overload
def grow_forest(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], responses: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: Options, betas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, first_tree: int, strata: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bootstrap: bool, balances: bool, n_threads: int, progress: Callable | None = None) -> dict | None: ...

@overload
def grow_forest(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], responses: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: Options, betas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, first_tree: int, strata: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bootstrap: bool, balances: bool, n_threads: int, progress: Callable | None = None) -> dict | None: ...

@overload
def grow_forest(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], responses: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: Options, betas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, first_tree: int, strata: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bootstrap: bool, balances: bool, n_threads: int, progress: Callable | None = None) -> dict | None: ...

@overload
def grow_forest(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], responses: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: Options, betas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, first_tree: int, strata: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bootstrap: bool, balances: bool, n_threads: int, progress: Callable | None = None) -> dict | None:
    """
    Normalise X and grow, for every beta, one tree per target; counts says how many rows of each stratum a tree sees. Returns the arrays of all trees, or None if X holds an infinity.
    """

def draw_rows(strata: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bootstrap: bool, seed: int, tree: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """Rows that a tree of grow_forest sees, ascending."""

@overload
def normalise(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))] | None:
    """Normalised float32 rows, or None if X holds an infinity."""

@overload
def normalise(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))] | None: ...

def kernels() -> str:
    """The instruction set in use."""

LINKS: tuple[str, ...]

class Scorer:
    """
    Scores rows in the user's units. Methods return None if X holds an infinity.
    """

    def __init__(self, arrays: dict, *, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], confidence: str | None, link: str = 'wolf', base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, clip: float = 1e+30) -> None:
        """
        arrays: those of a forest, by name. Optional ones may be missing, others are ignored. link, base (a raw score per target) and clip: those of boosted models; see LINKS.
        """

    @property
    def n_features(self) -> int: ...

    @property
    def n_classes(self) -> int: ...

    @property
    def n_targets(self) -> int: ...

    @property
    def n_trees(self) -> int: ...

    def takes(self, X: object | None) -> bool:
        """
        Whether X is an array, not of a subclass, with at least one row, that can be scored as it is.
        """

    def proba(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))] | None: ...

    def wolf(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))] | None: ...

    def membership(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))] | None: ...

    def confidence(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))] | None: ...

    def raw_score(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))] | None:
        """
        Of a boosted model: its base and what its trees add, (n_rows, n_targets).
        """

    def predict(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))] | None: ...

    def apply(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))] | None: ...

    def per_tree(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]] | None:
        """
        Membership and confidence of every tree, (n_rows, n_trees) each; value and 1 if boosted.
        """

    def trace(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]] | None:
        """
        Ways from the roots to the leaves (ptr, block, value): that of row i down tree t begins at ptr[i * n_trees + t]; blocks are numbered within their tree; a branching block has its feature sum, a leaf its estimate before it is clipped.
        """

    def settle(self, wolf: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], membership: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        Probabilities from mean corrected memberships, with the fall-back of proba, (n, K) each.
        """

    def link(self, raw_score: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Probabilities (n, K) from the raw scores of a boosted model."""

pieces: ModuleType
