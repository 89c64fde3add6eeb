"""The slow twin of growing: the method in plain loops, one function per equation or rule.

Written from the specification alone. Sections are those of ALGORITHM.md, equations those of the paper. Sums
are taken with `math.fsum`, so that a difference from the core is the core's rounding; only the feature sum
has an order of summation, which both must keep. Of a block, `z` is (n, m), `is_target` and `weight` are (n,).
"""

import math
from collections import deque
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Options:
    """Settings of `grow`; every count is an absolute weight; `gamma` and `min_samples_leaf` are > 0."""

    direction: str = "mean_difference"  # or "fisher", "mixed" (only with the offset "gini")
    offset: str = "purity"  # or "gini"
    membership: str = "marginal"  # or "least_squares", "constant"
    alpha: float = 0.0
    beta: float = 0.0
    gamma: float = 1.0
    min_samples_split: float = 2.0
    min_samples_leaf: float = 1.0
    max_depth: int | None = None
    max_features: int | None = None
    shrinkage: float = 1e-3


@dataclass
class Tree:
    """One LHT: in each list an entry per block, numbered breadth-first."""

    left: list[int]  # -1 in a leaf, as is `right`
    right: list[int]
    depth: list[int]
    n_samples: list[int]
    weight: list[float]
    n_target: list[float]  # the weight of the target rows
    weights: list[dict[int, np.float32]]  # empty in a leaf
    offset: list[float]  # 0 in a leaf
    slopes: list[dict[int, float]]
    intercept: list[float]
    low: list[float]  # range of mu
    high: list[float]
    leaf_of_row: np.ndarray
    missing: list[int] | None = None  # side of a missing value in blocks of one feature; None: 0 everywhere


def quantile(x, weight, share):
    """Section 1: the least value up to which the rows hold at least this share of the weight."""
    order = np.argsort(x, kind="stable")
    reached = np.cumsum(weight[order])
    return float(x[order][np.searchsorted(reached / reached[-1], share)])


def learn_column(x, weight, normalize):
    """Section 1: centre and scale of one column, NaN left out."""
    known = ~np.isnan(x) & (weight > 0)
    x, weight = x[known], weight[known]
    if normalize is None or len(x) == 0:
        return 0.0, 1.0
    exponent = math.frexp(np.abs(x).max())[1]
    unit = np.ldexp(x, -exponent)
    low, high = unit.min(), unit.max()
    middle = min(max(mean(unit, weight), low), high)  # so that rounding gives a constant column no deviation
    deviation = math.sqrt(mean((unit - middle) ** 2, weight))
    if normalize == "standard":
        centre, spreads = math.ldexp(middle, exponent), [deviation]
    elif normalize == "minmax":
        centre, spreads = math.ldexp((low + high) / 2, exponent), [(high - low) / 2]
    else:
        centre = quantile(x, weight, 0.5)
        spreads = [(quantile(unit, weight, 0.95) - quantile(unit, weight, 0.05)) / 3.29, deviation]
    scales = [math.ldexp(spread, exponent) for spread in spreads]
    return centre, next((scale for scale in scales if scale >= np.finfo(np.float64).tiny), 1.0)


def learn_normalisation(X, weight, normalize):
    """Section 1: centre (m,) and scale (m,)."""
    X, weight = np.asarray(X, dtype=np.float64), np.asarray(weight, dtype=np.float64)
    centre, scale = zip(*(learn_column(x, weight, normalize) for x in X.T), strict=True)
    return np.array(centre), np.array(scale)


def normalise(X, centre, scale, missing=0.0):
    """Section 1: z = float32((x - centre) / scale), clipped; NaN sits at the centre, or is what `missing` says."""
    with np.errstate(over="ignore"):
        z = np.clip((np.asarray(X, dtype=np.float64) - centre) / scale, -1e30, 1e30)
    return np.where(np.isnan(z), missing, z).astype(np.float32)


def feature_sum(weights, z):
    """FS(x), eq. (7), in the one order of summation (section 1); `z` is one row or a matrix of rows."""
    z, lanes = z.astype(np.float64), np.zeros((8, *z.shape[:-1]))
    for position, feature in enumerate(sorted(weights)):
        lanes[position % 8] += np.float64(weights[feature]) * z[..., feature]
    l0, l1, l2, l3, l4, l5, l6, l7 = lanes
    return ((l0 + l4) + (l2 + l6)) + ((l1 + l5) + (l3 + l7))


def mean(x, weight):
    """E[X]: the sum over the rows divided by their weight."""
    return math.fsum(weight * x) / math.fsum(weight)


def scatter(x, y, weight):
    """The sum of the products of the deviations of `x` and `y` from their means."""
    return math.fsum(weight * (x - mean(x, weight)) * (y - mean(y, weight)))


def scatter_matrix(z, weight, features):
    """`scatter` of all pairs of features."""
    matrix = np.zeros((len(features), len(features)))
    for i, first in enumerate(features):
        for j, second in enumerate(features[: i + 1]):
            matrix[i, j] = matrix[j, i] = scatter(z[:, first], z[:, second], weight)
    return matrix


def solve_shrunk(matrix, right_side, shrinkage):
    """Solve (S + shrinkage tr(S)/p I) x = b by Cholesky; None: tr = 0, a pivot fails, x is not finite."""
    trace = math.fsum(np.diag(matrix))
    return None if trace == 0 else solve_with_ridge(matrix, right_side, shrinkage * trace / len(right_side))


def solve_with_ridge(matrix, right_side, ridge):
    """Solve (S + ridge I) x = b by Cholesky; None: a pivot fails, x is not finite."""
    p = len(right_side)
    shrunk = matrix + ridge * np.eye(p)
    lower = np.zeros((p, p))
    for i in range(p):
        for j in range(i):
            lower[i, j] = (shrunk[i, j] - math.fsum(lower[i, :j] * lower[j, :j])) / lower[j, j]
        pivot = shrunk[i, i] - math.fsum(lower[i, :i] ** 2)
        if not pivot > 1e-12 * shrunk[i, i]:
            return None
        lower[i, i] = math.sqrt(pivot)
    x = np.array(right_side)
    for i in range(p):
        x[i] = (x[i] - math.fsum(lower[i, :i] * x[:i])) / lower[i, i]
    for i in reversed(range(p)):
        x[i] = (x[i] - math.fsum(lower[i + 1 :, i] * x[i + 1 :])) / lower[i, i]
    return x.tolist() if np.isfinite(x).all() else None


def solve_in_rows(deviations, response, ridge):
    """(D^T D + ridge I)^-1 D^T r as D^T (D D^T + ridge I)^-1 r, so for more than 512 features and fewer rows."""
    factors = solve_with_ridge(deviations @ deviations.T, response, ridge)
    return None if factors is None else deviations.T @ factors


def mix64(x):
    """The finaliser of splitmix64."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def derive(key, value):
    """The key of this number below `key`: 0 and 1 for the children of a block, 2 for its draws."""
    return mix64((key + 0x9E3779B97F4A7C15 * (value + 1)) % 2**64)


def active_features(z, weight, alpha):
    """Eq. (1): the features that vary within the block."""
    varying = [i for i, x in enumerate(z.T) if x.min() < x.max()]
    return [i for i in varying if scatter(z[:, i], z[:, i], weight) / math.fsum(weight) > alpha]


def take_features(active, n_features, max_features, key):
    """Section 3.1: draw features without replacement until `max_features` active ones are found."""
    if max_features is None or max_features >= n_features:
        return active
    order, taken, draws = list(range(n_features)), [], derive(key, 2)
    for i in range(n_features):
        j = i + (derive(draws, i) * (n_features - i) >> 64)
        order[i], order[j] = order[j], order[i]
        if order[i] in active and len(taken) < max_features:
            taken.append(order[i])
    return sorted(taken)


def mean_differences(z, is_target, weight, features):
    """SD_i, eq. (2)."""
    t, u = is_target, ~is_target
    return {i: mean(z[t, i], weight[t]) - mean(z[u, i], weight[u]) for i in features}


def divide_by_largest(values):
    """w_i, eqs. (3) to (6); empty where all are 0."""
    largest = max(map(abs, values.values()), default=0.0)
    return {i: value / largest for i, value in values.items()} if largest > 0 else {}


def keep_features(differences, beta):
    """Section 3.2: the SD_i of the features with |w_i| > beta."""
    return {i: differences[i] for i, w in divide_by_largest(differences).items() if abs(w) > beta}


def fisher_direction(z, is_target, weight, kept, shrinkage):
    """Section 3.3: (S_w + shrinkage tr(S_w)/p I) w = SD on the kept features; the SD where that fails."""
    features, t, u = list(kept), is_target, ~is_target
    within = scatter_matrix(z[t], weight[t], features) + scatter_matrix(z[u], weight[u], features)
    solved = solve_shrunk(within, list(kept.values()), shrinkage)
    return dict(zip(features, solved, strict=True)) if solved is not None and any(solved) else kept


def find_directions(z, is_target, weight, taken, options):
    """Section 3.3: the candidate `weights` of a block, first come first served; none where all SD = 0."""
    kept = keep_features(mean_differences(z, is_target, weight, taken), options.beta)
    if kept and options.direction != "mean_difference":
        kept = fisher_direction(z, is_target, weight, kept, options.shrinkage)
    return list_candidates(kept, taken, options)


def list_candidates(direction, taken, options):
    """Section 3.3: the joint direction, scaled, and for "mixed" every feature alone."""
    joint = {i: np.float32(w) for i, w in divide_by_largest(direction).items()}
    alone = [{i: np.float32(1)} for i in taken] if options.direction == "mixed" else []
    return [joint, *alone] if joint else alone


def place_midway(low, high):
    """Section 3.4: the offset in an empty gap; the upper end where rounding lands on the lower."""
    middle = low + (high - low) / 2
    return float(middle if middle > low else high)


def purity_offset(sums, is_target, weight, gamma):
    """Eqs. (10) and (11): cut off the largest pure set if it holds `gamma`, else at e; None: empty side."""
    tfs, nfs = sums[is_target], sums[~is_target]
    sets = [  # N1 to N4: (yields to its equals, the pure set, is that the left side)
        (True, is_target & (sums < nfs.min()), True),
        (False, is_target & (sums > nfs.max()), False),
        (False, ~is_target & (sums < tfs.min()), True),
        (True, ~is_target & (sums > tfs.max()), False),
    ]
    candidates = []
    for order, (yields, is_pure, is_left) in enumerate(sets):
        count = math.fsum(weight[is_pure])
        if count > 0 and count >= gamma:
            goes_left = is_pure if is_left else ~is_pure
            low, high = sums[goes_left].max(), sums[~goes_left].min()
            candidates.append((-count, yields, low - high, order, place_midway(low, high)))
    if candidates:
        return min(candidates)[-1]
    goes_left = sums < (nfs.min() + nfs.max() + tfs.min() + tfs.max()) / 4
    if goes_left.all() or not goes_left.any():
        return None
    return place_midway(sums[goes_left].max(), sums[~goes_left].min())


def gini_cost(t, u):
    """Section 3.4: t u / (t + u), the cost of one side."""
    return t * u / (t + u) if t + u != 0 else 0.0


def gini_cut(sums, is_target, weight, min_samples_leaf):
    """Section 3.4: (cost, offset) of the best cut; ties: wider gap, better balance, lower sum; or None."""
    order = np.argsort(sums, kind="stable")
    n_target, n_other = math.fsum(weight[is_target]), math.fsum(weight[~is_target])
    t = u = 0.0
    cuts = []
    for row, following in pairwise(order):
        t, u = (t + weight[row], u) if is_target[row] else (t, u + weight[row])
        low, high = sums[row], sums[following]
        left, right = t + u, (n_target - t) + (n_other - u)
        if low < high and left >= min_samples_leaf and right >= min_samples_leaf:
            cost = gini_cost(t, u) + gini_cost(n_target - t, n_other - u)
            cuts.append((cost, low - high, abs(left - right), low, place_midway(low, high)))
    best = min(cuts, default=None)
    return best and (best[0], best[-1])


def find_hyperplane(z, is_target, weight, taken, options):
    """Sections 3.2 to 3.4: (weights, offset), or None where the block must stay a leaf."""
    best_cost, best = math.inf, None
    for weights in find_directions(z, is_target, weight, taken, options):
        sums = feature_sum(weights, z)
        if options.offset == "gini":
            cut = gini_cut(sums, is_target, weight, options.min_samples_leaf)
            if cut is not None and cut[0] < best_cost:
                best_cost, best = cut[0], (weights, cut[1])
        else:
            offset = purity_offset(sums, is_target, weight, options.gamma)
            sides = [] if offset is None else [weight[sums < offset], weight[sums >= offset]]
            if sides and min(map(math.fsum, sides)) >= options.min_samples_leaf:
                best = weights, offset
    return best


def marginal_slopes(z, p, weight, features):
    """Section 4: a_i = cov(x_i, p) / var(x_i), the paper's closed form."""
    return [scatter(z[:, i], p, weight) / scatter(z[:, i], z[:, i], weight) for i in features]


def least_squares_slopes(z, p, weight, features, shrinkage):
    """Section 4: (S_t + shrinkage tr(S_t)/p I) a = cross scatter; the marginal slopes where that fails."""
    cross = [scatter(z[:, i], p, weight) for i in features]
    solved = solve_shrunk(scatter_matrix(z, weight, features), cross, shrinkage)
    return marginal_slopes(z, p, weight, features) if solved is None else solved


def fit_membership(z, is_target, weight, active, options):
    """Eq. (14): slopes of a block and intercept = E[P] - sum of a_i E[X_i]."""
    p = is_target.astype(np.float64)
    rarer = min(math.fsum(weight[is_target]), math.fsum(weight[~is_target]))
    if options.membership == "constant" or rarer < options.min_samples_leaf or not active:
        return {}, mean(p, weight)
    return fit_linear(z, p, weight, active, options)


def fit_linear(z, p, weight, active, options):
    """Eq. (14): slopes of the active features, and the intercept."""
    if options.membership == "least_squares":
        slopes = least_squares_slopes(z, p, weight, active, options.shrinkage)
    else:
        slopes = marginal_slopes(z, p, weight, active)
    shifts = [-a * mean(z[:, i], weight) for i, a in zip(active, slopes, strict=True)]
    return dict(zip(active, slopes, strict=True)), math.fsum([mean(p, weight), *shifts])


def covariances(z, response, weight, features):
    """Section 10: n cov(x_i, r), in the place of SD_i; 0 where the correlation may be rounding alone."""
    spread = math.sqrt(math.fsum(weight) * scatter(response, response, weight))
    found = {i: scatter(z[:, i], response, weight) for i in features}
    return {i: s if abs(s) > 1e-12 * np.ptp(z[:, i]) * spread else 0.0 for i, s in found.items()}


def least_squares_direction(z, response, weight, kept, shrinkage):
    """Section 10: (S + shrinkage tr(S - s s^T / var r)/p I) w = s on the kept features; s where that fails."""
    features, s = list(kept), np.array(list(kept.values()))
    total = scatter_matrix(z, weight, features)
    trace = math.fsum(np.diag(total) - s**2 / scatter(response, response, weight))
    solved = solve_with_ridge(total, s, shrinkage * max(trace, 0.0) / len(s))
    return kept if solved is None else dict(zip(features, solved, strict=True))


def find_real_directions(z, response, weight, taken, options):
    """Section 10: `find_directions` for a response that is any number."""
    kept = keep_features(covariances(z, response, weight, taken), options.beta)
    if kept and options.direction != "mean_difference":
        kept = least_squares_direction(z, response, weight, kept, options.shrinkage)
    return list_candidates(kept, taken, options)


def squared_error(response, weight):
    """Section 10: the cost of one side."""
    return scatter(response, response, weight)


def least_squares_cuts(sums, response, weight, min_samples_leaf):
    """Section 10: (cost, offset) of every cut."""
    cuts = []
    for low, high in pairwise(np.unique(sums)):
        is_left = sums <= low
        if min(math.fsum(weight[is_left]), math.fsum(weight[~is_left])) >= min_samples_leaf:
            cost = sum(squared_error(response[side], weight[side]) for side in (is_left, ~is_left))
            cuts.append((cost, place_midway(low, high)))
    return cuts


def fit_real_membership(z, response, weight, active, options):
    """Section 10: slopes and intercept of a block; constant where r is."""
    if options.membership == "constant" or response.min() == response.max() or not active:
        return {}, mean(response, weight)
    return fit_linear(z, response, weight, active, options)


def credit(x, y, weight, n_features):
    """How far the relation of x and y exceeds what chance gives the best of n_features (Bernstein): 0 to 1."""
    product = scatter(x, y, weight)
    reach = max(abs(x - mean(x, weight))) * max(abs(y - mean(y, weight)))
    chance = scatter(x, x, weight) * scatter(y, y, weight) / math.fsum(weight) + reach * abs(product) / 3
    return max(0.0, 1 - 2 * math.log(n_features) * chance / product**2) if product else 0.0


def gain_shares(weights, offset, z, response, weight):
    """Return the share of every feature of a hyperplane in the gain of its block, {feature: share}."""
    n_features = z.shape[1]
    if len(weights) == 1:
        is_left = (feature_sum(weights, z) < offset).astype(np.float64)
        return {i: credit(is_left, response, weight, n_features) for i in weights}
    pull = {i: abs(float(w)) * math.sqrt(scatter(z[:, i], z[:, i], weight)) for i, w in weights.items()}
    total = math.fsum(pull.values())
    return {i: pull[i] / total * credit(z[:, i], response, weight, n_features) for i in weights}


def must_stop(response, weight, depth, options):
    """Section 3: pure, too light, or deep enough."""
    is_pure = response.min() == response.max()
    return is_pure or math.fsum(weight) < options.min_samples_split or depth == options.max_depth


def grow(Z, response, weight, options, key):
    """Algorithm 1: a Tree; `Z` (n, m) float32, `response` (n,) 0 or 1, `weight` (n,) > 0, `key` 64 bits."""
    blocks, leaf_of_row = [], np.full(len(Z), -1)
    work = deque([(np.arange(len(Z)), 0, key)])
    while work:
        rows, depth, key = work.popleft()
        z, is_target, w = Z[rows].astype(np.float64), response[rows] == 1, weight[rows]
        active = active_features(z, w, options.alpha)
        slopes, intercept = fit_membership(z, is_target, w, active, options)
        hyperplane = None
        if not must_stop(is_target, w, depth, options):
            taken = take_features(active, Z.shape[1], options.max_features, key)
            hyperplane = find_hyperplane(z, is_target, w, taken, options)
        if hyperplane is None:
            leaf_of_row[rows] = len(blocks)
            left, right, weights, offset = -1, -1, {}, 0.0
        else:
            left = len(blocks) + len(work) + 1
            right, (weights, offset) = left + 1, hyperplane
            goes_left = feature_sum(weights, z) < offset
            work.append((rows[goes_left], depth + 1, derive(key, 0)))
            work.append((rows[~goes_left], depth + 1, derive(key, 1)))
        counts = len(rows), math.fsum(w), math.fsum(w[is_target])
        blocks.append((left, right, depth, *counts, weights, offset, slopes, intercept, 0.0, 1.0))
    return Tree(*map(list, zip(*blocks, strict=True)), leaf_of_row)


def count_rows(sizes, share):
    """Section 6: rows of each class that a tree sees: this share of them, in whole rows, at least one."""
    wanted = [share * size for size in sizes]
    counts = [max(1, math.floor(rows)) for rows in wanted]
    while sum(counts) < round(share * sum(sizes)):
        counts[max(range(len(counts)), key=lambda cls: wanted[cls] - counts[cls])] += 1
    return counts


def draw_rows(strata, counts, bootstrap, seed, tree):
    """Section 6: how often a tree sees each row, (n,): class by class, the next cards of a shuffled deck or,
    with replacement, any card each time; keyed by (seed, tree), 3 for the draws.
    """
    draws, n_drawn, times = derive(derive(seed, tree), 3), 0, np.zeros(len(strata), dtype=np.int64)
    for cls, count in enumerate(counts):
        deck = np.flatnonzero(np.asarray(strata) == cls).tolist()
        for i in range(count):
            first = 0 if bootstrap else i
            chosen = first + (derive(draws, n_drawn) * (len(deck) - first) >> 64)
            n_drawn += 1
            times[deck[chosen]] += 1
            if not bootstrap:
                deck[i], deck[chosen] = deck[chosen], deck[i]
    return times


def balance(strata, weight):
    """class_weight="balanced_subsample": every class of the rows of a tree weighs the same in all."""
    totals = [math.fsum(weight[strata == cls]) for cls in range(strata.max() + 1)]
    return weight * np.array([math.fsum(totals) / (len(totals) * total) for total in totals])[strata]


def forest_key(seed, tree, target):
    """Section 3: the key of the root; `target` counts the trees of one estimator."""
    return derive(derive(derive(seed, tree), 2), target)
