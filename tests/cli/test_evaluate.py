"""``lhtree evaluate`` gives the figures of ``lhtree.evaluate``."""

import json

import numpy as np
import pytest

import lhtree
from support.shop import fail, fit_boosted, fit_models, make_table, shop, succeed  # noqa: F401


def table_with_doubt():
    """Rows about which the model is not always right."""
    frame = make_table(900)[300:].reset_index(drop=True)
    frame.loc[::7, "y"] = "sold"
    return frame


@pytest.mark.usefixtures("shop")
class TestFigures:
    @pytest.fixture
    def facts(self, capsys):
        table_with_doubt().to_csv("doubt.csv", index=False)
        return json.loads(
            succeed(capsys, "evaluate", "model.lht", "doubt.csv", "--target", "y", "--json").out
        )

    def test_figures_equal_those_of_the_library(self, facts):
        frame = table_with_doubt()
        measured = lhtree.evaluate(fit_models()[0], frame.drop(columns="y"), frame["y"])
        assert facts == measured.to_dict() | {"n_dropped": 0}


@pytest.mark.usefixtures("shop")
class TestShown:
    def test_tables(self, capsys):
        shown = succeed(capsys, "evaluate", "model.lht", "test.csv", "--target", "y").out
        lines = [line.split() for line in shown.splitlines()]
        assert lines[0] == ["rows", "100"]
        assert lines[1][:3] == ["accuracy", *f"{100 * self.accuracy():.2f} %".split()]
        assert ["class", "rows", "predicted", "recall", "precision"] in lines
        assert "Confusion matrix (rows: true class, columns: predicted)" in shown
        assert "Accuracy at each coverage" in shown
        assert ["coverage", "rows", "WOLF", "at", "least", "accuracy"] in lines
        assert max(map(len, shown.splitlines())) <= 80

    def test_the_target_is_that_of_the_fit(self, capsys):
        succeed(capsys, "fit", "data.csv", "-t", "y", "-o", "fitted.lht", "--model", "compact")
        for asked in (("evaluate", "fitted.lht"), ("compare", "fitted.lht", "boosted.lht")):
            assert (
                succeed(capsys, *asked, "test.csv").out == succeed(capsys, *asked, "test.csv", "-t", "y").out
            )
        succeed(capsys, "report", "fitted.lht", "data.csv", "-o", "r.html")
        frame = make_table()
        lhtree.save(lhtree.LHTClassifier().fit(frame[["size"]], frame["y"].to_numpy()), "nameless.lht")
        ran = fail(capsys, "evaluate", "nameless.lht", "test.csv")
        assert ran.err == "lhtree: nameless.lht does not name its target: pass --target\n"

    def accuracy(self):
        frame = make_table()[200:]
        return np.mean(fit_models()[0].predict(frame.drop(columns="y")) == frame["y"])

    def test_rows_without_a_class(self, capsys):
        make_table().assign(y=lambda frame: frame["y"].where(frame.index > 9)).to_csv("some.csv", index=False)
        asked = ("evaluate", "model.lht", "some.csv", "-t", "y")
        ran = succeed(capsys, *asked, "--drop-missing-target")
        assert ran.err == "lhtree: 10 rows without a target were dropped\n"
