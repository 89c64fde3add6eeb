"""Surfaces: which pairs of columns have one, and their purification."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ... import _core
from .bags import Bags, TermValues
from .settings import Pair

Floats = NDArray[np.float64]

# Most cells of an axis of a surface, without that of missing values.
_FEW_CELLS = 8  # if there are few rows
_SURFACE_CELLS = 16
_FINE_CELLS = 32  # of the final surfaces, if there are many rows
_FEW_ROWS, _MANY_ROWS = 400, 4000
_SEARCH_ROWS = 20_000  # about, while pairs are chosen
_SCREEN_CELLS = 12  # of an axis while all pairs are compared
_PAIR_COUNTS = (4, 16, 64, 128)  # tried by interactions="auto"
# Sums of the learning rates of all cycles: most fits need less; classes that curves separate would take all cycles.
_SEARCH_DISTANCE = 10.0  # while numbers of pairs are compared
_MOST_DISTANCE = 50.0
_ROUNDING = 1e-12  # relative to the weight of a cell: smaller pivots are rounding errors


def add_surfaces(bags: Bags, curves: list[TermValues]) -> list[TermValues]:
    """Return the curves and the surfaces of chosen pairs, whose main effects are moved to the curves."""
    wanted = bags.settings.interactions
    raw = bags.score(curves)
    weights = [weight for weight, _ in bags.weigh(curves, raw)]
    free = [number for number, term in enumerate(curves) if term.axes[0].sign == 0]
    column_of = {
        number: int(bags.training.encoding.column[curves[number].axes[0].features.start]) for number in free
    }
    if isinstance(wanted, list):
        by_column: dict[int, list[int]] = {}
        for number, column in column_of.items():
            by_column.setdefault(column, []).append(number)
        pairs = [
            (a, b)
            for first, second in wanted
            for a in by_column.get(first, [])
            for b in by_column.get(second, [])
        ]
        return _boost_surfaces(bags, curves, pairs, weights)
    every = list(combinations(free, 2))
    is_allowed = np.array([bags.settings.allows(column_of[a], column_of[b]) for a, b in every], dtype=bool)
    n_most = min(int(is_allowed.sum()), _PAIR_COUNTS[-1] if wanted is None else wanted)
    if n_most == 0:
        return curves
    few = bags.thin(_SEARCH_ROWS)
    coarse = [curves[number].axes[0].coarsen(weights[number], _SCREEN_CELLS) for number in free]

    def rank(left_out: int) -> list[Pair]:
        """Return the pairs of largest gain on the rows outside a fold."""
        gains = _core.measure_pairs(
            bags.rows,
            [axis.of_core(bags.rows) for axis in coarse],
            raw,
            fold=few.fold,
            left_out=left_out,
            step=bags.settings.step,
            n_threads=bags.n_threads,
        )
        order = np.argsort(-gains, kind="stable")
        return [every[place] for place in order[is_allowed[order]][:n_most]]

    if wanted is None:
        n_most = _count_pairs(few, curves, weights, raw, [rank(bag) for bag in range(bags.n_bags)])
    return _boost_surfaces(bags, curves, rank(-1)[:n_most], weights)


def _start_surface(
    bags: Bags, curves: list[TermValues], pair: Pair, weights: list[Floats], n_cells: int
) -> TermValues:
    axes = (curves[number].axes[0].coarsen(weights[number], n_cells) for number in pair)
    return bags.start(tuple(axes))


def _count_cells(bags: Bags) -> int:
    """Return the most cells of an axis of the final surfaces."""
    n_rows = bags.training.n_rows
    return _FEW_CELLS if n_rows < _FEW_ROWS else _SURFACE_CELLS if n_rows < _MANY_ROWS else _FINE_CELLS


def _count_pairs(
    bags: Bags, curves: list[TermValues], weights: list[Floats], raw: Floats, ranked: list[list[Pair]]
) -> int:
    """Return the number of pairs with the least held-out loss, if it is lower than without pairs.

    It must be lower by more than its standard error. Every bag has pairs of its own, which were ranked without its
    held-out rows.
    """
    if not bags.is_held.any():
        return 0
    without = bags.losses(raw)
    n_cells = min(_count_cells(bags), _SURFACE_CELLS)
    n_best, most = 0, 0.0
    for n_pairs in sorted({min(n, len(ranked[0])) for n in _PAIR_COUNTS}):
        if n_pairs > _PAIR_COUNTS[-2] and n_best < _PAIR_COUNTS[-2]:
            break
        place: dict[Pair, int] = {}
        terms = list(curves)
        is_active = np.zeros((bags.n_bags, len(curves) + bags.n_bags * n_pairs), dtype=bool)
        for bag, pairs in enumerate(ranked):
            for pair in pairs[:n_pairs]:
                if pair not in place:
                    place[pair] = len(terms)
                    terms.append(_start_surface(bags, curves, pair, weights, n_cells))
                is_active[bag, place[pair]] = True
        terms, _ = bags.boost_surfaces(terms, is_active[:, : len(terms)], _SEARCH_DISTANCE)
        gain, error = bags.average(without - bags.losses(bags.score(terms)), bags.is_held)
        if gain > max(most, error):
            n_best, most = n_pairs, gain
    return n_best


def _boost_surfaces(
    bags: Bags, curves: list[TermValues], pairs: list[Pair], weights: list[Floats]
) -> list[TermValues]:
    """Boost the surfaces of some pairs on top of the curves, and purify them; without gain, return the curves."""
    if not pairs:
        return curves
    n_cells = _count_cells(bags)
    surfaces = [_start_surface(bags, curves, pair, weights, n_cells) for pair in pairs]
    is_active = np.arange(len(curves) + len(surfaces)) >= len(curves)
    terms, n_cycles = bags.boost_surfaces([*curves, *surfaces], is_active, _MOST_DISTANCE)
    if not n_cycles:  # no cycle lowers the held-out loss
        return curves
    sizes = bags.weigh(terms, bags.score(terms))
    for number, pair in enumerate(pairs, start=len(curves)):
        term = terms[number]
        pure, main = purify(term.values, sizes[number][0])
        terms[number] = term._replace(values=pure)
        for axis, curve, effect in zip(term.axes, pair, main, strict=True):
            own = terms[curve]
            # The cell of the surface for every cell of the curve.
            cell = np.zeros(own.shape[0], dtype=np.int64)
            cell[own.axes[0].cell] = axis.cell
            terms[curve] = own._replace(values=own.values + effect[:, cell])
    return terms


def purify(values: Floats, weight: Floats) -> tuple[Floats, tuple[Floats, Floats]]:
    """Split surfaces into main effects of both axes and the rest, whose weighted sums along either axis are 0.

    Parameters
    ----------
    values : array of shape (n_bags, n_first, n_second, n_scores)
        Values of the cells.
    weight : array of shape (n_first, n_second)
        Weights of the cells; cells of weight 0 do not count.

    Returns
    -------
    rest : array of the shape of values
    main : tuple of arrays
        Main effects, of shape (n_bags, n_first, n_scores) and (n_bags, n_second, n_scores).
    """
    n_second = weight.shape[1]
    of_first = weight.sum(axis=1)
    share = weight / np.where(of_first > 0.0, of_first, 1.0)[:, None]
    weighted = values * weight[..., None]
    of_rows = weighted.sum(axis=2).swapaxes(0, 1).reshape(len(weight), -1)
    system = np.concatenate(
        [np.diag(weight.sum(axis=0)), weighted.sum(axis=1).swapaxes(0, 1).reshape(n_second, -1)], axis=1
    )
    # Without the first effects, whose equations have a single one each; row by row, as a BLAS has other bits on other
    # machines.
    for own, part, total in zip(weight, share, of_rows, strict=True):
        system -= part[:, None] * np.concatenate([own, total])
    for j, least in enumerate(_ROUNDING * weight.sum(axis=0)):
        if not system[j, j] > least:  # follows from the others: the effect is 0
            system[j] = 0.0
            continue
        system[j] /= system[j, j]
        factor = system[:, j].copy()
        factor[j] = 0.0
        system -= factor[:, None] * system[j]
    second = system[:, n_second:]
    first = of_rows / np.where(of_first > 0.0, of_first, 1.0)[:, None]
    for part, effect in zip(share.T, second, strict=True):
        first -= part[:, None] * effect
    first, second = (one.reshape(-1, len(values), values.shape[-1]).swapaxes(0, 1) for one in (first, second))
    return values - first[:, :, None] - second[:, None], (first, second)
