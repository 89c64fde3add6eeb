"""Memberships and regions over one or two features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex, to_rgb

from lhtree import (
    LHForestClassifier,
    LHTClassifier,
    plot_block,
    plot_decision_regions,
    plot_membership,
    plot_tree,
)
from lhtree.describe.palette import CLASSES, REST
from lhtree.model.model import read
from lhtree.plot._membership import choose_class
from lhtree.plot._regions import find_lines, find_middle, part
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
    ax = plot_decision_regions(model, X, y, n_points=40)
    faces = [to_hex(points.get_facecolor()[0]).upper() for points in ax.collections]
    assert faces == own
    tints = np.unique(np.asarray(ax.images[0].get_array()).reshape(-1, 3), axis=0)
    expected = np.array(sorted(map(to_rgb, own))) * 0.28 + 0.72
    np.testing.assert_allclose(tints, expected)
    edges = {text.get_text(): to_hex(text.get_bbox_patch().get_edgecolor()).upper() for text in ax.texts}
    assert edges == dict(zip("012", own, strict=False))


def test_regions_average_other_features_over_rows():
    """The third feature decides: held at its centre it would give the whole plane to one class."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 4))
    y = (X[:, 2] > 0.3) | (X[:, 0] > 0.5)
    model = LHTClassifier(direction="mixed").fit(X, y)
    ax = plot_decision_regions(model, X, y, n_points=8)
    assert ax.get_title() == "2 other features averaged over 100 rows"
    assert not ax.lines
    x0, x1, y0, y1 = ax.images[0].get_extent()
    some = X[np.sort(np.random.default_rng(0).choice(200, 100, replace=False))]
    for column, first in enumerate(np.linspace(x0, x1, 8)):
        for row, second in enumerate(np.linspace(y0, y1, 8)):
            rows = some.copy()
            rows[:, 0], rows[:, 1] = first, second
            best = model.predict_proba(rows).mean(axis=0).argmax()
            expected = 0.28 * np.array(to_rgb(CLASSES[best])) + 0.72
            np.testing.assert_allclose(np.asarray(ax.images[0].get_array())[row, column], expected)
    assert plot_decision_regions(model, n_points=8).get_title() == "2 other features at their centres"
    assert plot_decision_regions(model, X, y, row=X[0], n_points=8).get_title().endswith("at the given row")


def test_category_has_bars():
    pandas = pytest.importorskip("pandas")
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
    for ax in (
        plot_membership(model, [0, 3], row=X[0], n_points=20),
        plot_decision_regions(model, X, y, features=[0, 3], row=X[0], n_points=20),
    ):
        ax.figure.canvas.draw()
        assert ax.get_ylabel() == "x3"


def test_regions_equal_predictions():
    X, y = pictures.clouds(200, 2, 3)[1:]
    model = LHTClassifier().fit(X, y)
    ax = plot_decision_regions(model, X, y, n_points=40)
    image = ax.images[0]
    x0, x1, y0, y1 = image.get_extent()
    grid = np.stack(np.meshgrid(np.linspace(x0, x1, 40), np.linspace(y0, y1, 40)), axis=-1)
    predicted = model.predict(grid.reshape(-1, 2)).reshape(40, 40)
    colours = np.asarray(image.get_array()).reshape(-1, 3)
    for label in model.classes_:
        own = colours[predicted.ravel() == label]
        assert len(np.unique(own, axis=0)) == 1
    assert len(np.unique(colours, axis=0)) == len(np.unique(predicted))
    points = [np.asarray(some.get_offsets()) for some in ax.collections]
    for label, some in zip(model.classes_, points, strict=True):
        np.testing.assert_array_equal(some, X[y == label])


@given(
    seed=st.integers(0, 10_000), n_classes=st.integers(2, 4), direction=st.sampled_from(["fisher", "mixed"])
)
@settings(max_examples=30)
def test_every_line_is_on_its_hyperplane_and_within_its_block(seed, n_classes, direction):
    generator = np.random.default_rng(seed)
    X, y = generator.normal(size=(80, 4)) * [1, 100, 0.01, 5] + [0, 1e3, 0, -7], np.arange(80) % n_classes
    model = LHTClassifier(direction=direction).fit(X, y)
    fitted = read(model)
    held = X[0].copy()
    held[3] = np.nan
    ranges = [(X[:, 1].min(), X[:, 1].max()), (X[:, 0].min(), X[:, 0].max())]
    lines = find_lines(fitted, held, [1, 0], ranges)
    assert lines
    for line in lines:
        share = generator.uniform(0.05, 0.95)
        row = held.copy()
        row[1] = line.x[0] + share * (line.x[1] - line.x[0])
        row[0] = line.y[0] + share * (line.y[1] - line.y[0])
        assert ranges[0][0] - 1e-6 <= row[1] <= ranges[0][1] + 1e-6
        view = model.trees_[line.tree]
        z = np.nan_to_num((row - fitted.normalisation.centre) / fitted.normalisation.scale)
        weights = np.array([view.weights(line.block).get(f"x{f}", 0.0) for f in range(4)])
        assert weights @ z == pytest.approx(view.offset[line.block], abs=1e-6)
        if abs(line.x[0] - line.x[1]) + abs(line.y[0] - line.y[1]) > 1e-6:
            indicator, ptr = model.decision_path(row[None])
            assert indicator[0, ptr[line.tree] + line.block] == 1


def test_a_region_is_parted_without_loss():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    below, above, ends = part(square, square @ [1.0, 1.0] - 0.5)

    def area(corners):
        x, y = corners.T
        return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2

    assert area(below) == pytest.approx(0.125)
    assert area(below) + area(above) == pytest.approx(1.0)
    assert sorted(ends.tolist()) == [[0.0, 0.5], [0.5, 0.0]]


def test_hyperplanes_are_left_out_where_they_are_too_many():
    X, y = pictures.clouds(300, 2, 2)[1:]
    forest = LHForestClassifier(50, random_state=0).fit(X, y)
    assert not plot_decision_regions(forest, X, y, n_points=20).lines
    assert len(plot_decision_regions(forest, hyperplanes=True, n_points=20).lines) > 60
    assert not plot_decision_regions(LHTClassifier().fit(X, y), hyperplanes=False, n_points=20).lines


def test_the_middle_of_a_region():
    region = np.zeros((9, 9), dtype=bool)
    region[2:7, 1:6] = True
    region[8, 8] = True
    assert find_middle(region) == (4, 3)
