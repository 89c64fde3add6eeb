from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lhtree import LHTClassifier, plot_importances
from support import pictures

pytestmark = pytest.mark.usefixtures("closing")


def labels(axis):
    return [text.get_text().replace(r"\$", "$") for text in axis.get_ticklabels()]


@pytest.mark.parametrize("shape", [(1, 1), (1, 2)])
def test_labels_are_cut_to_the_room_of_axes_given(shape):
    X, y = pictures.wine()[1:]
    model = LHTClassifier().fit(X.rename(columns=lambda name: f"a long name of {name}"), y == "class_0")
    _, axes = plt.subplots(*shape, squeeze=False)
    for ax in axes.ravel():
        assert plot_importances(model, n_features=10, ax=ax) is ax
    assert pictures.find_flaws(axes) == ([], [])
    edges = [0.0, *(ax.get_window_extent().x1 for ax in axes.ravel())]
    for ax, edge in zip(axes.ravel(), edges, strict=False):
        for text in ax.get_yticklabels():
            assert text.get_window_extent().x0 >= edge
        assert "…" in labels(ax.yaxis)[0]
    _, ax = plt.subplots(layout="constrained")  # makes room itself
    plot_importances(model, n_features=10, ax=ax)
    assert any("a long name of " in text for text in labels(ax.yaxis))
    assert pictures.find_flaws(ax)[0] == []


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
