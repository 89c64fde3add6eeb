"""Plots of the curves and surfaces of additive models."""

import numpy as np
import pandas as pd
import pytest

from lhtree import AdditiveLHTRegressor, plot_curve

FAST = {"n_bags": 2, "max_iter": 60, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"x": random.normal(size=600), "z": random.normal(size=600)})
    y = X["x"] + 2.0 * X["x"] * X["z"]
    X.loc[3, "x"] = 1e5
    X.loc[10:40, "x"] = np.nan
    return AdditiveLHTRegressor(interactions=[("x", "z")], max_steps=None, **FAST).fit(X, y)


def test_axis_of_a_curve_ends_near_most_rows_and_names_the_extreme_value(model):
    skewed, even = (plot_curve(curve) for curve in model.curves_)
    assert skewed.get_xlim()[1] < 10.0
    assert "to 100,000 →" in [text.get_text() for text in skewed.texts]
    assert not any("→" in text.get_text() or "←" in text.get_text() for text in even.texts)


def test_axes_of_a_surface_have_few_short_labels(model):
    axes = plot_curve(model.surfaces_[0])
    across = [label.get_text() for label in axes.get_xticklabels()]
    along = [label.get_text() for label in axes.get_yticklabels()]
    assert across[-1] == "missing"
    assert len(across) <= 7
    assert len(along) <= 6
    edges = model.surfaces_[0].scales[1].edges
    assert set(map(float, along)) <= set(edges.tolist())


def test_target_statistics_are_labelled_as_such():
    random = np.random.default_rng(0)
    code = random.integers(0, 6, 300)
    X = pd.DataFrame({"country": pd.Categorical([f"c{i}" for i in code]), "x": random.normal(size=300)})
    model = AdditiveLHTRegressor(interactions=[("country", "x")], max_one_hot=3, **FAST).fit(
        X, code * X["x"] + code
    )
    assert [plot_curve(curve).get_xlabel() for curve in model.curves_] == ["country (mean target)", "x"]
    assert plot_curve(model.surfaces_[0]).get_xlabel() == "country (mean target)"
    assert model.curves_[0].name == "country"
