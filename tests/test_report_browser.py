"""The report in a real browser: it predicts as the model does, works by mouse and keyboard, and loads nothing."""

import shutil

import numpy as np
import pandas as pd
import pytest

from conftest import make_clouds
from lhtree import LHForestClassifier, LHTClassifier, report
from lhtree.explain import _words as words
from test_report import HOSTILE

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group test)")

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
)
PREDICT = "rows => rows.map(row => { const s = lhtree.predict(row); delete s.walks; delete s.z; return s; })"


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """A function that opens a file; afterwards nothing must have been complained about or asked for."""
    problems, contexts = [], []

    def open_(path, *, width=1200, height=900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        url = path.as_uri()
        page.on("request", lambda request: request.url in (url, "data:,") or problems.append(request.url))
        page.goto(url)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def open_report(open_page, tmp_path):
    """A function that writes the report of a model and opens it."""

    def open_(model, X, y, *, report_options=None, **options):
        path = report(model, X, y, tmp_path / "report.html", **({"betas": None} | (report_options or {})))
        return open_page(path, **options)

    return open_


@pytest.fixture(scope="module")
def wine_model():
    X, y = make_clouds(240, 13, 3)
    X = pd.DataFrame(10 + 3 * X, columns=[f"feature {i}" for i in range(13)])
    y = np.array(["red", "green", "blue"])[y]
    return LHTClassifier(beta=0.25).fit(X, y), X, y


def as_json(rows):
    """Rows for the page: None is missing."""
    return [[None if np.isnan(value) else float(value) for value in row] for row in rows]


def plain(text):
    return text.replace("\u00a0", " ")


def make_rows(X, seed=0):
    """Rows of the data, rows with gaps, rows far out, and a row without any value."""
    generator = np.random.default_rng(seed)
    X = np.asarray(X, dtype=np.float64)
    gaps = np.where(generator.random(X[:50].shape) < 0.4, np.nan, X[:50])
    far = X[:50] * 10.0 ** generator.integers(-5, 40, size=X[:50].shape)
    return np.vstack([X[:100], gaps, far, np.full((1, X.shape[1]), np.nan)])


MODELS = {
    "paper tree": LHTClassifier(),
    "small gamma": LHTClassifier(gamma=1, beta=0.4),
    "mixed tree": LHTClassifier(direction="mixed"),
    "fisher, path": LHTClassifier(direction="fisher", confidence="path", membership="least_squares"),
    "no confidence": LHTClassifier(confidence=None, membership="least_squares", gamma=40),
    "minmax": LHTClassifier(normalize="minmax", class_weight="balanced"),
    "as it is": LHTClassifier(normalize=None, membership="constant"),
    "a leaf": LHTClassifier(gamma=1000),
    "paper forest": LHForestClassifier(n_estimators=20, random_state=0),
    "mixed forest": LHForestClassifier(n_estimators=20, direction="mixed", confidence="path", random_state=0),
}


class TestPrediction:
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("name", MODELS)
    def test_the_page_predicts_as_the_model_does(self, open_report, name, n_classes):
        X, y = make_clouds(200, 11, n_classes)
        X[::9, 3] = np.nan
        model = MODELS[name].fit(X, y)
        page = open_report(model, X, y)
        rows = make_rows(X)
        found = page.evaluate(PREDICT, as_json(rows))
        for method in ("wolf", "membership", "confidence", "proba"):
            said = np.array([each[method] for each in found])
            assert np.abs(said - getattr(model, f"predict_{method}")(rows)).max() <= 1e-12, method
        assert [each["prediction"] for each in found] == model.predict(rows).tolist()
        assert float(page.locator("#agreement").get_attribute("data-largest")) <= 1e-12

    def test_float32_rows(self, open_report):
        X, y = make_clouds(200, 9, 2)
        X = X.astype(np.float32)
        model = LHTClassifier().fit(X, y)
        page = open_report(model, X, y)
        found = page.evaluate(PREDICT, as_json(X))
        assert np.abs([each["proba"] for each in found] - model.predict_proba(X)).max() <= 1e-12

    def test_rows_without_any_score_fall_back(self, open_report):
        X, y = make_clouds(300, 4, 3, seed=3)
        model = LHTClassifier(gamma=1).fit(X, y)
        rows = np.random.default_rng(0).normal(scale=3.0, size=(3000, 4))
        is_zero = ~model.predict_wolf(rows).any(axis=1)
        assert is_zero.any()
        page = open_report(model, X, y)
        found = page.evaluate(PREDICT, as_json(rows[is_zero]))
        assert all(each["fallback"] for each in found)
        assert np.abs([each["proba"] for each in found] - model.predict_proba(rows[is_zero])).max() <= 1e-12

    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("name", ["paper tree", "mixed tree", "paper forest"])
    def test_contributions_and_ways_are_those_of_the_explanation(self, open_report, name, n_classes):
        X, y = make_clouds(200, 5, n_classes)
        model = MODELS[name].fit(X, y)
        page = open_report(model, X, y)
        for row in make_rows(X)[[0, 7, 120, 200]]:
            explanation = model.explain(row)
            walks = page.evaluate("row => lhtree.predict(row).walks", as_json([row])[0])
            for walk, path in zip(walks, explanation.paths, strict=True):
                assert [step["block"] for step in walk["steps"]] == [step.block for step in path.steps]
                assert [step["side"] for step in walk["steps"]] == [step.side for step in path.steps]
                assert [step["y"] for step in walk["steps"]] == pytest.approx([step.y for step in path.steps])
                assert walk["leaf"] == path.leaf.block
                assert walk["estimate"] == pytest.approx(path.leaf.estimate, abs=1e-9)
                assert walk["confidence"] == pytest.approx(path.leaf.confidence, abs=1e-12)
            for cls, label in enumerate(model.classes_):
                found = page.evaluate(
                    "([row, cls]) => { const c = lhtree.contributions(row, cls); return [c.base, ...c.byFeature]; }",
                    [as_json([row])[0], cls],
                )
                wanted = [explanation.base[label], *explanation.contributions[label].values()]
                assert found == pytest.approx(wanted, abs=1e-9)


def shown_proba(page):
    """Probabilities as the page shows them, in the order of the classes."""
    names = page.locator("#answer .bars").first.locator(".short").all_text_contents()
    values = (
        page.locator("#answer .bars")
        .first.locator(".figure")
        .evaluate_all("figures => figures.map(figure => Number(figure.dataset.value))")
    )
    by_name = dict(zip(names, values, strict=True))
    return [by_name[name] for name in page.evaluate("lhtree.facts.classes")]


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

    def test_what_is_no_number_is_said_to_be_none(self, open_report, wine_model):
        page = open_report(*wine_model)
        for text in ("abc", "1,5", "1e999", "Infinity", "0x10", "--1"):
            page.fill("#value-3", text)
            assert page.locator("#problem-3").is_visible(), text
            assert page.locator("#value-3").get_attribute("aria-invalid") == "true"
            assert page.locator("#prediction").count() == 0
            assert page.locator("#path").is_hidden()
        for text in (" 2.5e1 ", "-.5", "−3", "+4.", ""):
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
            assert (
                page.locator("#answer").get_by_text(f"In the data this row is {y[samples[i]]}.").is_visible()
            )
            page.click("#next")
        page.click("#previous")
        assert page.input_value("#sample") == "2"
        page.click("#clear")
        assert page.input_value("#value-0") == ""
        assert "13 values are missing" in page.locator("#sentence").text_content()
        assert shown_proba(page) == pytest.approx(list(model.predict_proba(X.iloc[:1] * np.nan)[0]), abs=1e-9)

    def test_a_slider_sets_its_value(self, open_report, wine_model):
        model, X, y = wine_model
        page = open_report(model, X, y)
        slider = page.locator("#row input[type=range]").first
        feature = int(page.locator("#row input[type=text]").first.get_attribute("data-feature"))
        slider.focus()
        page.keyboard.press("End")
        assert float(page.input_value(f"#value-{feature}")) == pytest.approx(
            X.iloc[:, feature].max(), rel=1e-3
        )

    @pytest.mark.parametrize(("offset", "spread"), [(0.0, 1e-3), (1e5, 1.0), (-1e9, 4000.0)])
    def test_every_step_of_a_slider_moves_within_what_was_seen(self, open_report, two, offset, spread):
        X, y = two
        X = offset + spread * X
        page = open_report(LHTClassifier().fit(X, y), X, y)
        feature = int(page.locator("#row input[type=text]").first.get_attribute("data-feature"))
        steps = [0, 1, 2, *range(490, 510), 999, 1000]
        seen = page.locator("#row input[type=range]").first.evaluate(
            """(slider, [id, steps]) => steps.map((i) => {
                   slider.value = i;
                   slider.dispatchEvent(new Event("input"));
                   return [Number(document.getElementById(id).value), Number(slider.value)];
               })""",
            [f"value-{feature}", steps],
        )
        values, places = np.array(seen).T
        low, high = X[:, feature].min(), X[:, feature].max()
        assert (np.diff(values) > 0).all()
        assert low <= values[0]
        assert values[-1] <= high
        assert np.abs(values - np.linspace(low, high, 1001)[steps]).max() <= (high - low) / 1000
        assert places.tolist() == steps

    def test_values_far_from_0_are_told_apart(self, open_report, two):
        X, y = two
        X = 1e5 + X
        page = open_report(LHTClassifier().fit(X, y), X, y)
        label = page.locator("#row input[type=range]").first.get_attribute("aria-label")
        low, high = label.split("from ")[1].split(" to ")
        assert float(low) < float(high)

    @pytest.mark.parametrize("kind", ["counted", "class weights", "sample weights", "one leaf", "forest"])
    def test_shares_of_weight_do_not_pass_for_shares_of_rows(self, open_report, kind):
        X, y = make_clouds(150, 5, 2)
        y = np.where(
            np.arange(150) % 3 == 0, y, 0
        )  # so that balanced classes do not have their share of the rows
        sample_weight = np.where(y == 1, 3.0, 1.0) if kind == "sample weights" else None
        class_weight = None if kind in ("counted", "sample weights") else "balanced"
        model = {
            "one leaf": LHTClassifier(gamma=1000, class_weight=class_weight),
            "forest": LHForestClassifier(n_estimators=5, class_weight=class_weight, random_state=0),
        }.get(kind, LHTClassifier(gamma=2, class_weight=class_weight))
        page = open_report(model.fit(X, y, sample_weight=sample_weight), X, y)
        view = model.trees_[0]
        share = words.percent(view.n_target[0] / view.weight[0])
        sentence = plain(page.locator("#sentence").text_content())
        panel = plain(page.locator("#block").text_content())
        first = plain(page.locator("#path .steps p").first.text_content())
        item = plain(page.locator(".item").first.get_attribute("aria-label"))
        if kind == "counted":
            assert share == words.percent((y == 1).mean())
            assert "% of the rows it learned from are " in sentence
            assert f"{share} belong to class 1" in panel
            assert first == f"Block 0: {share} of 150 rows are class 1"
            assert " are class 1" in item
            assert "weight of" not in page.locator("main").text_content()
        else:
            assert "% of the weight of the rows it learned from is " in sentence
            assert f"{share} of their weight belongs to class 1" in panel
            assert f"{share} of the weight of {view.n_samples[0]} rows is class 1" in first
            assert "of the weight" in item
            assert "show their weight" in page.locator("#trees-hint").text_content()

    @pytest.mark.parametrize("normalize", ["robust", None])
    def test_levels_are_those_of_the_explanation(self, open_report, two, normalize):
        X, y = two
        X = 3.0 * X
        model = LHTClassifier(**({} if normalize == "robust" else {"normalize": None})).fit(X, y)
        page = open_report(model, X, y)
        rows = make_rows(X)[::5]
        found = page.evaluate(
            """rows => rows.map(row => { const { z } = lhtree.predict(row);
                   return row.map((value, f) => lhtree.levelOf(lhtree.model, value ?? NaN, z[f])); })""",
            as_json(rows),
        )
        # Values outside the training range have a sentence of their own in the page.
        levels = [
            [level.partition("outside")[0].removesuffix(", ") for level in words.find_levels(each).values()]
            for each in map(model.explain, rows)
        ]
        assert found == levels
        assert any("usual" in row for row in found) == (normalize == "robust")

    def test_shares_are_told_as_in_the_explanation(self, open_report, two):
        page = open_report(LHTClassifier().fit(*two), *two)
        generator = np.random.default_rng(0)
        shares = [0.0, 1e-9, 0.0004, 0.0005, 0.01, 0.5, 0.9994, 0.9997, 1 - 1e-12, 1.0]
        shares += [*(np.arange(801) / 800), *(np.arange(65) / 64), *generator.random(500)]
        shares = [float(share) for share in shares]
        found = page.evaluate("shares => shares.map(lhtree.percent)", shares)
        assert list(map(plain, found)) == list(map(words.percent, shares))

    def test_the_sentence_names_the_largest_contributions(self, open_report, wine_model):
        model, X, y = wine_model
        page = open_report(model, X, y)
        page.select_option("#sample", label=f"row 5: {y[5]}")
        explanation = model.explain(X.iloc[5])
        parts = explanation.contributions[explanation.prediction]
        largest = max(parts, key=parts.get)
        assert f"Most speaks for it: {largest} " in page.locator("#sentence").text_content()


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
                assert f"Learned from {view.n_samples[block]} rows" in panel
                assert page.locator(f".item[data-block='{block}']").get_attribute("aria-selected") == "true"
                weights = view.weights(block)
                if weights:
                    heaviest = max(weights, key=lambda name: abs(weights[name]))
                    assert page.locator("#block .bars .short").first.text_content() == heaviest

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

    def test_the_way_of_the_row_is_marked(self, open_report, wine_model):
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

    def test_trees_of_a_forest(self, open_report, three):
        model = LHForestClassifier(n_estimators=10, random_state=0).fit(*three)
        page = open_report(model, *three)
        page.locator("#tree-controls select").select_option(label="Tree 7 of 10")
        page.locator("#tree-controls").get_by_text("class 2").click()
        view = model.trees_[6 * 3 + 2]
        assert f"Learned from {view.n_samples[0]} rows" in page.locator("#block").text_content()
        assert "for class 2 (tree 7 of 10)" in page.locator("#path h3").first.text_content()

    def test_a_part_of_a_forest_does_not_pass_for_the_forest(self, open_report, three):
        X, y = three
        model = LHForestClassifier(n_estimators=30, random_state=0).fit(X, y)
        page = open_report(model, X, y, report_options={"max_megabytes": 0.1})
        n_shown = page.evaluate("lhtree.facts.trees.n_shown")
        assert 1 <= n_shown < 30
        assert f"the first {n_shown} of 30 trees" in page.locator("#partial").text_content()
        assert page.locator("#agreement").count() == 0
        row = page.evaluate("lhtree.facts.samples.row[0]")
        said = model.predict(X[[row]])[0]
        assert f"The whole forest says class {said}" in page.locator("#answer").text_content()
        part = model._forest.part(0, n_shown * 3).scorer(model._normalisation, model._prior, "last")
        assert shown_proba(page) == pytest.approx(list(part.proba(X[[row]])[0]), abs=1e-9)


class TestPage:
    def test_by_keyboard_from_the_top(self, open_report, wine_model):
        page = open_report(*wine_model)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        seen = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            place, width = page.evaluate(
                """() => { const a = document.activeElement;
                           const shown = a.type === "radio" ? a.nextElementSibling : a;
                           return [a.closest("section, nav")?.id || "nav", getComputedStyle(shown).outlineWidth]; }"""
            )
            assert width == "3px", place
            seen.add(place)
        assert {"nav", "overview", "trees", "row"} <= seen

    def test_choosing_a_class_by_arrow_keys_keeps_the_focus(self, open_report, wine_model):
        page = open_report(*wine_model)
        for place in ("#tree-controls", "#path"):
            page.locator(f"{place} input:checked").focus()
            before = page.input_value(f"{place} input:checked")
            page.keyboard.press("ArrowRight")
            assert page.input_value(f"{place} input:checked") != before
            assert page.evaluate(f"document.querySelector('{place}').contains(document.activeElement)")

    @pytest.mark.parametrize("width", [320, 390, 768])
    def test_nothing_is_wider_than_a_phone(self, open_page, width, hostile_report):
        page = open_page(hostile_report, width=width, height=700)
        for unfold in (False, True):
            if unfold:
                page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
                page.wait_for_timeout(100)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            wide = page.evaluate(
                """width => [...document.querySelectorAll("main *")].filter(e =>
                       e.getBoundingClientRect().right > width + 1 && !e.closest(".scroll, .what, .pills, svg"))
                       .map(e => e.outerHTML.slice(0, 80))""",
                width,
            )
            assert wide == []

    @pytest.mark.parametrize("width", [390, 1200])
    def test_long_names_can_be_told_apart(self, open_report, width):
        X, y = make_clouds(200, 4, 3)
        start = "capital_run_length_of_the_words_in_the_text_of_the_mail_that_"
        X = pd.DataFrame(
            X, columns=["word_freq_business", "word_freq_internet", f"{start}came", f"{start}went"]
        )
        y = np.array(["Iris versicolor of the mountains", "Iris_virginica_of_the_seaboard", "Iris setosa"])[y]
        page = open_report(LHTClassifier().fit(X, y), X, y, width=width)
        for place in ("#feature-charts", "#block", "#contributions"):
            for name in page.locator(f"{place} .bars .short").all():
                text, title = name.text_content(), name.get_attribute("title")
                assert text == title if len(title) <= 60 else text.endswith(title[-20:])
            shown = set(page.locator(f"{place} .bars").first.locator(".short").all_text_contents())
            assert len(shown) == page.locator(f"{place} .bars").first.locator(".short").count() > 1
        cut = page.evaluate(
            """() => [...document.querySelectorAll(".short")].filter(e =>
                   e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1).map(e => e.title)"""
        )
        assert cut == [name for name in cut if len(name) > 60]
        outside = page.evaluate(
            """() => [...document.querySelectorAll(".scroll")].filter(e =>
                   e.getBoundingClientRect().right > e.closest(".card").getBoundingClientRect().right).length"""
        )
        assert outside == 0
        tables = page.locator("#charts .scroll").evaluate_all(
            "all => all.map(e => e.scrollWidth <= e.clientWidth)"
        )
        assert tables == [width == 1200, True]  # the matrix may scroll on a phone

    @pytest.mark.parametrize("width", [320, 1200])
    def test_headers_of_the_matrix_are_whole(self, open_report, three, width):
        page = open_report(LHTClassifier().fit(*three), *three, width=width)
        heads = page.locator(".confusion .short")
        assert heads.all_text_contents() == ["0", "1", "2", "0", "1", "2"]
        assert page.locator(".confusion").evaluate(
            "e => e.parentElement.scrollWidth <= e.parentElement.clientWidth"
        )

    def test_dark_light_and_print(self, open_report, wine_model):
        brightness = """() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g);
                                return (Number(r) + Number(g) + Number(b)) / 765; }"""
        page = open_report(*wine_model, color_scheme="dark")
        assert page.evaluate(brightness) < 0.2
        page.emulate_media(media="print")
        assert page.evaluate(brightness) > 0.9  # paper is white, whatever the screen is
        assert page.locator("nav").is_hidden()
        assert page.locator("#confusion, .confusion").is_visible()
        page.emulate_media(media="screen", color_scheme="light")
        assert page.evaluate(brightness) > 0.9

    def test_hostile_names_are_text(self, open_page, hostile_report):
        page = open_page(hostile_report)
        labels = page.locator("#inputs label .short").all_text_contents()
        assert sorted(labels) == sorted(HOSTILE)
        assert page.locator("img, main script, iframe, h1 *, main :is(bdi, .short) *").count() == 0
        assert page.locator("h1").text_content() == "<h1>&amp;</h1>"
        assert page.evaluate("({}).polluted === undefined && Object.keys(Object.prototype).length === 0")
        page.fill("#value-6", "3.5")
        for item in page.locator(".item").all()[:5]:
            item.click()
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        page.wait_for_timeout(100)
        assert page.locator("img, main script, iframe").count() == 0

    def test_the_policy_lets_nothing_else_run(self, hostile_report, browser):
        page = browser.new_page()
        page.goto(hostile_report.as_uri())
        ran = page.evaluate(
            """() => { const s = document.createElement("script"); s.textContent = "window.ran = true";
                       document.body.append(s);
                       return new Promise(done => { const i = new Image();
                           i.onload = () => done("loaded"); i.onerror = () => done(window.ran === true);
                           i.src = "https://example.invalid/x.png"; }); }"""
        )
        assert ran is False
        page.close()

    def test_warnings_are_shown_and_figures_are_there(self, open_report, wine_model):
        model, X, y = wine_model
        page = open_report(
            model,
            X[:120],
            y[:120],
            report_options={"X_test": X[120:], "y_test": y[120:], "betas": [0.0, 0.5]},
        )
        accuracy = words.percent(model.score(X[120:], y[120:]))
        assert plain(page.locator(".tile b").first.text_content()) == accuracy
        assert "Measured on 120 rows held out" in page.locator("#measured-on").text_content()
        kinds = page.evaluate("lhtree.facts.warnings.map(w => w.kind)")
        assert page.locator(".notice[data-kind]").count() == len(kinds)
        assert page.locator("#charts svg").count() == 2
        assert page.locator("#feature-charts svg").count() == 2

    def test_without_scripts_it_says_why_it_is_empty(self, open_report, wine_model):
        page = open_report(*wine_model, java_script_enabled=False)
        assert page.locator("noscript p").is_visible()


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory):
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(200, len(HOSTILE))), columns=pd.Index(HOSTILE, dtype=object))
    y = np.array(["<b>bold</b>", "</script>", "__proto__", "w" * 300])[generator.integers(0, 4, 200)]
    path = tmp_path_factory.mktemp("browser") / "hostile.html"
    return report(LHTClassifier().fit(X, y), X, y, path, title="<h1>&amp;</h1>", betas=[0.0, 0.5])
