"""The sparsity curve against a plain loop, and the tables of weights against the trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from lhtree import LHForestClassifier, LHTClassifier, LHTRegressor, sparsity_curve, weight_table
from lhtree.selection.sparsity import SparsityCurve
from support.clouds import make_clouds
from support.strategies import estimator_arguments, wide_problems


@pytest.mark.parametrize("estimator", [None, LHForestClassifier(n_estimators=3, random_state=0)])
def test_the_curve_is_what_a_loop_measures(estimator, three):
    X, y = three
    betas = [0.0, 0.3, 0.8]
    curve = sparsity_curve(X, y, betas, 3, estimator=estimator)
    assert curve.betas.tolist() == betas
    for b, beta in enumerate(betas):
        for s, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
            model = clone(LHTClassifier() if estimator is None else estimator).set_params(beta=beta)
            model.fit(X[train], y[train])
            used = [tree.weights(block) for tree in model.trees_ for block in np.flatnonzero(~tree.is_leaf)]
            assert curve.accuracy[b, s] == model.score(X[test], y[test])
            assert curve.training_accuracy[b, s] == model.score(X[train], y[train])
            assert curve.n_features[b, s] == len(set().union(*used))
            assert curve.features_per_block[b, s] == pytest.approx(np.mean([len(names) for names in used]))
            assert curve.n_blocks[b, s] == sum(tree.n_blocks for tree in model.trees_)
    assert (np.diff(curve.features_per_block, axis=0) < 0.0).all()  # sparser and sparser


def test_every_beta_sees_the_same_splits(two):
    X, y = two
    curve = sparsity_curve(X, y, [0.5, 0.5], ShuffleSplit(4))  # draws again on every call
    np.testing.assert_array_equal(curve.accuracy[0], curve.accuracy[1])
    assert curve.accuracy.shape == (2, 4)


def test_frames_have_names_and_other_data_do_not(two):
    pandas = pytest.importorskip("pandas")
    X, y = two
    frame = pandas.DataFrame(X, columns=list("abcde"))
    curve = sparsity_curve(frame, y, [0.0, 0.5], 2)
    np.testing.assert_array_equal(curve.accuracy, sparsity_curve(X, y.tolist(), [0.0, 0.5], 2).accuracy)
    table = curve.to_frame()
    assert table.columns.tolist() == [
        "beta",
        "accuracy",
        "spread",
        "training_accuracy",
        "n_features",
        "features_per_block",
        "n_blocks",
    ]
    assert table["accuracy"].tolist() == curve.accuracy.mean(axis=1).tolist()
    assert table["spread"].tolist() == curve.accuracy.std(axis=1, ddof=1).tolist()


def make_curve(accuracy):
    accuracy = np.array(accuracy)
    other = np.full(accuracy.shape, 2.0)
    return SparsityCurve(np.arange(len(accuracy)) / 10, accuracy, accuracy, other, other, other)


def test_the_sparsest_beta_is_within_one_standard_error():
    curve = make_curve([[0.80, 1.00], [0.79, 0.83], [0.70, 0.76]])  # 0.9 ± 0.1 in standard errors
    assert curve.sparsest == 0.1
    assert make_curve([[0.9, 0.9], [0.8, 0.9]]).sparsest == 0.0
    assert make_curve([[0.9], [0.8]]).sparsest == 0.0  # one split has no spread


def test_a_table_of_the_curve():
    assert repr(make_curve([[0.5, 1.0]])).startswith(
        "SparsityCurve(1 betas on 2 splits; best accuracy 0.750, sparsest"
    )
    assert str(make_curve([[0.5, 1.0]])) == (
        "  beta  accuracy ± spread  features  per block  blocks\n"
        "     0    0.7500 ± 0.3536       2.0        2.0     2.0"
    )


def test_progress_changes_nothing(two):
    pytest.importorskip("rich")
    X, y = two
    loud = sparsity_curve(X, y, [0.5], 2, verbose=1)
    np.testing.assert_array_equal(loud.accuracy, sparsity_curve(X, y, [0.5], 2).accuracy)


@pytest.mark.parametrize(
    "arguments",
    [
        {"betas": []},
        {"betas": [0.5, 1.0]},
        {"betas": ["a"]},
        {"verbose": -1},
    ],
)
def test_arguments(arguments, rejects, two):
    with rejects:
        sparsity_curve(*two, **arguments)


@pytest.mark.parametrize("other", [RandomForestClassifier(), LHTRegressor()])
def test_other_estimators_are_refused(two, other, rejects):
    with rejects:
        sparsity_curve(*two, estimator=other)


@settings(max_examples=30)
@given(wide_problems(max_rows=40), estimator_arguments())
def test_tables_have_the_weights_of_the_blocks(problem, arguments):
    model = LHTClassifier(random_state=0, **arguments).fit(problem.X, problem.y)
    table = weight_table(model)
    assert len(repr(table)) < 80
    lines = [
        (number, int(block))
        for number, tree in enumerate(model.trees_)
        for block in np.flatnonzero(~tree.is_leaf)
    ]
    assert list(zip(table.tree.tolist(), table.block.tolist(), strict=True)) == lines
    for line, (number, block) in enumerate(lines):
        tree = model.trees_[number]
        own = tree.weights(block)
        assert dict(zip(table.feature_names, table.weights[line], strict=True)) == {
            name: own.get(name, 0.0) for name in table.feature_names
        }
        assert table.target[line] == tree.target
        assert table.depth[line] == tree.depth[block]
        assert table.weight[line] == tree.weight[block]
        right, left = (
            np.clip(tree.n_target[child] / tree.weight[child], tree.low[child], tree.high[child])
            for child in (tree.right[block], tree.left[block])
        )
        assert table.lift[line] == right - left


@pytest.mark.parametrize("model", [LHTClassifier(), LHForestClassifier(n_estimators=4, random_state=0)])
def test_units_of_the_user_decide_the_same(model, three):
    X, y = three
    X = X * [1e-3, 1.0, 50.0, 1e6, 3.0] + [5.0, 0.0, -20.0, 1e7, 1.0]
    model = clone(model).fit(X, y)
    for number in range(len(model.trees_)):
        table = weight_table(model, tree=number)
        root = 0
        assert (table.tree == number).all()
        goes_right = X @ table.unit_weights[root] >= table.unit_offset[root]
        assert goes_right.mean() not in (0.0, 1.0)
        passed, block_ptr = model.decision_path(X)
        right = block_ptr[number] + model.trees_[number].right[0]
        np.testing.assert_array_equal(goes_right, passed[:, [right]].toarray()[:, 0] == 1)


def test_means_per_class(three):
    model = LHTClassifier(direction="mixed").fit(*three)
    table = weight_table(model)
    for label, means in table.per_class().items():
        own = table.target == label
        for feature, mean in enumerate(means.values()):
            turned = table.weights[own, feature] * np.sign(table.lift[own])
            assert mean == pytest.approx(np.average(turned, weights=table.weight[own]))


def test_a_positive_mean_speaks_for_its_class():
    x = np.linspace(0.0, 1.0, 40)
    for sign in (1.0, -1.0):
        for direction in ("mean_difference", "fisher", "mixed"):
            model = LHTClassifier(direction=direction).fit(sign * x[:, None], x >= 0.5)
            means = weight_table(model).per_class()
            assert means[True]["x0"] == sign
            assert means[False]["x0"] == -sign


def test_frames_of_weights(three):
    pytest.importorskip("pandas")
    model = LHTClassifier().fit(*three)
    table = weight_table(model)
    frame, in_units = table.to_frame(), table.to_frame("user")
    assert frame.columns.tolist() == ["tree", "target", "block", "depth", "weight", "lift", "offset"] + [
        f"weights.x{f}" for f in range(5)
    ]
    assert frame["weights.x2"].tolist() == table.weights[:, 2].tolist()
    assert in_units["weights.x2"].tolist() == table.unit_weights[:, 2].tolist()
    assert in_units["offset"].tolist() == table.unit_offset.tolist()
    per_class = table.per_class_frame()
    assert per_class.shape == (5, 3)
    assert per_class.loc["x1", 2] == table.per_class()[2]["x1"]


def test_a_tree_without_hyperplanes():
    X, y = make_clouds(20, 3, 2)
    table = weight_table(LHTClassifier().fit(np.ones_like(X), y))
    assert table.weights.shape == (0, 3)
    assert table.per_class() == {
        0: dict.fromkeys(["x0", "x1", "x2"], 0.0),
        1: dict.fromkeys(["x0", "x1", "x2"], 0.0),
    }


def test_arguments_of_tables(two, rejects):
    model = LHTClassifier().fit(*two)
    assert weight_table(model, tree=-1).tree.tolist() == weight_table(model).tree.tolist()
    for tree in (1, -2, 0.5):
        with rejects:
            weight_table(model, tree=tree)
    with rejects:
        weight_table(model).to_frame("metric")
    with rejects:
        weight_table(RandomForestClassifier())


def test_classes_are_needed(rejects):
    with rejects:
        sparsity_curve(np.zeros((10, 2)), None)
