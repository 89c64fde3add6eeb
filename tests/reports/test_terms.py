"""Reports on additive models show curves and surfaces in place of trees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from lhtree import AdditiveLHTClassifier, AdditiveLHTRegressor
from lhtree.reports._trees import _count_bars
from support.additive import FAST, make_people
from support.browser import unfold
from support.reports import make_summary


@pytest.fixture(scope="module")
def numbers():
    X, y = make_people(400, towns=("north", "south"))
    return AdditiveLHTRegressor(interactions=[("age", "income")], **FAST).fit(X, y), X, y


def test_facts_are_the_curves_of_the_model(numbers):
    model, X, y = numbers
    facts = make_summary(model, X, y)
    curves = {curve["name"]: curve for curve in facts["curves"]}
    for curve in model.curves_:
        np.testing.assert_array_equal(curves[curve.name]["values"], curve.values)
        np.testing.assert_array_equal(curves[curve.name]["weight"], curve.weight)
        if not curve.categories:
            low, high = curves[curve.name]["span"]
            assert sum(curves[curve.name]["density"]) == X[curve.name].between(low, high).sum()
    (surface,) = facts["surfaces"]
    np.testing.assert_array_equal(surface["values"], model.surfaces_[0].values.ravel())
    sizes = [np.average(np.abs(curve["values"]), weights=curve["weight"]) for curve in facts["curves"]]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("width", [390, 1200])
def test_page_shows_curves_in_place_of_trees(open_report, numbers, width):
    page = open_report(*numbers, width=width)
    assert page.inner_text("#trees-title") == "Curves and surfaces"
    assert page.locator("#terms .effect").count() == 4
    assert page.locator("#terms path.line").count() == 2
    assert page.locator("#terms rect.rows").count() > 10
    assert page.locator("#outline, #path, #effects").count() == 0
    assert float(page.get_attribute("#agreement", "data-largest")) <= 1e-12
    unfold(page)
    model, *_ = numbers
    assert page.locator("#terms tbody tr").count() == sum(len(curve.values) for curve in model.curves_)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    words = page.locator("#card .words dt").all_inner_texts()
    assert words == ["Curve", "Surface", "Band", "Prediction"]
    assert "half of that of each of its surfaces" in page.inner_text("#contributions")


def test_columns_of_many_categories_are_named_as_means():
    X, _ = make_people(400, towns=("north", "south"))
    y = np.where(X["town"] == "south", X["age"], -X["age"])
    model = AdditiveLHTRegressor(interactions=[("age", "town")], max_one_hot=1, **FAST).fit(X, y)
    facts = make_summary(model, X, y)
    assert "town (mean target)" in [curve["name"] for curve in facts["curves"]]
    assert [scale["name"] for scale in facts["surfaces"][0]["scales"]] == ["age", "town (mean target)"]


def test_page_has_curves_of_every_class(open_report):
    X, y = load_wine(return_X_y=True, as_frame=True)
    page = open_report(AdditiveLHTClassifier(0, **FAST).fit(X, y), X, y)
    first = page.get_attribute("#terms path.line >> nth=0", "d")
    page.locator("#terms .controls label").nth(2).click()
    assert page.get_attribute("#terms path.line >> nth=0", "d") != first
    assert page.inner_text("#trees-title") == "Curves"


@pytest.mark.parametrize(
    ("low", "high"), [(-1.7e308, 1.7e308), (1.0, np.nextafter(1.0, 2.0)), (0.0, 5e-324), (-7.0, 33.0)]
)
def test_bars_count_all_values_of_any_range(low, high):
    x = np.array([low, low, high])
    bars = _count_bars(x, low, high)
    assert (bars[0], bars[-1], bars.sum()) == (2, 1, 3)


def test_bars_are_those_of_a_histogram():
    x = np.random.default_rng(0).normal(5.0, 3.0, 1000)
    low, high = float(x.min()), float(x.max())
    np.testing.assert_array_equal(_count_bars(x, low, high), np.histogram(x, 40, (low, high))[0])


def test_axes_leave_out_few_extreme_values(open_report):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"x": random.normal(size=500), "even": np.linspace(0.0, 1.0, 500)})
    y = X["x"] + X["even"]
    X.loc[7, "x"] = 1e4
    model = AdditiveLHTRegressor(interactions=0, **FAST).fit(X, y)
    facts = make_summary(model, X, y)
    curves = {curve["name"]: curve for curve in facts["curves"]}
    low, high = curves["x"]["span"]
    assert curves["x"]["whole"] == (X["x"].min(), 1e4)
    assert high < 10.0
    assert sum(curves["x"]["density"]) == ((X["x"] >= low) & (X["x"] <= high)).sum()
    assert curves["even"]["span"] == curves["even"]["whole"] == (0.0, 1.0)
    texts = open_report(model, X, y).locator("#terms svg text").all_text_contents()
    assert sum("… 10,000" in text for text in texts) == 1


def test_page_names_the_class_of_the_curves(open_report):
    X, y = make_people(400, towns=("north", "south"))
    labels = np.where(y > np.median(y), "high", "low")
    page = open_report(AdditiveLHTClassifier(interactions=0, **FAST).fit(X, labels), X, labels)
    assert "in raw score (log odds of low), and a constant" in page.inner_text("#trees-hint")
