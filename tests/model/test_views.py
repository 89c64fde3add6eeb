"""The flat arrays of a model and the views of its trees."""

import sys

import numpy as np
import pandas as pd
import pytest

from lhtree import LHTClassifier
from support import bridge
from support.clouds import make_clouds

NAMES = ["a", "b", "c", "d", "e"]
COLUMNS = ["left", "right", "depth", "n_samples", "weight", "n_target", "offset", "intercept"]


@pytest.fixture
def model(three):
    X, y = three
    frame = pd.DataFrame(X, columns=NAMES)
    return LHTClassifier(beta=0.2, gamma=5).fit(frame, np.array(["u", "v", "w"])[y])


def test_views_are_a_sequence_of_trees(model):
    views = model.trees_
    assert len(views) == 3
    assert [view.target for view in views] == ["u", "v", "w"]
    assert [view.target for view in views[1:]] == ["v", "w"]
    assert views[-1].target == "w"
    assert repr(views[0]).startswith("TreeView(target=")
    assert repr(views) == f"[{views[0]!r}, {views[1]!r}, {views[2]!r}]"
    with pytest.raises(IndexError):
        views[3]
    assert repr(LHTClassifier().fit(*make_clouds(80, 3, 4)).trees_).endswith(", ...]")
    assert sum(view.n_leaves for view in views) == model.n_leaves_
    assert max(view.depth.max() for view in views) == model.depth_


def test_views_match_the_arrays(model):
    for view, tree in zip(model.trees_, bridge.trees_of(model), strict=True):
        for name in COLUMNS:
            assert getattr(view, name).tolist() == getattr(tree, name), name
        assert view.is_leaf.tolist() == [left == -1 for left in tree.left]
        for block in range(view.n_blocks):
            assert view.weights(block) == {NAMES[f]: float(w) for f, w in tree.weights[block].items()}
            assert view.slopes(block) == {NAMES[f]: float(a) for f, a in tree.slopes[block].items()}


def test_views_are_read_only(model):
    view = model.trees_[0]
    for name in ("left", "n_samples", "weight", "n_target", "offset", "intercept"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(view, name)[0] = 1


@pytest.mark.parametrize("block", [-1, 10**6])
def test_blocks_out_of_range_are_rejected(model, block, rejects):
    view = model.trees_[0]
    for method in (view.weights, view.slopes):
        rejects(method, block)


def test_to_frame_has_one_row_per_block(model):
    for view in model.trees_:
        frame = view.to_frame()
        assert frame.index.name == "block"
        assert list(frame.columns) == COLUMNS + [f"weights.{n}" for n in NAMES] + [
            f"slopes.{n}" for n in NAMES
        ]
        assert len(frame) == view.n_blocks
        for name in COLUMNS:
            np.testing.assert_array_equal(frame[name], getattr(view, name))
        for block, row in frame.iterrows():
            for prefix, values in (("weights", view.weights(block)), ("slopes", view.slopes(block))):
                assert [row[f"{prefix}.{n}"] for n in NAMES] == [values.get(n, 0.0) for n in NAMES]
        is_leaf = frame["left"] < 0
        assert (frame.loc[is_leaf, ["left", "right"]] == -1).all(axis=None)
        assert (frame.loc[~is_leaf, "right"] == frame.loc[~is_leaf, "left"] + 1).all()


def test_to_frame_without_pandas_names_the_extra(model, monkeypatch, rejects):
    view = model.trees_[0]
    monkeypatch.setitem(sys.modules, "pandas", None)
    rejects(view.to_frame)


def test_decision_path_agrees_with_apply(model, three):
    frame = pd.DataFrame(three[0], columns=NAMES)
    indicator, block_ptr = model.decision_path(frame)
    leaves = model.apply(frame)
    trees = bridge.trees_of(model)
    assert indicator.shape == (240, sum(len(tree.left) for tree in trees))
    np.testing.assert_array_equal(np.diff(block_ptr), [len(tree.left) for tree in trees])
    assert indicator.format == "csr"
    dense = indicator.toarray()
    assert set(np.unique(dense)) == {0, 1}
    for number, tree in enumerate(trees):
        part = dense[:, block_ptr[number] : block_ptr[number + 1]]
        parent = {
            child: block for block, left in enumerate(tree.left) if left >= 0 for child in (left, left + 1)
        }
        for row, leaf in zip(part, leaves[:, number], strict=True):
            way, block = [], int(leaf)
            while block:
                way.append(block)
                block = parent[block]
            assert np.flatnonzero(row).tolist() == sorted([0, *way])
    block_ptr[:] = 0  # a copy
    assert model.decision_path(frame)[1][-1] > 0


def test_counts_and_depths_match_the_trees(model):
    forest = model._model.trees
    trees = bridge.trees_of(model)
    assert forest.n_trees == 3
    assert forest.n_blocks == sum(len(tree.left) for tree in trees)
    assert forest.depths().tolist() == [depth for tree in trees for depth in tree.depth]
    assert forest.nbytes == sum(values.nbytes for values in bridge.arrays_of(model).values())


def test_single_leaves_have_depth_0():
    model = LHTClassifier().fit(np.zeros((6, 2)), [0, 1, 2] * 2)
    assert model._model.trees.depths().tolist() == [0, 0, 0]
    assert (model.depth_, model.n_leaves_) == (0, 3)
    indicator, _ = model.decision_path(np.zeros((2, 2)))
    np.testing.assert_array_equal(indicator.toarray(), np.ones((2, 3)))
