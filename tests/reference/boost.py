"""The slow twin of boosting: section 8 of ALGORITHM.md in plain loops, one function per step.

Sums over rows are Python integers, so they are exact. Floating point keeps the order of the core's operations:
everything must agree to the last bit. `z` is (n, m) of float32 with NaN where a value is missing.
"""

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from .boosted_tree import Grower, SymmetricGrower, Tree
from .numbers import as_float, clamp, exp, log
from .responses import Several, select
from .trees import derive

VALUE_UNIT = 2.0**-12
ROWS, PROJECTION, FIRST_SCORE = 3, 5, 6  # what keys of rounds are derived for


@dataclass(frozen=True)
class Options:
    """Options of `boost`, with the names of the parameters of the estimator."""

    learning_rate: float = 0.1
    max_depth: int = 3
    min_samples_leaf: float = 1.0
    l2_regularization: float = 1.0
    subsample: float = 1.0
    max_features: float = 1.0
    growth: str = "free"
    n_directions: int = 1
    n_directed: int = 4
    shrinkage: float = 0.01
    max_bins: int = 255
    leaf: str = "constant"
    is_joint: bool = False  # one tree for all scores
    monotonic: tuple[int, ...] | None = None


@dataclass
class Bins:
    """Bins of one feature. A code is the number of edges that are not above z; missing values have the last code."""

    edges: list[float]
    values: list[int]  # in VALUE_UNIT; the last is 0, of a missing value
    is_usable: bool


@dataclass
class Boosted:
    unit: float = 1.0  # of weights
    bins: list[Bins] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    trees: list[Tree] = field(default_factory=list)
    losses: list[tuple[float, float]] = field(default_factory=list)  # training and validation
    raw: list[list[float]] = field(default_factory=list)


def quantise_weights(weight, n=None):
    """Weights as integers, the unit of these, and by how many bits moments see them shortened."""
    largest, n, unit = max(weight, default=0.0), n or len(weight), 1.0
    if any(w != math.floor(w) for w in weight) or largest > 2.0**31 or largest * n > 2.0**47:
        bits = max(b for b in range(1, 32) if b == 1 or n * 2**b <= 2**47)
        unit = 2.0 ** max(math.frexp(largest)[1] - bits, -1022)
    shift = 0
    while largest / unit / 2**shift >= 2**17:
        shift += 1
    return [round(w / unit) for w in weight], unit, shift


def find_ends(levels, max_bins):
    """Return the last value of every bin: all values, or values that fill a bin or precede a heavy value."""
    if len(levels) <= max_bins:
        return list(range(len(levels) - 1))
    ends, left, n_left, reached = [], sum(w for _, w in levels), max_bins, 0
    for i, (_, weight) in enumerate(levels[:-1]):
        reached += weight
        share = left // n_left
        if n_left > 1 and (reached >= share or levels[i + 1][1] > share):
            ends.append(i)
            left, n_left, reached = left - reached, n_left - 1, 0
    return ends


def represent(levels):
    """The mean of z over a bin, clipped to ±8, on the grid."""
    if sum(w for _, w in levels) == 0:
        return 0
    total = 0.0
    for z, weight in levels:
        total += float(weight) * clamp(z, -8.0, 8.0)
    return round(total / float(sum(w for _, w in levels)) / VALUE_UNIT)


def make_bins(z, weight, max_bins):
    """Bins of one feature from the rows to learn from; edges lie midway between neighbours."""
    by_value = {}
    is_missing = False
    for value, w in zip(z.tolist(), weight, strict=True):
        if w == 0:
            continue
        if math.isnan(value):
            is_missing = True
        else:
            by_value[value] = by_value.get(value, 0) + w
    levels = sorted(by_value.items()) or [(0.0, 0)]
    ends = find_ends(levels, max_bins)
    starts = [0, *(end + 1 for end in ends), len(levels)]
    values = [represent(levels[a:b]) for a, b in pairwise(starts)]
    edges = [(levels[end][0] + levels[end + 1][0]) / 2.0 for end in ends]
    return Bins(edges, [*values, 0], len(values) > 1 or (is_missing and bool(by_value)))


def encode(z, bins):
    """Codes of a feature."""
    is_missing = np.isnan(z)
    codes = np.searchsorted(bins.edges, np.where(is_missing, 0, z).astype(np.float64), side="right")
    return np.where(is_missing, len(bins.values) - 1, codes).tolist()


def takes(key, row, share):
    """Whether a row takes part in the round."""
    return share >= 1.0 or (derive(key, row) >> 11) * 2.0**-53 < share


def sigmoid(raw):
    e = exp(-abs(raw))
    return e / (1.0 + e) if raw < 0.0 else 1.0 / (1.0 + e)


def log_sum(raw):
    total = 0.0
    for score in raw:
        total += exp(score - max(raw))
    return max(raw) + log(total)


class Classes:
    """Classes to predict, and the log loss of the raw scores of a row."""

    quantum, most, selects = 2.0**-32, 1000.0, False

    def __init__(self, classes, n_classes):
        self.classes, self.n_classes = classes, n_classes

    def first(self, rows, weight):
        """The best constants."""
        weights = [
            sum(weight[row] for row in rows if self.classes[row] == cls) for cls in range(self.n_classes)
        ]
        total = float(sum(weights))
        scores = [log(max(float(of_class) / total, 1e-15)) for of_class in weights]
        return [scores[1] - scores[0]] if len(scores) == 2 else scores

    def loss(self, row, raw):
        """Log loss of a row."""
        cls = self.classes[row]
        if len(raw) > 1:
            return log_sum(raw) - raw[cls]
        away = -raw[0] if cls == 1 else raw[0]
        return max(away, 0.0) + log(1.0 + exp(-abs(away)))

    def differentiate(self, row, raw, score, row_sum):
        """First and second derivative of the loss of a row by one of its scores, as float32."""
        if len(raw) == 1:
            p, factor, is_target = sigmoid(raw[0]), 1.0, self.classes[row] == 1
        else:
            p, factor = min(exp(raw[score] - row_sum), 1.0), len(raw) / (len(raw) - 1.0)
            is_target = self.classes[row] == score
        return np.float32(p - (1.0 if is_target else 0.0)), np.float32(factor * (p * (1.0 - p)))

    def differentiate_all(self, row, raw):
        """Derivatives by all scores of a row, in float32, from probabilities in float32."""
        parts = [exp(score - max(raw)) for score in raw]
        total = 0.0
        for part in parts:
            total += part
        factor, one = np.float32(len(raw) / (len(raw) - 1.0)), np.float32(1.0)
        proba = [np.float32(part / total) for part in parts]
        return [
            (p - one if cls == self.classes[row] else p, factor * (p * (one - p)))
            for cls, p in enumerate(proba)
        ]

    def find_unit(self, rows, first):
        return 1.0


def draw_projection(n_scores, key):
    """A number for every score: the sum of 12 uniform numbers of 16 bits, with mean 0 and variance 1."""
    draws = [[derive(key, 3 * score + i) for i in range(3)] for score in range(n_scores)]
    return [
        (sum(bits >> shift & 0xFFFF for bits in some for shift in (0, 16, 32, 48)) - 6 * 65535) * 2.0**-16
        for some in draws
    ]


def project(derivatives, projection):
    """Derivatives of a row along a projection of its scores, as float32."""
    g = h = 0.0
    for s, (of_score, bound) in zip(projection, derivatives, strict=True):
        g += s * float(of_score)
        h += s * s * float(bound)
    return np.float32(g), np.float32(h)


def find_quanta(slopes, counted):
    """Quanta of the gradients and Hessians of the rows that count."""
    return (
        quantum_of(max((abs(float(slopes[row][0])) for row in counted), default=0.0)),
        quantum_of(max((float(slopes[row][1]) for row in counted), default=0.0)),
    )


def quantise(slopes, quanta):
    return [
        (clamp(round(float(g) / quanta[0]), -32767, 32767), round(float(h) / quanta[1])) for g, h in slopes
    ]


def settle_values(tree, of_scores, counted, whole, unit, options):
    """Set the values of all blocks from the sums of every score; an empty block takes the values of its parent."""
    tree.blocks[0].values = [0.0] * len(of_scores[0])
    for block in tree.blocks:
        if block.left >= 0:
            for child in tree.blocks[block.left : block.left + 2]:
                child.parent = block
    for block in tree.blocks:
        if block.parent is not None and not sum(whole[row] for row in block.rows):
            block.values = block.parent.values
            continue
        block.values = []
        for score in range(len(of_scores[0])):
            slopes = [of_row[score] for of_row in of_scores]
            quanta = find_quanta(slopes, counted)
            entries = quantise(slopes, quanta)
            g = sum(entries[row][0] * whole[row] for row in block.rows) * quanta[0]
            h = sum(entries[row][1] * whole[row] for row in block.rows) * quanta[1]
            h += options.l2_regularization / unit
            block.values.append((-g / h if h > 0.0 else 0.0) * options.learning_rate)


def quantum_of(largest):
    """The power of two in which the largest value takes 15 bits."""
    return 2.0 ** (max(math.frexp(largest)[1], -100) - 15) if largest > 0.0 else 1.0


def select_values(tree, aim, raw, whole, options):
    """Set the values of all blocks to quantiles of the residuals of every score; empty blocks have their parent's."""
    for block in tree.blocks:
        if block.left >= 0:
            for child in tree.blocks[block.left : block.left + 2]:
                child.parent = block
    for block in tree.blocks:
        weight = [whole[row] for row in block.rows]
        if block.parent is not None and not sum(weight):
            block.values = block.parent.values
            continue
        block.values = [
            select([aim.residual(row, raw[row], score) for row in block.rows], weight, aim.share_of(score))
            * options.learning_rate
            for score in range(len(aim.parts))
        ]


def mean_losses(rows, aim, raw, weight, first):
    """Mean losses of some rows: of every score of several numbers, else one."""
    if not isinstance(aim, Several):
        return [mean_loss(rows, aim, raw, weight, first[0])]
    return [
        mean_loss(rows, part, [[scores[score]] for scores in raw], weight, first[score])
        for score, part in enumerate(aim.parts)
    ]


def mean_loss(rows, aim, raw, weight, first=0.0):
    """Mean loss of some rows, summed as integers."""
    unit = aim.find_unit(rows, first)
    losses = [round(clamp(aim.loss(row, raw[row]) / unit, 0.0, aim.most) / aim.quantum) for row in rows]
    high = sum(value * (weight[row] >> 16) for row, value in zip(rows, losses, strict=True))
    low = sum(value * (weight[row] & 0xFFFF) for row, value in zip(rows, losses, strict=True))
    total = as_float(sum(weight[row] for row in rows))
    return (as_float(high) * 2.0**16 + as_float(low)) * aim.quantum / total * unit if total else math.nan


def boost(z, classes, n_classes, weight, held, options, n_rounds, seed, *, takes_losses=False):
    """Rounds of trees for classes."""
    aim = Classes(classes, n_classes)
    return boost_aim(z, aim, weight, held, options, n_rounds, seed, takes_losses=takes_losses)


def boost_aim(z, aim, weight, held, options, n_rounds, seed, *, takes_losses=False):
    """Boost rounds of trees on the training rows, each a step from the scores of the rounds before.

    `aim` has the classes or responses of the rows, and their loss.
    """
    n = len(z)
    learned = [row for row in range(n) if not held[row]]
    others = [row for row in range(n) if held[row]]
    whole = [1] * n
    result = Boosted()
    for rows in (others, learned):  # each in a unit of its own
        integers, result.unit, shift = quantise_weights([weight[row] for row in rows], n)
        for row, integer in zip(rows, integers, strict=True):
            whole[row] = integer
    bins = result.bins = [
        make_bins(column[learned], [whole[row] for row in learned], options.max_bins) for column in z.T
    ]
    codes = list(zip(*(encode(column, of) for column, of in zip(z.T, bins, strict=True)), strict=True))
    result.first = aim.first(learned, whole)
    raw = result.raw = [list(result.first) for _ in range(n)]
    of_scores, of_losses = [1.0] * len(result.first), [1.0]
    if isinstance(aim, Several):
        of_scores, of_losses = aim.find_scales(mean_losses(learned, aim, raw, whole, result.first))

    def measure(rows):
        total = 0.0
        for one, scale in zip(mean_losses(rows, aim, raw, whole, result.first), of_losses, strict=True):
            total += one / scale
        return total / len(of_losses)

    def take_losses():
        if takes_losses:
            result.losses.append((measure(learned), measure(others)))

    take_losses()
    for number in range(n_rounds):
        key = derive(seed, number)
        sums = [log_sum(row) if len(row) > 1 else 0.0 for row in raw]
        taken = [row for row in learned if takes(derive(key, ROWS), row, options.subsample)]
        rest = sorted(set(range(n)) - set(taken))
        counted = [row for row in learned if whole[row] > 0]
        is_joint = options.is_joint and len(result.first) > 1
        for score in range(1 if is_joint else len(result.first)):
            if is_joint:
                of_rows = [aim.differentiate_all(row, raw[row]) for row in range(n)]
                projection = draw_projection(len(result.first), derive(key, PROJECTION))
                projection = [one * scale for one, scale in zip(projection, of_scores, strict=True)]
                slopes = [project(of_row, projection) for of_row in of_rows]
            else:
                slopes = [aim.differentiate(row, raw[row], score, sums[row]) for row in range(n)]
            quanta = find_quanta(slopes, counted)
            entries = quantise(slopes, quanta)
            kind = SymmetricGrower if options.growth == "symmetric" else Grower
            grower = kind(bins, codes, entries, (whole, result.unit, shift), options)
            if aim.selects and not is_joint:
                residuals = [aim.residual(row, raw[row], score) for row in range(n)]
                grower.select_from(residuals, aim.share_of(score))
            tree = grower.grow(taken, rest, quanta, derive(key, FIRST_SCORE + score))
            if is_joint and aim.selects:
                select_values(tree, aim, raw, whole, options)
            elif is_joint:
                settle_values(tree, of_rows, counted, whole, result.unit, options)
            for block in tree.blocks:
                if block.leaf is not None and is_joint:
                    for row in block.rows + block.others:
                        raw[row] = [one + more for one, more in zip(raw[row], block.values, strict=True)]
                elif block.leaf is not None:
                    for row in block.rows + block.others:
                        raw[row][score] += block.leaf.estimate(grower.represent(row))
            result.trees.append(tree)
        take_losses()
    return result
