"""The commands on a target of numbers."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import lhtree
from lhtree.selection.comparison import PEERS
from support.reports import read_facts
from support.shop import fail, make_table, shop, succeed  # noqa: F401

TARGET = ("--target", "weight", "--drop", "y")


@pytest.fixture
def numbers(shop, capsys):  # noqa: F811
    """Models of the weights in the shop's table: a forest and a boosted model."""
    succeed(capsys, "fit", "data.csv", *TARGET, "--out", "forest.lht", "--model", "forest", "--trees", 20)
    succeed(capsys, "fit", "data.csv", *TARGET, "--out", "upper.lht", "--quantile", 0.8)
    return shop


def read_table():
    frame = make_table()
    return frame.drop(columns=["y", "weight"]), frame["weight"].to_numpy()


@pytest.mark.usefixtures("shop")
class TestFit:
    @pytest.mark.parametrize(
        ("options", "estimator"),
        [
            ("", lhtree.LHBoostRegressor()),
            ("--model forest --trees 5", lhtree.LHForestRegressor(5)),
            ("--model tree --pruning 2 --max-depth 3", lhtree.LHTRegressor(pruning=2, max_depth=3)),
            ("--model boost --rounds 5", lhtree.LHBoostRegressor(max_iter=5)),
            (
                "--model boost --rounds 5 --quantile 0.9 --increasing size",
                lhtree.LHBoostRegressor("quantile", quantile=0.9, max_iter=5, monotonic_cst={"size": 1}),
            ),
            ("--model boost --rounds 5 --loss gamma", lhtree.LHBoostRegressor("gamma", max_iter=5)),
        ],
    )
    def test_model_equals_that_of_the_library(self, capsys, options, estimator):
        shown = succeed(capsys, "fit", "data.csv", *TARGET, "--out", "new.lht", *options.split()).out
        X, y = read_table()
        expected = estimator.set_params(random_state=0).fit(X, y)
        np.testing.assert_array_equal(lhtree.load("new.lht").predict(X), expected.predict(X))
        assert f"regression   weight, from {y.min():.4f} to {y.max():.2f}" in shown

    def test_hold_out_and_json(self, capsys):
        options = ("--holdout", 0.3, "--model", "forest", "--trees", 5, "--json")
        facts = json.loads(succeed(capsys, "fit", "data.csv", *TARGET, "--out", "new.lht", *options).out)
        assert facts["table"]["task"] == "regression"
        assert facts["table"]["response"]["high"] == read_table()[1].max()
        assert facts["holdout"]["n_rows"] == 90
        assert facts["holdout"]["intervals"]["coverage"] == 0.9

    def test_task_can_be_chosen(self, capsys):
        frame = make_table()
        frame["rooms"] = np.arange(300) % 30
        frame.to_csv("rooms.csv", index=False)
        command = ("fit", "rooms.csv", "--target", "rooms", "--out", "rooms.lht", "--model", "tree")
        ran = succeed(capsys, *command)
        assert "30 different numbers of rooms are taken for classes" in ran.err
        assert "--task regression" in ran.err
        assert isinstance(lhtree.load("rooms.lht"), lhtree.LHTClassifier)
        assert "taken for classes" not in succeed(capsys, *command, "--task", "regression").err
        assert isinstance(lhtree.load("rooms.lht"), lhtree.LHTRegressor)
        frame["rooms"] = np.arange(300) % 250
        frame.to_csv("rooms.csv", index=False)
        succeed(capsys, *command)
        assert isinstance(lhtree.load("rooms.lht"), lhtree.LHTRegressor)
        assert "too many" in fail(capsys, *command, "--task", "classification").err


@pytest.mark.usefixtures("numbers")
class TestUse:
    def test_predict(self, capsys):
        shown = succeed(capsys, "predict", "forest.lht", "new.csv", "--interval", 0.8, "--keep", "size").out
        table = pd.read_csv(io.StringIO(shown))
        assert table.columns.tolist() == ["size", "prediction", "low", "high"]
        model, X = lhtree.load("forest.lht"), read_table()[0][:40]
        np.testing.assert_array_equal(table["prediction"], model.predict(X))
        np.testing.assert_array_equal(table[["low", "high"]], model.predict_interval(X, 0.8))
        batches = ("predict", "forest.lht", "new.csv", "--interval", 0.8, "--keep", "size", "--batch-rows", 7)
        assert succeed(capsys, *batches).out == shown
        pd.read_csv("new.csv")[:0].to_csv("none.csv", index=False)
        shown = succeed(capsys, "predict", "forest.lht", "none.csv", "--interval", 0.8).out
        assert shown == "prediction,low,high\n"

    def test_evaluate(self, capsys):
        command = ("evaluate", "forest.lht", "test.csv", "--target", "weight", "--interval", 0.8)
        facts = json.loads(succeed(capsys, *command, "--json").out)
        X, y = read_table()
        measured = lhtree.evaluate(lhtree.load("forest.lht"), X[200:], y[200:], coverage=0.8).to_dict()
        assert facts == measured | {"n_dropped": 0}
        shown = succeed(capsys, *command).out
        assert "R²" in shown
        assert "in 80 % intervals" in shown
        assert "Ranges of the prediction" in shown
        shown = succeed(capsys, "evaluate", "upper.lht", "test.csv", "--target", "weight").out
        assert "quantile 0.8" in shown

    def test_report(self, capsys):
        options = ("--target", "weight", "--test", "test.csv", "--out", "report.html")
        succeed(capsys, "report", "forest.lht", "data.csv", *options)
        facts = read_facts("report.html")
        assert facts["test"]["n_rows"] == 100
        assert facts["classes"] == ["weight"]


@pytest.mark.usefixtures("shop")
class TestChoose:
    def test_tune(self, capsys):
        options = ("--time-limit", 600, "--candidates", 2, "--folds", 2, "--seed", 1, "--out", "tuned.lht")
        shown = succeed(capsys, "tune", "data.csv", *TARGET, "--model", "tree", *options).out
        assert "by R² over 2 folds" in shown
        assert isinstance(lhtree.load("tuned.lht"), lhtree.LHTRegressor)
        command = shown.splitlines()[-1].split()[1:]
        succeed(capsys, *command)
        options = ("--metric", "rmse", "--candidates", 1, "--folds", 2, "--json", "--model", "boost")
        facts = json.loads(succeed(capsys, "tune", "data.csv", *TARGET, *options).out)
        assert facts["metric"] == "rmse"
        assert facts["best_score"] == facts["candidates"][0]["rmse"]

    def test_bench(self, capsys):
        command = ("bench", "data.csv", *TARGET, "--folds", 2)
        shown = succeed(capsys, *command, "--only", "tree", "--only", "cart").out
        assert "R²" in shown
        assert "accuracy" not in shown
        facts = json.loads(succeed(capsys, *command, "--only", "cart", "--json").out)
        names = "model failure r2 rmse mae fit_seconds row_seconds"
        assert set(facts["models"][0]) == set(names.split())

    def test_models_with_a_regressor_build_it(self):
        for peer in PEERS.values():
            if peer.is_installed and peer.has_regressor:
                assert type(peer.build("Regressor", 0)).__name__.endswith("Regressor")
