"""Rules of compact trees, as formulas in Python and spreadsheets: same predictions as the model."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import lhtree
from lhtree.describe.outline import read_outline, write_tree
from lhtree.describe.rules import Rules, name_column
from lhtree.model.views import TreeViews
from lhtree.scorer import Scorer
from support.compact import CHAINS, LABELS, make_chain, make_model, models, turn_over
from support.shop import make_table
from support.spreadsheet import calculate


def prepare(model, frame):
    rows = [
        {name: None if cell != cell else cell for name, cell in row.items()}
        for row in frame.to_dict("records")
    ]
    scorer = Scorer(model)
    return scorer.rules(), rows, scorer.predict(frame).tolist()


@settings(max_examples=40)
@given(model=models())
def test_python(model):
    rules, rows, expected = prepare(*model)
    names = {}
    exec(rules.to_python("decide"), names)
    assert [names["decide"](row) for row in rows] == expected
    # A column that is not there is missing, and so is a category that was not seen.
    unseen = [row | {"colour": "purple"} for row in rows]
    assert [names["decide"](row) for row in unseen] == [
        names["decide"]({k: v for k, v in row.items() if k != "colour"}) for row in rows
    ]


@settings(max_examples=40)
@given(model=models())
def test_spreadsheet(model):
    rules, rows, expected = prepare(*model)
    formula = rules.to_excel(row=7)
    for row, label in zip(rows, expected, strict=True):
        cells = {f"{name_column(place)}7": cell for place, cell in enumerate(row.values())}
        assert calculate(formula, cells) == label


@pytest.mark.parametrize("chain", CHAINS)
def test_python_of_deep_trees(chain):
    """Python allows 100 levels of indentation."""
    model, frame = make_model(0, left=CHAINS[chain])
    scorer = Scorer(model)
    assert evaluate(scorer.rules(), frame) == scorer.predict(frame).tolist()


def test_formulas_of_deep_trees_are_rejected(rejects):
    rules = Rules(read_outline(make_model(0, left=make_chain(62, "r", is_forked=False))[0]))
    rejects(rules.to_excel)


def test_truth_values():
    rules, rows, expected = prepare(*make_model(5, "flag", 2, 6))
    names = {}
    exec(rules.to_python(), names)
    assert [names["predict"](row) for row in rows] == expected
    assert set(LABELS["flag"]) == {False, True}
    assert "TRUE" in rules.to_excel()


def test_condition_on_a_single_category_has_no_sum():
    outline = read_outline(make_model(0, n_leaves=2)[0])
    root = outline.blocks[0]
    terms = {
        term.name: term
        for seed in range(20)
        for block in read_outline(make_model(seed)[0]).blocks
        for term in block.terms
    }
    red = replace(terms["colour = red"], weight=-1.0)
    blocks = (replace(root, terms=(red,), bound=-0.5), *outline.blocks[1:])
    told = replace(outline, blocks=blocks)
    assert "block 0: [colour = red]\n" in write_tree(told)
    assert Rules(told)[0].conditions == ("colour is red",)
    assert Rules(told)[1].conditions == ("colour is not red",)
    green = replace(terms["colour = dark - green"], weight=1.0)
    told = replace(outline, blocks=(replace(root, terms=(green,), bound=0.5), *outline.blocks[1:]))
    assert "block 0: not [colour = dark - green]\n" in write_tree(told)


@pytest.mark.parametrize("is_turned", [False, True])
def test_two_categories_are_never_negated(is_turned):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"paperless": random.choice(["no", "yes"], 200, p=[0.6, 0.4])})
    y = np.where(frame["paperless"] == "no", "stays", "leaves")
    model = lhtree.CompactLHTClassifier(penalty=1.0).fit(frame, y)._model
    model = turn_over(model) if is_turned else model
    rules, text = Scorer(model).rules(), lhtree.export_text(Scorer(model))
    assert {rule.conditions for rule in rules} == {("paperless is no",), ("paperless is yes",)}
    assert "paperless counts as no where it is missing or was not seen in training." in str(rules)
    assert f"block 0: [paperless = {'no' if is_turned else 'yes'}]\n" in text
    assert "not [" not in text
    rows = pd.DataFrame({"paperless": ["no", "yes", None, "maybe"]})
    assert evaluate(rules, rows) == Scorer(model).predict(rows).tolist()
    conditions = TreeViews(model)[0].conditions(0)
    assert {conditions.left, conditions.right} == {"= no", "= yes"}


def test_columns_of_a_sheet():
    assert [name_column(place) for place in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]


@pytest.mark.parametrize("name", ["", "a b", "class", 3])
def test_odd_names_of_functions_are_refused(name, rejects):
    rejects(prepare(*make_model(0, "text", 2, 2))[0].to_python, name)


def fit_shop(kind, **options):
    frame = make_table(120)
    X, y = frame.drop(columns="y"), frame["y"]
    if kind == "number":
        y = X["weight"] + np.where(X["colour"] == "red", 3.0, 0.0)
        X = X.drop(columns="weight")
        return lhtree.CompactLHTRegressor(penalty=0.1, max_leaf_nodes=5, **options).fit(X, y), X
    if kind == "three":
        y = np.where(X["weight"] > 8, "heavy", y)
    return lhtree.CompactLHTClassifier(penalty=0.1, max_leaf_nodes=5, **options).fit(X, y), X


def evaluate(rules, X):
    names = {}
    exec(rules.to_python(), names)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    return [names["predict"](row) for row in rows]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("two", {}),
        ("two", {"membership": "linear"}),
        ("two", {"digits": None}),
        ("three", {}),
        ("three", {"missing_indicator": True}),
        ("number", {}),
        ("number", {"membership": "linear"}),
    ],
)
def test_formulas_of_fitted_trees(kind, options):
    model, X = fit_shop(kind, **options)
    assert model.n_leaves_ > 1
    assert evaluate(model.rules(), X) == model.predict(X).tolist()


def test_statistics_of_many_categories_have_no_formula(rejects):
    random = np.random.default_rng(0)
    shop = random.integers(0, 40, 400)
    X = pd.DataFrame({"shop": [f"shop {n}" for n in shop]})
    model = lhtree.CompactLHTClassifier(random_state=0).fit(X, shop % 3 == 0)
    assert "mean target of shop" in lhtree.export_text(model)
    for write in (model.rules().to_python, model.rules().to_excel):
        rejects(write)
