"""Settings, ranks and tables of the ablations; nothing is measured."""

import math
import re

import numpy as np
import pytest
from benchmarks.ablations import (
    ABLATIONS,
    BASES,
    QUESTION,
    Comparison,
    Setting,
    all_settings,
    build,
    draw_rows,
    table_of,
)
from benchmarks.common.data import Data
from benchmarks.common.results import ROOT, keep_complete

from lhtree import LHForestClassifier


@pytest.mark.parametrize("base", BASES)
def test_bases_are_what_the_estimator_does_by_default(base, three):
    params = {} if base == "paper" else {"direction": "mixed"}
    default = LHForestClassifier(random_state=3, **params).fit(*three)
    model = build(Setting(base), seed=3).fit(*three)
    assert np.array_equal(model.predict_wolf(three[0]), default.predict_wolf(three[0]))


def test_every_setting_can_be_fitted(two):
    X, y = two
    for setting in all_settings():
        forest = build(setting, 0).set_params(n_estimators=2).fit(X, y)
        assert forest.score(X, y) > 0.5


def test_page_has_a_place_for_every_parameter():
    text = (ROOT / "docs" / QUESTION.fills).read_text(encoding="utf-8")
    assert re.findall(r"<!-- (\w+) -->", text) == ["sizes", *ABLATIONS, "run"]


def test_rows_are_drawn_by_class_and_those_of_skin_are_distinct():
    X = np.repeat(np.arange(30.0), 3)[:, None]
    y = (X[:, 0] > 14).astype(np.int64)
    drawn = draw_rows(Data("skin", X, y), 20)
    assert len(np.unique(drawn.X)) == len(drawn.y) == 20
    assert drawn.y.sum() == 10
    assert len(draw_rows(Data("skin", X, y), 50).y) == 30
    assert len(draw_rows(Data("wine", X, y), 50).y) == 50
    assert draw_rows(Data("wine", X, y), 90).X is X


def make_results(accuracies):
    """Results of {(data, setting): accuracies}, where times are 1 second, 2 for the changed setting."""
    return {
        key: {
            seed: {"accuracy": value, "fit_seconds": 1.0 + (key[1] != "paper"), "proba_seconds": 1.0}
            for seed, value in enumerate(values)
        }
        for key, values in accuracies.items()
    }


def test_only_splits_that_all_settings_have_are_compared():
    results = make_results({("wine", "a"): [0.9, 0.8], ("wine", "b"): [0.7], ("seeds", "a"): [0.5]})
    kept = keep_complete(results, ["a", "b"])
    assert {key: list(splits) for key, splits in kept.items()} == {("wine", "a"): [0], ("wine", "b"): [0]}


def test_rows_of_a_comparison():
    changed = Setting("paper", (("beta", 0.5),))
    results = make_results(
        {
            ("wine", "paper"): [0.9, 0.9],
            ("wine", changed.key): [0.8, 0.8],
            ("seeds", "paper"): [0.5, 0.7],
            ("seeds", changed.key): [0.6, 0.8],
            ("magic", "paper"): [0.5, 0.5],
            ("magic", changed.key): [0.5, 0.5],
        }
    )
    base, row = Comparison(results, [Setting("paper"), changed]).rows()
    assert base.rank == row.rank == 1.5
    assert base.overall.mean == 0
    assert row.overall.mean == pytest.approx(0)
    assert [difference.mean for difference in row.differences] == pytest.approx([-0.1, 0.1, 0])
    assert row.overall.half == pytest.approx(4.302653 * 0.1 / math.sqrt(3))
    assert (row.fit_ratio, row.predict_ratio) == pytest.approx((2, 1))


def test_table_has_a_row_per_setting():
    ablation = ABLATIONS["confidence"]
    settings = [setting for base in BASES for setting in ablation.of(base)]
    table = table_of(ablation, make_results({("wine", setting.key): [0.9, 0.8] for setting in settings}))
    assert len(table.splitlines()) == 2 + len(settings)
    assert table.count("85.00 %") == 2
