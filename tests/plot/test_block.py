import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree import LHTClassifier, plot_block
from lhtree.model.model import read
from lhtree.plot._tree import _find_edges, find_rows
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
            facts = find_rows(model, X, y, block, tree)
            inside = path[:, ptr[tree] + block].toarray().ravel() == 1
            weights = [view.weights(block).get(name, 0.0) for name in view.feature_names]
            np.testing.assert_allclose(facts.feature_sum, Z[inside] @ weights, atol=1e-12)
            for left, child in ((True, view.left[block]), (False, view.right[block])):
                assert len(facts.on_side(left)) == view.n_samples[child]
                assert facts.on_side(left).sum() == view.n_target[child]
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
    facts = find_rows(model, X, y, 0, 0)
    ax = plot_block(model, X, y, 0)
    listed = [text.get_text() for text in ax.get_legend().get_texts()]
    assert listed == [f"{name} {value:.4g}".replace("-", "−") for name, value in facts.extremes.items()]
    assert f"offset c = {facts.offset:.4g}".replace("-", "−") in ax.get_xlabel()
    assert ax.get_title(loc="left") == f"← {len(facts.on_side(True))} rows to leaf 1, 0 of class_0"
    assert ax.get_title(loc="right") == f"{len(facts.on_side(False))} rows to block 2, 59 of class_0 →"
    heights = np.array([bar.get_height() for bar in ax.patches])
    assert heights[heights > 0].sum() == facts.outcome.sum()
    assert heights[heights < 0].sum() == -(~facts.outcome).sum()
    left = [bar for bar in ax.patches if bar.get_x() + bar.get_width() <= facts.offset + 1e-9]
    assert sum(abs(bar.get_height()) for bar in left) == len(
        facts.on_side(True)
    )  # no bar stands on both sides


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
    assert not any("NFS" in text.get_text() for text in ax.get_legend().get_texts())
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
        facts = find_rows(model, X, y, block)
        assert len(facts.on_side(True)) == model.trees_[0].n_samples[model.trees_[0].left[block]]
    plot_block(model, X, y).figure.canvas.draw()
    plt.close("all")
