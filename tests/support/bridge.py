"""From the core's arrays to the reference's objects, and what tests compare about them."""

from dataclasses import fields, is_dataclass

import numpy as np

from lhtree import _core
from lhtree.grow.forest import count_rows
from lhtree.model.profile import Summary
from reference import trees as reference

MODEL_METHODS = (
    "predict_proba",
    "predict_wolf",
    "predict_membership",
    "predict_confidence",
    "apply",
    "predict",
)


def core_options(options, *, branching_membership=True):
    """The core's `Options` for the reference's."""
    return _core.Options(
        direction=options.direction,
        offset=options.offset,
        membership=options.membership,
        alpha=options.alpha,
        beta=options.beta,
        gamma=(options.gamma, False),
        min_samples_split=(options.min_samples_split, False),
        min_samples_leaf=(options.min_samples_leaf, False),
        max_depth=-1 if options.max_depth is None else options.max_depth,
        max_features=options.max_features or 0,
        shrinkage=options.shrinkage,
        branching_membership=branching_membership,
    )


def grow(problem, options, key=0, **keywords):
    """Grow a tree in the core: its arrays, and the same as a `reference.Tree`."""
    from lhtree import _pieces  # wheels, which are tested with other functions of this module, lack it

    arrays, leaf_of_row = _pieces.grow(
        problem.X, problem.y, problem.weight, core_options(options, **keywords), key
    )
    return arrays, as_tree(arrays, 0, leaf_of_row)


def rows_of(arrays, name, value, begin, end):
    """Rows `begin` to `end` of a CSR matrix, as dicts."""
    ptr = arrays[f"{name}_ptr"]
    feature, values = arrays[f"{name}_feature"], arrays[f"{name}_{value}"]
    rows = [slice(ptr[block], ptr[block + 1]) for block in range(begin, end)]
    return [dict(zip(feature[row].tolist(), values[row], strict=True)) for row in rows]


def as_tree(arrays, tree=0, leaf_of_row=None):
    """One tree of the core's arrays as a `reference.Tree`."""
    begin, end = arrays["block_ptr"][tree : tree + 2]
    ranges = {"low": np.zeros(end), "high": np.ones(end)} | arrays
    left = arrays["left"][begin:end].tolist()
    right = [child + 1 if child >= 0 else -1 for child in left]
    depth = [0] * len(left)
    for block, child in enumerate(left):
        if child >= 0:
            depth[child] = depth[child + 1] = depth[block] + 1
    return reference.Tree(
        left=left,
        right=right,
        depth=depth,
        n_samples=arrays["n_samples"][begin:end].tolist(),
        weight=arrays["weight"][begin:end].tolist(),
        n_target=arrays["n_target"][begin:end].tolist() if "n_target" in arrays else [],
        weights=rows_of(arrays, "hyperplane", "weight", begin, end),
        offset=arrays["offset"][begin:end].tolist(),
        slopes=rows_of(arrays, "membership", "slope", begin, end),
        intercept=arrays["intercept"][begin:end].tolist(),
        low=ranges["low"][begin:end].tolist(),
        high=ranges["high"][begin:end].tolist(),
        leaf_of_row=leaf_of_row,
        missing=arrays["missing"][begin:end].tolist() if "missing" in arrays else None,
    )


def arrays_of(model):
    """The flat arrays of a fitted estimator, by name."""
    return model._model.trees.arrays()


def trees_of(model):
    """All trees of a fitted estimator as `reference.Tree`s."""
    arrays = arrays_of(model)
    return [as_tree(arrays, tree) for tree in range(len(arrays["target"]))]


def make_scorer(arrays, centre, scale, prior, confidence, **boosted):
    """A `Scorer` of the core's arrays."""
    return _core.Scorer(arrays, centre=centre, scale=scale, prior=prior, confidence=confidence, **boosted)


def rows_by_block(tree, n_rows):
    """The training rows of every block, from the leaves up."""
    rows = [np.empty(0, dtype=np.int64) for _ in tree.left]
    for leaf in np.unique(tree.leaf_of_row):
        rows[leaf] = np.flatnonzero(tree.leaf_of_row == leaf)
    for block in reversed(range(len(tree.left))):
        if tree.left[block] >= 0:
            rows[block] = np.sort(np.concatenate([rows[tree.left[block]], rows[tree.right[block]]]))
    assert len(rows[0]) == n_rows
    return rows


def assert_same_shape(grown, expected):
    """Assert that two trees have the same blocks and hyperplanes to the last bit."""
    for name in ("left", "right", "depth", "n_samples", "weight", "n_target", "weights", "offset"):
        assert getattr(grown, name) == getattr(expected, name), name


def assert_same_memberships(grown, expected, rtol=1e-8, atol=1e-10):
    """Assert that two trees have the same slopes and intercepts up to rounding."""
    for ours, theirs in zip(grown.slopes, expected.slopes, strict=True):
        assert list(ours) == list(theirs)
        np.testing.assert_allclose(list(ours.values()), list(theirs.values()), rtol, atol)
    np.testing.assert_allclose(grown.intercept, expected.intercept, rtol, atol)


def assert_same_bits(first, second):
    """Two mappings of arrays hold the same bits."""
    assert list(first) == list(second)
    for name, values in first.items():
        assert values.dtype == second[name].dtype, name
        assert values.tobytes() == second[name].tobytes(), name


def assert_same_trees(one, other):
    """Two fitted estimators have the same trees to the last bit."""
    assert_same_bits(arrays_of(one), arrays_of(other))


def assert_same_partition(first, second):
    """Two labellings of rows put the same rows together."""
    n_pairs = len(np.unique(np.column_stack([first, second]), axis=0))
    assert n_pairs == len(np.unique(first)) == len(np.unique(second))


def training_weights(model, y, number, weight=None):
    """Weights of the rows of one tree: those it does not see have 0."""
    weight = np.ones(len(y)) if weight is None else weight
    sizes = np.bincount(y)
    auto = 0.8 if model.direction == "mean_difference" else 1.0
    counts = count_rows(model.max_samples, sizes, auto=auto, bootstrap=model.bootstrap)
    times = (
        np.ones(len(y))
        if counts is None
        else reference.draw_rows(y, counts.tolist(), model.bootstrap, model._model.seed, number)
    )
    weight = weight * times
    if model.class_weight == "balanced_subsample":
        weight[times > 0] = reference.balance(y[times > 0], weight[times > 0])
    return weight


def assert_same(one, other):
    """Compare values of any type to the last bit."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tolist() == other.tolist() if one.dtype == object else one.tobytes() == other.tobytes()
    elif isinstance(one, Summary):
        assert_same(one.read(), other.read())
    elif is_dataclass(one):
        for part in fields(one):
            if part.init:  # the rest follows from it
                assert_same(getattr(one, part.name), getattr(other, part.name))
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for first, second in zip(one, other, strict=True):
            assert_same(first, second)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        assert_same(list(one.values()), list(other.values()))
    else:
        assert one == other or (one != one and other != other)


def assert_same_model(one, other):
    """Compare all fitted attributes, so that a new one cannot be missing in files."""
    assert type(one) is type(other)
    assert set(vars(one)) == set(vars(other))
    for name, value in vars(one).items():
        assert_same(value, vars(other)[name])
