"""The slow twin of the boosting of curves and surfaces: one bag, in plain loops."""

import math
from itertools import product

import numpy as np

from .numbers import clamp, exp

F32 = np.float32
TIE = 1e-12  # relative difference of gains that count as equal


class Axis:
    """The cells of a column. The last cell has the missing values."""

    def __init__(self, cell, n_cells, is_ordered=True, sign=0):
        self.cell, self.n_cells, self.is_ordered, self.sign = list(cell), n_cells, is_ordered, sign


def value_of(sums, l2):
    return -sums[0] / (sums[1] + l2) if sums[1] + l2 > 0.0 else 0.0


def reduction_of(sums, l2):
    return sums[0] * sums[0] / (sums[1] + l2) if sums[1] + l2 > 0.0 else 0.0


def add(one, other):
    return [a + b for a, b in zip(one, other, strict=True)]


def take_away(one, other):
    return [a - b for a, b in zip(one, other, strict=True)]


def total_of(cells):
    total = [0.0, 0.0, 0.0]
    for cell in cells:
        total = add(total, cell)
    return total


def order_cells(cells, axis):
    """The cells but that of missing values: numbers in order, categories by their steps with a ridge of 10."""
    order = list(range(axis.n_cells - 1))
    return order if axis.is_ordered else sorted(order, key=lambda cell: (value_of(cells[cell], 10.0), cell))


def is_heavy(sums, least):
    return sums[2] >= least and sums[2] > 0.0


def step_curve(cells, axis, options, dispersion):
    """The mean of all cuts, weighted by their likelihoods."""
    rate, l2, least, smoothing = options
    order = order_cells(cells, axis)
    everything, left = total_of([cells[cell] for cell in order]), [0.0, 0.0, 0.0]
    additions = [0.0] * axis.n_cells
    if is_heavy(cells[-1], least):
        additions[-1] = rate * value_of(cells[-1], l2)
    cuts = []
    for i, cell in enumerate(order[:-1]):
        left = add(left, cells[cell])
        right = take_away(everything, left)
        if not cells[cell][2] > 0.0 or left[2] < least or not is_heavy(right, least):
            continue
        below, above = value_of(left, l2), value_of(right, l2)
        if axis.sign * (above - below) >= 0.0:
            cuts.append((i + 1, reduction_of(left, l2) + reduction_of(right, l2), below, above))
    best = max((gain for _, gain, _, _ in cuts), default=0.0)
    likelihoods = [
        1.0 if gain == best else exp(max((gain - best) / (2.0 * dispersion * smoothing), -700.0))
        for _, gain, _, _ in cuts
    ]
    total = 0.0
    for likelihood in likelihoods:
        total += likelihood
    value = 0.0 if cuts else value_of(everything, l2)
    for (_, _, below, _), likelihood in zip(cuts, likelihoods, strict=True):
        value += likelihood / total * below
    begin = 0
    for (end, _, below, above), likelihood in zip(cuts, likelihoods, strict=True):
        for cell in order[begin:end]:
            additions[cell] = rate * value
        value += likelihood / total * (above - below)
        begin = end
    for cell in order[begin:]:
        additions[cell] = rate * value
    return additions


def cut_once(cells, axis, options):
    """(gain, order, end of the left range, left, right and missing value) of the best cut of an axis, or of none."""
    _, l2, least, _ = options
    order = order_cells(cells, axis)
    everything, left = total_of([cells[cell] for cell in order]), [0.0, 0.0, 0.0]
    best = (reduction_of(everything, l2), len(order), value_of(everything, l2), 0.0)
    for i, cell in enumerate(order[:-1]):
        left = add(left, cells[cell])
        right = take_away(everything, left)
        if is_heavy(left, least) and is_heavy(right, least):
            gain = reduction_of(left, l2) + reduction_of(right, l2)
            if gain > best[0] * (1.0 + TIE):
                best = gain, i + 1, value_of(left, l2), value_of(right, l2)
    gain, missing = best[0], 0.0
    if is_heavy(cells[-1], least):
        gain, missing = gain + reduction_of(cells[-1], l2), value_of(cells[-1], l2)
    return gain, order, *best[1:], missing


def list_sides(axis):
    """The cells on the left side of every cut of an axis: numbers up to an edge, or a category or missing alone."""
    n = axis.n_cells
    if axis.is_ordered:
        return [set(range(a + 1)) for a in range(n - 2)] + [{n - 1}]
    return [{a} for a in range(n)]


def step_surface(cells, first, second, options):
    """A cut of one axis, and a cut of the other one on each side; cells by first and second axis."""
    best = (0.0, None)
    for number, (split, other) in enumerate(((first, second), (second, first))):

        def add_up(side, number=number, other=other):
            return [
                total_of([cells[(a, b) if number == 0 else (b, a)] for a in sorted(side)])
                for b in range(other.n_cells)
            ]

        everything = add_up(range(split.n_cells))
        for left in list_sides(split):
            own = add_up(left)
            others = [take_away(one, part) for one, part in zip(everything, own, strict=True)]
            sides = [(left, own), (set(range(split.n_cells)) - left, others)]
            if not all(is_heavy(total_of(own), options[2]) for _, own in sides):
                continue
            found = [(side, cut_once(own, other, options)) for side, own in sides]
            gain = sum(cut[0] for _, cut in found)
            if gain > best[0] * (1.0 + TIE):
                best = gain, (number, other, found)
    additions = dict.fromkeys(cells, 0.0)
    if best[1] is not None:
        number, other, found = best[1]
        for side, (_, order, end, left, right, missing) in found:
            for a in side:
                for i, b in enumerate([*order, other.n_cells - 1]):
                    value = missing if b == other.n_cells - 1 else left if i < end else right
                    additions[(a, b) if number == 0 else (b, a)] = options[0] * value
    return additions


def boost(terms, labels, parts, base, options, growth, n_cycles):
    """Values of every term and score after some cycles, {cell: value}; terms are tuples of axes.

    In every cycle, the learning rate grows by a part of the first one, up to 1. Parts of the training rows take turns
    of four cycles.
    """
    n_scores = len(base)
    values = [[dict.fromkeys(list_cells(axes), 0.0) for _ in range(n_scores)] for axes in terms]
    hessians = {}
    first = options[0]
    for cycle in range(n_cycles):
        if cycle % 4 == 0 and (len(parts) > 1 or cycle == 0):
            train = parts[cycle // 4 % len(parts)]
            raw = {
                row: [
                    sum(
                        (
                            own[k][tuple(a.cell[row] for a in axes)]
                            for axes, own in zip(terms, values, strict=True)
                        ),
                        b,
                    )
                    for k, b in enumerate(base)
                ]
                for row in train
            }
        options = (max(first, min(first * (1.0 + growth * cycle), 1.0)), *options[1:])
        sums = {row: labels.prepare(raw[row]) for row in train}
        changes = []
        for score in range(n_scores):
            both = labels.differentiate_all(train, raw, score, sums)
            squares = math.fsum(float(g) ** 2 for g, _ in both.values())
            total = math.fsum(float(h) for _, h in both.values())
            steepest = max(abs(g) for g, _ in both.values())
            moved = dict.fromkeys(train, F32(0.0))
            if not steepest > 0.0:
                continue
            per = F32(1.0 / 2.0 ** (math.frexp(steepest)[1] - 26))
            for t, axes in enumerate(terms):
                places = {row: tuple(axis.cell[row] for axis in axes) for row in train}
                cells = {cell: [0, 0.0, 0.0] for cell in values[t][score]}
                for row in train:
                    g, h = both[row]
                    cell = cells[places[row]]
                    cell[0] += int(F32(clamp(F32(g + F32(h * moved[row])) * per, F32(-2e9), F32(2e9))))
                    cell[1], cell[2] = cell[1] + float(h), cell[2] + 1.0
                if cycle % 4 == 0:
                    hessians[t, score] = {cell: own[1] for cell, own in cells.items()}
                cells = {
                    cell: [own[0] / float(per), hessians[t, score][cell], own[2]]
                    for cell, own in cells.items()
                }
                if len(axes) == 1:
                    listed = [cells[i,] for i in range(axes[0].n_cells)]
                    steps = step_curve(listed, axes[0], options, squares / total)
                    additions = {(i,): step for i, step in enumerate(steps)}
                else:
                    additions = step_surface(cells, *axes, options)
                for row in train:
                    moved[row] = F32(moved[row] + F32(additions[places[row]]))
                for cell, step in additions.items():
                    values[t][score][cell] += step
            changes.append((score, moved))
        for score, moved in changes:
            for row in train:
                raw[row][score] += float(moved[row])
    return values


def list_cells(axes):
    """All cells of a term."""
    cells = [()]
    for axis in axes:
        cells = [(*cell, i) for cell in cells for i in range(axis.n_cells)]
    return cells


def merge_cells(values, weights):
    """The merges of neighbouring cells, the cheapest first: the last cell of the left step, and the total cost.

    Values are of shape (n_cells, n_parts, n_scores), weights of shape (n_cells, n_parts).
    """
    steps = [[cell] for cell in range(len(values))]
    merges, total = [], 0.0

    def average(step):
        weight = weights[step].sum(axis=0)
        mean = np.zeros(values.shape[1:])
        for part in range(values.shape[1]):
            if weight[part] > 0.0:
                mean[part] = np.average(values[step, part], axis=0, weights=weights[step, part])
        return mean, weight

    def measure(step, other):
        (one, a), (two, b) = average(step), average(other)
        return sum(
            0.5 * a[i] * b[i] / (a[i] + b[i]) * ((one[i] - two[i]) ** 2).sum()
            for i in range(len(a))
            if a[i] + b[i] > 0.0
        )

    while len(steps) > 1:
        costs = [measure(steps[i], steps[i + 1]) for i in range(len(steps) - 1)]
        i = int(np.argmin(costs))
        total += costs[i]
        merges.append((steps[i][-1], total))
        steps[i : i + 2] = [steps[i] + steps[i + 1]]
    return merges


def group_cells(values, weights, is_ordered, most_cost):
    """The groups of the cells of every axis after merges of at most this cost; missing values are alone.

    Values are of shape (*n_cells, n_scores), weights of shape (*n_cells,).
    """
    groups = []
    for axis, ordered in enumerate(is_ordered):
        n = values.shape[axis] - 1
        own = [[cell] for cell in range(n)]
        if ordered:
            parts = np.moveaxis(values, axis, 0)[:n].reshape(n, -1, values.shape[-1])
            of_parts = np.moveaxis(weights, axis, 0)[:n].reshape(n, -1)
            for last, cost in merge_cells(parts, of_parts):
                if cost <= most_cost:
                    i = next(i for i, group in enumerate(own) if last in group)
                    own[i : i + 2] = [own[i] + own[i + 1]]
        groups.append([*own, [n]])
    return groups


def flatten(values, weights, groups):
    """Values of which all cells of a block of groups have the weighted mean; without weight, the plain one."""
    flat = np.empty_like(values)
    for block in product(*groups):
        cells = np.ix_(*block)
        own, weight = values[cells], weights[cells]
        if not weight.sum() > 0.0:
            weight = np.ones_like(weight)
        flat[cells] = (own * weight[..., None]).sum(axis=tuple(range(weight.ndim))) / weight.sum()
    return flat
