"""The runner: lazy questions, drafts, parts that are kept, fits that are resumed."""

import json
import shutil
import subprocess
import sys
from argparse import ArgumentParser

import pytest
from benchmarks.__main__ import QUESTIONS, make_parser
from benchmarks.common import models, pages, results
from benchmarks.common.results import ROOT, Task

from benchmarks import runner


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Results and docs below a temporary folder."""
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, marks in (("coins", ("first", "second", "run")), ("splits", ("table", "run"))):
        text = "\n".join(f"<!-- {mark} -->\n<!-- /{mark} -->" for mark in marks)
        (docs / f"{name}.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(pages, "DOCS", docs)
    return tmp_path


class Coins(runner.Parts):
    name = "coins"
    fills = "coins.md"
    quick = "one toss"

    def __init__(self):
        self.n_measured = 0
        self.parts = dict.fromkeys(("first", "second"), self.toss)

    def toss(self, tell, args):
        self.n_measured += 1
        tell("toss")
        return [1] if args.quick else [1, 2, 3]

    def page(self, found, docs):
        return {part: f"{len(tosses)} tosses" for part, tosses in found.items()}


class Splits(runner.Fits):
    name = "splits"
    fills = "splits.md"
    quick = "one split"

    def __init__(self):
        self.measured = []

    def plan(self, args):
        return [Task(self.name, "wine", "cart", seed) for seed in range(1 if args.quick else 3)]

    def measure(self, task):
        self.measured.append(task.seed)
        return {"accuracy": 0.5, "fit_seconds": 1.0}

    def page(self, found, docs):
        return {"table": f"{len(found['wine', 'cart'])} splits"}


def answer(question, *arguments):
    parser = ArgumentParser()
    question.add_arguments(parser)
    question.answer(parser.parse_args(arguments))


def read_page(folder, name):
    return (folder / f"{name}.md").read_text(encoding="utf-8")


def test_parts_are_stored_and_measured_again_one_by_one(folder):
    question = Coins()
    answer(question)
    assert read_page(folder / "docs", "coins").count("3 tosses") == 2
    kept = json.loads((folder / "coins" / "first.json").read_text())
    assert kept["results"]["found"] == [1, 2, 3]
    assert {"cpu", "n_cores", "versions"} <= kept["machine"].keys()
    answer(question, "--only", "second")
    answer(question, "--show")
    assert question.n_measured == 3


def test_a_draft_leaves_the_page_and_the_results_alone(folder):
    answer(Coins(), "--quick")
    assert "tosses" not in read_page(folder / "docs", "coins")
    assert not (folder / "coins").exists()
    assert read_page(folder / "coins-draft", "coins").count("1 tosses") == 2


def test_fits_are_resumed(folder):
    question = Splits()
    answer(question, "--quick")
    assert not (folder / "splits.json").exists()
    answer(question)
    answer(question, "--show")
    assert question.measured == [0, 1, 2]
    assert "3 splits" in read_page(folder / "docs", "splits")
    assert list(results.read_runs("splits")["wine", "cart"]) == [0, 1, 2]


def test_fits_are_restored_from_the_file_that_is_committed(folder):
    answer(Splits())
    shutil.rmtree(folder / "splits")
    question = Splits()
    answer(question)
    assert question.measured == []
    assert "3 splits" in read_page(folder / "docs", "splits")


def test_a_run_of_fewer_splits_keeps_the_others(folder):
    answer(Splits())
    answer(Splits(), "--splits", "2")
    assert "2 splits" in read_page(folder / "docs", "splits")
    assert list(results.read_runs("splits")["wine", "cart"]) == [0, 1, 2]


@pytest.mark.parametrize("arguments", [["--show"], []])
def test_results_of_another_build_are_kept_and_named(folder, monkeypatch, capsys, arguments):
    class Unchosen(Splits):
        def is_chosen(self, task, args):
            return False

        def page(self, found, docs):
            return {"table": f"{len(found)} models"}

    answer(Splits())
    before = results.read_json("splits")
    monkeypatch.setattr(results, "version_key", lambda model: "another build")
    answer(Unchosen(), *arguments)
    told = f"stored results are of another build: cart ({before['keys']['cart']})\n"
    assert told in capsys.readouterr().out
    assert results.read_json("splits") == before


def test_unchanged_models_keep_the_results_of_another_build(folder, monkeypatch):
    answer(Splits())
    before = results.read_json("splits")
    monkeypatch.setattr(results, "version_key", lambda model: "another build")
    question = Splits()
    answer(question, "--unchanged", "cart", "--splits", "2")
    assert not question.measured
    assert "2 splits" in read_page(folder / "docs", "splits")
    assert before["keys"]["cart"] in read_page(folder / "docs", "splits")
    assert results.read_json("splits") == before


def test_another_build_is_only_shown(folder, rejects):
    rejects(answer, Splits(), "--build", "0123456789ab")


def test_another_build_has_the_name_of_the_page(monkeypatch):
    monkeypatch.setattr(models, "_chosen_build", [])
    models.choose_build("lhtree-0.2.0-0123456789ab")
    assert models.version_key.__wrapped__("boosted") == "lhtree-0.2.0-0123456789ab"
    assert models.version_key.__wrapped__("cart").startswith("scikit-learn-")


def test_a_draft_does_not_repeat_figures_of_the_page(folder):
    pages.Docs().fill("coins.md", {"first": "full", "second": "full"})
    pages.Docs(folder / "draft").fill("coins.md", {"first": "short"})
    text = read_page(folder / "draft", "coins")
    assert "<!-- first -->\nshort\n<!-- /first -->" in text
    assert "<!-- second -->\nnot measured\n<!-- /second -->" in text


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_has_a_folder_and_a_quick_form(name):
    args = make_parser(name).parse_args([name, "--quick"])
    assert args.quick
    assert args.answer.__self__.name == name
    assert args.answer.__self__.is_draft(args)
    assert "<!-- run -->" in (ROOT / "docs" / args.answer.__self__.fills).read_text(encoding="utf-8")


def test_help_needs_no_library():
    code = "import sys; from benchmarks.__main__ import make_parser; make_parser().format_help(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"numpy", "lhtree", "sklearn", "xgboost"} & set(done.stdout.split())
