"""The figures at the top of the page of speed; nothing is measured here."""

from benchmarks.common.pages import Figure
from benchmarks.common.results import read_json
from benchmarks.speed import QUESTION, targets


def test_every_key_figure_is_measured():
    stored = {part: read_json(f"speed/{part}")["found"] for part in QUESTION.parts}
    table = targets.key_table(stored)
    assert len(table.splitlines()) == 2 + len(targets.KEY_FIGURES)


def test_ratios_of_times_become_speed_ups(monkeypatch):
    figures = [
        ("fit_rf_magic", Figure("", 12.3, 1.0)),
        ("boost_mixed_1,000,000 × 50", Figure("", 0.8, 2.5, is_floor=False)),
    ]
    monkeypatch.setattr(targets, "find_figures", lambda results: figures)
    rows = [line.split("|")[-2].strip() for line in targets.key_table({}).splitlines()[2:]]
    assert rows == ["12×", "1.25×"]
