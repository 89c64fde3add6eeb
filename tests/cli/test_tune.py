"""``lhtree tune``; the search itself is tested in ``tests/selection``."""

import json
import shlex
from pathlib import Path

import pytest

import lhtree
from lhtree.cli import _show
from lhtree.selection import tuning
from support.shop import make_table, run, shop, succeed  # noqa: F401

TABLE = ("data.csv", "--target", "y")
QUICK = ("tune", *TABLE, "--candidates", 3, "--folds", 3, "--model", "tree", "--time-limit", 600)


@pytest.mark.usefixtures("shop")
class TestTune:
    def test_boosted_trees_are_the_default(self, capsys):
        asked = ("tune", *TABLE, "--candidates", 1, "--folds", 2, "--json", "--out", "tuned.lht")
        facts = json.loads(succeed(capsys, *asked).out)
        assert "learning_rate" in facts["best"]
        assert facts["command"] == "lhtree fit data.csv --target y --model boost --seed 0 --out tuned.lht"
        assert isinstance(lhtree.load("tuned.lht"), lhtree.LHBoostClassifier)

    def test_another_metric(self, capsys):
        ran = succeed(capsys, *QUICK, "--metric", "roc_auc")
        assert "by ROC AUC over 3 folds" in ran.out
        facts = json.loads(succeed(capsys, *QUICK, "--metric", "roc_auc", "--json").out)
        assert facts["metric"] == "roc_auc"
        assert ran.out.splitlines()[3].startswith(f"{facts['best_score']:.4f} ± ")

    def test_best_setting_is_fitted_and_saved(self, capsys):
        ran = succeed(capsys, *QUICK, "--out", "tuned.lht", "--json", "--seed", 3)
        best = json.loads(ran.out)["best"]
        assert ran.err == "tuned.lht written: the best setting, fitted on all rows\n"
        model = lhtree.load("tuned.lht")
        X = make_table()
        y = X.pop("y")
        expected = lhtree.LHTClassifier(**best, random_state=3).fit(X, y)
        assert model.get_params() == expected.get_params()
        assert (model.predict_proba(X) == expected.predict_proba(X)).all()

    def test_saved_model_keeps_the_provenance_that_fit_stores(self, capsys):
        succeed(capsys, *QUICK, "--out", "tuned.lht")
        succeed(capsys, "fit", *TABLE, "--model", "tree", "--out", "fitted.lht")
        tuned, fitted = (lhtree.inspect(path)["provenance"] for path in ("tuned.lht", "fitted.lht"))
        assert tuned["source"] == fitted["source"]
        assert tuned["source"]["sha256"]
        assert tuned["target"] == "y"

    @pytest.mark.parametrize("kind", ["tree", "forest", "boost"])
    def test_command_fits_the_saved_model(self, capsys, monkeypatch, kind):
        setting = {"direction": "mixed", "min_samples_leaf": 7, "max_depth": 6}
        if kind == "boost":
            setting |= {"direction": "single", "max_iter": 9, "learning_rate": 0.3}
            setting |= {"l2_regularization": 3.0, "n_directed": 2}
        else:
            setting |= {"beta": 0.25, "membership": "constant"}
        if kind == "forest":
            setting["n_estimators"] = 9
        monkeypatch.setattr(tuning, "draw_settings", lambda *asked: iter([setting]))
        asked = ("--candidates", 1, "--folds", 2, "--model", kind, "--out", "tuned.lht", "--json")
        command = json.loads(succeed(capsys, "tune", "data.csv", "-t", "y", *asked).out)["command"]
        tuned = lhtree.load("tuned.lht")
        assert setting.items() <= tuned.get_params().items()
        Path("tuned.lht").unlink()
        succeed(capsys, *shlex.split(command)[1:])
        fitted = lhtree.load("tuned.lht")
        assert fitted.get_params() == tuned.get_params()
        X = make_table().drop(columns="y")
        assert (fitted.predict_proba(X) == tuned.predict_proba(X)).all()

    def test_command_repeats_the_options_of_the_table(self, capsys):
        table = make_table().rename(columns={"shop": "the shop"})
        table.loc[3, "y"] = None
        table.to_csv("odd table.csv", index=False, sep="|", decimal=",")
        given = ["--drop", "the shop", "--categorical", "colour", "--drop-missing-target", "--format", "csv"]
        given += ["--delimiter", "|", "--encoding", "utf-8", "--decimal", ","]
        asked = ["--candidates", 1, "--folds", 2, "--json"]
        facts = json.loads(succeed(capsys, "tune", "odd table.csv", "-t", "y", *given, *asked).out)
        assert (facts["n_rows"], facts["n_columns"]) == (299, 3)
        command = shlex.split(facts["command"])
        assert command[:3] == ["lhtree", "fit", "odd table.csv"]
        for option in given:
            assert option in command

    def test_best_so_far_is_printed_after_an_interrupt(self, capsys, monkeypatch):
        n_fits = 0

        def fit(self, X, y):
            nonlocal n_fits
            n_fits += 1
            if n_fits == 4:
                raise KeyboardInterrupt
            return original(self, X, y)

        original = lhtree.LHTClassifier.fit
        monkeypatch.setattr(lhtree.LHTClassifier, "fit", fit)
        ran = run(capsys, *QUICK)
        assert (ran.code, ran.err) == (130, "lhtree: interrupted\n")
        first, second = ran.out.splitlines()[3:5]
        assert " s  2, stopped " in first.replace("ms ", "s ")
        assert " s  1, stopped " in second.replace("ms ", "s ")
        assert "To fit the best setting on all rows:\n  lhtree fit data.csv" in ran.out
        n_fits = 3
        assert run(capsys, *QUICK).out == ""

    def test_progress_bar_in_terminals(self, capsys, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes it for a terminal
        shown = succeed(capsys, *QUICK).err
        assert "candidate 3, best so far" in shown
        assert succeed(capsys, *QUICK, "--quiet").err == ""


@pytest.mark.parametrize(
    ("write", "texts"),
    [
        (
            _show.write_seconds,
            {0.0: "0.0 µs", 1.24e-6: "1.2 µs", 9.96e-5: "100 µs", 0.0123: "12 ms", 9.87: "9.9 s"},
        ),
        (_show.write_bytes, {0: "0 bytes", 999: "999 bytes", 1000: "1 kB", 48_500: "48.5 kB", 2e9: "2 GB"}),
    ],
)
def test_units(write, texts):
    assert {value: write(value) for value in texts} == texts
