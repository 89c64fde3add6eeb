"""The core boosts the same curves and surfaces as the slow reference."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree import _core
from reference import additive as slow
from reference.boost import Classes, log_sum
from reference.responses import Response


class Labels:
    """Labels of the reference with the derivatives that additive models use."""

    def __init__(self, loss, y, n_classes):
        self.loss, self.y = loss, y
        self.twin = Classes(y, n_classes) if loss in ("logistic", "softmax") else Response(loss, y)

    def prepare(self, raw):
        return log_sum(raw) if self.loss == "softmax" else None

    def differentiate_all(self, rows, raw, score, sums):
        if self.loss != "absolute_error":
            return {row: self.twin.differentiate(row, raw[row], score, sums[row]) for row in rows}
        sizes = {row: self.y[row] - raw[row][0] for row in rows}
        total = 0.0
        for row in rows:
            total += abs(sizes[row])
        least = max(1e-2 * total / len(rows), 1e-12)
        return {
            row: (
                np.float32(-2.0 * (0.5 * size / (abs(size) + least))),
                np.float32(2.0 * 0.5 / (abs(size) + least)),
            )
            for row, size in sizes.items()
        }


def make_rows(X, loss, y, n_classes):
    """Return coded rows of the core, their bins and codes."""
    centre, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
    bins = _core.learn_bins(X, centre=centre, scale=scale, max_bins=255)
    codes = bins.encode(X)
    labels = (
        {"classes": np.array(y, dtype=np.int32)}
        if n_classes
        else {"response": np.array(y, dtype=float)[:, None]}
    )
    return _core.BoostRows(codes, bins, loss=loss, n_classes=n_classes, **labels), bins, codes


@st.composite
def tables(draw):
    """Draw small tables with gaps, a loss, and terms: all curves, and perhaps a surface."""
    n = draw(st.integers(6, 24))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m = draw(st.integers(1, 3))
    X = random.integers(0, draw(st.integers(2, 6)), (n, m)).astype(float)
    X[random.random(X.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    loss = draw(
        st.sampled_from(["logistic", "softmax", "squared_error", "absolute_error", "poisson", "gamma"])
    )
    n_classes = {"logistic": 2, "softmax": 3}.get(loss, 0)
    y = np.arange(n) % n_classes if n_classes else np.round(random.uniform(0.1, 1.0, n), 3)
    random.shuffle(y)
    terms = [(column,) for column in range(m)] + ([(0, 1)] if m > 1 and draw(st.booleans()) else [])
    is_ordered = [draw(st.booleans()) for _ in range(m)]
    signs = [draw(st.sampled_from([-1, 0, 1])) if ordered else 0 for ordered in is_ordered]
    return X, loss, n_classes, y.tolist(), terms, is_ordered, signs


@settings(deadline=None)
@given(
    table=tables(),
    least=st.sampled_from([1.0, 3.0]),
    smoothing=st.sampled_from([0.1, 3.0]),
    n_cycles=st.integers(1, 9),
    growth=st.sampled_from([0.0, 0.5]),
    n_parts=st.integers(1, 3),
)
def test_values_are_those_of_the_reference(table, least, smoothing, n_cycles, growth, n_parts):
    X, loss, n_classes, y, terms, is_ordered, signs = table
    rows, bins, codes = make_rows(X, loss, y, n_classes)
    base = _core.find_base(rows)
    n_codes = np.diff(bins.arrays()["ptr"])
    axes = [
        _core.CellAxis(
            rows,
            slot=slot,
            is_ordered=is_ordered[slot],
            cell=np.arange(n, dtype=np.uint8),
            n_cells=int(n),
            sign=signs[slot],
        )
        for slot, n in enumerate(n_codes)
    ]
    fold = (np.arange(len(X)) % 4).astype(np.int32)
    part = (np.arange(len(X)) // 2 % n_parts).astype(np.int32)
    fit = _core.AdditiveFit(
        rows, axes, [list(term) for term in terms], base=base, fold=fold, part=part, n_bags=1
    )
    n_cells = sum(int(np.prod(n_codes[list(term)])) for term in terms)
    step = _core.StepOptions(
        learning_rate=0.3, l2_regularization=1.0, min_samples_leaf=least, smoothing=smoothing, growth=growth
    )
    found, losses, n_kept = fit.boost(
        np.zeros(n_cells * len(base)),
        np.ones(len(terms), dtype=np.uint8),
        step=step,
        n_cycles=n_cycles,
        patience=100,
    )
    n_checked = int(np.argmin(losses[0]))
    assert n_kept == min(4 * n_checked, n_cycles)  # losses are compared after every fourth cycle and the last
    slow_axes = [
        slow.Axis(codes[:, slot], int(n), is_ordered[slot], signs[slot]) for slot, n in enumerate(n_codes)
    ]
    parts = [
        [row for row in range(len(X)) if fold[row] != 0 and part[row] == number] for number in range(n_parts)
    ]
    expected = slow.boost(
        [tuple(slow_axes[axis] for axis in term) for term in terms],
        Labels(loss, y, n_classes),
        parts,
        base.tolist(),
        (0.3, 1.0, least, smoothing),
        growth,
        n_kept,
    )
    listed = [
        [of_score[cell] for of_score in of_term]
        for term, of_term in zip(terms, expected, strict=True)
        for cell in slow.list_cells([slow_axes[axis] for axis in term])
    ]
    np.testing.assert_allclose(found.reshape(n_cells, len(base)), listed, rtol=1e-9, atol=1e-12)
    raw = fit.score_left_out(found).reshape(len(X), len(base))
    held = np.flatnonzero((fold == 0) & (part == 0))
    labels = {"classes": np.array(y, dtype=np.int32)} if n_classes else {"response": np.array(y, dtype=float)}
    np.testing.assert_allclose(_core.loss(loss, raw, **labels)[held].mean(), losses[0][n_checked], rtol=1e-6)


def test_bags_stop_together_and_boost_their_own_terms():
    random = np.random.default_rng(0)
    X = random.integers(0, 8, (200, 2)).astype(float)
    y = (X[:, 0] + X[:, 1] + random.normal(0, 1, 200)) / 20
    rows, _, _ = make_rows(X, "squared_error", y.tolist(), 0)
    axes = [
        _core.CellAxis(rows, slot=slot, is_ordered=True, cell=np.arange(9, dtype=np.uint8), n_cells=9)
        for slot in range(2)
    ]
    fold = (np.arange(200) % 4).astype(np.int32)
    fit = _core.AdditiveFit(
        rows, axes, [[0], [1]], base=_core.find_base(rows), fold=fold, part=np.zeros_like(fold), n_bags=2
    )
    step = _core.StepOptions(learning_rate=0.3, l2_regularization=1.0, min_samples_leaf=2, smoothing=1.0)
    options = {"step": step, "n_cycles": 200, "patience": 20}
    found, losses, n_cycles = fit.boost(np.zeros(36), np.array([1, 0, 0, 1], dtype=np.uint8), **options)
    values = found.reshape(2, 2, 9)
    np.testing.assert_array_equal(values.any(axis=2), np.eye(2, dtype=bool))
    mean = np.mean(losses, axis=0)
    assert n_cycles == 4 * np.argmin(mean)
    assert len(mean) == 1 + (n_cycles + 20) // 4


def test_the_gain_of_a_surface_finds_the_pair_that_interacts():
    random = np.random.default_rng(0)
    X = random.integers(0, 8, (600, 3)).astype(float)
    y = ((X[:, 0] > 3) ^ (X[:, 2] > 3)).astype(float) + random.normal(0, 0.1, 600)
    rows, _, _ = make_rows(X, "squared_error", (y / 4).tolist(), 0)
    axes = [
        _core.CellAxis(rows, slot=slot, is_ordered=True, cell=np.arange(9, dtype=np.uint8), n_cells=9)
        for slot in range(3)
    ]
    step = _core.StepOptions(learning_rate=0.1, l2_regularization=1.0, min_samples_leaf=5, smoothing=1.0)
    fold = np.zeros(600, dtype=np.int32)
    gains = _core.measure_pairs(rows, axes, np.full(600, y.mean() / 4), fold=fold, left_out=-1, step=step)
    assert np.argmax(gains) == 1  # the pairs are (0, 1), (0, 2) and (1, 2)
    assert not _core.measure_pairs(rows, axes, np.zeros(600), fold=fold, left_out=0, step=step).any()


def test_malformed_axes_are_rejected(rejects):
    rows, _, _ = make_rows(np.arange(6.0)[:, None], "squared_error", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 0)
    given = {"slot": 0, "is_ordered": True, "cell": np.arange(7, dtype=np.uint8), "n_cells": 7, "sign": 0}
    for changes in (
        {"slot": 7},
        {"cell": np.zeros(2, dtype=np.uint8)},
        {"n_cells": 1},
        {"is_ordered": False, "sign": 1},
    ):
        rejects(_core.CellAxis, rows, **given | changes)


@given(st.integers(1, 12), st.integers(1, 3), st.integers(1, 2), st.integers(0, 2**32 - 1))
def test_merges_are_those_of_the_reference(n_cells, n_parts, n_scores, seed):
    random = np.random.default_rng(seed)
    values = random.normal(size=(n_cells, n_parts, n_scores))
    weights = random.uniform(0.1, 2.0, (n_cells, n_parts)) * (random.random((n_cells, n_parts)) < 0.9)
    edge, cost = _core.find_merges(values.ravel(), weights.ravel(), n_parts=n_parts, n_scores=n_scores)
    expected = slow.merge_cells(values, weights)
    np.testing.assert_allclose(cost, [total for _, total in expected], rtol=1e-9, atol=1e-12)
    if weights.all():  # cells of no weight are merged for nothing, in any order
        assert edge.tolist() == [last for last, _ in expected]
    else:
        assert sorted(edge.tolist()) == list(range(n_cells - 1))
