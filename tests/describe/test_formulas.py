"""Additive models as formulas of a spreadsheet."""

import numpy as np
import pandas as pd
import pytest

from lhtree import AdditiveLHTClassifier, AdditiveLHTRegressor
from support.spreadsheet import calculate

FAST = {"n_bags": 3, "max_iter": 60, "n_iter_no_change": 10, "random_state": 0, "max_steps": 6}


def make_rows(n=300):
    """Return rows with gaps and categories, and scores to predict."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": random.integers(18, 80, n).astype(float),
            "town": pd.Categorical(random.choice(["north", "North", 'the "west"'], n)),
            "income": random.lognormal(3.0, 1.0, n).round(2),
        }
    )
    score = (50 - X["age"]) / 12 + (X["town"] == "North") + ((X["age"] > 40) ^ (X["income"] > 20))
    X.loc[random.random(n) < 0.1, "income"] = np.nan
    X.loc[random.random(n) < 0.1, "town"] = None
    return X, score.to_numpy() + random.normal(0, 0.5, n)


def calculate_rows(formula, X):
    """Return the value of a formula for every row; it refers to row 2."""
    return [
        calculate(
            formula,
            {f"{letter}2": None if cell != cell else cell for letter, cell in zip("ABC", row, strict=True)},
        )
        for row in X.astype(object).to_numpy().tolist()
    ]


@pytest.mark.parametrize("interactions", [0, [("age", "income"), ("age", "town")]])
def test_formulas_of_classes_are_the_model(interactions):
    X, score = make_rows()
    model = AdditiveLHTClassifier(interactions, **FAST).fit(X, np.where(score > 1, "bad", "good"))
    X = pd.concat([X, X.iloc[:1].assign(town="East"), X.iloc[:1].assign(age=-5.0)]).astype({"town": object})
    assert calculate_rows(model.to_excel(), X) == model.predict(X).tolist()
    proba = calculate_rows(model.to_excel(output="probability"), X)
    np.testing.assert_allclose(proba, model.predict_proba(X)[:, 1], rtol=1e-12)
    raw = calculate_rows(model.to_excel(output="raw_score"), X)
    np.testing.assert_array_equal(raw, model.decision_function(X))


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_formulas_of_numbers_are_the_model(loss):
    X, score = make_rows()
    model = AdditiveLHTRegressor(loss, interactions=1, **FAST).fit(X, np.exp(score / 4))
    np.testing.assert_allclose(calculate_rows(model.to_excel(), X), model.predict(X), rtol=1e-12)


def test_formulas_refer_to_their_row():
    X, score = make_rows()
    formula = AdditiveLHTRegressor(interactions=0, **FAST).fit(X, score).to_excel(row=7)
    assert 'IF(A7="",0,LOOKUP(A7,{-9E+307,' in formula
    assert 'IF(EXACT(B7,"North"),' in formula
    assert '"the ""west"""' in formula
    assert "2" not in {token[1:] for token in formula.split("(") if token[:1] in "ABC"}


def test_unsuitable_models_and_arguments_are_rejected(rejects):
    X, score = make_rows()
    numbers = AdditiveLHTRegressor(interactions=0, **FAST).fit(X, score)
    with rejects:
        numbers.to_excel(0)
    with rejects:
        numbers.to_excel(output="probability")
    with rejects:
        AdditiveLHTClassifier(0, **FAST).fit(X, np.digitize(score, [0, 2])).to_excel()
    with rejects:
        AdditiveLHTRegressor(interactions=0, max_one_hot=2, **FAST).fit(X, score).to_excel()
    many = X.assign(town=pd.Categorical([f"t{i % 70:02}" for i in range(len(X))]))
    with rejects:
        AdditiveLHTRegressor(interactions=0, max_one_hot=100, **FAST).fit(many, score).to_excel()
    with rejects:
        AdditiveLHTRegressor(interactions=3, **FAST | {"max_steps": None}).fit(X, score).to_excel()
