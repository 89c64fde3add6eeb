"""Classes and columns in the page: thresholds to move, confusions of many classes, effect curves."""

import numpy as np
import pandas as pd
import pytest

from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier
from lhtree.describe.palette import CLASSES
from support.adult import make_adult
from support.browser import plain, unfold
from support.clouds import make_clouds

OUTSIDE = """() => [...document.querySelectorAll("#thresholds svg, #effects svg, #effects .track")].filter(e => {
    const [own, card] = [e.getBoundingClientRect(), e.closest(".card").getBoundingClientRect()];
    return own.right > card.right + 1 || own.left < card.left - 1; }).length"""


def test_threshold_slider(open_report):
    X, y = make_clouds(300, 4, 2)
    y = pd.Series(np.where(y == 1, "kept", "lost"), name="customer")
    model = LHForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    page = open_report(model, X, y, width=390)
    assert "It predicts customer correctly for" in page.inner_text("#lead")
    curve = page.evaluate("lhtree.facts.thresholds.classes[0]")
    page.locator("#thresholds").get_by_text("kept", exact=True).first.click()
    assert page.get_attribute("#threshold-value", "data-value") == "0.5"
    assert page.locator("#thresholds figcaption").first.inner_text() == "Threshold for kept"
    places = []
    last = len(curve["threshold"]) - 1
    for i in (0, last):  # the largest threshold is first in the facts and on the right of the slider
        page.locator("#threshold").evaluate(
            "(e, value) => { e.value = value; e.dispatchEvent(new Event('input')); }", last - i
        )
        cells = [int(text) for text in page.locator("#at-threshold td").all_inner_texts()]
        right, wrong = curve["right"][i], curve["wrong"][i]
        assert cells == [right, curve["n_own"] - right, wrong, curve["n_others"] - wrong]
        places.append(page.locator("#thresholds .mark").first.bounding_box())
    assert places[0]["x"] < places[1]["x"]
    assert places[0]["y"] > places[1]["y"]
    page.get_by_role("button", name="Best balanced accuracy").click()
    best = curve["threshold"][curve["balanced"]]
    assert float(page.get_attribute("#threshold-value", "data-value")) == best
    assert page.evaluate(OUTSIDE) == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_many_classes_and_their_colours(open_report):
    X, y = make_clouds(520, 5, 26)
    y = pd.Series([f"class number {code}" for code in y])
    page = open_report(LHTClassifier(max_depth=2).fit(X, y), X, y)
    pairs = page.evaluate("lhtree.facts.confusions.pairs")
    rows = page.locator(".confusions").first.locator("tbody tr")
    assert rows.count() == 10
    assert str(pairs[0]["n_rows"]) in rows.first.inner_text()
    assert page.locator("table.confusion").count() == 0
    colours = {
        page.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('--c{i}')")
        for i in range(24)
    }
    assert colours == set(CLASSES)
    legend = page.locator("#block .legend .key")
    assert legend.count() == 10
    page.locator("#block summary", has_text="16 more classes").click()
    keys = legend.evaluate_all("all => all.map(e => getComputedStyle(e).backgroundColor)")
    assert len(set(keys)) == 24  # of 26 classes
    assert len(keys) == 26


@pytest.mark.parametrize("width", [390, 1200])
def test_effects_follow_the_class(open_report, width):
    X, y = make_adult(300)
    model = LHBoostClassifier(8, random_state=0).fit(X, y)
    page = open_report(model, X, y, width=width)
    names = [effect.column for effect in model.effects(X)]
    assert page.locator("#effects figcaption").all_inner_texts() == names
    numeric = page.locator("#effects .effect", has=page.locator("svg"))
    assert numeric.first.locator("path.line").count() == numeric.first.locator("path.interval").count() == 1
    effect = model.effects(X)["school"]
    school = page.locator("#effects .effect", has=page.get_by_text("school", exact=True)).first
    shown = school.locator(".figure").evaluate_all("all => all.map(e => Number(e.dataset.value))")
    np.testing.assert_allclose(shown, effect.mean[: len(shown), 1], rtol=1e-6)
    assert page.inner_text("#effects h3") == "Effects on >50K"
    page.locator("#effects .pills").get_by_text("<=50K").click()
    assert page.inner_text("#effects h3") == "Effects on <=50K"
    shown = school.locator(".figure").evaluate_all("all => all.map(e => Number(e.dataset.value))")
    np.testing.assert_allclose(shown, effect.mean[: len(shown), 0], rtol=1e-6)
    page.locator("#importances").get_by_text("Contribution").click()
    assert "Mean size of the contribution" in plain(page.inner_text("#importances"))
    unfold(page)
    assert page.evaluate(OUTSIDE) == 0
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_every_class_has_its_own_columns_first(open_report):
    generator = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = generator.normal(size=(300, 12))
    X[:, 3] += 6.0 * (y == 0)
    X[:, 8] += 6.0 * (y == 2)
    page = open_report(LHTClassifier(beta=0.5).fit(X, y), X, y)
    for cls, column in ((0, "x3"), (2, "x8"), (0, "x3")):
        page.locator("#effects .pills").get_by_text(f"class {cls}").click()
        assert page.locator("#effects figcaption").first.inner_text() == column
    page.locator("#effects summary", has_text="more columns").click()
    page.locator("#effects .effect").nth(11).wait_for()
    page.locator("#effects .pills").get_by_text("class 2").click()
    page.locator("#effects .effect").nth(11).wait_for()  # they stay open
