"""The slow twin of one boosted tree: how blocks are parted, from sums that are Python integers.

Floating point begins after the sums, in the order of operations that the core keeps, so trees must agree to
the last bit. Values of bins are in units of 2^-12, weights of a direction in units of 2^-15.
"""

import math
from collections import deque
from dataclasses import dataclass, field, replace

from .boosted_leaf import Leaf, extend_path, fit_leaf
from .numbers import as_float, clamp, solve_with_ridge
from .responses import select
from .trees import derive

WEIGHT_UNIT = 2.0**-15
N_STEPS = 255
FEATURES, DIRECTIONS = 2, 4  # what keys of blocks are derived for


@dataclass
class Cut:
    """Single: codes up to `code` go left. Several features: sums (in units) below `sum` go left."""

    features: list[int]
    weights: list[int]
    spreads: list[float]
    gain: float
    code: int = 0
    is_missing_left: bool = False
    sum: float = 0.0


@dataclass
class Block:
    rows: list[int]  # that take part
    others: list[int]
    key: int
    depth: int
    low: float = -math.inf
    high: float = math.inf
    value: float = 0.0  # before the learning rate
    left: int = -1
    cut: Cut | None = None
    way: list[int] = field(default_factory=list)  # features of the blocks above, the nearest first
    leaf: Leaf | None = None
    parent: "Block | None" = None
    values: list[float] | None = None  # of every score, of a tree of all scores


@dataclass
class Tree:
    blocks: list[Block]
    quanta: tuple[float, float]  # of gradient and hessian
    sums: list[tuple[int, int, int]]  # of every block


FREE = Block([], [], 0, 0)  # without bounds


def draw(usable, n, key, purpose):
    """`n` of the features, in ascending order."""
    deck, n, key = list(usable), min(n, len(usable)), derive(key, purpose)
    for i in range(n):
        j = i + (derive(key, i) * (len(deck) - i) >> 64)
        deck[i], deck[j] = deck[j], deck[i]
    return sorted(deck[:n])


def plus(sums, more):
    return sums[0] + more[0], sums[1] + more[1], sums[2] + more[2]


class Grower:
    """Grows one tree on the codes of the rows and their derivatives in quanta."""

    def __init__(self, bins, codes, entries, weight, options):
        self.bins, self.codes, self.entries, self.options = bins, codes, entries, options
        self.weight, self.unit, self.shift = weight
        self.usable = [f for f, of in enumerate(bins) if of.is_usable]
        self.residuals, self.share = None, 0.5

    def select_from(self, residuals, share):
        """Values of blocks are quantiles of these residuals."""
        self.residuals, self.share = residuals, share

    def settle(self, rows, bounds):
        """The value of a block of these rows."""
        if self.residuals is None:
            return self.value(self.add(rows), bounds)
        found = select([self.residuals[row] for row in rows], [self.weight[row] for row in rows], self.share)
        return clamp(found, bounds.low, bounds.high)

    def grow(self, taken, others, quanta, key):
        self.quanta = quanta
        root = Block(taken, others, key, 0)
        root.value = self.settle(taken, root)
        blocks, work = [root], deque([root])
        while work:
            block = work.popleft()
            block.cut = self.find_cut(block)
            if block.cut is None:
                block.leaf = fit_leaf(self, block)
            else:
                block.left = len(blocks)
                for child in self.part(block):
                    blocks.append(child)
                    work.append(child)
        return Tree(blocks, quanta, [self.add(block.rows) for block in blocks])

    def add(self, rows):
        """Sums of gradient, hessian and weight."""
        sums = (0, 0, 0)
        for row in rows:
            weight, (gradient, hessian) = self.weight[row], self.entries[row]
            sums = plus(sums, (gradient * weight, hessian * weight, weight))
        return sums

    def newton(self, sums):
        """G and H + λ in units of weight."""
        return sums[0] * self.quanta[0], sums[1] * self.quanta[1] + self.options.l2_regularization / self.unit

    def value(self, sums, bounds):
        g, h = self.newton(sums)
        return clamp(-g / h if h > 0.0 else 0.0, bounds.low, bounds.high)

    def earn(self, sums, bounds):
        g, h = self.newton(sums)
        if not h > 0.0:
            return 0.0
        if self.options.monotonic is None:
            return g * g / h
        step = clamp(-g / h, bounds.low, bounds.high)
        return -(2.0 * g * step + h * step * step)

    def may_stand(self, sums):
        heavy = sums[2] > 0 and sums[2] * self.unit >= self.options.min_samples_leaf
        return heavy and sums[1] * self.quanta[1] >= 1e-3 / self.unit

    def gain(self, block, total, left, sign):
        """Return twice the reduction of the loss by a cut; 0 if the cut is not allowed."""
        if self.residuals is not None:
            block = FREE  # bounds are of values, not of steps
        right = (total[0] - left[0], total[1] - left[1], total[2] - left[2])
        if not self.may_stand(left) or not self.may_stand(right):
            return 0.0
        if sign * (self.value(right, block) - self.value(left, block)) < 0.0:
            return 0.0
        return self.earn(left, block) + self.earn(right, block) - self.earn(total, block)

    def find_cut(self, block):
        total, options = self.add(block.rows), self.options
        if block.depth >= options.max_depth or not self.usable:
            return None
        if total[2] * self.unit < 2.0 * options.min_samples_leaf:
            return None
        best = None
        n_tried = max(1, int(options.max_features * len(self.usable)))
        for feature in draw(self.usable, n_tried, block.key, FEATURES):
            best = self.cut_feature(block, total, feature, best)
        if options.n_directed > 1:
            drawn = draw(self.usable, options.n_directed, block.key, DIRECTIONS)
            direction = self.direct([block.rows], drawn) if len(drawn) > 1 else None
            if direction is not None:
                best = self.cut_direction(block, total, direction, best)
        return best

    def sign_of(self, features, weights):
        """1 or -1: the right side must have the larger or the smaller value."""
        for feature, weight in zip(features, weights, strict=True):
            if self.options.monotonic is not None and self.options.monotonic[feature]:
                return self.options.monotonic[feature] * (1 if weight > 0 else -1)
        return 0

    def cut_feature(self, block, total, feature, best):
        """The best cut between two bins, missing values on either side; `best` unless it gains more."""
        n_bins = len(self.bins[feature].values) - 1
        by_code = [[] for _ in range(n_bins + 1)]
        for row in block.rows:
            by_code[self.codes[row][feature]].append(row)
        *known, missing = [self.add(rows) for rows in by_code]
        sign = self.sign_of([feature], [1])
        left = (0, 0, 0)
        for code, sums in enumerate(known):
            left = plus(left, sums)
            is_last = code + 1 == n_bins
            if missing[2] == 0 if is_last else sums[2] == 0:
                continue
            for is_missing_left in [False] if is_last or missing[2] == 0 else [False, True]:
                on_left = plus(left, missing) if is_missing_left else left
                gain = self.gain(block, total, on_left, sign)
                if gain > (best.gain if best else 0.0):
                    side = is_missing_left if missing[2] > 0 else 2 * left[2] >= total[2]
                    best = Cut([feature], [2**15], [1.0], gain, code, side)
        return best

    def representative(self, row, feature):
        return self.bins[feature].values[self.codes[row][feature]]

    def represent(self, row):
        """Representatives of all values of a row."""
        return [self.representative(row, feature) for feature in range(len(self.bins))]

    def feature_sum(self, cut, row):
        terms = zip(cut.features, cut.weights, strict=True)
        return sum(weight * self.representative(row, feature) for feature, weight in terms)

    def measure(self, rows, features):
        """Moments about the means: hessian, means, products, raw squares and descents, weighted by the hessian."""
        r = [[self.representative(row, f) for f in features] for row in rows]
        g = [self.entries[row][0] * (self.weight[row] >> self.shift) for row in rows]
        h = [self.entries[row][1] * (self.weight[row] >> self.shift) for row in rows]

        def moment(by, *columns):
            return as_float(sum(b * math.prod(x[i] for i in columns) for b, x in zip(by, r, strict=True)))

        hessian, p = moment(h), range(len(features))
        if not hessian > 0.0:
            return None
        sums = [moment(h, i) for i in p]
        mean = [total / hessian for total in sums]
        product = {(i, j): moment(h, i, j) - sums[i] * mean[j] for i in p for j in range(i + 1)}
        descent = [moment(g) * mean[i] - moment(g, i) for i in p]
        return hessian, mean, product, [moment(h, i, i) for i in p], descent

    def direct(self, blocks, features):
        """The Newton step of a linear model: weights on the grid, and the steps that sums are counted in.

        The step is that of the moments about the means of the blocks. The steps are those of all rows.
        """
        measured = [found for rows in blocks if (found := self.measure(rows, features)) is not None]
        if not measured:
            return None
        p = len(features)
        within, squares, descent = dict.fromkeys(measured[0][2], 0.0), [0.0] * p, [0.0] * p
        for _, _, products, raw_squares, descents in measured:
            for pair, value in products.items():
                within[pair] += value
            for i in range(p):
                squares[i] += raw_squares[i]
                descent[i] += descents[i]
        hessian, mean, product, _, _ = self.measure([row for rows in blocks for row in rows], features)
        kept = [i for i in range(p) if within[i, i] > 1e-9 * squares[i]]
        while True:
            if len(kept) < 2:
                return None
            scatter = [[within[i, j] for j in kept[: at + 1]] for at, i in enumerate(kept)]
            step = solve(scatter, self.options.shrinkage, [descent[i] for i in kept])
            if step is None:
                return None
            signs = [self.sign_of([features[i]], [1]) for i in kept]
            right = [i for i, s, sign in zip(kept, step, signs, strict=True) if s * sign >= 0.0]
            if len(right) == len(kept):
                break
            kept = right
        largest = max(abs(value) for value in step)
        if not largest > 0.0:
            return None
        weights = {i: round(value / largest / WEIGHT_UNIT) for i, value in zip(kept, step, strict=True)}
        used = [i for i in kept if weights[i] != 0]
        if len(used) < 2:
            return None
        centre = variance = 0.0
        for at, i in enumerate(used):
            centre += weights[i] * mean[i]
            for j in used[: at + 1]:
                variance += (1.0 if i == j else 2.0) * weights[i] * weights[j] * (product[i, j] / hessian)
        reach = 3.0 * math.sqrt(max(variance, 0.0))
        cut = Cut([features[i] for i in used], [weights[i] for i in used], [], 0.0)
        cut.spreads = [math.sqrt(product[i, i] / hessian) for i in used]
        return cut, math.floor(centre - reach), max(1, math.ceil(2.0 * reach / N_STEPS))

    def cut_direction(self, block, total, direction, best):
        """The best of the cuts between the steps of a direction; `best` unless it gains more."""
        cut, low, step = direction
        steps = [[] for _ in range(N_STEPS)]
        for row in block.rows:
            steps[clamp((self.feature_sum(cut, row) - low) // step, 0, N_STEPS - 1)].append(row)
        sign = self.sign_of(cut.features, cut.weights)
        left = (0, 0, 0)
        for number, rows in enumerate(steps[:-1]):
            if not rows:
                continue
            left = plus(left, self.add(rows))
            gain = self.gain(block, total, left, sign)
            if gain > (best.gain if best else 0.0):
                place = float(low + (number + 1) * step)
                best = Cut(cut.features, cut.weights, cut.spreads, gain, sum=place)
        return best

    def goes_left(self, cut, row):
        if len(cut.features) > 1:
            return self.feature_sum(cut, row) < cut.sum
        code = self.codes[row][cut.features[0]]
        is_missing = code == len(self.bins[cut.features[0]].values) - 1
        return cut.is_missing_left if is_missing else code <= cut.code

    def part(self, block):
        """The children of a block, with their bounds and values."""
        children = []
        for side in (0, 1):
            sides = [
                [row for row in rows if self.goes_left(block.cut, row) == (side == 0)]
                for rows in (block.rows, block.others)
            ]
            child = Block(*sides, derive(block.key, side), block.depth + 1, block.low, block.high)
            child.way = extend_path(block.cut.features, block.way)
            children.append(child)
        left, right = children
        sign = self.sign_of(block.cut.features, block.cut.weights)
        values = [self.settle_child(child, block, block) for child in children]
        if sign:
            middle = (values[0] + values[1]) / 2.0
            lower, upper = (left, right) if sign > 0 else (right, left)
            lower.high = upper.low = middle
        for child in children:
            child.value = self.settle_child(child, child, block)
        return children

    def settle_child(self, child, bounds, block):
        """The value of a child within bounds; an empty child has the value of its parent."""
        if self.add(child.rows)[2] > 0:
            return self.settle(child.rows, bounds)
        return clamp(block.value, bounds.low, bounds.high)


class SymmetricGrower(Grower):
    """Grows a tree whose blocks of a level share one cut."""

    def grow(self, taken, others, quanta, key):
        self.quanta = quanta
        root = Block(taken, others, key, 0)
        root.value = self.settle(taken, root)
        blocks, level = [root], [root]
        while level[0].depth < self.options.max_depth and self.usable:
            cut = self.find_shared_cut(level)
            if cut is None:
                break
            children = []
            for block in level:
                left = [row for row in block.rows if self.goes_left(cut, row)]
                block.cut = replace(cut, gain=max(0.0, self.gain_of(block, self.add(left))))
                block.left = len(blocks) + len(children)
                children += self.part(block)
            blocks += children
            level = children
        for block in level:
            block.leaf = fit_leaf(self, block)
        return Tree(blocks, quanta, [self.add(block.rows) for block in blocks])

    def gain_of(self, block, left):
        """The gain of one block; 0 if a side is too light."""
        return self.gain(block, self.add(block.rows), left, 0)

    def find_shared_cut(self, level):
        options, key = self.options, level[0].key
        n_tried, cuts = max(1, int(options.max_features * len(self.usable))), []
        for feature in draw(self.usable, n_tried, key, FEATURES):
            rows = [row for block in level for row in block.rows if self.weight[row]]
            any_missing = any(self.is_missing(row, feature) for row in rows)
            cuts += [
                Cut([feature], [2**15], [1.0], 0.0, code, side)
                for code in range(len(self.bins[feature].values) - 1)
                for side in ([False, True] if any_missing else [None])
            ]
        if options.n_directed > 1:
            for number in range(options.n_directions):
                drawn = draw(self.usable, options.n_directed, derive(key, number), DIRECTIONS)
                direction = self.direct([block.rows for block in level], drawn) if len(drawn) > 1 else None
                if direction is not None:
                    cut, low, step = direction
                    cuts += [replace(cut, sum=float(low + number * step)) for number in range(1, N_STEPS)]
        best = None
        for cut in cuts:
            sums = [self.add([row for row in block.rows if self.goes_left(cut, row)]) for block in level]
            gain = self.find_gain(level, sums, self.sign_of(cut.features, cut.weights))
            if gain > (best.gain if best else 0.0):
                side = cut.is_missing_left
                if side is None:
                    side = 2 * sum(left[2] for left in sums) >= sum(
                        self.add(block.rows)[2] for block in level
                    )
                best = replace(cut, gain=gain, is_missing_left=side)
        return best

    def find_gain(self, level, sums, sign):
        """The sum of the gains of the blocks; -inf if values of any block would be in the wrong order."""
        gain = 0.0
        for block, left in zip(level, sums, strict=True):
            total, bounds = self.add(block.rows), FREE if self.residuals is not None else block
            right = (total[0] - left[0], total[1] - left[1], total[2] - left[2])
            step = self.value(right, bounds) - self.value(left, bounds)
            if left[2] > 0 and right[2] > 0 and sign * step < 0.0:
                return -math.inf
            gain += self.gain_of(block, left)
        return gain

    def is_missing(self, row, feature):
        return self.codes[row][feature] == len(self.bins[feature].values) - 1


def solve(lower, shrinkage, right_side):
    """(S + shrinkage · tr(S)/p · I) x = b, of the rows of the lower triangle; None where it fails."""
    p, trace = len(right_side), 0.0
    for i in range(p):
        trace += lower[i][i]
    return solve_with_ridge(lower, shrinkage * (trace / float(p)), right_side) if trace > 0.0 else None
