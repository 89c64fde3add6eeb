"""Symmetric trees in model files: stored by level and leaf, loaded with the same bits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree import LHBoostRegressor, inspect, load, save
from lhtree.files.arrays import MOST_TERMS, expand_levels, fold_levels
from lhtree.model.trees import join_trees
from support.boosted import boosted_model, fit_boosted
from support.clouds import make_clouds


def assert_same(arrays, expected):
    assert arrays.keys() == expected.keys()
    for name, values in expected.items():
        assert (arrays[name].dtype, arrays[name].tobytes()) == (values.dtype, values.tobytes()), name


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any),
    st.integers(1, 5),
    st.integers(0, 2),
    st.booleans(),
)
def test_arrays_by_level_expand_to_the_same_trees(seed, depths, n_features, n_slopes, is_weighted):
    """The blocks of a random tree are drawn one by one: they are the slow counterpart of the expansion."""
    rng = np.random.default_rng(seed)
    models = [
        boosted_model(rng, n_features, 2, 1, depth, n_slopes=n_slopes, is_symmetric=True) for depth in depths
    ]
    trees = join_trees([model.trees for model in models])
    if is_weighted:
        trees = replace(trees, weight=trees.n_samples * 0.375)
    arrays = trees.arrays()
    folded = fold_levels(arrays)
    assert folded["depth"].tolist() == depths
    assert ("leaf_weight" in folded, "leaf_ptr" in folded) == (is_weighted, n_slopes > 0)
    assert_same(expand_levels(folded), arrays)


@pytest.mark.parametrize(
    "name",
    ["n_samples", "weight", "offset", "low", "missing", "gain", "hyperplane_weight", "hyperplane_share"],
)
def test_trees_with_a_block_that_differs_are_stored_by_block(name):
    arrays = boosted_model(np.random.default_rng(0), 3, 2, 2, 3, is_symmetric=True).trees.arrays()
    changed = arrays[name].copy()
    changed[-1] += 1
    arrays[name] = changed
    assert fold_levels(arrays) is arrays


def test_levels_of_many_weights_are_stored_by_block():
    rng = np.random.default_rng(0)
    for most in (MOST_TERMS, 3 * MOST_TERMS):
        model = boosted_model(rng, 60, 2, 4, 4, max_terms=most, share_oblique=1.0, is_symmetric=True)
        assert ("depth" in fold_levels(model.trees.arrays())) == (most == MOST_TERMS)


@pytest.mark.parametrize("kind", ["adult", "clouds", "clouds linear", "clouds joint", "weighted response"])
def test_files_of_symmetric_trees_are_small_and_equal(kind, tmp_path):
    path = tmp_path / "model.lht"
    if kind == "weighted response":
        X, y = make_clouds(200, 3, 3)
        model = LHBoostRegressor(max_iter=8, random_state=0).fit(X, y + X[:, 0], sample_weight=1.0 + y / 3)
    else:
        model, X, y = fit_boosted(kind, "symmetric")
    save(model, path)
    arrays, again = inspect(path)["arrays"], load(path)
    assert_same(again._model.trees.arrays(), model._model.trees.arrays())
    assert "depth" in arrays
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    n_bytes = sum(np.dtype(a["dtype"]).itemsize * int(np.prod(a["shape"])) for a in arrays.values())
    assert n_bytes < 0.75 * model._model.trees.nbytes


def test_values_must_divide_among_the_blocks(rejects):
    model = fit_boosted("clouds joint", "symmetric")[0]
    folded = fold_levels(model._model.trees.arrays())
    rejects(expand_levels, folded | {"value": folded["value"][:-1]})
