"""``lhtree bench``; the comparison itself is tested in ``tests/selection``."""

import json
from dataclasses import replace

import pytest

from lhtree.selection.comparison import PEERS, Peer
from support.shop import fail, shop, succeed  # noqa: F401

QUICK = ("bench", "data.csv", "--target", "y", "--folds", 2, "--only", "cart", "--only", "tree")


@pytest.mark.usefixtures("shop")
class TestBench:
    def test_boosted_model_comes_first(self, capsys, monkeypatch):
        peer = PEERS["boost"]
        monkeypatch.setitem(PEERS, "boost", replace(peer, parameters={"max_iter": 5}))
        facts = json.loads(succeed(capsys, *QUICK, "--only", "boost", "--json").out)
        assert [model["model"] for model in facts["models"]] == ["boost", "tree", "cart"]
        assert next(iter(PEERS)) == "boost"

    def test_json(self, capsys):
        facts = json.loads(succeed(capsys, *QUICK, "--json").out)
        assert [model["model"] for model in facts["models"]] == ["tree", "cart"]
        for model in facts["models"]:
            assert 0 < model["accuracy_low"] < model["accuracy"] < model["accuracy_high"] < 1
            assert model["row_seconds"] > 0
            assert model["failure"] is None

    def test_missing_packages_and_failures_are_listed(self, capsys, monkeypatch):
        class Unlucky(Peer):
            def build(self, ending, seed, **others):
                raise ValueError("no such luck")

        monkeypatch.setitem(PEERS, "rf", Unlucky("RandomForest", "sklearn"))
        monkeypatch.setitem(PEERS, "xgboost", Unlucky("XGBoost", "no_such_package"))
        shown = succeed(capsys, *QUICK, "--only", "rf").out
        assert "\nRandomForest failed: no such luck\n" in shown
        assert "Not installed: " in shown
        assert "XGBoost" in shown.splitlines()[-1]
        ran = fail(capsys, *QUICK, "--only", "xgboost")
        assert ran.err == "lhtree: --only xgboost is not installed: pip install no_such_package\n"
        facts = json.loads(succeed(capsys, *QUICK, "--only", "rf", "--json").out)
        assert facts["models"][-1] == {"model": "rf", "failure": "no such luck"}
