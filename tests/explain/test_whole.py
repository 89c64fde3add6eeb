"""Counterfactuals of columns that hold whole numbers."""

import numpy as np
import pandas as pd
import pytest

import lhtree
from lhtree.explain import Counterfactual
from lhtree.model.model import read

CLASSIFIERS = [
    lhtree.LHTClassifier(direction="mixed"),
    lhtree.LHForestClassifier(6, random_state=0),
    lhtree.LHBoostClassifier(12, random_state=0),
    lhtree.LHBoostClassifier(12, leaf="linear", random_state=0),
    lhtree.LHBoostClassifier(12, calibrate="sigmoid", random_state=0),
    lhtree.CompactLHTClassifier(random_state=0),
]
REGRESSORS = [
    lhtree.LHTRegressor(),
    lhtree.LHForestRegressor(6, random_state=0),
    lhtree.LHBoostRegressor(max_iter=12, random_state=0),
    lhtree.CompactLHTRegressor(random_state=0),
]
WHOLE = ["age", "children", "income"]


def make_loans(n_rows=300):
    """Return columns of whole numbers, some missing, one of prices, and one of categories."""
    generator = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": generator.integers(18, 80, n_rows),
            "children": generator.integers(0, 4, n_rows).astype(float),
            "income": generator.integers(10_000, 90_000, n_rows),
            "rate": np.round(generator.uniform(1.0, 9.0, n_rows), 2),
            "job": generator.choice(["cook", "nurse", "clerk"], n_rows),
        }
    )
    X.loc[::9, "children"] = np.nan
    score = (
        X.age / 20 + X.income / 20_000 - X.rate / 3 + X.children.fillna(1) + generator.normal(0, 1, n_rows)
    )
    return X, score


def find_all(model, X, score, rows):
    """Return the counterfactuals of some rows, with the rows."""
    found = []
    for number in rows:
        row = X.iloc[number]
        to = None
        if not hasattr(model, "classes_"):
            predicted = model.predict(X.iloc[[number]])[0]
            to = (predicted + 0.5, None) if number % 2 else (None, predicted - 0.5)
        found += [(row, to, one) for one in model.explain(row).counterfactuals(to=to)]
    return found


@pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS, ids=str)
def test_counterfactuals_of_whole_columns_are_whole_and_change_the_prediction(model):
    X, score = make_loans()
    y = score > score.median() if model in CLASSIFIERS else score
    model = model.fit(X, y)
    found = find_all(model, X, score, range(0, 60, 2))
    assert len(found) >= 20
    n_whole = 0
    for row, to, one in found:
        for name in WHOLE:
            value = one.row[name]
            assert np.isnan(value) if pd.isna(row[name]) else float(value).is_integer(), one
            n_whole += name in one.changes
        predicted = model.predict(pd.DataFrame([one.row])[X.columns])[0]
        assert predicted == one.prediction
        if to is None:
            assert predicted != one.before
        else:
            assert to[0] is None or predicted >= to[0]
            assert to[1] is None or predicted <= to[1]
    assert n_whole >= 5


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_the_nearest_whole_number_that_suffices_is_found(model):
    X, score = make_loans(120)
    model = model.fit(X, score > score.median())
    for number in range(0, 120, 4):
        row = X.iloc[number]
        tried = pd.DataFrame([row] * 62)[X.columns].assign(age=np.arange(18, 80))
        others = tried.age[model.predict(tried) != model.predict(tried[tried.age == row.age])[0]]
        found = model.explain(row).counterfactuals("age", n=1, plausible=False)
        assert len(found) == min(1, len(others)), row
        for one in found:
            assert abs(one.row["age"] - row.age) == np.abs(others - row.age).min()


def test_a_row_between_whole_numbers_moves_to_whole_numbers():
    X = np.arange(10.0)[:, None]
    model = lhtree.LHTClassifier(gamma=1, normalize=None).fit(X, X[:, 0] >= 5)
    assert [one.row["x0"] for one in model.explain([2.5]).counterfactuals()] == [5.0]
    assert [one.row["x0"] for one in model.explain([7.5]).counterfactuals()] == [4.0]


def test_changes_that_only_suffice_between_whole_numbers_do_not_exist():
    values = np.array([0.0, 0.4, 0.6, 1.0])[:, None]
    continuous = lhtree.LHTClassifier(gamma=1, normalize=None).fit(values, [0, 1, 1, 0])
    assert continuous.explain([0.0]).counterfactuals()
    fitted = read(continuous)
    whole = fitted.span._replace(is_whole=np.array([True]))
    object.__setattr__(fitted, "span", whole)
    assert continuous.explain([0.0]).counterfactuals() == []


@pytest.mark.parametrize("values", [[1, 2, 3, 4], [1.0, np.nan, 3.0, -4.0], [1e300, 2.0, 3.0, 0.0]])
def test_columns_of_whole_floats_are_whole(values):
    X = np.column_stack([values, [0.0, 1.0, 2.0, 2.5], np.full(4, np.nan)])
    for model in (lhtree.LHTClassifier(), lhtree.LHBoostClassifier(2)):
        assert read(model.fit(X, [0, 0, 1, 1])).span.is_whole.tolist() == [True, False, True]


def test_files_and_batches_keep_whole_columns(tmp_path):
    X, score = make_loans(200)
    y = np.where(score > score.median(), "yes", "no")
    model = lhtree.LHBoostClassifier(4, random_state=0).fit(X, y)
    is_whole = read(model).span.is_whole
    assert is_whole[:4].tolist() == [True, True, True, False]
    lhtree.save(model, tmp_path / "model.lht")
    assert read(lhtree.load(tmp_path / "model.lht")).span.is_whole.tolist() == is_whole.tolist()
    assert read(lhtree.load_scorer(tmp_path / "model.lht")).span.is_whole.tolist() == is_whole.tolist()
    parts = [(X[first : first + 50], y[first : first + 50]) for first in range(0, 200, 50)]
    batched = lhtree.LHBoostClassifier(4, random_state=0).fit_batches(lambda: iter(parts))
    assert read(batched).span.is_whole.tolist() == is_whole.tolist()


def test_sentences_have_all_digits_and_separators():
    one = Counterfactual(
        row={},
        changes={"income": (66008.0, 71234.5), "age": (52.0, 53.0), "z": (0.1, 0.12345678901234566)},
        distance=1.0,
        prediction="yes",
        before="no",
    )
    assert str(one).startswith(
        "If income were 71,234.5 instead of 66,008, age were 53 instead of 52 and z were 0.12345678901234566 "
    )
