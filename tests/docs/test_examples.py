"""Every example of the gallery runs without a warning and draws what it promises."""

import re
import runpy

import pytest

from support.pages import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*/plot_*.py"))


@pytest.mark.usefixtures("closing")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_example(example, tmp_path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("pandas")
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example))
    n_shown = len(re.findall(r"^plt\.show\(\)$", example.read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert len(plt.get_fignums()) >= n_shown >= 1
    assert all(figure.axes for figure in map(plt.figure, plt.get_fignums()))


def test_there_are_enough():
    assert len(EXAMPLES) >= 12
