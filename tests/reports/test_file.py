"""The file a report is put into is harmless and whole, and what cannot be reported is refused."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

from lhtree import LHForestClassifier, LHTClassifier, report
from lhtree.reports import build_page
from support.clouds import make_clouds
from support.reports import HOSTILE, make_summary, read_facts


class TestFile:
    def test_facts_in_the_page_are_equal(self, hostile_report):
        facts = read_facts(hostile_report)
        assert facts["features"]["names"] == HOSTILE
        assert facts["classes"] == ["</script>", "<b>bold</b>", "__proto__", "w" * 300]
        assert facts["title"] == "<h1>&amp;</h1>"

    def test_data_is_never_markup(self, hostile_report):
        text = hostile_report.read_text(encoding="utf-8")
        assert text.count("<script") == text.count("</script>") == 2
        assert "<img" not in text
        assert "<b>" not in text

    def test_it_refers_to_nothing_outside(self, hostile_report):
        text = hostile_report.read_text(encoding="utf-8")
        assert re.findall(r"https?://[^\s\"']*", text) == ["http://www.w3.org/2000/svg"]
        assert not re.search(r"\bsrc=\"|@import|url\(|innerHTML|\beval\b|fetch\(", text)
        (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        assert "unsafe" not in policy

    def test_the_same_facts_give_the_same_file(self):
        X, y = load_wine(return_X_y=True, as_frame=True)
        model = LHTClassifier().fit(X, y)
        assert build_page(make_summary(model, X, y)) == build_page(make_summary(model, X, y))

    def test_size_with_50_features_and_200_blocks(self, tmp_path):
        generator = np.random.default_rng(0)
        X = generator.normal(size=(4000, 50))
        y = (X[:, :8] @ generator.normal(size=8) + 1.2 * generator.normal(size=4000) > 0).astype(int)
        model = LHTClassifier(gamma=15).fit(X, y)
        assert model._model.trees.n_blocks >= 200
        assert report(model, X, y, tmp_path / "big.html").stat().st_size < 2_000_000

    def test_unsupported_values_are_rejected(self, rejects):
        rejects(build_page, {"number": 1j})


class TestLargeForests:
    def test_the_first_trees_that_fit_are_shown(self, tmp_path):
        X, y = make_clouds(400, 5, 3)
        model = LHForestClassifier(n_estimators=30, random_state=0).fit(X, y)
        path = report(model, X, y, tmp_path / "part.html", max_megabytes=0.1)
        trees = read_facts(path)["trees"]
        assert 1 <= trees["n_shown"] < 30
        encoded = sum(len(array["base64"]) for array in trees["arrays"].values())
        assert 0.08 * 2**20 <= encoded <= 0.1 * 2**20

    def test_a_tree_that_does_not_fit_is_refused(self, two, tmp_path, rejects):
        rejects(report, LHTClassifier().fit(*two), *two, tmp_path / "none.html", max_megabytes=0.0001)
        assert not list(tmp_path.iterdir())


class TestArguments:
    @pytest.fixture
    def model(self, two):
        return LHTClassifier().fit(*two)

    def test_paths_of_any_kind(self, model, two, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert report(model, *two, "a.html") == Path("a.html")
        assert report(model, *two, tmp_path / "b.html").is_file()
        assert report(model, two[0].tolist(), two[1].tolist(), "c.html").is_file()
        assert sorted(os.listdir()) == ["a.html", "b.html", "c.html"]
        open("plain", "w").close()
        assert os.stat("a.html").st_mode == os.stat("plain").st_mode

    @pytest.mark.parametrize(
        "options",
        [
            {"path": "."},
            {"path": "no/such/place.html"},
            {"X_test": [[0.0] * 5]},
            {"path": [0, 1], "y": "report.html"},
            {"title": 3},
            {"max_megabytes": 0},
            {"y": [0]},
            {"X_test": [[0.0] * 5], "y_test": ["?"]},
            {"X_test": [[0.0] * 5], "y_test": []},
            {"X_test": [[np.inf] * 5], "y_test": [0]},
        ],
    )
    def test_refused(self, model, two, tmp_path, monkeypatch, options, rejects):
        monkeypatch.chdir(tmp_path)
        X, y = two
        arguments = {"X": X, "y": y, "path": "report.html"} | options
        rejects(report, model, **arguments)
        assert not os.listdir()

    def test_other_models_are_refused(self, two, tmp_path, rejects):
        rejects(report, {}, *two, tmp_path / "report.html")
