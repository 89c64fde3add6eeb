"""The report of a table with categories in a real browser: categories are chosen, never half on."""

import numpy as np
import pandas as pd

from lhtree import LHBoostClassifier, LHTClassifier
from support.adult import make_adult
from support.browser import PREDICT


def test_categories_are_chosen_in_the_page(open_report):
    X, y = make_adult(400)
    X = X.drop(columns="country")
    tree = LHTClassifier(gamma=40).fit(X, y)
    page = open_report(tree, X, y)
    encoded = tree._model.encoding.encode(X[:50])
    rows = [[None if np.isnan(value) else value for value in row] for row in encoded]
    said = np.array([each["proba"] for each in page.evaluate(PREDICT, rows)])
    assert np.abs(said - tree.predict_proba(X[:50])).max() <= 1e-12
    first = tree._model.encoding.feature_names.index("school = school")
    choice = page.locator(f"#value-{first}")
    assert choice.locator("option").all_inner_texts() == ["missing", *tree._model.encoding.categories[2]]
    for category in ("school", "doctor", "missing"):
        choice.select_option(label=category)
        values = page.evaluate("() => lhtree.row()")
        own = values[first : first + 5]
        assert own.count(1) == (category != "missing")
        row = tree._model.encoding.decode(np.array([np.nan if value is None else value for value in values]))
        assert row["school"] == (None if category == "missing" else category)
        wanted = tree.predict(pd.DataFrame([row])[X.columns.tolist()])[0]
        assert page.locator("#prediction").inner_text().startswith(wanted)
        if category == "doctor":
            assert "school = doctor" in page.locator("#contributions").inner_text()
    page.click("#clear")
    assert choice.input_value() == "-1"


def test_statistics_and_indicators_follow_the_fields(open_report):
    X, y = make_adult(400)
    for model in (LHTClassifier(gamma=40, missing_indicator=True), LHBoostClassifier(10, random_state=0)):
        model.fit(X, y)
        encoding = model._model.encoding
        page = open_report(model, X, y)
        country = X.columns.get_loc("country")
        choice = page.locator(f"#value-{encoding.ptr[country]}")
        assert set(choice.locator("option").all_inner_texts()) == {"missing", *encoding.categories[country]}
        for category in ("country 03", "missing"):
            choice.select_option(label=category)
            page.locator("#value-0").fill("")
            values = page.evaluate("() => lhtree.row()")
            row = encoding.decode(np.array([np.nan if value is None else value for value in values]))
            assert row["country"] == (None if category == "missing" else category)
            assert np.isnan(row["age"])
            if encoding.is_indicator.any():
                indicators = [
                    value for value, flag in zip(values, encoding.is_indicator, strict=True) if flag
                ]
                numbers = [values[f - 1] for f in np.flatnonzero(encoding.is_indicator)]
                assert indicators == [int(value is None) for value in numbers]
            wanted = model.predict(pd.DataFrame([row])[X.columns.tolist()])[0]
            assert page.locator("#prediction").inner_text().startswith(wanted)
