"""Memberships over one or two features."""

import numpy as np
import pandas
import pytest
from matplotlib.colors import to_hex

from lhtree import LHTClassifier, plot_block, plot_membership, plot_tree
from lhtree.describe.palette import CLASSES, REST
from lhtree.model.model import read
from lhtree.plot._membership import choose_class
from support import pictures

pytestmark = pytest.mark.usefixtures("closing")


def test_lines_equal_memberships_along_a_feature():
    model, X, _ = pictures.iris()
    row = X.iloc[70]
    ax = plot_membership(model, "petal width (cm)", row=row, n_points=50)
    lines = [line for line in ax.lines if len(line.get_xdata()) == 50]
    assert [line.get_label() for line in lines] == list(model.classes_)
    rows = X.iloc[[70] * 50].copy()
    rows["petal width (cm)"] = lines[0].get_xdata()
    expected = model.predict_membership(rows)
    for code, line in enumerate(lines):
        np.testing.assert_array_equal(line.get_ydata(), expected[:, code])
    assert ax.lines[-1].get_xdata()[0] == row["petal width (cm)"]
    assert len(plot_membership(model, 3, target="setosa").lines) == 1


def test_map_equals_membership_over_two_features():
    model, X, _ = pictures.iris()
    ax = plot_membership(model, [3, "petal length (cm)"], target="versicolor", n_points=20)
    mesh = ax.collections[0]
    centres = mesh.get_coordinates()
    assert centres.shape == (21, 21, 2)
    rows = np.repeat(read(model).normalisation.centre[None], 400, axis=0)
    low, high = read(model).span.low, read(model).span.high
    for at, feature in ((1, 2), (0, 3)):
        air = 0.04 * (high[feature] - low[feature])
        axis = np.linspace(low[feature] - air, high[feature] + air, 20)
        rows[:, feature] = np.repeat(axis, 20) if at else np.tile(axis, 20)
    frame = X.iloc[:0].reindex(range(400))
    frame.loc[:, :] = rows
    expected = model.predict_membership(frame)[:, 1]
    np.testing.assert_array_equal(np.ravel(mesh.get_array()), expected)


def test_map_has_the_class_that_varies_most():
    model, *_ = pictures.iris()
    ax = plot_membership(model, [0, 1], n_points=40)
    assert np.ptp(np.asarray(ax.collections[0].get_array())) > 0.5
    assert ax.figure.axes[1].get_ylabel() == "membership μ of class versicolor"
    assert choose_class(np.array([[0.0, 0.2, 0.0], [0.9, 0.7, 0.0]])) == 0
    assert choose_class(np.array([[0.1, 0.9], [0.7, 0.3]])) == 1  # they mirror each other
    assert choose_class(np.zeros((4, 3))) == 2


@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_has_one_colour_in_all_plots(n_classes):
    model, X, y = pictures.clouds(300, 2, n_classes)
    own = list(CLASSES[:n_classes])
    lines = plot_membership(model, 0).lines
    assert [line.get_color() for line in lines[:n_classes]] == own
    for tree in range(len(model.trees_)):
        bars = [bar for bar in plot_tree(model, tree=tree).patches if bar.get_gid() in ("target-0", "rest-0")]
        code = tree if n_classes > 2 else 1
        fills = (REST if n_classes > 2 else own[0], own[code])
        assert tuple(to_hex(bar.get_facecolor()).upper() for bar in bars) == fills
        assert to_hex(plot_block(model, X, y, tree=tree).patches[0].get_facecolor()).upper() == own[code]


def test_category_has_bars():
    generator = np.random.default_rng(0)
    X = pandas.DataFrame(
        {"size": generator.normal(size=90), "colour": np.array(["red", "blue", "green"])[np.arange(90) % 3]}
    )
    model = LHTClassifier().fit(X, np.where((X["colour"] == "red") & (X["size"] > 0), "sold", "kept"))
    ax = plot_membership(model, "colour", row=X.iloc[0], X=X)
    rows = X.iloc[[0] * 3].assign(colour=["blue", "green", "red"])
    heights = np.array([bar.get_height() for bar in ax.patches]).reshape(2, 3)
    np.testing.assert_array_equal(heights, model.predict_membership(rows).T)
    assert [text.get_text() for text in ax.get_xticklabels()] == [
        f"{c}\n30 rows" for c in ("blue", "green", "red")
    ]
    assert len(plot_membership(model, [1], target="sold").patches) == 3


def test_the_density_of_rows_is_drawn_below_lines():
    model, X, _ = pictures.iris()
    assert not plot_membership(model, 0).patches
    bars = plot_membership(model, 0, X=X).patches
    heights = np.array([bar.get_height() for bar in bars])
    counts = np.histogram(
        X.iloc[:, 0], [*(bar.get_x() for bar in bars), bars[-1].get_x() + bars[-1].get_width()]
    )[0]
    np.testing.assert_allclose(heights, counts / counts.max() / 6)


def test_missing_values_are_drawn():
    X, y = pictures.clouds(200, 3, 3)[1:]
    X = np.column_stack([X, np.full(200, np.nan)])
    X[::7, 0] = np.nan
    model = LHTClassifier().fit(X, y)
    assert plot_membership(model, 3).get_xlim() == (-1.0, 1.0)
    ax = plot_membership(model, [0, 3], row=X[0], n_points=20)
    ax.figure.canvas.draw()
    assert ax.get_ylabel() == "x3"
