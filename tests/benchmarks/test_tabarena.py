"""The wrapper for AutoGluon and TabArena fits, predicts, stops and is refitted as AutoGluon expects."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("autogluon.core")


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": generator.normal(size=300),
            "children": generator.integers(0, 5, 300),
            "town": pd.Categorical(generator.choice(["Bonn", "Ulm"], 300)),
        }
    )
    X.loc[3, "income"] = np.nan
    return X, X["income"].fillna(0.0) + (X["town"] == "Ulm") + 0.1 * generator.normal(size=300)


def make(problem_type, folder, **hyperparameters):
    from benchmarks.tabarena import LHBoostModel

    return LHBoostModel(
        path=str(folder),
        name="lhtree",
        problem_type=problem_type,
        hyperparameters={"max_iter": 20} | hyperparameters,
    )


@pytest.mark.parametrize("problem_type", ["binary", "multiclass", "regression"])
def test_problems_with_and_without_validation_rows(table, problem_type, tmp_path):
    X, score = table
    cuts = {"binary": [0.5], "multiclass": [0.0, 1.0]}.get(problem_type)
    y = score if cuts is None else pd.Series(np.searchsorted(cuts, score))
    for rows in ({}, {"X_val": X[200:], "y_val": y[200:]}):
        model = make(problem_type, tmp_path)
        model.fit(X=X[:200], y=y[:200], num_cpus=1, num_gpus=0, **rows)
        assert model.score(X[200:], y[200:]) > (0.8 if cuts else -0.6)  # accuracy, or minus the RMSE
        assert (len(model.model.validation_score_) > 0) == bool(rows)
        assert model.model.n_jobs == 1
        assert model.model.random_state == 0
        model.save()
        again = type(model).load(model.path)
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        refitted = model.convert_to_refit_full_template()  # without validation rows, with as many rounds
        refitted.fit(X=X, y=y, num_cpus=1, num_gpus=0)
        assert refitted.model.n_iter_ == model.model.n_iter_


def test_time_limits_reach_the_fit(table, tmp_path):
    X, y = table
    model = make("regression", tmp_path)
    model.fit(X=X, y=y, time_limit=1000.0, num_cpus=2, num_gpus=0)
    assert 900.0 < model.model.time_limit <= 950.0


def test_memory_grows_with_the_table(table, tmp_path):
    X, y = table
    model = make("regression", tmp_path)
    model.initialize(X=X, y=y)
    larger = pd.concat([X] * 1000)
    assert model.estimate_memory_usage(X) < model.estimate_memory_usage(larger) < 2**30


def test_every_setting_of_the_search_space_is_valid(table, tmp_path):
    from benchmarks.tabarena.model import SEARCH_SPACE

    X, y = table
    for seed in range(3):
        generator = np.random.default_rng(seed)
        setting = {
            name: space.data[generator.integers(len(space.data))]
            if hasattr(space, "data")
            else type(space.lower)(generator.choice([space.lower, space.upper]))
            for name, space in SEARCH_SPACE.items()
        }
        model = make("regression", tmp_path, **setting | {"max_iter": 5})
        model.fit(X=X, y=y, num_cpus=1, num_gpus=0)
        assert np.isfinite(model.predict(X)).all()
