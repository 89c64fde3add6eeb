"""Reports on boosted models."""

import numpy as np
import pytest

from lhtree import LHBoostClassifier
from support.boosted import find_wrong_words, fit_boosted
from support.browser import PREDICT, as_json, plain, unfold
from support.clouds import make_clouds
from support.reports import make_summary


@pytest.mark.parametrize("kind", ["adult", "clouds", "adult linear"])
def test_page_describes_values_and_raw_scores(open_report, kind):
    model, X, y = fit_boosted(kind)
    page = open_report(model, X, y)
    unfold(page)
    text = plain(page.locator("body").text_content()).partition('{"lhtree"')[0]
    assert not find_wrong_words(text)
    for words in (
        "Round 1 of 8",
        "raw score",
        "adds ",
        "Share of the decrease of the loss",
        "probability at least",
    ):
        assert words in text
    assert float(page.locator("#agreement").get_attribute("data-largest")) <= 1e-12
    if kind == "adult":
        assert "or missing" in plain(page.locator("#outline").text_content())
    assert ("Linear leaf" in text) == (model.leaf == "linear")
    assert ("The columns change the probability of" in text) == (kind != "clouds")  # of three classes
    order = page.locator("main > section").evaluate_all("all => all.map(each => each.id)")
    assert order == ["overview", "groups", "checks", "row", "features", "trees", "card"]


def test_page_shows_slopes_and_clipping(open_report):
    X, y = make_clouds(200, 5, 2)
    model = LHBoostClassifier(4, learning_rate=0.3, leaf="linear", random_state=0).fit(X, y)
    page, view = open_report(model, X, y), model.trees_[0]
    block = next(block for block in range(view.n_blocks) if len(view.slopes(block)) > 2)
    page.evaluate("block => lhtree.visit(block)", block)
    text = plain(page.locator("#block").text_content())
    assert "where its features have their means" in text
    assert f"clipped to {view.low[block]:+.3g}".replace("-", "−") in text.replace("-", "−")


def test_conditions_are_those_of_the_tree(open_report):
    model, X, y = fit_boosted("adult")
    page = open_report(model, X, y)
    view = model.trees_[0]
    branching = np.flatnonzero(~view.is_leaf)
    script = """blocks => blocks.map((block) => {
        lhtree.visit(block);
        return document.getElementById("block").textContent;
    })"""
    found = page.evaluate(script, branching.tolist())
    for block, text in zip(branching, found, strict=True):
        conditions = view.conditions(block)
        if conditions.subject:
            assert f"If {conditions.of('left')}, the row goes left".replace("-", "−") in plain(text)


def test_small_pages_have_the_first_rounds(open_report):
    X, y = make_clouds(200, 5, 2)
    model = LHBoostClassifier(30, random_state=0).fit(X, y)
    page = open_report(model, X, y, report_options={"max_megabytes": 0.01})
    n_shown = page.evaluate("lhtree.facts.trees.n_shown")
    assert 1 <= n_shown < 30
    assert f"only the first {n_shown} of 30 rounds" in page.locator("#partial").text_content()
    found = page.evaluate(PREDICT, as_json(X[:20]))
    staged = list(model.staged_predict_proba(X[:20]))[n_shown - 1]
    assert np.abs(np.array([each["proba"] for each in found]) - staged).max() <= 1e-12


def test_recorded_losses_are_drawn(open_report):
    X, y = make_clouds(200, 5, 2)
    model = LHBoostClassifier(10, early_stopping=True, random_state=0).fit(X, y)
    facts = make_summary(model, X, y)["rounds"]
    assert facts["validation"] == (-model.validation_score_).tolist()
    page = open_report(model, X, y)
    assert f"kept {model.n_iter_} round" in plain(page.locator("#features").text_content())
    assert make_summary(*fit_boosted("clouds"))["rounds"] is None
