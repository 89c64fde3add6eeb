"""Explanations of many rows: the same numbers as one by one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.datasets import load_wine

from lhtree import LHForestClassifier, LHTClassifier
from support.explained import fitted_models


@given(fitted_models())
def test_batch_equals_single_explanations(case):
    model, rows = case
    frame = model.explain_batch(rows)
    assert frame.index.names == ["row", "class"]
    assert len(frame) == len(rows) * len(model.classes_)
    known = ["prediction", "proba", "wolf", "membership", "confidence", "base"]
    names = list(model.explain(rows[0]).row)
    assert list(frame.columns) == known + [f"contribution.{name}" for name in names]
    for number, row in enumerate(rows):
        explanation = model.explain(row)
        for label in explanation.classes:
            line = frame.loc[(number, label)]
            assert line.prediction == explanation.prediction
            for name in known[1:]:
                assert line[name] == pytest.approx(getattr(explanation, name)[label], abs=1e-12)
            parts = explanation.contributions[label]
            assert line.iloc[len(known) :].tolist() == pytest.approx(list(parts.values()), abs=1e-9)


def test_many_rows_of_a_large_tree():
    # Large enough that blocks with few and with most features, and empty ones, all come up.
    generator = np.random.default_rng(0)
    X = generator.normal(size=(3000, 12))
    y = (X[:, :3].sum(axis=1) + generator.normal(size=3000) > 0) + (X[:, 3] > 1)
    X[generator.random(X.shape) < 0.1] = np.nan
    for model in (LHTClassifier(gamma=3, beta=0.6), LHForestClassifier(4, direction="mixed", random_state=0)):
        model.fit(X, y)
        frame = model.explain_batch(X[:400])
        total = frame.base + frame.filter(regex="^contribution").sum(axis=1)
        np.testing.assert_allclose(total, frame.membership, rtol=0, atol=1e-9)
        for number in (0, 17, 399):
            single = model.explain(X[number])
            for label in single.classes:
                parts = frame.loc[(number, label)].filter(like="contribution.")
                assert parts.tolist() == pytest.approx(list(single.contributions[label].values()), abs=1e-9)


def test_invalid_arguments_are_refused(rejects):
    X, y = load_wine(return_X_y=True)
    model = LHTClassifier().fit(X, y)
    rejects(model.explain_batch, X[:, 1:])
    rejects(model.explain_batch, np.where(np.arange(178)[:, None] == 1, np.inf, X))


@pytest.mark.parametrize(
    "index",
    [
        pd.Index(["a", "b", "a"]),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]),
        pd.date_range("2020", periods=3),
    ],
)
def test_rows_are_named_by_the_index_of_the_frame(index):
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = LHTClassifier().fit(X, y)
    frame = model.explain_batch(X[:3].set_index(index))
    assert frame.index.get_level_values("row").tolist() == np.repeat(index, 3).tolist()
