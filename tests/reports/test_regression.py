"""Reports on regressors: the facts, and numbers predicted in the page."""

import numpy as np
import pandas as pd
import pytest

from lhtree import LHBoostRegressor, LHForestRegressor, LHTRegressor, report
from support.browser import plain
from support.reports import make_summary

MODELS = [
    LHTRegressor(pruning=0.1, min_samples_leaf=20),
    LHForestRegressor(5, random_state=0),
    LHForestRegressor(3, membership="least_squares", max_depth=3, random_state=0),
    LHBoostRegressor(max_iter=8, random_state=0),
    LHBoostRegressor("quantile", quantile=0.9, max_iter=8, random_state=0),
    LHBoostRegressor("poisson", max_iter=8, random_state=0),
]


def make_table(n_rows=200):
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(n_rows, 3)), columns=["size", "age", "<b>noise</b>"])
    y = 50 + 10 * X["size"] - 6 * np.abs(X["age"]) + generator.normal(0, 2, n_rows)
    X.iloc[::13, 1] = np.nan
    return X, np.maximum(y, 1.0).rename("price")


@pytest.fixture(params=MODELS, ids=str)
def fitted(request):
    X, y = make_table()
    return request.param.fit(X, y), X, y


class TestFacts:
    def test_figures_are_those_of_the_model(self):
        X, y = make_table()
        model = LHForestRegressor(10, random_state=0).fit(X[:120], y[:120])
        facts = make_summary(model, X[:120], y[:120], (X[120:], y[120:]))
        assert facts["title"] == "LHForestRegressor for price"
        assert facts["test"]["r2"] == pytest.approx(model.score(X[120:], y[120:]))
        numbers = facts["numbers"]
        assert sum(numbers["residuals"]["counts"]) == len(numbers["points"]["actual"]) == 80
        low, high = model.predict_interval(X[120:], 0.9).T
        assert numbers["half"] == pytest.approx((high - low)[0] / 2)
        shares = {one["coverage"]: one["share"] for one in numbers["intervals"]}
        assert shares[0.9] == np.mean((low <= y[120:]) & (y[120:] <= high))
        errors = np.abs(y[120:].to_numpy() - model.predict(X[120:]))
        assert facts["samples"]["row"][:3] == np.argsort(-errors)[:3].tolist()
        assert facts["samples"]["actual"][0] == y.iloc[120 + facts["samples"]["row"][0]]

    def test_few_rows_have_fewer_intervals(self):
        X, y = make_table(12)
        facts = make_summary(LHForestRegressor(10, random_state=0).fit(X, y), X, y)
        assert 0.99 not in [one["coverage"] for one in facts["numbers"]["intervals"]]
        assert "few-rows" in [one["kind"] for one in facts["warnings"]]

    @pytest.mark.parametrize("y", [["a"] * 200, np.full(200, np.nan), np.ones((200, 2))])
    def test_invalid_responses_are_rejected(self, y, tmp_path, rejects):
        X, known = make_table()
        model = LHTRegressor().fit(X, known)
        rejects(report, model, X, y, tmp_path / "report.html")


class TestPage:
    def test_page_shows_numbers(self, fitted, open_report):
        model, X, y = fitted
        page = open_report(model, X, y, width=390)
        for width in (1200, 768, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert page.locator(".tile b").evaluate_all(
                "all => all.every(e => e.scrollWidth <= e.clientWidth)"
            )
        titles = page.locator("#charts figcaption").all_inner_texts()
        assert titles[:3] == [
            "Predicted against actual",
            "Residuals over predictions",
            "Distribution of residuals",
        ]
        is_forest = isinstance(model, LHForestRegressor)
        assert ("Coverage of the intervals" in titles) == is_forest
        is_quantile = getattr(model, "loss", None) == "quantile"
        assert ("pinball loss" in page.inner_text("#lead")) == is_quantile
        assert ("R²" in page.inner_text("#overview")) != is_quantile
        shown = plain(page.inner_text("body"))
        for word in ("NaN", "undefined", "class", "probability", "Confusion", "null"):
            assert word not in shown
        assert "price" in page.inner_text("#prediction")
        value = float(page.get_attribute("#prediction", "data-value"))
        row = page.evaluate("lhtree.facts.samples.row[0]")
        assert value == pytest.approx(model.predict(X[row : row + 1])[0])
        assert page.locator("#interval").count() == is_forest
        assert "the same predictions" in page.inner_text("#agreement")
