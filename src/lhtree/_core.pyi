"""
Growing and scoring Learning Hyperplane Trees. Takes exact arrays; lhtree's estimators prepare them.
"""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class Loss:
    """The properties of a loss of boosting."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str:
        """What is measured, for labels of plots."""

    @property
    def link(self) -> str:
        """One of LINKS."""

    @property
    def responses(self) -> str | None:
        """
        The numbers that are valid: 'any', 'not_negative' or 'positive'. None: classes.
        """

    @property
    def is_of_classes(self) -> bool: ...

    @property
    def selects(self) -> bool:
        """
        Whether the values of leaves are quantiles of residuals, which linear leaves cannot be.
        """

    @property
    def degree(self) -> int:
        """The power of the response that losses are proportional to."""

    @property
    def free_exponent(self) -> int:
        """Responses up to 2 to this power need not be scaled."""

    @property
    def parameter(self) -> str | None:
        """The name of its parameter, if it has one."""

LOSSES: dict = ...

BOOST_CLIP: float = 8.0

MOST_BINS: int = 255

BEYOND: float = 1e+31

GROWTHS: tuple = ('symmetric', 'free')

def loss(name: str, raw_score: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], *, classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, response: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, quantile: float = 0.5) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Return the loss of every row, shape (n,), for raw scores of shape (n, n_scores) and classes or responses.
    """

class Stream(enum.IntEnum):
    """Random streams of a model."""

    validation_rows = 18446744073709551615

    statistic_folds = 18446744073709551609

    pilot_validation_rows = 18446744073709551613

    calibration_folds = 18446744073709551612

    prototype_rows = 18446744073709551611

    sampled_rows = 18446744073709551610

    pilot_rows = 18446744073709551614

class BoostOptions:
    """Options of every tree of a boosted model."""

    def __init__(self, *, l2_regularization: float, min_samples_leaf: float, shrinkage: float, monotonic: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, growth: str, max_depth: int, max_features: float, n_directions: int, n_directed: int, learning_rate: float, subsample: float, leaf: str, is_joint: bool = False, groups: Sequence[Sequence[int]] = []) -> None: ...

def draw_keys(seed: int, stream: Stream, n: int, first: int = 0) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
    """
    Return a random number for each of n rows: a function of the seed, the stream and the number of the row, which begins at `first`.
    """

class BoostBins:
    """Bins of features, and the encoding of values as codes."""

    def __init__(self, arrays: dict, *, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    @property
    def n_slots(self) -> int:
        """Bytes that the codes of a row take."""

    @property
    def slots(self) -> list[tuple[int, int]]:
        """
        The features of every slot: the first, and the one after the last level of a column of categories; of a column of numbers, the first twice.
        """

    def arrays(self) -> dict:
        """Return the arrays of the bins, from which BoostBins can be made again."""

    @overload
    def encode(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, n_threads: int = 1) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))] | None: ...

    @overload
    def encode(self, X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, n_threads: int = 1) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))] | None:
        """
        Codes of rows, shape (n, n_slots); None if X holds an infinity. X and codes are those of grow_forest.
        """

@overload
def learn_bins(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], *, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weight_unit: float = 1.0, max_bins: int, n_threads: int = 1, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> BoostBins | None: ...

@overload
def learn_bins(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], *, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weight_unit: float = 1.0, max_bins: int, n_threads: int = 1, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> BoostBins | None:
    """
    Learn the bins of rows: those that sample_rows names, without validation rows, or those of them whose places are in `rows`. Weights count in units of weight_unit (see find_weight_unit). Return None if X holds an infinity.
    """

class BoostRows:
    """
    Codes and labels of a table or of a partition of it. The arrays are not copied: they may be mapped files.
    """

    def __init__(self, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], bins: BoostBins, *, loss: str, quantiles: Sequence[float] = [0.5], n_classes: int = 0, n_responses: int = 1, classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, response: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, held: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, first_row: int = 0, n_threads: int = 1) -> None: ...

    def answer(self, request: bytes) -> bytes:
        """
        Answer a message of boost_rows. A malformed message raises ValueError and changes nothing.
        """

def boost_rows(rows: object, bins: BoostBins, *, options: BoostOptions, loss: str, quantiles: Sequence[float] = [0.5], n_classes: int = 0, n_responses: int = 1, n_rounds: int, seed: int, patience: int, tol: float, earlier: dict | None = None, first: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, keeps_row_losses: bool = False, n_threads: int = 1, progress: Callable | None = None, is_over: Callable | None = None) -> dict:
    """
    Boost trees on coded rows: BoostRows, or a function that sends messages (a list of bytes) to the BoostRows of all partitions of a table and returns the answers of every partition (an iterable of lists of bytes), in any order, merged or not. is_over is called after every round; true ends the fit. Return a dict of the arrays of the trees, the initial scores, and the losses before and after every round; with keeps_row_losses, also the loss of every validation row after the best round.
    """

def merge_answers(answers: Sequence[bytes]) -> bytes:
    """Merge the answers of some partitions to the same message."""

def changes_rows(request: bytes) -> bool:
    """
    Return whether a message changes the state of BoostRows. A partition that is replaced has to repeat these messages, in their order.
    """

def sample_rows(n_rows: int, seed: int, most: int = 200000) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Return the numbers of the rows from which bins and scales are learned, ascending: all, or the `most` rows with the smallest hash of seed and number.
    """

MOST_SAMPLED: int = 200000

def find_weight_unit(largest: float, is_whole: bool, n_rows: int) -> float:
    """
    Return the unit in which weights are whole numbers, from the largest weight of the training rows, whether all their weights are whole, and the number of all rows.
    """

class CellAxis:
    """The cells of a column in a curve or surface; the last is missing."""

    def __init__(self, rows: BoostRows, *, slot: int, is_ordered: bool, cell: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_cells: int, sign: int = 0) -> None: ...

    @property
    def n_cells(self) -> int: ...

class StepOptions:
    """Options of the steps of curves and surfaces."""

    def __init__(self, *, learning_rate: float, l2_regularization: float, min_samples_leaf: float, smoothing: float, growth: float = 0.0) -> None: ...

class AdditiveFit:
    """The terms of an additive model, and the bags of its rows."""

    def __init__(self, rows: object, axes: Sequence[CellAxis], terms: Sequence[Sequence[int]], *, base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], fold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], part: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_bags: int) -> None: ...

    def boost(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], is_active: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, step: StepOptions, n_cycles: int, patience: int, n_threads: int = 1) -> tuple:
        """
        Boost the active terms in every bag. Return the values by bag, cell and score, the losses of every bag before the first cycle and after every fourth, and the number of cycles.
        """

    def score_left_out(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Return the raw scores of every row from the bag that does not learn from it.
        """

    def weigh(self, raw: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
        """
        Return the weight and the sum of the Hessians of every cell, given raw scores.
        """

def find_base(rows: BoostRows, *, n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Return the best constant raw scores of rows."""

def find_merges(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, n_parts: int, n_scores: int) -> tuple:
    """
    Merge neighbouring cells, the cheapest first: return the last cell of the left one of both steps, and the total cost by the parabola of the loss.
    """

def measure_pairs(rows: BoostRows, axes: Sequence[CellAxis], raw: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, fold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], left_out: int, step: StepOptions, n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Return the gain of a surface of every pair of axes, given raw scores. Rows of the fold left_out do not count.
    """

DIRECTIONS: tuple[str, ...]

OFFSETS: tuple[str, ...]

MEMBERSHIPS: tuple[str, ...]

CONFIDENCES: tuple[str, ...]

PENALTY_UNIT: float = 0.15

COST_GRID: float = 16777216.0

class Options:
    """What a tree is grown with. Amounts are pairs (value, is it a share?)."""

    def __init__(self, *, direction: str, offset: str, membership: str, alpha: float, beta: float, gamma: tuple[float, bool], min_samples_split: tuple[float, bool], min_samples_leaf: tuple[float, bool], max_depth: int, max_features: int, shrinkage: float, branching_membership: bool) -> None: ...

@overload
def grow_forest(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], responses: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: Options, betas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, first_tree: int, strata: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bootstrap: bool, balances: bool, n_threads: int, progress: Callable | None = None, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> dict | None: ...

@overload
def grow_forest(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], responses: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: Options, betas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, first_tree: int, strata: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bootstrap: bool, balances: bool, n_threads: int, progress: Callable | None = None, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> dict | None: ...

@overload
def grow_forest(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], responses: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: Options, betas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, first_tree: int, strata: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bootstrap: bool, balances: bool, n_threads: int, progress: Callable | None = None, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> dict | None: ...

@overload
def grow_forest(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], responses: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: Options, betas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, first_tree: int, strata: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bootstrap: bool, balances: bool, n_threads: int, progress: Callable | None = None, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> dict | None:
    """
    Normalise X and grow, for every beta, one tree per target; counts says how many rows of each stratum a tree sees. With codes, X has the columns of numbers only, codes has a row's level in every other column (below 0: missing), and levels says how many levels every column has, 0 for numbers; every level is a feature of 0 and 1. A single target -1 is a tree of all classes, which are the strata; responses then has no rows. Returns the arrays of all trees, or None if X holds an infinity.
    """

def draw_rows(strata: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bootstrap: bool, seed: int, tree: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
    """
    Rows that a tree of grow_forest sees, ascending; with bootstrap, how often each is drawn.
    """

@overload
def normalise(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))] | None:
    """Normalised float32 rows, or None if X holds an infinity."""

@overload
def normalise(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))] | None: ...

class Hash:
    """A fast hash of 128 bits of some arrays."""

    def __init__(self) -> None: ...

    def add(self, array: Annotated[NDArray, dict(order='C', device='cpu', writable=False)]) -> None:
        """Add the bytes of an array."""

    def finish(self) -> tuple[int, int]:
        """The halves of the hash."""

def compiler() -> str:
    """The compiler of the core and its version."""

def kernels() -> str:
    """The instruction set in use."""

def grow_compact(Z: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], *, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, response: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, penalty: float, min_samples_leaf: float, max_leaf_nodes: int, max_terms: int, max_passes: int, n_threads: int = 1, progress: Callable | None = None) -> dict:
    """
    Grow a compact tree of classes, or of a response with mean 0 and standard deviation 1/2. Returns the arrays of its blocks, the leaf of every row and the objective of every tree that was kept.
    """

LINKS: tuple[str, ...]

CALIBRATORS: tuple = ('sigmoid', 'lines')

CLIP: float = 1e+30

LEAST_MEMBERSHIP: float = 1e-06

MOST_VALUE: float = 1e+100

LEAST_VALUE: float = 1e-100

def add_contributions(arrays: dict, *, parent: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], outcome: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], parts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, clip: float, target: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], leaf: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], membership: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, Z: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Add the contributions of features, summed over all trees, to out, (n_rows, n_targets, n_features). Returns the changes by the ranges of leaves with values, (n_rows, n_targets). See contributions.hpp.
    """

def expand_levels(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], codes: object, levels: object) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Return all features of rows, float64: the numbers of X and 0 or 1 for every level of the columns of codes, NaN where a code is below 0. levels: number of levels of every column, 0 for numbers.
    """

class StagedScores:
    """Raw scores of some rows after every round."""

    def next(self, n_rounds: int, n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None))]:
        """
        Raw scores after each of the next rounds, (n_rounds, n_rows, n_targets).
        """

class Scorer:
    """
    Scores rows in the user's units. Methods return None if X holds an infinity.
    """

    def __init__(self, arrays: dict, *, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], confidence: str | None, link: str = 'wolf', base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, clip: float = 1e+30, calibration: tuple[str, Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None = None, companion: Scorer | None = None, weight: float = 0.0) -> None:
        """
        arrays: those of a forest, by name. Optional ones may be missing, others are ignored. link, base (a raw score per target) and clip: those of boosted models; see LINKS. prior is empty for a regression, whose targets are its outputs. calibration: one of CALIBRATORS, then ptr, x and y of its knots; see heads.hpp. companion and weight: a forest whose memberships are part of the raw scores.
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

    def uncalibrated(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))] | None:
        """Probabilities before they are calibrated."""

    def wolf(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))] | None: ...

    def membership(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))] | None: ...

    def confidence(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))] | None: ...

    def raw_score(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))] | None:
        """
        Of a boosted model: its base and what its trees add, (n_rows, n_targets).
        """

    def value(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None:
        """Predicted numbers of a regression with one output, (n_rows,)."""

    def values(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))] | None:
        """Predicted numbers of a regression, (n_rows, n_targets)."""

    def predict(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))] | None: ...

    def apply(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))] | None: ...

    def per_tree(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]] | None:
        """
        Membership and confidence of every tree, (n_rows, n_trees) each; value and 1 if boosted.
        """

    def stage(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, n_threads: int = 1) -> StagedScores | None:
        """
        Raw scores of rows after every round. X, codes and levels are those of grow_forest.
        """

    def sum_left_out(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], estimators: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], left_out: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], first_row: int = 0, mean: float = 0.0, unit: float = 1.0, n_threads: int = 1) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]] | None:
        """
        Sums over the estimators that did not see a row: of corrected memberships and of memberships, (n_rows, n_classes) each; of a regression, of estimates and of ((estimate - mean) / unit)**2, (n_rows, 1) each. left_out has a row of numpy.packbits per estimator, a bit per sample; X has the samples from first_row on.
        """

    def trace(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)], n_threads: int = 1) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]] | None:
        """
        Paths from the roots to the leaves (ptr, block, value): that of row i down tree t begins at ptr[i * n_trees + t]; blocks are numbered within their tree; a branching block has its feature sum, a leaf its estimate before it is clipped.
        """

    def settle(self, wolf: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], membership: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        Probabilities from mean corrected memberships, with the fall-back of proba, (n, K) each.
        """

    def link(self, raw_score: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        Probabilities (n, K), or values (n, n_targets) of a regression, from the raw scores of a boosted model.
        """
