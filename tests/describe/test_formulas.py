"""Additive models as formulas of a spreadsheet."""

import numpy as np
import pandas as pd
import pytest

from lhtree import AdditiveLHTClassifier, AdditiveLHTRegressor
from support.additive import FAST, make_people
from support.spreadsheet import calculate

STEPS = FAST | {"max_steps": 6}
TOWNS = ("north", "North", 'the "west"')


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
    X, score = make_people(towns=TOWNS)
    model = AdditiveLHTClassifier(interactions, **STEPS).fit(X, np.where(score > 1, "bad", "good"))
    X = pd.concat([X[::4], X[:1].assign(town="East"), X[:1].assign(age=-5.0)]).astype({"town": object})
    assert calculate_rows(model.to_excel(), X) == model.predict(X).tolist()
    proba = calculate_rows(model.to_excel(output="probability"), X)
    np.testing.assert_allclose(proba, model.predict_proba(X)[:, 1], rtol=1e-12)
    raw = calculate_rows(model.to_excel(output="raw_score"), X)
    np.testing.assert_array_equal(raw, model.decision_function(X))


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_formulas_of_numbers_are_the_model(loss):
    X, score = make_people(towns=TOWNS)
    model = AdditiveLHTRegressor(loss, interactions=1, **STEPS).fit(X, np.exp(score / 4))
    np.testing.assert_allclose(calculate_rows(model.to_excel(), X[::4]), model.predict(X[::4]), rtol=1e-12)


def test_formulas_refer_to_their_row():
    X, score = make_people(towns=TOWNS)
    formula = AdditiveLHTRegressor(interactions=0, **STEPS).fit(X, score).to_excel(row=7)
    assert 'IF(A7="",0,LOOKUP(A7,{-9E+307,' in formula
    assert 'IF(EXACT(C7,"north"),' in formula
    assert '"the ""west"""' in formula
    assert "2" not in {token[1:] for token in formula.split("(") if token[:1] in "ABC"}


def test_unsuitable_models_and_arguments_are_rejected(rejects):
    X, score = make_people(towns=TOWNS)
    numbers = AdditiveLHTRegressor(interactions=0, **STEPS).fit(X, score)
    rejects(numbers.to_excel, 0)
    rejects(numbers.to_excel, output="probability")
    rejects(AdditiveLHTClassifier(0, **STEPS).fit(X, np.digitize(score, [0, 2])).to_excel)
    rejects(AdditiveLHTRegressor(interactions=0, max_one_hot=2, **STEPS).fit(X, score).to_excel)
    many = X.assign(town=pd.Categorical([f"t{i % 70:02}" for i in range(len(X))]))
    rejects(AdditiveLHTRegressor(interactions=0, max_one_hot=100, **STEPS).fit(many, score).to_excel)
    rejects(AdditiveLHTRegressor(interactions=3, **STEPS | {"max_steps": None}).fit(X, score).to_excel)
