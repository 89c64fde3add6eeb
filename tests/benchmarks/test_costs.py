"""The pages of one tree and of a forest from what `speed` measured; nothing is measured here."""

import re

from benchmarks.common.pages import Docs
from benchmarks.common.results import ROOT
from benchmarks.speed import QUESTION
from benchmarks.speed.fit import FORESTS, TREES
from benchmarks.speed.models import PEERS
from benchmarks.speed.row import _OURS


def times(keys, seconds):
    return {"times": {key: {"cpu": seconds, "wall": seconds} for key in keys}}


def make_results():
    rows = [f"{key}|{way}" for key in (*_OURS, *PEERS) for way in ("predict", "predict_proba")]
    return {
        "one_row": {"data": {"magic": times(rows, 1e-6)}},
        "batch": {
            "magic": {"times": {"100": times(["paper_forest", "mixed_forest", "lightgbm"], 1)["times"]}}
        },
        "fit": {
            "nine": {"wine": times((*TREES, *FORESTS), 1), "magic": times((*TREES, *FORESTS, "catboost"), 1)}
        },
        "memory": {
            "peak_tree": [[1000, "float32", 2, 10**6]],
            "pickled": {"magic": dict.fromkeys(("paper_forest", "mixed_forest", "rf"), 10**6)},
        },
        "import": times(["lhtree, after numpy"], 0.001)["times"],
    }


def test_every_page_has_its_parts(tmp_path):
    for page, parts in QUESTION.more_pages(make_results(), Docs(tmp_path)).items():
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert sorted(re.findall(r"<!-- (\w+) -->", text)) == sorted([*parts, "run"])
        assert all("1.00×" in part or "1.000" in part for part in parts.values())
    assert {path.name for path in (tmp_path / "benchmarks").iterdir()} == {"tree.png", "cost.png"}


def test_missing_measurements_are_left_out(tmp_path):
    for parts in QUESTION.more_pages({}, Docs(tmp_path)).values():
        assert all(part.count("\n") == 1 for part in parts.values())
