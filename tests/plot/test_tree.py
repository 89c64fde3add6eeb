import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from lhtree import LHForestClassifier, LHTClassifier, plot_tree, weight_table
from lhtree.describe.palette import AGAINST, FOR
from lhtree.draw.scene import LINE
from lhtree.draw.tree import TreeDrawing
from support import pictures

pytestmark = pytest.mark.usefixtures("closing")


def boxes(ax):
    return {patch.get_gid(): patch for patch in ax.patches if patch.get_gid() != "key"}


def test_bars_equal_weights_and_shares():
    model, *_ = pictures.wine(beta=0.25)
    for tree, view in enumerate(model.trees_):
        drawn = boxes(plot_tree(model, tree=tree, n_features=4))
        unit = 14.0 / 2  # millimetres of a weight of 1
        for block in range(view.n_blocks):
            share = drawn[f"target-{block}"].get_width() / drawn[f"mix-{block}"].get_width()
            assert share == pytest.approx(view.n_target[block] / view.weight[block])
            heaviest = sorted(view.weights(block).items(), key=lambda item: -abs(item[1]))[:4]
            bars = {gid: box for gid, box in drawn.items() if gid.startswith(f"weight-{block}-")}
            assert len(bars) == len(heaviest)
            lefts = set()
            for name, weight in heaviest:
                bar = bars[f"weight-{block}-{view.feature_names.index(name)}"]
                assert bar.get_width() == pytest.approx(abs(weight) * unit)
                zero = bar.get_x() if weight > 0 else bar.get_x() + bar.get_width()
                lefts.add(round(zero, 9))
            assert len(lefts) <= 1  # one zero per card


def test_colours_of_weights_follow_the_lift():
    X = np.random.default_rng(0).uniform(-1, 1, (600, 3))
    model = LHTClassifier(direction="mixed").fit(X, (X[:, 0] < -0.3) & (X[:, 1] > 0))
    view, table = model.trees_[0], weight_table(model)
    assert (table.lift < 0.0).any()
    ax = plot_tree(model)
    drawn, written = boxes(ax), pictures.written(ax)
    assert {"rest", "evidence for", "evidence against"} <= set(written)
    for block, lift in zip(table.block, table.lift, strict=True):
        for name, weight in view.weights(block).items():
            bar = drawn[f"weight-{block}-{view.feature_names.index(name)}"]
            assert to_hex(bar.get_facecolor()).upper() == (FOR if weight * lift > 0.0 else AGAINST)
            assert f"{weight:+.2f}".replace("-", "−") in written  # the hyperplane's own


def test_weights_without_lift_are_grey():
    generator = np.random.default_rng(5)
    X, y = generator.integers(0, 3, (24, 2)), generator.integers(0, 2, 24)
    model = LHTClassifier(direction="mixed", gamma=2).fit(X, y)
    table = weight_table(model)
    even = table.block[table.lift == 0.0][0]
    bars = [box for gid, box in boxes(plot_tree(model)).items() if gid.startswith(f"weight-{even}-")]
    assert bars
    assert all(to_hex(bar.get_facecolor()).upper() == LINE for bar in bars)


def test_texts_have_counts_and_conditions():
    model, *_ = pictures.wine(beta=0.25)
    view = model.trees_[1]
    written = pictures.written(plot_tree(model, tree=1))
    assert written[0] == f"Tree for class_1: {view.n_blocks} blocks, {view.n_leaves} leaves"
    for block in range(view.n_blocks):
        assert f"{'leaf' if view.is_leaf[block] else 'block'} {block}" in written
        assert f"{view.n_target[block]:g} of {view.weight[block]:g}" in written
        if not view.is_leaf[block]:
            assert f"≥ {view.offset[block]:.3g}".replace("-", "−") in written
            assert f"< {view.offset[block]:.3g}".replace("-", "−") in written
            assert f"{len(view.weights(block)) - 3} more features" in written


@pytest.mark.parametrize("height", [3.0, 3.3, 3.5, 3.6, 4.0, 4.4, 5.0, 6.0, 8.0])
def test_names_do_not_run_into_bars(height):
    """Fonts snap to whole pixels, so that letters are not always as wide as their size says."""
    _, ax = plt.subplots(figsize=(8, height))
    plot_tree(pictures.wine()[0], tree=2, ax=ax, max_depth=3)
    ax.figure.canvas.draw()
    bars = [box.get_window_extent() for gid, box in boxes(ax).items() if gid.startswith("weight-")]
    assert bars
    names = [text.get_window_extent() for text in ax.texts]
    assert names
    for bar in bars:
        assert not any(bar.padded(-0.5).overlaps(name) for name in names)


def test_three_hundred_blocks_are_drawn_or_folded():
    model, *_ = pictures.clouds(2500, 4, 2, gamma=20)
    view = model.trees_[0]
    assert view.n_blocks > 300
    ax = plot_tree(model, max_depth=1000)
    assert sum(gid.startswith("block-") for gid in boxes(ax)) == view.n_blocks
    sizes = {text.get_fontsize() for text in pictures.texts(ax)}
    assert min(sizes) > 5
    folded = plot_tree(model)
    assert max(folded.figure.get_size_inches()) <= 14.5
    shown = sum(gid.startswith("block-") for gid in boxes(folded))
    counts = [text for text in pictures.written(folded) if text.endswith(" below")]
    assert shown + sum(int(text.split()[1]) for text in counts) == view.n_blocks


def test_folding_by_depth():
    model, *_ = pictures.clouds()
    view = model.trees_[0]
    written = pictures.written(plot_tree(model, max_depth=0))
    assert f"… {view.n_blocks - 1} below" in written
    assert len(TreeDrawing(view, (1.0, 1.0), max_depth=2).layout.cards) == (view.depth <= 2).sum()


def test_given_axes_are_used_and_text_shrinks():
    model, *_ = pictures.clouds()
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 6))
    assert plot_tree(model, ax=left) is left
    assert not right.texts
    assert plt.get_fignums() == [figure.number]
    small = plt.figure(figsize=(4, 3)).add_subplot()
    plot_tree(model, ax=small, max_depth=2)
    largest = max(text.get_fontsize() for text in left.texts)
    assert max(text.get_fontsize() for text in small.texts) < largest
    tiny = plt.figure(figsize=(1, 1)).add_subplot()
    plot_tree(model, ax=tiny, max_depth=3)
    assert not tiny.texts  # nobody could read them
    assert tiny.patches


def test_tree_of_forest_has_its_class_in_the_title():
    X, y = pictures.clouds()[1:]
    model = LHForestClassifier(3, random_state=0).fit(X, y)
    assert pictures.written(plot_tree(model, tree=-1))[0].startswith("Tree for class 1: ")


def test_deep_tree_is_drawn_without_recursion():
    assert plot_tree(pictures.noise()).patches
