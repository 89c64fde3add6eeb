"""Examples run without a warning: the gallery draws its figures, and the demo prints its table."""

import re
import runpy

import matplotlib.pyplot as plt
import pytest

from support.pages import ROOT, find_blocks, load_example

EXAMPLES = sorted((ROOT / "examples").glob("*/plot_*.py"))


@pytest.mark.usefixtures("closing")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_example(example, tmp_path, monkeypatch):
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example))
    n_shown = len(re.findall(r"^plt\.show\(\)$", example.read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert len(plt.get_fignums()) >= n_shown >= 1
    assert all(figure.axes for figure in map(plt.figure, plt.get_fignums()))


def test_there_are_enough():
    assert len(EXAMPLES) >= 12


def test_demo(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "paper_trees.md"
    (shown,) = (block for block in find_blocks(page, "text") if block.startswith("wine:"))
    load_example("demo").main()
    lines = capsys.readouterr().out
    assert lines.startswith(shown)
    assert "tree for class class_0" in lines
    assert lines.endswith("open wine_report.html in a browser.\n")
    assert max(map(len, lines.splitlines())) <= 100
    assert [path.name for path in tmp_path.iterdir()] == ["wine_report.html"]
    assert "Wine: from which cultivar?" in (tmp_path / "wine_report.html").read_text(encoding="utf-8")
