"""The row explorer of the report, in a real browser."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import lhtree
from lhtree.explain import _text as words
from support.browser import plain, shown_proba
from support.clouds import make_clouds


def read_number(text):
    return Decimal(text.replace(",", ""))


class TestRowExplorer:
    def test_typed_values(self, open_report, wine_model):
        model, X, y = wine_model
        page = open_report(model, X, y)
        generator = np.random.default_rng(1)
        row = X.iloc[0].to_numpy().copy()
        page.select_option("#sample", label=f"row 0: {y[0]}")
        for _ in range(25):
            feature = int(generator.integers(13))
            value = float(generator.choice([np.nan, *generator.normal(10, 5, size=6)]))
            row[feature] = value
            page.fill(f"#value-{feature}", "" if np.isnan(value) else repr(value))
            proba = model.predict_proba(pd.DataFrame([row], columns=X.columns))[0]
            assert np.abs(np.array(shown_proba(page)) - proba).max() <= 1e-6
            said = page.locator("#prediction .name").text_content()
            assert said == model.classes_[proba.argmax()]
            n_missing = int(np.isnan(row).sum())
            assert (f"{n_missing} value" in page.locator("#sentence").text_content()) == (n_missing > 0)

    def test_invalid_numbers_are_rejected(self, open_report, wine_model):
        page = open_report(*wine_model)
        for text in ("abc", "1e999"):
            page.fill("#value-3", text)
            assert page.locator("#problem-3").is_visible(), text
            assert page.locator("#value-3").get_attribute("aria-invalid") == "true"
            assert page.locator("#prediction").count() == 0
            assert page.locator("#path").is_hidden()
        for text in (" 2.5e1 ", ""):
            page.fill("#value-3", text)
            assert page.locator("#problem-3").is_hidden(), text
            assert page.locator("#prediction").count() == 1
            assert page.locator("#path").is_visible()

    def test_samples_are_picked_one_after_the_other(self, open_report, wine_model):
        model, X, y = wine_model
        page = open_report(model, X, y)
        samples = page.evaluate("lhtree.facts.samples.row")
        proba = model.predict_proba(X)
        for i in (0, 1, 2):
            assert page.input_value("#sample") == str(i)
            assert shown_proba(page) == pytest.approx(list(proba[samples[i]]), abs=1e-9)
            assert page.locator("#answer").get_by_text(f"True class: {y[samples[i]]}").is_visible()
            page.click("#next")
        page.click("#previous")
        assert page.input_value("#sample") == "2"
        page.click("#clear")
        assert page.input_value("#value-0") == ""
        assert "13 values are missing" in page.locator("#sentence").text_content()
        assert shown_proba(page) == pytest.approx(list(model.predict_proba(X.iloc[:1] * np.nan)[0]), abs=1e-9)

    def test_fields_show_few_digits_and_the_page_computes_with_all(self, open_report, two):
        X, y = two
        model = lhtree.LHTClassifier(max_depth=2).fit(X, y)
        page = open_report(model, X, y)
        row = page.evaluate("lhtree.facts.samples.row[0]")
        shown = page.locator("#inputs input[type=text]").evaluate_all(
            "all => all.map(e => [Number(e.dataset.feature), e.value, Number(e.title)])"
        )
        assert page.evaluate("lhtree.row()") == X[row].tolist()
        for feature, text, exact in shown:
            assert exact == X[row, feature]
            assert len(text) <= 9
            assert float(text) == pytest.approx(exact, rel=1e-5)
        assert shown_proba(page) == pytest.approx(list(model.predict_proba(X[row : row + 1])[0]), abs=1e-9)

    def test_values_are_shown_as_they_are_and_sums_add_up(self, open_report):
        generator = np.random.default_rng(0)
        X = pd.DataFrame(
            {"income": generator.integers(10_000, 90_000, 200), "age": generator.integers(18, 80, 200)}
        )
        X["rate"] = np.round(generator.uniform(1, 9, 200), 2)
        y = X["income"] / 13 + 57.7 * X["rate"] + generator.normal(0, 99, 200)
        for model in (
            lhtree.LHBoostRegressor(max_iter=20, random_state=0),
            lhtree.LHTRegressor(),
            lhtree.LHForestRegressor(5, random_state=0),
        ):
            page = open_report(model.fit(X, y), X, y)
            for i in range(3):
                row = X.iloc[page.evaluate(f"lhtree.facts.samples.row[{i}]")]
                page.select_option("#sample", str(i))
                answer = plain(page.locator("#answer").text_content()).replace("−", "-")
                assert f"{int(row['income']):,}" in answer
                total = read_number(page.locator("#prediction").text_content().partition(": ")[2])
                start, end = map(
                    read_number,
                    re.search(r"add up from .*?, ([\d,.-]+), to .*?, ([\d,.-]+)\. ", answer).groups(),
                )
                figures = page.locator("#contributions .figure").evaluate_all(
                    "all => all.map(e => e.firstChild.textContent)"
                )
                assert start + sum(read_number(one.replace("−", "-")) for one in figures) == end == total

    def test_sliders_of_whole_numbers_stay_whole(self, open_report):
        generator = np.random.default_rng(0)
        X = np.column_stack([generator.integers(18, 80, 200), generator.normal(size=200)])
        page = open_report(
            lhtree.LHTClassifier().fit(X, X[:, 0] + 20 * X[:, 1] > 50), X, X[:, 0] + 20 * X[:, 1] > 50
        )
        slider = page.locator(".field:has(#value-0) input[type=range]")
        for place in (1, 250, 333, 777):
            slider.evaluate("(e, at) => { e.value = at; e.dispatchEvent(new Event('input')); }", place)
            assert float(page.input_value("#value-0")).is_integer()

    def test_wrong_predictions_are_said_to_be_wrong(self, open_report):
        X, y = make_clouds(150, 4, 3)
        y = np.roll(y, 1) * (np.arange(150) < 40) + y * (np.arange(150) >= 40)
        model = lhtree.LHTClassifier(max_depth=1).fit(X, y)
        page = open_report(model, X, y)
        row = page.evaluate("lhtree.facts.samples.row[0]")
        (said,) = model.predict(X[row : row + 1])
        assert said != y[row]
        option = page.locator("#sample option").first.text_content()
        assert option == f"row {row}: class {y[row]}, predicted class {said}"
        answer = plain(page.locator("#answer").text_content())
        assert f"True class: class {y[row]}. The prediction is wrong." in answer
        assert "Probabilities are shares of the WOLF values" in answer
        last = page.locator("#sample option").count() - 1
        page.select_option("#sample", str(last))
        assert "wrong" not in page.locator("#answer").text_content()

    def test_pages_of_compact_trees_have_probabilities_instead_of_wolf(self, open_report, two):
        page = open_report(lhtree.CompactLHTClassifier().fit(*two), *two)
        text = page.locator("main").text_content()
        assert "WOLF" not in text
        assert "probabilities of the predicted class" in plain(text)

    def test_every_step_of_a_slider_moves_within_the_training_range(self, open_report, two):
        X, y = two[0] + 1e5, two[1]
        page = open_report(lhtree.LHTClassifier().fit(X, y), X, y)
        feature = int(page.locator("#row input[type=text]").first.get_attribute("data-feature"))
        steps = [0, 1, 2, *range(490, 510), 999, 1000]
        seen = page.locator("#row input[type=range]").first.evaluate(
            """(slider, [f, steps]) => steps.map((i) => {
                   slider.value = i;
                   slider.dispatchEvent(new Event("input"));
                   return [lhtree.row()[f], Number(slider.value), Number(document.getElementById(`value-${f}`).value)];
               })""",
            [feature, steps],
        )
        values, places, shown = np.array(seen).T
        low, high = X[:, feature].min(), X[:, feature].max()
        assert (np.diff(shown) > 0).all()
        assert np.abs(values - np.linspace(low, high, 1001)[steps]).max() <= (high - low) / 1000
        assert places.tolist() == steps

    @pytest.mark.parametrize("kind", ["counted", "class weights", "sample weights", "one leaf", "forest"])
    def test_shares_of_weight_do_not_pass_for_shares_of_rows(self, open_report, kind):
        X, y = make_clouds(150, 5, 2)
        y = np.where(
            np.arange(150) % 3 == 0, y, 0
        )  # so that balanced classes do not have their share of the rows
        sample_weight = np.where(y == 1, 3.0, 1.0) if kind == "sample weights" else None
        class_weight = None if kind in ("counted", "sample weights") else "balanced"
        model = {
            "one leaf": lhtree.LHTClassifier(gamma=1000, class_weight=class_weight),
            "forest": lhtree.LHForestClassifier(n_estimators=5, class_weight=class_weight, random_state=0),
        }.get(kind, lhtree.LHTClassifier(gamma=2, class_weight=class_weight))
        page = open_report(model.fit(X, y, sample_weight=sample_weight), X, y)
        view = model.trees_[0]
        share = words.percent(view.n_target[0] / view.weight[0])
        sentence = plain(page.locator("#sentence").text_content())
        panel = plain(page.locator("#block").text_content())
        first = plain(page.locator("#path .steps p").first.text_content())
        item = plain(page.locator(".item").first.get_attribute("aria-label"))
        if kind == "counted":
            assert share == words.percent((y == 1).mean())
            assert "% of the training rows are " in sentence
            assert f"{share} belong to class 1" in panel
            assert first == f"Block 0: {share} of 150 rows are class 1"
            assert " are class 1" in item
            assert "weight of" not in page.locator("main").text_content()
        else:
            assert "% of the weight of the training rows is " in sentence
            assert f"{share} of their weight belongs to class 1" in panel
            assert f"{share} of the weight of {view.n_samples[0]} rows is class 1" in first
            assert "of the weight" in item
            assert "show weights" in page.locator("#trees-hint").text_content()

    def test_the_sentence_names_the_largest_contributions(self, open_report, wine_model):
        model, X, y = wine_model
        page = open_report(model, X, y)
        page.select_option("#sample", label=f"row 5: {y[5]}")
        explanation = model.explain(X.iloc[5])
        parts = explanation.contributions[explanation.prediction]
        largest = max(parts, key=parts.get)
        assert f"for it: {largest} " in page.locator("#sentence").text_content()
