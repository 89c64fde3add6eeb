"""Texts and tables of trees whose blocks have values: boosted models and regressions."""

import numpy as np
import pandas as pd
import pytest

from lhtree import CompactLHTRegressor, LHTRegressor, export_text, weight_table
from support.boosted import fit_boosted
from support.regressions import KINDS, fit_regression


def test_conditions_hold_for_the_rows_that_meet_them():
    model, X, _ = fit_boosted("adult")
    view, leaves = model.trees_[0], model.decision_path(X)[0].toarray()[:, : model.trees_[0].n_blocks] > 0
    encoded, names = model._model.encode(X), model._model.feature_names
    n_checked = 0
    for block in np.flatnonzero(~view.is_leaf):
        subject, left, right = view.conditions(block)
        if not subject:
            continue
        n_checked += 1
        inside, goes_left = leaves[:, block], leaves[:, view.left[block]]
        column = X[subject.removeprefix("mean target of ")]
        if subject.startswith("mean target of "):
            column = pd.Series(encoded[:, names.index(column.name)])
        is_missing = column.isna().to_numpy()
        if left.startswith("≠"):
            meets = (column != right.removeprefix("= ").removesuffix(" or missing")).to_numpy() & ~is_missing
        else:
            bound = float(left.removeprefix("< ").removesuffix(" or missing").replace(",", ""))
            meets = column.to_numpy(dtype=float, na_value=np.nan) < bound
        meets = np.where(is_missing, view.missing[block] < 0, meets)
        assert (goes_left[inside] == meets[inside]).all()
        assert left.endswith("or missing") == (view.missing[block] < 0 and is_missing.any())
    assert n_checked > 3


@pytest.mark.parametrize("kind", ["adult", "clouds", "adult linear", "clouds linear"])
def test_lift_is_the_difference_of_values(kind):
    model, _, _ = fit_boosted(kind)
    table, views = weight_table(model), model.trees_
    for tree, block, lift in zip(table.tree, table.block, table.lift, strict=True):
        view = views[int(tree)]
        assert lift == view.value[view.right[block]] - view.value[view.left[block]]


@pytest.mark.parametrize("kind", KINDS)
def test_texts_have_the_values_of_blocks(kind):
    model, _, y = fit_regression(kind)
    text = export_text(model, tree=0)
    is_boosted = kind in ("boosted", "median", "gamma")
    assert text.startswith("round 0, tree: " if is_boosted else "tree: ")
    assert "class" not in text
    if kind == "tree":
        assert f"{np.round(y.mean(), -3):,.0f}  300 rows" in text
        assert "slopes" in text
    assert (model.trees_[0].to_frame()["value"] == model.trees_[0].value).all()


def test_conditions_on_single_features_are_in_their_units():
    X = np.random.default_rng(0).uniform(0, 100, (200, 3))
    for sign in (1, -1):
        model = LHTRegressor(membership="constant", max_depth=1, pruning=0).fit(X, sign * (X[:, 1] > 40.0))
        view = model.trees_[0]
        subject, left, _ = view.conditions(0)
        goes_left = model.apply(X)[:, 0] == view.left[0]
        bound = float(left.split()[1])
        assert subject == "x1"
        assert (goes_left == (X[:, 1] < bound if left[0] in "<≤" else X[:, 1] > bound)).all()


@pytest.mark.parametrize("kind", [LHTRegressor, CompactLHTRegressor])
def test_conditions_on_large_numbers_hold_as_printed(kind):
    income = np.random.default_rng(0).permutation(1_234_400 + np.arange(400.0))
    model = kind(membership="constant").fit(income[:, None], income > 1_234_567)
    subject, left, _ = model.trees_[0].conditions(0)
    assert subject == "x0"
    bound = float(left.removeprefix("< ").replace(",", ""))
    goes_left = model.apply(income[:, None])[:, 0] == model.trees_[0].left[0]
    assert (goes_left == (income < bound)).all()


def test_mean_weights_of_a_regression_are_for_larger_predictions():
    model, _, _ = fit_regression("tree")
    means = weight_table(model).per_class()
    assert list(means) == ["prediction"]
    assert means["prediction"]["living area"] > 0.0 > means["prediction"]["age"]
