"""Slow reference of pruning regression trees, in plain loops."""

import math


def inflate(error, n_parameters, weight, cost):
    """M5: the error to be expected on new rows."""
    paid = cost * n_parameters
    return error * (weight + paid) / (weight - paid) if weight > paid else math.inf


def squared_error(response, weight, estimates):
    return math.fsum(w * (r - e) ** 2 for r, w, e in zip(response, weight, estimates, strict=True))


def judge(tree, block, rows, Z, response, weight, cost):
    """Return error and parameters of the best subtree of a block, its leaves and its linear leaves."""
    r, w = [response[row] for row in rows], [weight[row] for row in rows]
    total = math.fsum(w)
    mean = math.fsum(a * b for a, b in zip(r, w, strict=True)) / total
    found, linear = (squared_error(r, w, [mean] * len(rows)), 1), set()
    slopes = tree.slopes[block]
    if slopes:
        estimates = [
            min(
                max(
                    tree.intercept[block] + math.fsum(s * float(Z[row, f]) for f, s in slopes.items()), min(r)
                ),
                max(r),
            )
            for row in rows
        ]
        other = squared_error(r, w, estimates), 1 + len(slopes)
        if inflate(*other, total, cost) < inflate(*found, total, cost):
            found, linear = other, {block}
    if tree.left[block] < 0:
        return found, {block}, linear
    sides = [], []
    for row in rows:
        sum_ = math.fsum(float(v) * float(Z[row, f]) for f, v in tree.weights[block].items())
        sides[sum_ - tree.offset[block] >= 0.0].append(row)
    below = [
        judge(tree, child, side, Z, response, weight, cost)
        for child, side in zip((tree.left[block], tree.right[block]), sides, strict=True)
    ]
    both = (below[0][0][0] + below[1][0][0], below[0][0][1] + below[1][0][1] + len(tree.weights[block]))
    if inflate(*found, total, cost) <= inflate(*both, total, cost):
        return found, {block}, linear
    return both, below[0][1] | below[1][1], linear | below[0][2] | below[1][2]
