"""Boosted trees against the reference, block by block, to the bit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree import _core
from reference import boost as reference_boost
from reference.trees import normalise
from support import boosting, bridge, strategies


@st.composite
def weights(draw, n):
    """None, integers with zeros, quarters, any floats, or some that span six hundred powers of ten."""
    kind = draw(st.sampled_from(["none", "none", "integers", "quarters", "floats", "wide"]))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if kind == "none":
        return None
    if kind == "integers":
        return generator.integers(0, draw(st.sampled_from([2, 5, 300_000])), n) + np.eye(1, n)[0] * 2.0
    if kind == "quarters":
        return generator.integers(1, 9, n) / 4
    exponent = 1.0 if kind == "floats" else 300.0
    return 10.0 ** generator.uniform(-exponent, exponent, n)


@st.composite
def options(draw, n_features, n_classes):
    constrained = n_classes == 2 and draw(st.integers(0, 3)) == 0
    signs = st.lists(st.sampled_from([-1, 0, 1]), min_size=n_features, max_size=n_features)
    is_joint = draw(st.booleans())
    return reference_boost.Options(
        learning_rate=draw(st.sampled_from([0.1, 0.3, 1.0])),
        max_depth=draw(st.sampled_from([0, 1, 2, 3, 5])),
        min_samples_leaf=draw(st.sampled_from([1.0, 1.0, 2.0, 5.0, 2.75])),
        l2_regularization=draw(st.sampled_from([1.0, 0.0, 0.37])),
        subsample=draw(st.sampled_from([1.0, 1.0, 0.7])),
        max_features=draw(st.sampled_from([1.0, 0.5, 0.3])),
        growth=draw(st.sampled_from(["free", "symmetric"])),
        n_directions=draw(st.integers(1, 3)),
        n_directed=draw(st.integers(0, 6)),
        shrinkage=draw(st.sampled_from([0.01, 0.01, 0.0, 1.0])),
        max_bins=draw(st.sampled_from([255, 255, 2, 3, 7])),
        leaf="constant" if is_joint else draw(st.sampled_from(["constant", "linear"])),
        is_joint=is_joint,
        monotonic=tuple(draw(signs)) if constrained else None,
    )


@st.composite
def cells(draw, n, n_features):
    """Ties and constant columns, floats without ties, or hostile ones, a share of them missing."""
    kind = draw(st.sampled_from([strategies.grid_cells, strategies.wide_cells]))
    X = draw(kind(n, n_features))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X[generator.random(X.shape) < draw(st.sampled_from([0.0, 0.0, 0.1, 0.6]))] = np.nan
    for feature in draw(st.sets(st.integers(0, n_features - 1), max_size=1)):
        X[:, feature] = draw(st.sampled_from([np.nan, 1e300, 1e-300, X[:, feature] * 1e9]))
    return X


@given(st.data())
def test_trees_are_the_references(data):
    n, n_features, n_classes = data.draw(strategies.shapes(max_rows=50, max_features=8, max_classes=4))
    y = data.draw(strategies.classes(n, n_classes))
    X = data.draw(cells(n, n_features))
    weight, chosen = data.draw(weights(n)), data.draw(options(n_features, n_classes))
    held = np.random.default_rng(n).random(n) < data.draw(st.sampled_from([0.0, 0.0, 0.3]))
    held[0] = False  # its weight is not 0
    seed, n_rounds = data.draw(st.integers(0, 2**64 - 1)), data.draw(st.integers(1, 3))
    centre, scale = np.linspace(-1, 1, n_features), np.linspace(0.5, 3.0, n_features)
    given_values = {"weight": weight, "held": held.astype(np.uint8), "centre": centre, "scale": scale}
    grown = boosting.boost(
        X, y, chosen, n_rounds=n_rounds, n_classes=n_classes, seed=seed, patience=99, **given_values
    )
    z = normalise(X, centre, scale, missing=np.nan)
    twin = reference_boost.boost(
        z,
        y.tolist(),
        n_classes,
        np.ones(n) if weight is None else weight,
        held,
        chosen,
        n_rounds,
        seed,
        takes_losses=True,
    )
    boosting.assert_as_reference(grown, twin, chosen)
    losses = np.stack([grown["training_loss"], grown["validation_loss"]], axis=1)
    np.testing.assert_array_equal(losses, twin.losses)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_large_trees_are_the_references(leaf):
    generator = np.random.default_rng(5)
    X = generator.normal(size=(1200, 9)).astype(np.float32)
    X[:, :3] = np.round(X[:, :3] * 2)
    X[generator.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, :5]).sum(axis=1) + generator.normal(size=1200) > 0).astype(int)
    chosen = reference_boost.Options(
        max_depth=5, min_samples_leaf=4, max_features=0.5, subsample=0.8, leaf=leaf
    )
    grown = boosting.boost(X, y, chosen, n_rounds=2, seed=3)
    sides = grown["trees"]["missing"][grown["trees"]["left"] >= 0].tolist()
    assert min(sides.count(side) for side in (-1, 0, 1)) > 5
    held, weight = np.zeros(1200, dtype=bool), np.ones(1200)
    twin = reference_boost.boost(X, y.tolist(), 2, weight, held, chosen, 2, 3)
    boosting.assert_as_reference(grown, twin, chosen)


def test_linear_leaves_have_the_nearest_features_of_their_way():
    generator = np.random.default_rng(2)
    X = generator.normal(size=(400, 24)).astype(np.float32)
    y = (X.sum(axis=1) + generator.normal(size=400) > 0).astype(int)
    chosen = reference_boost.Options(max_depth=5, n_directed=6, leaf="linear", min_samples_leaf=5)
    grown = boosting.boost(X, y, chosen, n_rounds=1)
    twin = reference_boost.boost(X, y.tolist(), 2, np.ones(400), np.zeros(400, dtype=bool), chosen, 1, 0)
    boosting.assert_as_reference(grown, twin, chosen)
    leaves = [block for block in twin.trees[0].blocks if block.cut is None]
    assert max(len(block.way) for block in leaves) > 12
    for block in leaves:
        assert len(block.leaf.features) <= 12
        assert set(block.leaf.features) <= set(block.way[:12])
    assert sum(len(block.leaf.features) for block in leaves) == len(grown["trees"]["membership_slope"]) > 50


@pytest.mark.parametrize("leaf", ["constant", "linear"])
@pytest.mark.parametrize("case", ["almost parted", "gaps", "constant but for rounding", "wide sums"])
def test_rare_rules(case, leaf):
    generator = np.random.default_rng(3)
    X, n_rounds, weight = generator.normal(size=(80, 4)).astype(np.float32), 3, np.ones(80)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    chosen = reference_boost.Options(max_features=0.5, n_directed=3, max_depth=4, leaf=leaf)
    if case == "almost parted":  # until the hessian of a block is too small
        chosen, n_rounds = replace(chosen, learning_rate=1.0, l2_regularization=0.0), 14
    elif case == "gaps":  # columns of nothing else are not drawn
        X[:, 1:3] = np.nan
    elif case == "constant but for rounding":
        X[:, 1:] = 7.5 + np.round(X[:, 1:]) * [2.0**-12, 2.0**-11, 2.0**-10]
    else:  # beyond 64 bits
        X, weight = X.clip(-1, 1) * 8, generator.integers(1, 2**17, 80).astype(float)
    grown = boosting.boost(X, y, chosen, n_rounds=n_rounds, weight=weight)
    held = np.zeros(80, dtype=bool)
    twin = reference_boost.boost(X, y.tolist(), 2, weight, held, chosen, n_rounds, 0)
    assert (grown["trees"]["left"] > 0).any()
    boosting.assert_as_reference(grown, twin, chosen)


def test_bins_of_many_rows_are_those_of_a_keyed_sample():
    n, seed = 200_500, 11
    x = np.random.default_rng(0).normal(size=(n, 1)).astype(np.float32)
    sample = np.sort(np.argsort(_core.draw_keys(seed, _core.Stream.sampled_rows, n), kind="stable")[:200_000])
    bins = boosting.boost(x, np.arange(n) % 2, n_rounds=0, seed=seed)["bins"]
    expected = boosting.boost(x[sample], np.arange(200_000) % 2, n_rounds=0)["bins"]
    of_all = boosting.boost(x[:200_000], np.arange(200_000) % 2, n_rounds=0)["bins"]
    np.testing.assert_array_equal(bins["edge"], expected["edge"])
    np.testing.assert_array_equal(bins["value"], expected["value"])
    assert (bins["edge"] != of_all["edge"]).any()


def test_histograms_in_groups_of_features():
    # Histograms of all features of a level need more memory than allowed, so they are counted in groups.
    generator = np.random.default_rng(1)
    X = generator.normal(size=(400, 2500)).astype(np.float32)
    y = (X[:, 2400] * X[:, 3] + X[:, 2000] > 0).astype(int)
    chosen = reference_boost.Options(max_depth=4, n_directed=0, min_samples_leaf=5)
    trees = boosting.boost(X, y, chosen, n_rounds=1)["trees"]
    some = np.union1d(trees["hyperplane_feature"], np.arange(0, 2500, 20))
    expected = boosting.boost(X[:, some], y, chosen, n_rounds=1)["trees"]
    assert len(trees["hyperplane_feature"]) > 8
    assert max(trees["hyperplane_feature"]) > 2000
    bridge.assert_same_bits(trees, expected | {"hyperplane_feature": trees["hyperplane_feature"]})
    np.testing.assert_array_equal(some[expected["hyperplane_feature"]], trees["hyperplane_feature"])
