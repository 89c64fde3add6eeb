"""The page of the service in a browser: a field per column, and an explanation that follows them."""

import pandas as pd
import pytest

import lhtree
from lhtree.serve import Service, build_app
from support.browser import PATIENCE, plain
from support.serving import ROW, save_dated, save_model, serving

HOSTILE = '<img src=x onerror="alert(1)">'


@pytest.fixture
def open_service(browser, tmp_path):
    """A function that serves a model and opens its page; nothing may be reported to the console."""
    problems, closing = [], []

    def open_(kind_or_path, *, width=1200, height=900, **options):
        path = save_model(kind_or_path, tmp_path) if isinstance(kind_or_path, str) else kind_or_path
        service = Service(path)
        server = serving(build_app(service))
        address = server.__enter__()
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        closing.extend([context.close, lambda: server.__exit__(None, None, None)])
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: request.url.startswith((address, "data:,")) or problems.append(request.url),
        )
        page.goto(address)
        page.wait_for_selector("#bars tr")
        return page, service.loaded

    yield open_
    for close in closing:
        close()
    assert problems == []


def wait_for(page, action, is_answer=lambda response: response.url.endswith("/explain")):
    """Run an action; return the request of the page and its response."""
    with page.expect_response(is_answer) as caught:
        action()
    answer = caught.value.json()
    page.wait_for_selector("#answer:not(.is-waiting)")
    return caught.value.request.post_data_json, answer


def test_the_form_has_a_field_per_column_and_follows_it(open_service):
    page, loaded = open_service("boost")
    assert page.title() == "loans.lht – lhtree"
    assert page.locator("#fields label").all_text_contents() == list(ROW)
    assert plain(page.locator("#about").text_content()) == (
        "LHBoostClassifier that predicts 2 classes from 5 columns, trained on 300 rows."
    )
    assert page.locator("#field-0-hint").text_content() == "18 to 79 in training"
    sent, answer = wait_for(page, lambda: page.get_by_label("income").fill("52000"))
    assert sent["row"] == loaded.example | {"income": 52000}
    assert answer["prediction"] == page.locator("#prediction").text_content() == "repaid"
    shown = page.locator("#shares td.number").all_text_contents()
    assert shown == [f"{100 * share:.1f} %" for share in answer["proba"].values()]
    largest = max(answer["contributions"], key=lambda name: abs(answer["contributions"][name]))
    assert page.locator("#bars th").first.text_content().startswith(largest)
    assert page.locator("#reasons li").all_text_contents() == [one["text"] for one in answer["reasons"]]
    assert page.locator("#text").text_content() == answer["text"]


def test_dates_are_chosen_from_a_calendar(open_service, tmp_path):
    page, loaded = open_service(save_dated(tmp_path))
    field = page.get_by_label("opened")
    assert (field.get_attribute("type"), field.input_value()) == ("date", loaded.example["opened"])
    sent, answer = wait_for(page, lambda: field.fill("2019-12-24"))
    assert (sent["row"]["opened"], answer["prediction"]) == ("2019-12-24", "old")
    hint = page.locator("#field-0-hint")
    assert hint.text_content() == "outside the training range, 2020-03-18 to 2023-04-06 in training"
    sent, _ = wait_for(page, lambda: field.fill(""))
    assert sent["row"]["opened"] is None
    wait_for(page, lambda: field.fill("2021-02-03"))
    field.press("Backspace")  # removes the first part
    page.wait_for_selector("#problem:not([hidden])")
    assert hint.text_content() == "not a date"


def test_missing_and_odd_values(open_service):
    page, loaded = open_service("boost")
    sent, _ = wait_for(page, lambda: page.get_by_label("purpose").select_option("(missing)"))
    assert sent["row"]["purpose"] is None
    sent, answer = wait_for(page, lambda: page.get_by_label("town").fill("elsewhere"))
    assert sent["row"]["town"] == "elsewhere"
    assert page.locator("#warnings li").all_text_contents() == [answer["warnings"][0]["message"]]
    wait_for(page, lambda: page.get_by_label("age").fill("17"))
    assert page.locator("#field-0-hint").text_content() == "outside the training range, 18 to 79 in training"
    page.get_by_label("age").fill("old")
    page.wait_for_selector("#problem:not([hidden])")
    assert page.locator("#problem").text_content() == "Correct the marked fields."
    assert page.get_by_label("age").get_attribute("aria-invalid") == "true"
    sent, _ = wait_for(page, lambda: page.get_by_role("button", name="Typical values").click())
    assert sent["row"] == loaded.example
    assert page.locator("#problem").is_hidden()


def test_changes_of_the_class_and_of_a_number(open_service):
    page, _ = open_service("boost")
    sent, answer = wait_for(page, lambda: page.get_by_role("button", name="Find changes").click())
    assert sent["counterfactuals"] == 3
    page.wait_for_selector("#changes li")
    assert page.locator("#changes li").all_text_contents() == [
        one["text"] for one in answer["counterfactuals"]
    ]
    page, _ = open_service("boost of numbers")
    page.get_by_label("At most").fill("1.5")
    sent, answer = wait_for(page, lambda: page.get_by_role("button", name="Find changes").click())
    assert sent["to"] == [None, 1.5]
    page.wait_for_selector("#changes li")
    assert len(answer["counterfactuals"]) == page.locator("#changes li").count()


def test_another_class_or_output_can_be_explained(open_service):
    page, _ = open_service("boost")
    sent, answer = wait_for(page, lambda: page.get_by_label("Explain").select_option("repaid"))
    assert sent["target"] == answer["target"] == "repaid"
    page, _ = open_service("quantiles")
    sent, answer = wait_for(page, lambda: page.get_by_label("Explain").select_option("0.9"))
    assert sent["target"] == "0.9"
    assert page.locator("#shares th").all_text_contents() == ["0.1", "0.5", "0.9"]


@pytest.mark.parametrize("kind", ["forest", "additive", "compact", "tree of numbers"])
def test_other_models(open_service, kind):
    page, loaded = open_service(kind)
    assert page.locator("#fields .field").count() == 5
    assert page.locator("#text").text_content() == loaded.explain({"row": loaded.example})["text"]


def test_a_phone_needs_no_sideways_scrolling(open_service):
    page, _ = open_service("boost", width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_names_are_text(open_service, tmp_path):
    table = pd.DataFrame({HOSTILE: ["<b>a</b>", HOSTILE, "c", "d"] * 10, "x" * 200: range(40)})
    path = tmp_path / "hostile.lht"
    lhtree.save(lhtree.LHTClassifier(gamma=1).fit(table, ["<i>no</i>", HOSTILE] * 20), path)
    page, _ = open_service(path, width=390, height=844)
    assert page.locator("#fields label").first.text_content() == HOSTILE
    assert page.locator("#fields img, #answer img, #answer i, #fields b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 390
