"""Missing numbers as a feature: indicators in trees and forests, a bin of their own in boosting."""

import numpy as np
import pandas as pd
import pytest

import lhtree
from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier


def make_gaps(n_rows=600, seed=0):
    """Whether the first number is missing decides the class."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 4))
    X[:, 3] = np.where(generator.random(n_rows) < 0.3, np.nan, X[:, 3])
    is_missing = generator.random(n_rows) < 0.4
    X[is_missing, 0] = np.nan
    return X, np.where(is_missing, "unknown", "known")


@pytest.mark.parametrize(
    "model",
    [
        LHTClassifier(direction="fisher"),
        LHTClassifier(direction="mixed"),
        LHTClassifier(missing_indicator=True),
        LHForestClassifier(20, direction="mixed", random_state=0),
        LHBoostClassifier(40, random_state=0),
    ],
    ids=str,
)
def test_a_pattern_of_gaps_is_learned(model):
    X, y = make_gaps()
    new, truth = make_gaps(seed=1)
    assert model.fit(X, y).score(new, truth) >= 0.99


def test_mean_difference_trees_have_no_indicators(rejects):
    X, y = make_gaps()
    assert LHTClassifier().fit(X, y)._model.encoding.takes_arrays
    assert LHForestClassifier(2).fit(X, y)._model.n_features == 4
    assert LHTClassifier(direction="mixed", missing_indicator=False).fit(X, y)._model.n_features == 4
    telling = LHTClassifier(direction="mixed").fit(X, y)  # gaps of the last column are random
    assert telling._model.feature_names == ["x0", "x0 is missing", "x1", "x2", "x3"]
    assert LHTClassifier(missing_indicator=True).fit(X, y)._model.n_features == 6
    X[4:, 3] = 0.0  # fewer gaps than an indicator needs
    assert LHTClassifier(missing_indicator=True).fit(X, y)._model.n_features == 5
    rejects(LHTClassifier(missing_indicator="yes").fit, X, y)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_and_frames_give_the_same_model(dtype, tmp_path):
    X, y = make_gaps()
    X = X.astype(dtype)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(e=np.tile(["u", "v"], 300))
    model = LHForestClassifier(5, direction="mixed", random_state=0).fit(X, y)
    named = LHForestClassifier(5, direction="mixed", random_state=0).fit(frame.drop(columns="e"), y)
    np.testing.assert_array_equal(model.predict_proba(X), named.predict_proba(frame.drop(columns="e")))
    assert model._model.encode(X).dtype == dtype
    np.testing.assert_array_equal(model._model.encode(X)[:, 1], np.isnan(X[:, 0]))
    with_text = LHForestClassifier(5, direction="mixed", random_state=0).fit(frame, y)
    assert with_text._model.feature_names[:3] == ["a", "a is missing", "b"]
    lhtree.save(model, tmp_path / "model.lht")
    np.testing.assert_array_equal(
        lhtree.load_scorer(tmp_path / "model.lht").predict_proba(X), model.predict_proba(X)
    )


def test_explanations_name_missing_values():
    X, y = make_gaps()
    model = LHTClassifier(direction="fisher").fit(pd.DataFrame(X, columns=["age", "b", "c", "d"]), y)
    missing, present = (int(np.flatnonzero(y == label)[0]) for label in ("unknown", "known"))
    names = ["age", "b", "c", "d"]
    said = str(model.explain(dict(zip(names, X[missing], strict=True))))
    assert "  age is missing: +" in said
    assert "because age is missing" in said
    model.set_params(normalize="standard").fit(pd.DataFrame(X, columns=names), y)
    assert "age is not missing" in str(model.explain(dict(zip(names, X[present], strict=True))))
    assert "age is missing" in lhtree.export_text(model)
    for row in (missing, present):  # a missing value stays missing, and none becomes missing
        for other in model.explain(X[row]).counterfactuals():
            assert np.isnan(other.row["age"]) == np.isnan(X[row, 0])
