"""The compact tree in plain loops: rows, costs, and the problem of one block.

The rules are those at the top of ``cpp/lhtree/grow/compact/rules.hpp``; ``reference_compact_tree.py`` grows trees.
"""

import itertools
from dataclasses import dataclass, field

import numpy as np

CLIP, MOST_BINS, TIE = 8.0, 255, 1e-9


@dataclass
class Data:
    """Normalised rows, shape (n, m) float32, with a weight each, and a class or a number each.

    Numbers have the mean 0 and the standard deviation 1/2; ``prior`` is the share of every class.
    """

    z: np.ndarray
    weight: np.ndarray
    classes: np.ndarray | None = None
    prior: np.ndarray | None = None
    response: np.ndarray | None = None
    penalty: float = 1.0
    min_samples_leaf: float = 5.0
    max_leaf_nodes: int = 16
    max_terms: int = 8
    max_passes: int = 20
    codes: list = field(init=False)

    def __post_init__(self):
        self.codes = [find_codes(column, self.weight) for column in self.z.T]

    @property
    def lam(self):
        """The price of a term and of a leaf."""
        return self.penalty * 0.15 * np.log(max(self.weight.sum(), 2.0))

    def costs(self, leaf):
        """Cost of every row, of weight 1, in a leaf that estimates shares or a mean."""
        if self.classes is None:
            cost = 2.0 * (self.response - leaf) ** 2
        else:
            cost = 1.0 - 2.0 * leaf[self.classes] + (leaf**2).sum()
        return np.round(cost * 2.0**24) / 2.0**24

    def estimate(self, rows):
        """Return the estimate of a leaf with these rows."""
        return self.estimate_from(self.count(rows), self.weight[rows].sum())

    def count(self, rows):
        """Weight of every class in rows; of numbers, their sum."""
        if self.classes is None:
            return (self.weight[rows] * self.response[rows]).sum()
        return np.bincount(self.classes[rows], self.weight[rows], minlength=len(self.prior))

    def estimate_from(self, counts, weight):
        """Return the estimate of a leaf with these counts."""
        return counts / (weight + 1.0) if self.classes is None else (counts + self.prior) / (weight + 1.0)

    def cost_of(self, rows):
        """Cost of rows in a leaf of their own."""
        return (self.weight[rows] * self.costs(self.estimate(rows))[rows]).sum()


def find_codes(column, weight):
    """Number of the bin of every value."""
    distinct = np.unique(column)
    if len(distinct) <= MOST_BINS:
        return np.searchsorted(distinct, column)
    below = np.array([weight[column < value].sum() for value in distinct])
    bins = np.floor(MOST_BINS * below / weight.sum())
    return np.unique(bins, return_inverse=True)[1][np.searchsorted(distinct, column)]


@dataclass(frozen=True)
class Line:
    """Features, ascending, their float32 weights, the offset."""

    features: tuple
    weights: tuple
    offset: float = 0.0

    def sums(self, z):
        """Feature sums of rows, added from left to right."""
        total = np.zeros(len(z))
        for feature, weight in zip(self.features, self.weights, strict=True):
            total = total + float(weight) * z[:, feature].astype(np.float64)
        return total

    def is_right(self, z):
        """Whether rows go right."""
        return ~(self.sums(z) < self.offset)


@dataclass(frozen=True)
class Candidate:
    """A line, the weight that it sends to the wrong side, and the value by which candidates are compared."""

    line: Line | None = None
    wrong: float = 0.0
    value: float = np.inf


class Problem:
    """Rows of a block, shape (n,), and the gain of each: its weight times (cost left - cost right)."""

    def __init__(self, data, rows, gain):
        self.data, self.rows, self.gain = data, rows, gain
        self.z = data.z[rows]
        self.clipped = np.clip(self.z, -CLIP, CLIP).astype(np.float64)
        self.weight, self.is_right = np.abs(gain), gain > 0.0
        self.row_weight = data.weight[rows]
        self.total = self.weight.sum()
        self.rho = 1e-3 * self.total

    @property
    def has_both_sides(self):
        """Whether some rows want to go left and some right."""
        return self.weight[self.is_right].sum() > 0.0 and self.weight[~self.is_right].sum() > 0.0

    def judge(self, is_right):
        """Wrong weight if these rows go right; None if a side is too light."""
        sides = self.row_weight[~is_right].sum(), self.row_weight[is_right].sum()
        if min(sides) < self.data.min_samples_leaf:
            return None
        return self.weight[is_right != self.is_right].sum()

    def cut(self, sums, near):
        """Return the offset with the least wrong weight, and that weight; None if no offset is valid."""
        best = None
        distinct = np.unique(sums)
        for lower, upper in itertools.pairwise(distinct):
            offset = lower + (upper - lower) / 2.0
            offset = offset if offset > lower else upper
            wrong = self.judge(sums > lower)
            if wrong is None:
                continue
            if (
                best is None
                or wrong < best[1] - 1e-12 * self.total
                or (wrong <= best[1] + 1e-12 * self.total and abs(offset - near) < abs(best[0] - near))
            ):
                best = offset, wrong
        return best

    def find_single(self):
        """The best single feature between two codes, with the weight 1 or -1."""
        best, line = np.inf, None
        for feature in range(self.z.shape[1]):
            codes = self.data.codes[feature][self.rows]
            for sign in (1.0, -1.0):
                for code in np.unique(codes)[:-1]:
                    wrong = self.judge(codes > code if sign > 0 else codes <= code)
                    if wrong is not None and wrong < best - TIE * self.total:
                        best, line = wrong, Line((feature,), (np.float32(sign),))
        return line

    def fit_sums(self, line):
        """The fit of a line's clipped sums: a bias, one slope, the loss."""
        return fit_logistic(self, line.sums(self.clipped)[:, None])

    def judged(self, line, cut, loss):
        """A candidate from a line, its offset and wrong weight, and the loss of its fit."""
        if cut is None:
            return Candidate()
        offset, wrong = cut
        value = 0.7 * wrong + 0.3 * loss / np.log(2.0) + self.data.lam * len(line.features)
        return Candidate(Line(line.features, line.weights, offset), wrong, value)

    def from_fit(self, features, fit):
        """The candidate of the fit of some features, in any order."""
        largest = np.abs(fit.slopes).max()
        if not largest > 0.0:
            return Candidate()
        pairs = sorted(zip(features, (fit.slopes / largest).astype(np.float32), strict=True))
        pairs = [(feature, weight) for feature, weight in pairs if weight != 0.0]
        line = Line(*zip(*pairs, strict=True))
        return self.judged(line, self.cut(line.sums(self.z), -fit.bias / largest), fit.loss)

    def refit(self, line):
        """The features of a line with new weights."""
        first = self.fit_sums(line)
        start = first.slopes[0] * np.array(line.weights, dtype=np.float64)
        return self.from_fit(
            line.features, fit_logistic(self, self.clipped[:, list(line.features)], first.bias, start)
        )

    def try_line(self, line, keeps_offset):
        """The line with its offset, and cut again."""
        sums, fit = line.sums(self.z), self.fit_sums(line)
        if keeps_offset:
            wrong = self.judge(~(sums < line.offset))
            yield self.judged(line, None if wrong is None else (line.offset, wrong), fit.loss)
        near = -fit.bias / fit.slopes[0] if fit.slopes[0] > 0.0 else 0.0
        yield self.judged(line, self.cut(sums, near), fit.loss)

    def step_forward(self):
        """Lines of more and more features, each the most promising for the fit so far."""
        features, best, n_failures = [], np.inf, 0
        fit = fit_logistic(self, self.clipped[:, []])
        while len(features) < min(self.data.max_terms, self.z.shape[1]) and n_failures < 3:
            slope, curve = fit.derivatives
            promise = np.array([(slope @ c) ** 2 / (curve @ c**2 + self.rho) for c in self.clipped.T])
            promise[features] = -1.0
            chosen, most = None, 0.0
            for feature, one in enumerate(promise):
                if one > most * (1.0 + TIE):
                    chosen, most = feature, one
            if chosen is None:
                return
            features.append(chosen)
            fit = fit_logistic(self, self.clipped[:, features], fit.bias, np.append(fit.slopes, 0.0))
            found = self.from_fit(features, fit)
            n_failures = 0 if found.value < best - TIE * self.total else n_failures + 1
            best = min(best, found.value)
            yield found

    def drop_terms(self, line):
        """The line without each of the three terms with the smallest |w| · sd."""
        means = self.weight @ self.clipped / self.total
        spread = np.sqrt(self.weight @ (self.clipped - means) ** 2 / self.total)
        size = [abs(float(w)) * spread[f] for f, w in zip(line.features, line.weights, strict=True)]
        for dropped in np.argsort(size, kind="stable")[:3]:
            kept = [i for i in range(len(size)) if i != dropped]
            fewer = Line(tuple(line.features[i] for i in kept), tuple(line.weights[i] for i in kept))
            yield self.refit(fewer)


@dataclass
class Logistic:
    """Bias, slopes, loss without the ridge, and the first and second derivative of the loss by f of every row."""

    bias: float
    slopes: np.ndarray
    loss: float
    derivatives: tuple


def fit_logistic(problem, columns, bias=None, slopes=None):
    """Weighted logistic regression of the sides on columns, shape (n, p), by Newton's method."""
    w, y = problem.weight, problem.is_right
    p = columns.shape[1]
    bias = np.log(w[y].sum() / w[~y].sum()) if bias is None else bias
    slopes = np.zeros(p) if slopes is None else slopes

    def evaluate(bias, slopes):
        f = bias + columns @ slopes
        right = 1.0 / (1.0 + np.exp(-f))
        loss = (w * np.logaddexp(0.0, np.where(y, -f, f))).sum()
        return Logistic(bias, slopes, loss, (w * (right - y), w * right * (1.0 - right)))

    def ridged(fit):
        return fit.loss + 0.5 * problem.rho * (fit.slopes**2).sum()

    fit = evaluate(bias, slopes)
    if p == 0:
        return fit
    design = np.column_stack([columns, np.ones(len(w))])
    ridge = np.append(np.full(p, problem.rho), 1e-9 * problem.total)
    for _ in range(12):
        slope, curve = fit.derivatives
        down = -design.T @ slope - np.append(problem.rho * fit.slopes, 0.0)
        step = np.linalg.solve(design.T @ (curve[:, None] * design) + np.diag(ridge), down)
        for halving in range(6):
            following = evaluate(fit.bias + step[-1] / 2**halving, fit.slopes + step[:-1] / 2**halving)
            if ridged(following) < ridged(fit):
                break
        else:
            return fit
        gained = ridged(fit) - ridged(following)
        fit = following
        if gained <= 3e-4 * problem.total:
            return fit
    return fit


def polish(problem, line):
    """Two sweeps of exact search over the weights of a line; its offset only changes with the scale."""
    weights = list(line.weights)
    for _ in range(2):
        before = list(weights)
        for term, feature in enumerate(line.features):
            own = problem.z[:, feature].astype(np.float64)
            rest = Line(line.features, tuple(weights)).sums(problem.z) - float(weights[term]) * own
            weights[term] = move_weight(problem, rest, own, line.offset, weights[term])
        if weights == before:
            break
    largest = max(abs(weight) for weight in weights)
    return Line(
        line.features, tuple(np.float32(weight / largest) for weight in weights), line.offset / float(largest)
    )


def move_weight(problem, rest, own, offset, present):
    """The best value of one weight, given the sums of the other terms; the present one if none is better."""
    counts = (own != 0.0) & (problem.gain != 0.0)
    places = (offset - rest[counts]) / own[counts]
    changes = np.where(own[counts] > 0.0, -problem.gain[counts], problem.gain[counts])
    now = changes[places < float(present)].sum()
    least, best = now, present
    distinct = np.unique(places)
    for lower, upper in itertools.pairwise(distinct):
        wrong = changes[places <= lower].sum()
        middle = np.float32(lower + (upper - lower) / 2.0)
        if not lower < middle < upper or not np.float32(1e-6) <= abs(middle) <= np.float32(1e6):
            continue
        is_level = abs(wrong - least) <= TIE * problem.total and best != present
        is_nearer = abs(middle - present) < abs(best - present)
        if wrong < least - TIE * problem.total or (is_level and is_nearer):
            least, best = wrong, middle
    return best


def solve(problem, present=None, is_quick=False, searches=True):
    """The best line of a block's problem; ``is_quick`` as splitting a leaf needs it, ``searches`` forward, too."""
    if not problem.has_both_sides:
        wrong = None if present is None else problem.judge(present.is_right(problem.z))
        return Candidate() if wrong is None else Candidate(present, wrong, wrong)
    best = Candidate()

    def take(candidates):
        nonlocal best
        for candidate in candidates:
            if candidate.value < best.value - TIE * problem.total or (
                best.line is None and candidate.line is not None
            ):
                best = candidate

    if present is not None:
        if not is_quick:
            take(problem.try_line(present, keeps_offset=True))
        take([problem.refit(present)])
    single = problem.find_single()
    if single is not None:
        take(problem.try_line(single, keeps_offset=False))
    if searches:
        take(problem.step_forward())
    if is_quick or best.line is None:
        return best
    before = None
    while best is not before and len(best.line.features) > 1:
        before = best
        take(problem.drop_terms(best.line))
    polished = polish(problem, best.line)
    if polished != best.line:
        take(problem.try_line(polished, keeps_offset=True))
    return best
