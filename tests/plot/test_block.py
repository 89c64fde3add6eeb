import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from lhtree import LHTClassifier, plot_block
from lhtree.model.model import read
from lhtree.plot._block import _find_edges, find_sums, place_labels, spread
from support import pictures

pytestmark = pytest.mark.usefixtures("closing")


def branching(model, tree):
    return np.flatnonzero(~model.trees_[tree].is_leaf).tolist()


@pytest.mark.parametrize("make", [pictures.wine, pictures.iris, pictures.clouds])
def test_sums_sides_and_extremes(make):
    model, X, y = make()
    Z = read(model).normalise(np.asarray(X)).astype(np.float64)
    y = np.asarray(y)
    for tree, view in enumerate(model.trees_):
        path, ptr = model.decision_path(X)
        for block in branching(model, tree):
            facts = find_sums(model, X, y, block, tree)
            inside = path[:, ptr[tree] + block].toarray().ravel() == 1
            weights = [view.weights(block).get(name, 0.0) for name in view.feature_names]
            np.testing.assert_allclose(facts.feature_sum, Z[inside] @ weights, atol=1e-12)
            assert facts.count(True)[0] == view.n_samples[view.left[block]]
            assert facts.count(False)[0] == view.n_samples[view.right[block]]
            assert facts.count(True)[1] == view.n_target[view.left[block]]
            assert facts.count(False)[1] == view.n_target[view.right[block]]
            np.testing.assert_array_equal(facts.goes_left, facts.feature_sum < facts.offset)
            targets = facts.feature_sum[y[inside] == view.target]
            others = facts.feature_sum[y[inside] != view.target]
            expected = {
                "min TFS": targets.min(),
                "max TFS": targets.max(),
                "min NFS": others.min(),
                "max NFS": others.max(),
            }
            assert facts.extremes == expected


def test_plot_has_extremes_offset_and_counts():
    model, X, y = pictures.wine()
    facts = find_sums(model, X, y, 0, 0)
    ax = plot_block(model, X, y, 0)
    written = pictures.written(ax)
    for name, value in facts.extremes.items():
        assert f"{name} {value:.4g}".replace("-", "−") in written
    assert f"c = {facts.offset:.4g}".replace("-", "−") in written
    assert ax.get_title(loc="left") == f"← {facts.count(True)[0]} rows to leaf 1, 0 of class_0"
    assert ax.get_title(loc="right") == f"{facts.count(False)[0]} rows to block 2, 59 of class_0 →"
    heights = np.array([bar.get_height() for bar in ax.patches])
    assert heights[heights > 0].sum() == facts.is_target.sum()
    assert heights[heights < 0].sum() == -(~facts.is_target).sum()
    left = [bar for bar in ax.patches if bar.get_x() + bar.get_width() <= facts.offset + 1e-9]
    assert sum(abs(bar.get_height()) for bar in left) == facts.count(True)[0]  # no bar stands on both sides


@given(low=st.floats(-1e6, 1e6), width=st.floats(1e-3, 1e6), share=st.floats(0, 1))
def test_bins_cover_the_range_and_one_starts_at_the_offset(low, width, share):
    high = low + width
    offset = low + share * width
    edges = _find_edges(low, high, offset)
    assert edges[0] <= low + 1e-3 * width
    assert edges[-1] >= high - 1e-3 * width
    assert offset in edges
    assert len(edges) <= 45


def test_rows_of_one_class_and_no_rows_are_drawn():
    model, X, y = pictures.wine()
    ax = plot_block(model, X[y == "class_0"], y[y == "class_0"], 0)
    assert not any("NFS" in text for text in pictures.written(ax))
    # All of these go to leaf 1, so that none reaches block 2.
    others = X[(model.apply(X)[:, 0] == 1)]
    ax = plot_block(model, others, y[others.index], 2)
    assert ax.get_title(loc="left").startswith("← 0 rows to ")
    ax.figure.canvas.draw()


@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_rows_with_missing_values_are_counted(seed):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(60, 3)) * 10.0 ** generator.integers(-8, 8, 3)
    X[generator.uniform(size=X.shape) < 0.2] = np.nan
    y = generator.integers(0, 2, 60)
    model = LHTClassifier(gamma=2).fit(X, y)
    for block in branching(model, 0):
        facts = find_sums(model, X, y, block)
        assert facts.count(True)[0] == model.trees_[0].n_samples[model.trees_[0].left[block]]
    plot_block(model, X, y).figure.canvas.draw()
    plt.close("all")


def test_labels_are_on_their_side_of_the_offset():
    X, y = load_breast_cancer(return_X_y=True)
    model = LHTClassifier(gamma=50, beta=0.5).fit(X, y)
    for block in branching(model, 0):
        facts = find_sums(model, X, y, block)
        ax = plot_block(model, X, y, block)
        assert pictures.find_flaws(ax) == ([], [])
        line = ax.transData.transform((facts.offset, 0.0))[0]
        low, high = ax.get_window_extent().intervalx
        for name, value in facts.extremes.items():
            (label,) = (text for text in ax.texts if text.get_text().startswith(name))
            box = label.get_window_extent()
            assert box.x1 < line - 1.0 if value < facts.offset else box.x0 > line + 1.0
            assert low - 1.0 <= box.x0
            assert box.x1 <= high + 1.0
        plt.close("all")


def test_small_axes_have_all_labels():
    model, X, y = pictures.wine()
    _, ax = plt.subplots(figsize=(1.5, 1.5))
    ax = plot_block(model, X, y, ax=ax)
    ax.figure.canvas.draw()
    assert len(pictures.written(ax)) >= 5


labels = st.lists(st.tuples(st.floats(-100, 100), st.floats(0.1, 20)), min_size=1, max_size=8).map(sorted)


@given(labels=labels, gap=st.floats(0, 2))
def test_labels_keep_their_order_and_do_not_overlap(labels, gap):
    centres, widths = (np.array(part) for part in zip(*labels, strict=True))
    placed = spread(centres, widths, gap)
    apart = np.diff(placed) - (widths[1:] + widths[:-1]) / 2
    assert (apart >= gap - 1e-6).all()


@given(labels=labels)
def test_labels_with_room_do_not_move(labels):
    centres, widths = (np.array(part) for part in zip(*labels, strict=True))
    centres = np.cumsum(np.full(len(centres), 30.0))
    np.testing.assert_array_equal(spread(centres, widths, 0.5), centres)


def test_touching_labels_move_equally():
    np.testing.assert_allclose(spread(np.array([0.0, 1.0]), np.array([2.0, 2.0]), 0.0), [-0.5, 1.5])


def test_labels_stay_inside():
    placed = place_labels(np.array([0.0, 9.9]), np.array([2.0, 2.0]), 0.0, 10.0, 0.2)
    np.testing.assert_allclose(placed, [1.0, 9.0])
    placed = place_labels(np.array([9.8, 9.9]), np.array([2.0, 2.0]), 0.0, 10.0, 0.2)
    assert placed[1] == 9.0
    assert placed[0] <= 7.0
