"""Settings and tables of the compact tree's ablation; nothing is measured."""

import re

import numpy as np
import pytest
from benchmarks.common import data as datasets
from benchmarks.common.results import ROOT
from benchmarks.compact import BY_KEY, LINEAR, NOISY, QUESTION, load, render

from lhtree import CompactLHTClassifier


@pytest.fixture
def results():
    """Two splits of four sets; wine has three classes."""
    found = {}
    for name in (*datasets.NAMES[:3], NOISY[0]):
        for place, key in enumerate(BY_KEY):
            if key == LINEAR and name == "wine":
                continue
            splits = {
                seed: {
                    "accuracy": 0.9 + 0.01 * seed + 0.001 * place,
                    "log_loss": 0.2 - 0.01 * place,
                    "fit_seconds": 1.0 + place,
                    "leaves": 8,
                    "terms": 20,
                    "penalty": 1.0,
                }
                for seed in range(2)
            }
            found[name, key] = splits
    return found


def test_every_setting_can_be_fitted(two):
    X, y = two
    for params in BY_KEY.values():
        assert CompactLHTClassifier(**params).fit(X[:60], y[:60]).n_leaves_ >= 1


@pytest.mark.parametrize("name", NOISY)
def test_noisy_tables_are_small_and_of_two_classes(name):
    data = load(name)
    assert len(data.X) == len(data.y) < 1000
    assert np.unique(data.y).tolist() == [0, 1]


def test_page_has_a_place_for_every_table(results):
    text = (ROOT / "docs" / QUESTION.fills).read_text(encoding="utf-8")
    assert re.findall(r"<!-- (\w+) -->", text) == [*render(results), "run"]


def test_tables_compare_with_the_default(results):
    tables = render(results)
    assert "`max_passes=0`" in tables["settings"]
    assert "+0.10 ± 0.00" in tables["settings"]
    assert "two classes (2 sets): `membership='linear'`" in tables["settings"]
    chosen = next(line for line in tables["penalty"].splitlines() if line.startswith("| diabetes"))
    assert "+0.50 ± 0.00" in chosen
    assert "-0.0500 ± 0.0000" in chosen
