"""Trees of all classes against their slow twin, block by block, and what must not change them."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree import LHForestClassifier, _core, _pieces
from reference import classes as reference_classes
from reference import trees as reference
from support import bridge, strategies

OPTIONS = reference.Options(direction="mixed", offset="gini")


@st.composite
def problems(draw):
    """Blocks of three to five classes on grids, whose sums are exact."""
    n, m, n_classes = draw(strategies.shapes(max_rows=40, max_features=9, min_classes=3))
    X = draw(strategies.grid_cells(n, m)).astype(np.float32)
    y = draw(strategies.classes(n, n_classes)).astype(np.int32)
    return strategies.Problem(X, y, draw(strategies.weights(n)))


def shares_of(arrays, block):
    some = slice(*arrays["value_ptr"][block : block + 2])
    return dict(zip(arrays["value_class"][some].tolist(), arrays["value"][some].tolist(), strict=True))


def check_tree(problem, options, key):
    """Check every block against the reference, up to the rounding of solved equations."""
    arrays, tree = bridge.grow(problem, options, key, branching_membership=False)
    assert arrays["target"].tolist() == [-1]
    work = deque([(0, np.arange(len(problem.X)), key)])
    while work:
        block, rows, key = work.popleft()
        z, y, weight = problem.X[rows].astype(np.float64), problem.y[rows], problem.weight[rows]
        assert (tree.n_samples[block], tree.weight[block]) == (len(rows), weight.sum())
        assert shares_of(arrays, block) == pytest.approx(reference_classes.shares(y, weight), rel=1e-12)
        assert tree.intercept[block] == max(shares_of(arrays, block).values())
        active = reference.active_features(z, weight, options.alpha)
        taken = reference.take_features(active, z.shape[1], options.max_features, key)
        if tree.left[block] < 0:
            assert (tree.leaf_of_row[rows] == block).all()
            assert (
                reference.must_stop(y, weight, tree.depth[block], options)
                or reference_classes.find_cut(z, y, weight, taken, options, key) is None
            )
            continue
        ours = tree.weights[block]
        check_hyperplane(ours, tree.offset[block], z, y, weight, taken, options, key)
        is_left = reference.feature_sum(ours, z) < tree.offset[block]
        work.append((tree.left[block], rows[is_left], reference.derive(key, 0)))
        work.append((tree.right[block], rows[~is_left], reference.derive(key, 1)))
    return arrays, tree


def check_hyperplane(ours, offset, z, y, weight, taken, options, key):
    candidates = reference_classes.list_candidates(z, y, weight, taken, options, key)
    assert any(
        list(own) == list(ours) and np.allclose(list(own.values()), list(ours.values()), 1e-4, 1e-4)
        for own in candidates
    )
    cost, expected = reference_classes.gini_cut(
        reference.feature_sum(ours, z), y, weight, options.min_samples_leaf
    )
    assert offset == expected
    alone = [reference_classes.gini_cut(z[:, i], y, weight, options.min_samples_leaf) for i in taken]
    assert cost <= min((cut[0] for cut in alone if cut is not None), default=np.inf) + 1e-9


@given(
    problems(),
    st.builds(
        reference.Options,
        direction=st.just("mixed"),
        offset=st.just("gini"),
        alpha=st.sampled_from([0.0, 0.0, 0.3]),
        beta=st.sampled_from([0.0, 0.0, 0.4]),
        min_samples_leaf=st.sampled_from([1.0, 1.0, 3.0]),
        max_depth=st.sampled_from([None, None, 2]),
        max_features=st.sampled_from([None, 1, 2, 4]),
    ),
    strategies.keys(),
)
def test_blocks_match_the_reference(problem, options, key):
    check_tree(problem, options, key)


def draw_data(n, n_classes, seed=0, decimals=2):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, n_classes, n).astype(np.int32)
    X = generator.normal(size=(n, 6)) + 0.7 * generator.normal(size=(n_classes, 6))[y]
    X[:, 5] = generator.integers(0, 5, n)  # few values
    return X.round(decimals).astype(np.float32), y


@pytest.mark.parametrize("n_classes", [3, 12])
def test_large_blocks_match_the_reference(n_classes):
    X, y = draw_data(1200, n_classes)
    options = reference.Options(direction="mixed", offset="gini", max_features=3, min_samples_leaf=5.0)
    arrays, tree = check_tree(strategies.Problem(X, y, np.ones(len(X))), options, key=5)
    assert len(tree.left) > 20
    single = [block for block, weights in enumerate(tree.weights) if len(weights) == 1]
    assert single
    rows = np.arange(len(X))
    if single[0] == 0:
        share = reference_classes.gain_share_alone(
            tree.weights[0], tree.offset[0], X[rows], y, np.ones(len(X))
        )
        assert arrays["hyperplane_share"][0] == pytest.approx(share, rel=1e-5)


def grow_forest(X, y, weight, n_threads=1, n_trees=3, **keywords):
    options = reference.Options(direction="mixed", offset="gini", max_features=3)
    return _core.grow_forest(
        X.astype(np.float64),
        centre=np.zeros(X.shape[1]),
        scale=np.ones(X.shape[1]),
        responses=np.zeros((0, len(X)), dtype=np.uint8),
        targets=np.array([-1], dtype=np.int32),
        weight=weight,
        options=bridge.core_options(options, branching_membership=False),
        betas=np.zeros(n_trees),
        seed=1,
        first_tree=0,
        strata=y,
        bootstrap=False,
        balances=False,
        n_threads=n_threads,
        **({"counts": None} | keywords),
    )


@pytest.mark.parametrize("n_classes", [3, 26])
def test_bins_and_codes_find_the_cuts_that_sorting_finds(n_classes):
    # Rows with weights are sorted; without, only those among which the best cut can be. Where values have many
    # digits, bins hold several of them.
    for decimals in (1, 6):
        X, y = draw_data(4000, n_classes, decimals=decimals)
        narrowed, sorted_ = grow_forest(X, y, None), grow_forest(X, y, np.ones(len(X)))
        for name, values in narrowed.items():
            np.testing.assert_array_equal(values, sorted_[name], err_msg=name)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("n_rows", [1, 20])
def test_scores_are_means_of_smoothed_shares(smoothing, n_rows):
    X, y = draw_data(300, 5)
    model = LHForestClassifier(
        4, direction="mixed", multi_class="one_tree", max_depth=3, smoothing=smoothing, random_state=0
    ).fit(X, y)
    arrays, first = model._model.trees.arrays(), model._model.trees.block_ptr[:-1]
    prior = np.bincount(y) / len(y)
    proba = model.predict_proba(X[:n_rows])
    for row, leaves in zip(proba, model.apply(X[:n_rows]), strict=True):
        shares = [
            reference_classes.smooth(shares_of(arrays, block), arrays["weight"][block], prior, smoothing)
            for block in first + leaves
        ]
        np.testing.assert_allclose(row, reference_classes.score(shares, 5), rtol=1e-12, atol=1e-15)


def test_draws_of_all_classes_need_direction_mixed_and_classes_from_0(rejects):
    X, y = draw_data(20, 3)
    fisher = bridge.core_options(reference.Options(direction="fisher", offset="gini"))
    rejects(_pieces.grow, X, y, None, fisher, 0)
    rejects(_pieces.grow, X, y - 1, None, bridge.core_options(OPTIONS), 0)
