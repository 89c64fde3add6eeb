"""The whole page of the report: it loads nothing, suits phones and print, and survives hostile names."""

import numpy as np
import pandas as pd
import pytest

from lhtree import LHTClassifier
from lhtree.explain import _text as words
from support.browser import plain, unfold
from support.clouds import make_clouds
from support.reports import HOSTILE


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

    @pytest.mark.parametrize("width", [320, 390, 768])
    def test_page_fits_phones(self, open_page, width, hostile_report):
        page = open_page(hostile_report, width=width, height=700)
        for is_open in (False, True):
            if is_open:
                unfold(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            wide = page.evaluate(
                """width => [...document.querySelectorAll("main *")].filter(e =>
                       e.getBoundingClientRect().right > width + 1 && !e.closest(".scroll, .what, .pills, svg"))
                       .map(e => e.outerHTML.slice(0, 80))""",
                width,
            )
            assert wide == []

    @pytest.mark.parametrize("width", [390, 1200])
    def test_long_names_stay_distinct(self, open_report, width):
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
        assert tables == [True, True]

    def test_dark_light_and_print(self, open_report, wine_model):
        brightness = """() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g);
                                return (Number(r) + Number(g) + Number(b)) / 765; }"""
        page = open_report(*wine_model, color_scheme="dark")
        assert page.evaluate(brightness) < 0.2
        page.emulate_media(media="print")
        assert page.evaluate(brightness) > 0.9  # paper is white, whatever the screen is
        for screen in ("nav", "#clear", "#inputs input[type=range]", "#tree-controls fieldset", ".screen"):
            assert page.locator(screen).first.is_hidden(), screen
        assert page.locator("#block summary", has_text="Formula").is_hidden()
        assert page.locator("#contributions summary", has_text="more").is_visible()  # what paper leaves out
        assert page.locator("#confusion, .confusion").is_visible()
        page.emulate_media(media="screen", color_scheme="light")
        assert page.evaluate(brightness) > 0.9

    def test_classes_are_brighter_on_dark_paper(self, open_report):
        X, y = make_clouds(260, 3, 13)
        model = LHTClassifier(max_depth=2).fit(X, y)
        script = """() => [...document.querySelectorAll("#block .key")].map(e => {
            const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
            probe.fillStyle = getComputedStyle(e).backgroundColor;
            probe.fillRect(0, 0, 1, 1);
            return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3);
        })"""

        def luminance(colour):
            return 0.05 + ((np.array(colour) / 255 + 0.055) / 1.055) ** 2.4 @ [0.2126, 0.7152, 0.0722]

        light, dark = (
            np.array(open_report(model, X, y, color_scheme=scheme).evaluate(script))
            for scheme in ("light", "dark")
        )
        assert len({tuple(colour) for colour in dark}) == len(light) == 10
        assert (luminance(dark) > luminance(light)).all()
        assert (luminance(dark) / luminance([26, 29, 37]) > 3).all()

    def test_every_chart_names_its_axes(self, open_report, wine_model):
        page = open_report(*wine_model)
        charts = page.locator("#charts svg, #feature-charts svg, #effects svg")
        assert charts.count() > 6
        assert page.locator(":is(#charts, #feature-charts, #effects) svg .unit").count() == charts.count()
        assert "vertical" not in page.locator("main").text_content()

    def test_names_that_differ_in_the_middle(self, open_report):
        X, y = make_clouds(200, 3, 3)
        y = [f"The class with the long name number {code} of the three classes" for code in y]
        page = open_report(LHTClassifier(max_depth=2).fit(X, y), X, y, width=390)
        heads = page.locator(".confusion tbody th").all_inner_texts()
        assert heads == [f"…\u2060number {code}…" for code in range(3)]
        pills = page.locator("#tree-controls .pills span")
        assert pills.first.get_attribute("title") == sorted(set(y))[0]

    def test_a_perfect_model_and_one_that_learned_nothing(self, open_report):
        X, y = make_clouds(120, 3, 2)
        X[:, 0] = 10.0 * y
        page = open_report(LHTClassifier().fit(X, y), X, y)
        assert "NaN" not in page.locator("main").inner_html()
        page = open_report(LHTClassifier(gamma=1000).fit(X, y), X, y)
        assert page.locator("#effects svg").count() == 3
        assert "NaN" not in page.locator("main").inner_html()

    def test_hostile_names_are_text(self, open_page, hostile_report):
        page = open_page(hostile_report)
        labels = page.locator("#inputs label .short")
        assert sorted(labels.evaluate_all("all => all.map(e => e.title)")) == sorted(HOSTILE)
        assert max(map(len, labels.all_text_contents())) == 48
        assert page.locator("img, main script, iframe, h1 *, main :is(bdi, .short) *").count() == 0
        assert page.locator("h1").text_content() == "<h1>&amp;</h1>"
        assert page.evaluate("({}).polluted === undefined && Object.keys(Object.prototype).length === 0")
        page.fill("#value-6", "3.5")
        for item in page.locator(".item").all()[:5]:
            item.click()
        unfold(page)
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
        page = open_report(model, X[:120], y[:120], report_options={"X_test": X[120:], "y_test": y[120:]})
        accuracy = words.percent(model.score(X[120:], y[120:]))
        assert plain(page.locator(".tile b").first.text_content()) == accuracy
        assert "120 held-out rows" in page.locator("#measured-on").text_content()
        kinds = page.evaluate("lhtree.facts.warnings.map(w => w.kind)")
        assert page.locator(".notice[data-kind]").count() == len(kinds)
        assert page.locator("#charts svg").count() == 2
        assert page.locator("#feature-charts svg").count() == 0

    def test_page_without_scripts_has_a_note(self, open_report, wine_model):
        page = open_report(*wine_model, java_script_enabled=False)
        assert page.locator("noscript p").is_visible()
