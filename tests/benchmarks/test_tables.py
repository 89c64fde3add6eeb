"""Loading, encoding and ranking of the tables with made-up ones; nothing is measured."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.common import tables
from benchmarks.common.encoders import wrap
from benchmarks.common.scores import auc
from benchmarks.tables import Ranks
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import RidgeCV


def make_frame(n_rows):
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "rownames": np.arange(n_rows),
            "id": np.arange(n_rows),
            "size": np.where(random.random(n_rows) < 0.1, np.nan, random.normal(size=n_rows)),
            "flag": random.random(n_rows) < 0.5,
            "colour": random.choice(np.array(["red", "green", None], dtype=object), n_rows),
            "y": random.choice(["a", "b"], n_rows),
        }
    )


@pytest.fixture
def made_up(monkeypatch):
    frame = make_frame(9000)
    frame.loc[:3, "y"] = "rare"
    frame.loc[4:6, "y"] = None
    monkeypatch.setattr(tables, "_read", lambda table: frame)
    monkeypatch.setitem(tables.CLASSES, "made up", tables.Table("p", "i", "y", ("id",)))
    tables.load.cache_clear()
    yield tables.load("made up")
    tables.load.cache_clear()


def test_loaded_tables_are_as_people_have_them(made_up):
    X, y = made_up
    assert X.columns.tolist() == ["size", "flag", "colour"]
    assert 7990 < len(X) <= 8000  # a sample, without the rare class
    assert set(y) == {0, 1}
    assert X["size"].isna().any()
    assert X["colour"].isna().any()
    assert X["colour"].cat.categories.tolist() == ["green", "red"]
    part = tables.split("made up", 0)
    assert abs(part.y.mean() - part.y_test.mean()) < 0.01


@pytest.mark.parametrize(
    ("name", "estimator"),
    [("rf", RandomForestClassifier(2)), ("hist_gb", HistGradientBoostingClassifier(max_iter=2))],
)
def test_peers_take_categories_and_gaps(made_up, name, estimator):
    model = wrap(name, estimator, made_up.X).fit(made_up.X, made_up.y)
    assert set(model.predict(made_up.X.head())) <= {0, 1}


def test_hist_gradient_boosting_accepts_columns_of_many_levels():
    X = pd.DataFrame({"level": pd.Categorical([f"l{i}" for i in range(300)] * 2)})
    y = np.repeat([0, 1], 300)
    model = wrap("hist_gb", HistGradientBoostingClassifier(max_iter=2), X).fit(X, y)
    assert set(model.predict(X)) <= {0, 1}


def test_linear_regression_takes_gaps(made_up):
    model = wrap("linear_regressor", RidgeCV(), made_up.X).fit(made_up.X, made_up.y)
    assert np.isfinite(model.predict(made_up.X)).all()


def test_ranks_share_ties_and_less_loss_is_better():
    results = {
        ("t", "rf"): {0: {"accuracy": 0.9, "log_loss": 0.3}, 1: {"accuracy": 0.7, "log_loss": 0.3}},
        ("t", "boosted"): {0: {"accuracy": 0.8, "log_loss": 0.1}},
        ("u", "rf"): {0: {"accuracy": 0.5, "log_loss": 0.3}},
        ("u", "boosted"): {0: {"accuracy": 0.6, "log_loss": 0.4}},
        ("v", "rf"): {0: {"accuracy": 0.5, "log_loss": 0.3}},
    }
    ranks = Ranks(results, ["t", "u", "v"], ["rf", "catboost", "boosted"])
    assert ranks.ranks("accuracy") == {"rf": 1.75, "boosted": 1.25}
    assert ranks.ranks("log_loss") == {"rf": 1.5, "boosted": 1.5}
    assert "1 of 2" in ranks.compare("boosted", "rf", "log_loss")
    said = "by accuracy on 2 tables: lhtree's boosted trees (1.25), before RandomForest (1.75)."
    assert said in ranks.conclude("accuracy", "accuracy")


def test_auc_of_three_classes_is_the_mean_of_each_against_the_rest():
    y = np.array([0, 0, 1, 1, 2, 2])
    proba = np.eye(3)[y]
    assert auc(proba, y) == 1.0
    assert auc(np.roll(proba, 1, axis=1), y) < 0.5
    assert auc(np.full((6, 2), 0.5), y == 0) == 0.5
