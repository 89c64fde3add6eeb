"""Stored results render: every question fills the marked places of its page; nothing is measured."""

import re
from importlib import import_module

import matplotlib.figure
import pytest
from benchmarks.__main__ import QUESTIONS
from benchmarks.common.pages import Docs
from benchmarks.common.results import RESULTS, ROOT, read_json, read_runs

from benchmarks import runner

STORED = [name for name in QUESTIONS if (RESULTS / name).is_dir() or (RESULTS / f"{name}.json").exists()]
NEEDED = {"readable": "imodels", "tables": "palmerpenguins"}  # packages of the group bench


@pytest.fixture
def undrawn(monkeypatch):
    """Draw no picture to a file, and fit no model for a picture."""
    figure = matplotlib.figure.Figure
    monkeypatch.setattr(figure, "savefig", lambda *given, **options: None)
    monkeypatch.setattr("benchmarks.when.pictures.draw_pictures", lambda docs: "")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", STORED)
def test_stored_results_fill_the_page(name, tmp_path):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    question = import_module(f"benchmarks.{name}").QUESTION
    if isinstance(question, runner.Parts):
        stored = {part: read_json(f"{name}/{part}") for part in question.parts}
        results = {part: one["found"] for part, one in stored.items() if one}
    else:
        results = read_runs(name)
    parts = question.page(results, Docs(tmp_path))
    text = (ROOT / "docs" / question.fills).read_text(encoding="utf-8")
    marks = set(re.findall(r"<!-- (\w+) -->", text))
    assert marks - {"growth"} == {*parts, "run"}  # growth is not stored
