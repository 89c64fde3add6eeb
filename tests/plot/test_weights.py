from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lhtree import LHForestClassifier, LHTClassifier, plot_importances, plot_weights, weight_table
from support import pictures

pytestmark = pytest.mark.usefixtures("closing")


def labels(axis):
    return [text.get_text().replace(r"\$", "$") for text in axis.get_ticklabels()]


def dense(view, features):
    branching = np.flatnonzero(~view.is_leaf)
    return branching, np.array([[view.weights(b).get(name, 0.0) for b in branching] for name in features])


def corner():
    """A model some of whose blocks send the target left."""
    X = np.random.default_rng(0).uniform(-1, 1, (600, 3))
    model = LHTClassifier(direction="mixed").fit(X, (X[:, 0] < -0.3) & (X[:, 1] > 0))
    assert (weight_table(model).lift < 0.0).any()
    return model


def turned(model):
    """Weights for the class, shape (m, b): positive where larger values lead to the side with more of it."""
    table = weight_table(model)
    return (table.weights * np.sign(table.lift)[:, None]).T


def test_positive_weights_are_evidence_for_the_class():
    model = corner()
    view, expected = model.trees_[0], turned(model)
    (ax,) = plot_weights(model)
    np.testing.assert_array_equal(ax.images[0].get_array(), expected)
    numbers = [text.get_text() for text in ax.texts]
    assert numbers == [f"{w:+.2f}".replace("-", "−") for w in expected.ravel() if w != 0.0]
    branching, weights = dense(view, view.feature_names)
    is_turned = np.zeros(len(branching), dtype=bool)
    for at, block in enumerate(branching):
        left, right = (view.n_target[b] / view.weight[b] for b in (view.left[block], view.right[block]))
        is_turned[at] = right < left
        np.testing.assert_array_equal(expected[:, at], weights[:, at] * (-1 if right < left else 1))
    assert (weights[0, is_turned] > 0).any()  # drawn as it is, it would be blue
    assert (expected[0, is_turned & (np.abs(weights[1:]).sum(axis=0) == 0)] < 0).all()


def test_weights_without_lift_are_white_and_marked():
    generator = np.random.default_rng(5)
    X, y = generator.integers(0, 3, (24, 2)), generator.integers(0, 2, 24)
    model = LHTClassifier(direction="mixed", gamma=2).fit(X, y)
    (even,) = np.flatnonzero(weight_table(model).lift == 0.0)[:1]
    (ax,) = plot_weights(model)
    assert not ax.images[0].get_array()[:, even].any()
    assert "±1.00" in [text.get_text() for text in ax.texts if text.get_position()[0] == even]


@pytest.mark.parametrize("shape", [(1, 1), (1, 2)])
@pytest.mark.parametrize("draw", [plot_importances, plot_weights])
def test_labels_are_cut_to_the_room_of_axes_given(draw, shape):
    X, y = pictures.wine()[1:]
    model = LHTClassifier().fit(X.rename(columns=lambda name: f"a long name of {name}"), y == "class_0")
    _, axes = plt.subplots(*shape, squeeze=False)
    for ax in axes.ravel():
        draw(model, n_features=10, ax=ax)
    cut, over = pictures.find_flaws(axes)
    assert cut == []
    assert draw is plot_weights or over == []
    for ax, edge in zip(
        axes.ravel(), [0.0, *(ax.get_window_extent().x1 for ax in axes.ravel())], strict=False
    ):
        for text in ax.get_yticklabels():
            assert text.get_window_extent().x0 >= edge
        assert "…" in labels(ax.yaxis)[0]
    _, ax = plt.subplots(layout="constrained")  # makes room itself
    draw(model, n_features=10, ax=ax)
    assert any("a long name of " in text for text in labels(ax.yaxis))
    assert pictures.find_flaws(ax)[0] == []


def test_panels_equal_weights_of_every_class():
    model, X, _ = pictures.wine(beta=0.25)
    axes = plot_weights(model)
    assert len(axes) == 3
    assert labels(axes[0].yaxis) == list(X.columns)
    for ax, view in zip(axes, model.trees_, strict=True):
        branching, weights = dense(view, X.columns)
        (image,) = ax.images
        np.testing.assert_array_equal(image.get_array(), weights)
        assert image.get_clim() == (-1, 1)
        assert labels(ax.xaxis) == [str(block) for block in branching]
        assert ax.get_title() == view.target
        numbers = [text.get_text() for text in ax.texts]
        assert numbers == [f"{w:+.2f}".replace("-", "−") for w in weights.ravel() if w != 0.0]


def test_many_features_and_blocks():
    model, *_ = pictures.clouds(1500, 57, 7)
    axes = plot_weights(model)
    assert len(axes) == 7
    assert axes[0].get_ylabel() == "top 40 of 57 features"
    names = labels(axes[0].yaxis)
    assert len(names) == 40
    assert names == sorted(names, key=lambda name: int(name[1:]))  # in the order of the data
    _, weights = dense(model.trees_[3], names)
    np.testing.assert_array_equal(axes[3].images[0].get_array(), weights)
    assert len(labels(plot_weights(model, tree=2, n_features=5)[0].yaxis)) == 5


def test_small_cells_mark_negative_weights():
    model, *_ = pictures.clouds(2500, 4, 2, gamma=60)
    (ax,) = plot_weights(model)
    weights = turned(model)
    assert 30 < weights.shape[1] < 110
    assert [text.get_text() for text in ax.texts] == ["−"] * (weights <= -0.05).sum()


def test_given_axes_are_used(rejects):
    model, *_ = pictures.wine()
    figure, given = plt.subplots(1, 3)
    assert list(plot_weights(model, ax=given)) == list(given)
    assert figure.axes == list(given)  # no space taken for a colour bar
    _, given = plt.subplots(1, 3, figsize=(3, 2))
    assert not plot_weights(model, ax=given)[0].texts  # too small for numbers
    _, given = plt.subplots(1, 3, figsize=(12, 5), layout="constrained")
    assert plot_weights(model, ax=given)[0].texts
    assert pictures.find_flaws(given) == ([], [])
    figure, ax = plt.subplots()
    assert plot_weights(model, tree=1, ax=ax)[0] is ax
    assert plot_importances(model, ax=ax) is ax
    with rejects:
        plot_weights(model, ax=ax)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_forest_has_mean_weights(n_classes):
    _, X, y = pictures.clouds(300, 5, n_classes)
    model = LHForestClassifier(4, random_state=0).fit(X, y)
    (ax,) = plot_weights(model)
    expected = weight_table(model).per_class_frame().to_numpy()[:, -len(model.trees_) // 4 :]
    np.testing.assert_allclose(ax.images[0].get_array(), expected, atol=1e-12)
    assert ax.get_title() == "mean of 4 trees"
    assert labels(ax.xaxis) == [str(label) for label in model.classes_[-len(model.trees_) // 4 :]]
    assert pictures.find_flaws(ax) == ([], [])
    _, given = plt.subplots()
    assert plot_weights(model, n_features=2, ax=given)[0].get_ylabel() == "top 2 of 5 features"
    (one,) = plot_weights(model, tree=1)
    assert one.images[0].get_array().shape == (5, (~model.trees_[1].is_leaf).sum())
    assert one.get_title().endswith(", tree 1")


def test_largest_of_many_classes_have_panels():
    y = np.repeat(np.arange(14), np.arange(10, 24))
    X = np.random.default_rng(0).normal(size=(len(y), 3))
    axes = plot_weights(LHTClassifier().fit(X, y))
    assert [ax.get_title() for ax in axes] == [f"class {label}" for label in range(2, 14)]
    assert axes[0].figure._suptitle.get_text() == "the 12 largest of 14 classes"


def test_bars_equal_importances():
    model, X, _ = pictures.wine()
    ax = plot_importances(model, n_features=5)
    order = np.argsort(-model.feature_importances_, kind="stable")
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_array_equal(widths, model.feature_importances_[order[:5]])
    assert labels(ax.yaxis) == [*X.columns[order[:5]], "8 more features"]
    numbers = [text.get_text() for text in ax.texts]
    assert numbers[:5] == [f"{width:.3f}" for width in widths]
    assert numbers[5] == f"{1 - sum(widths):.3f} in total"
    assert len(plot_importances(model).patches) == 13


def test_computed_importances_are_drawn_as_they_are():
    model, X, y = pictures.wine()
    found = model.importances(X, y, kind="permutation")
    ax = plot_importances(found, n_features=5)
    assert [bar.get_width() for bar in ax.patches] == found.values[found.order[:5]].tolist()
    assert labels(ax.yaxis) == [*X.columns[found.order[:5]], "8 more features"]
    assert ax.get_xlabel() == found.unit == "drop in accuracy when permuted"
    assert plot_importances(model, X, y, kind="permutation").get_xlabel() == found.unit


def test_negative_importances_are_within_the_axes():
    model, X, y = pictures.wine()
    found = replace(model.importances(X, y, kind="permutation"), values=np.linspace(0.3, -0.9, 13))
    ax = plot_importances(found)
    assert ax.get_xlim()[0] < -0.9
    assert ax.texts[-1].get_text() == "−0.900"
    assert all(text.xy[0] >= 0.0 for text in ax.texts)


def test_importances_without_hyperplanes_are_zero():
    model, *_ = pictures.wine(gamma=10_000)
    assert {bar.get_width() for bar in plot_importances(model).patches} == {0.0}
