"""``lhtree evaluate``: figures against those of scikit-learn."""

import json

import numpy as np
import pytest
from sklearn import metrics

import lhtree
from lhtree.tables import records
from support.shop import fail, fit_models, make_table, shop, succeed  # noqa: F401

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


def table_with_doubt():
    """Rows about which the model is not always right."""
    frame = make_table(900)[300:].reset_index(drop=True)
    frame.loc[::7, "y"] = "sold"
    return frame


@pytest.mark.usefixtures("shop")
class TestFigures:
    @pytest.fixture
    def facts(self, capsys, monkeypatch):
        monkeypatch.setattr(records, "CHUNK_BYTES", 2000)  # so that there are batches to put together
        table_with_doubt().to_csv("doubt.csv", index=False)
        return json.loads(
            succeed(capsys, "evaluate", "model.lht", "doubt.csv", "--target", "y", "--json").out
        )

    def test_scores(self, facts):
        frame, model = table_with_doubt(), fit_models()[0]
        X, y = frame.drop(columns="y"), frame["y"]
        guess = model.predict(X)
        assert facts["n_rows"] == 600
        assert facts["accuracy"] == metrics.accuracy_score(y, guess)
        assert facts["accuracy_low"] < facts["accuracy"] < facts["accuracy_high"]
        assert facts["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, guess))
        assert facts["log_loss"] == pytest.approx(metrics.log_loss(y, model.predict_proba(X)))
        assert facts["confusion"] == metrics.confusion_matrix(y, guess).tolist()
        precision, recall, _, counts = metrics.precision_recall_fscore_support(y, guess)
        assert [one["precision"] for one in facts["classes"]] == pytest.approx(precision.tolist())
        assert [one["recall"] for one in facts["classes"]] == pytest.approx(recall.tolist())
        assert [one["n_rows"] for one in facts["classes"]] == counts.tolist()

    def test_coverage(self, facts):
        frame, model = table_with_doubt(), fit_models()[0]
        X = frame.drop(columns="y")
        for point in facts["coverage"]:
            decisions = model.predict_or_abstain(X, point["threshold"])
            assert point["coverage"] == decisions.coverage
            assert point["accuracy"] == pytest.approx(decisions.score(frame["y"]))

    def test_classes_that_are_not_there(self, capsys):
        make_table().query("y == 'sold'").to_csv("sold.csv", index=False)
        facts = json.loads(succeed(capsys, "evaluate", "model.lht", "sold.csv", "-t", "y", "--json").out)
        assert facts["classes"][0]["recall"] is None
        assert facts["balanced_accuracy"] == facts["accuracy"]

    def test_numbers_in_other_spellings(self, capsys, two):
        X, y = two
        import pandas as pd

        frame = pd.DataFrame(X, columns=list("abcde"))
        lhtree.save(lhtree.LHTClassifier().fit(frame, y), "numbers.lht")
        frame.assign(y=y.astype(float)).to_csv("floats.csv", index=False)
        frame.assign(y=y).to_parquet("whole.parquet")
        shown = [
            succeed(capsys, "evaluate", "numbers.lht", name, "-t", "y", "--json").out
            for name in ("floats.csv", "whole.parquet")
        ]
        assert shown[0] == shown[1]


@pytest.mark.usefixtures("shop")
class TestShown:
    def test_tables(self, capsys):
        shown = succeed(capsys, "evaluate", "model.lht", "test.csv", "--target", "y").out
        lines = [line.split() for line in shown.splitlines()]
        assert lines[0] == ["rows", "100"]
        assert lines[1][:3] == ["accuracy", *f"{100 * self.accuracy():.2f} %".split()]
        assert ["class", "rows", "predicted", "precision", "recall"] in lines
        assert ["threshold", "rows", "coverage", "accuracy"] in lines
        assert max(map(len, shown.splitlines())) <= 80

    def accuracy(self):
        frame = make_table()[200:]
        return np.mean(fit_models()[0].predict(frame.drop(columns="y")) == frame["y"])

    def test_rows_without_a_class(self, capsys):
        frame = make_table()
        frame.loc[:9, "y"] = None
        frame.to_csv("some.csv", index=False)
        ran = fail(capsys, "evaluate", "model.lht", "some.csv", "-t", "y")
        assert ran.code == 1
        assert "--target y is missing in 10 of 300 rows" in ran.err
        ran = succeed(capsys, "evaluate", "model.lht", "some.csv", "-t", "y", "--drop-missing-target")
        assert ran.err == "lhtree: 10 rows without a class were left out\n"
        assert ran.out.startswith("rows                 290\n")

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"y": "lost"}, "--target y holds the class 'lost', which the model does not know"),
            ({"size": "x"}, "column 'size' is 'x' where the model takes numbers"),
            ({"shop": "west"}, "column 'shop' is 'west', which was not seen in training"),
        ],
    )
    def test_refusals(self, capsys, change, told):
        make_table().assign(**change).to_csv("other.csv", index=False)
        ran = fail(capsys, "evaluate", "model.lht", "other.csv", "-t", "y")
        assert ran.code == 1
        assert told in ran.err

    def test_no_rows(self, capsys):
        make_table()[:0].to_csv("none.csv", index=False)
        ran = fail(capsys, "evaluate", "model.lht", "none.csv", "-t", "y")
        assert ran.err == "lhtree: none.csv has no rows with a class: pass a table with rows\n"

    def test_unknown_target(self, capsys):
        ran = fail(capsys, "evaluate", "model.lht", "test.csv", "-t", "Y")
        assert ran.err == "lhtree: --target Y is not a column of test.csv; the nearest is 'y'\n"
