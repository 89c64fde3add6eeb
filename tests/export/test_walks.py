"""The description of trees for exports, evaluated by a slow reference."""

import numpy as np
import pytest

from lhtree import CompactLHTClassifier, LHBoostRegressor, LHForestClassifier, LHTClassifier
from lhtree.export._walks import MISSING, Terms, find_walks
from support.clouds import make_clouds

TERMS = Terms(np.array([0, 2, 2, 3]), np.array([0, 4, 1], dtype=np.int32), np.array([1.0, -2.0, 3.0]))


def test_terms_by_row():
    assert TERMS.widest == 2
    assert [TERMS.row(number) for number in range(3)] == [[(0, 1.0), (4, -2.0)], [], [(1, 3.0)]]


def test_some_rows_of_terms():
    some = TERMS.take(np.array([2, 0]))
    assert [some.row(number) for number in range(2)] == [[(1, 3.0)], [(0, 1.0), (4, -2.0)]]
    assert TERMS.take(np.array([], dtype=np.int64)).ptr.tolist() == [0]


def test_padded_terms():
    feature, value = TERMS.pad(3)
    assert feature.tolist() == [[0, 4, 0], [0, 0, 0], [1, 0, 0]]
    assert value.tolist() == [[1.0, -2.0, 0.0], [0.0, 0.0, 0.0], [3.0, 0.0, 0.0]]


def fill_row(model, walks, x):
    """Return the values of a row in all planes."""
    centre, scale = model.normalisation
    if walks.space == "units":
        return np.where(np.isnan(x), centre, x)
    z = np.clip((x - centre) / scale, -1e30, 1e30).astype(np.float32)
    planes = [np.where(np.isnan(x), np.float32(MISSING[kind]), z) for kind in walks.planes]
    planes[0] = np.clip(planes[0], -model.clip, model.clip)
    return np.concatenate(planes)


def find_leaves(walks, values):
    """Return the leaf of a row in every tree."""
    leaves = []
    for place in walks.root.tolist():
        while place >= 0:
            y = sum(w * float(values[f]) for f, w in walks.weights.row(place)) - walks.offset[place]
            place = int(walks.child[place, int(y >= 0)])
        leaves.append(-1 - place)
    return leaves


@pytest.mark.parametrize(
    "make",
    [
        LHTClassifier,
        lambda: LHForestClassifier(3, multi_class="one_tree", direction="mixed", random_state=0),
        lambda: CompactLHTClassifier(max_passes=1),
        lambda: LHBoostRegressor(max_iter=5, min_samples_leaf=5, random_state=0),
    ],
    ids=["tree", "one tree", "compact", "boosted"],
)
def test_walks_lead_to_the_leaves_of_the_model(make):
    X, y = make_clouds(120, 5, 3)
    X[::7, 2] = np.nan
    model = make().fit(X, y)._model
    walks = find_walks(model)
    blocks = np.flatnonzero(model.trees.left < 0)
    first = model.trees.block_ptr[:-1]
    expected = model.scorer.apply(X) + first
    found = [blocks[find_leaves(walks, fill_row(model, walks, x))] for x in X]
    np.testing.assert_array_equal(found, expected)
    assert walks.space == ("units" if model.compact else "normalised")
    assert walks.leaf == ("shares" if model.head.shares_classes else "estimate")
    assert (walks.shares is not None) == (walks.leaf == "shares")
