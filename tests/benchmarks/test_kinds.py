"""Results by kind of data, with made-up losses."""

import pytest
from benchmarks.kinds import Facts

from benchmarks import kinds

MODELS = ("boosted", "mixed_forest", "catboost", "lightgbm", "hist_gb", "rf")


def make_losses(**tables):
    """Return results of one split: the losses of all models by table."""
    return {
        (name, model): {0: {"log_loss": loss}}
        for name, losses in tables.items()
        for model, loss in zip(MODELS, losses, strict=True)
    }


def read_row(table, kind):
    """Return the cells of a kind of data."""
    (line,) = (line for line in table.splitlines() if line.startswith(f"| {kind}"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_ratios_are_geometric_means_relative_to_the_best_peer_of_each_table():
    losses = make_losses(a=(0.1, 0.8, 0.4, 0.5, 0.8, 1.6), b=(0.8, 0.2, 0.4, 0.2, 0.4, 0.8))
    parts = kinds.render(losses, {"a": Facts(500, 0, 2), "b": Facts(9000, 0, 2)})
    assert read_row(parts["ratios"], "numeric") == ["2", "**1.00**", "1.41", "1.41", "1.12", "2.00", "4.00"]
    assert read_row(parts["ratios"], "small") == ["1", "**0.25**", "2.00", "1.00", "1.25", "2.00", "4.00"]
    assert read_row(parts["ranks"], "small") == ["1", "**1.00**", "4.50", "2.00", "3.00", "4.50", "6.00"]


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        (Facts(500, 0, 2), {"numeric columns only", "small: below 1,000 rows"}),
        (Facts(5000, 2, 3), {"with categories", "large: 5,000 rows or more", "three classes or more"}),
        (Facts(500, 2, 0), {"a number to predict"}),
    ],
)
def test_data_sets_are_of_all_kinds_that_fit(facts, found):
    assert {kind for kind, belongs in kinds.KINDS.items() if belongs(facts)} == found


def test_the_verdict_names_the_leaders_of_other_kinds():
    losses = make_losses(a=(1, 2, 3, 4, 5, 6), b=(4, 3, 2, 1, 5, 6))
    parts = kinds.render(losses, {"a": Facts(500, 0, 2), "b": Facts(2000, 1, 2)})
    assert "on 2 of 3 kinds of data; elsewhere it is that of LightGBM (with categories)." in parts["verdict"]


def test_losses_are_of_splits_that_all_models_have(monkeypatch):
    names = {"accuracy": MODELS, "tables": (), "regression": [kinds._REGRESSORS[name] for name in MODELS]}
    stored = {
        question: {
            (question, model): {
                seed: {"r2": 0.75} if question == "regression" else {"log_loss": 0.5} for seed in (0, 1)
            }
            for model in models
        }
        for question, models in names.items()
    }
    del stored["accuracy"]["accuracy", "rf"][1]
    monkeypatch.setattr(kinds, "read_runs", stored.__getitem__)
    found = kinds.read_losses()
    assert all(found["accuracy", model] == {0: {"log_loss": 0.5}} for model in MODELS)
    assert all(found["regression", model] == {seed: {"log_loss": 0.5} for seed in (0, 1)} for model in MODELS)
