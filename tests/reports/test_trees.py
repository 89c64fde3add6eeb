"""The trees of the report, in a real browser."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lhtree import CompactLHTClassifier, LHForestClassifier, LHTClassifier
from support.browser import PREDICT, as_json, plain, shown_proba
from support.clouds import make_clouds


class TestTrees:
    def test_a_block_is_shown_when_it_is_clicked(self, open_report, wine_model):
        model, X, y = wine_model
        page = open_report(model, X, y)
        page.locator("#tree-controls").get_by_text("blue").click()
        view = model.trees_[0]
        for selector in (".item[data-block='{}']", "#map rect[data-block='{}']"):
            for block in (1, 2):
                page.click(selector.format(block))
                panel = page.locator("#block").text_content()
                assert panel.startswith(f"{'Leaf' if view.is_leaf[block] else 'Block'} {block}")
                assert f"{view.n_samples[block]} training rows" in panel
                assert page.locator(f".item[data-block='{block}']").get_attribute("aria-selected") == "true"
                weights = view.weights(block)
                if weights:
                    heaviest = max(weights, key=lambda name: abs(weights[name]))
                    assert page.locator("#block .bars .short").first.text_content() == heaviest

    def test_smoothed_shares_do_not_pass_for_counts(self, open_report):
        X, y = make_clouds(150, 4, 3)
        model = CompactLHTClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
        page = open_report(model, X, y)
        assert "Membership function" not in page.locator("#block h3").all_text_contents()  # a branching block
        counts = [plain(text) for text in page.locator("#outline .count").all_text_contents()]
        assert all(re.fullmatch(r"(\d+|[<>]?\d+ %) of \d+", text) for text in counts), counts
        page.locator("#outline .item", has_text="leaf").first.click()
        assert "Membership function" in page.locator("#block h3").all_text_contents()
        assert "(smoothed)" in page.locator("#block p").first.text_content()

    def test_class_mix_counts_the_rows_given(self, open_report, wine_model):
        model, X, y = wine_model
        page = open_report(model, X, y)
        page.locator("#tree-controls").get_by_text("green").click()
        leaves = model.apply(X)[:, 1]
        leaf = int(np.bincount(leaves).argmax())
        page.click(f"#map rect[data-block='{leaf}']")
        legend = page.locator("#block .legend li").all_text_contents()
        counts = pd.Series(y[leaves == leaf]).value_counts()
        assert legend == [f"{label} {counts[label]}" for label in model.classes_ if label in counts]

    def test_the_keyboard_walks_the_tree(self, open_report, wine_model):
        model, X, y = wine_model
        page = open_report(model, X, y)
        page.locator("#tree-controls").get_by_text("blue").click()
        view = model.trees_[0]
        at = "document.activeElement.dataset.block"
        page.locator(".item[data-block='0']").focus()
        for key, block in [
            ("ArrowRight", 1),
            ("ArrowLeft", 0),
            ("ArrowDown", 1),
            ("ArrowUp", 0),
            ("End", None),
            ("Home", 0),
        ]:
            page.keyboard.press(key)
            if block is not None:
                assert page.evaluate(at) == str(block), key
                assert page.locator("#block h3").first.text_content().endswith(f" {block}")
        n_shown = page.locator(".item").count()
        page.keyboard.press("ArrowLeft")
        assert page.locator(".item").count() == 1
        assert page.evaluate(at) == "0"
        page.keyboard.press("Enter")
        assert page.locator(".item").count() == n_shown
        assert page.locator(".item[tabindex='0']").count() == 1
        assert not view.is_leaf[0]

    def test_the_path_of_the_row_is_marked(self, open_report, wine_model):
        model, X, y = wine_model
        page = open_report(model, X, y)
        page.select_option("#sample", label=f"row 9: {y[9]}")
        explanation = model.explain(X.iloc[9])
        path = explanation.paths[list(model.classes_).index(explanation.prediction)]
        blocks = [*(step.block for step in path.steps), path.leaf.block]
        marked = page.locator("#map rect.way").evaluate_all(
            "rects => rects.map(r => Number(r.dataset.block))"
        )
        assert sorted(marked) == blocks
        links = page.locator("#path .steps button").all_text_contents()
        assert [int(text.split()[1]) for text in links] == blocks
        page.locator("#path .steps button").last.click()
        assert page.locator("#block h3").first.text_content() == f"Leaf {blocks[-1]}"

    def test_a_tree_of_hundreds_of_levels(self, open_report):
        generator = np.random.default_rng(0)
        X, y = generator.normal(size=(1000, 3)), generator.integers(0, 2, 1000)
        model = LHTClassifier(gamma=1, confidence="path").fit(X, y)
        assert model.depth_ > 300
        page = open_report(model, X, y)
        assert page.locator(".item").count() <= 40
        assert "levels" in page.locator("#map .note").text_content()
        found = page.evaluate(PREDICT, as_json(X))
        assert np.abs([each["proba"] for each in found] - model.predict_proba(X)).max() <= 1e-12

    def test_pages_of_a_part_of_a_forest_have_a_note(self, open_report, three):
        X, y = three
        model = LHForestClassifier(n_estimators=30, random_state=0).fit(X, y)
        page = open_report(model, X, y, report_options={"max_megabytes": 0.1})
        n_shown = page.evaluate("lhtree.facts.trees.n_shown")
        assert 1 <= n_shown < 30
        assert f"the first {n_shown} of 30 trees" in page.locator("#partial").text_content()
        assert page.locator("#agreement").count() == 0
        row = page.evaluate("lhtree.facts.samples.row[0]")
        said = model.predict(X[[row]])[0]
        assert f"forest predicts class {said}" in page.locator("#answer").text_content()
        part = replace(model._model, trees=model._model.trees.part(0, n_shown * 3)).scorer
        assert shown_proba(page) == pytest.approx(list(part.proba(X[[row]])[0]), abs=1e-9)
