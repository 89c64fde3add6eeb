"""Boosted trees against the reference, block by block, to the bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_boost
from reference import normalise
from support import boosting, strategies


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
    return reference_boost.Options(
        learning_rate=draw(st.sampled_from([0.1, 0.3, 1.0])),
        max_depth=draw(st.sampled_from([0, 1, 2, 3, 5])),
        min_samples_leaf=draw(st.sampled_from([1.0, 1.0, 2.0, 5.0, 2.75])),
        l2_regularization=draw(st.sampled_from([1.0, 0.0, 0.37])),
        subsample=draw(st.sampled_from([1.0, 1.0, 0.7])),
        max_features=draw(st.sampled_from([1.0, 0.5, 0.3])),
        n_directed=draw(st.integers(0, 6)),
        shrinkage=draw(st.sampled_from([0.01, 0.01, 0.0, 1.0])),
        max_bins=draw(st.sampled_from([255, 255, 2, 3, 7])),
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
        X[:, feature] = draw(
            st.sampled_from(
                [np.nan, 1e300, 1e-300, X[:, feature] * 1e9],
            )
        )
    return X


@settings(max_examples=150)
@given(st.data())
def test_trees_are_the_references(data):
    n, n_features, n_classes = data.draw(strategies.shapes(max_rows=50, max_features=8, max_classes=3))
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
