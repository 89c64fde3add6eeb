"""Plots of regressions."""

import numpy as np
import pytest

from lhtree import LHBoostRegressor, plot_block, plot_membership, plot_path, plot_rounds, plot_tree
from lhtree.plot._evaluation import find_losses
from lhtree.plot._path import find_rungs
from lhtree.plot._tree import find_rows
from support.pictures import find_flaws, written
from support.regressions import KINDS, fit_regression, make_houses

pytestmark = pytest.mark.usefixtures("closing")
EACH = pytest.mark.parametrize("kind", KINDS)


@EACH
def test_waterfall_leads_to_the_prediction(kind):
    model, X, _ = fit_regression(kind)
    explanation = model.explain(X.iloc[7])
    rungs = find_rungs(explanation, None, 10)
    assert rungs[0].label == ("base" if kind in ("boosted", "median", "gamma") else "mean response")
    assert rungs[-1].label == "prediction"
    assert rungs[-2].end == pytest.approx(rungs[-1].end, rel=1e-9)
    if kind in ("tree", "flat"):
        return
    number = f"{explanation.prediction / 1000:,.0f},000"
    shown = written(plot_path(explanation))
    assert number in shown
    assert any(number in text and "prediction" in text for text in shown)
    assert any(text.startswith("×" if kind == "gamma" else "+") for text in shown)


def test_card_has_the_mean_response():
    model, _, y = fit_regression("tree")
    shown = written(plot_tree(model))
    assert f"{np.round(y.mean(), -3):,.0f}" in shown
    assert "lowers it" in shown
    assert shown[0].startswith("Tree: ")


def test_block_has_mean_responses_of_both_sides():
    model, X, y = fit_regression("flat")
    facts, view = find_rows(model, X, y, 0), model.trees_[0]
    mean = facts.on_side(True).mean()
    assert mean == pytest.approx(view.value[view.left[0]])
    assert facts.on_side(False).mean() == pytest.approx(view.value[view.right[0]])
    np.testing.assert_array_equal(facts.goes_left, facts.feature_sum < facts.offset)
    assert f", mean {model._model.amounts.plain().write(mean)}" in plot_block(model, X, y).get_title(
        loc="left"
    )


def test_line_equals_predictions():
    model, X, _ = fit_regression("boosted")
    line = plot_membership(model, "living area", row=X.iloc[7]).lines[0]
    area, value = line.get_data()
    rows = X.iloc[[7] * len(area)].assign(**{"living area": area})
    np.testing.assert_allclose(model.predict(rows), value)


@pytest.mark.parametrize(
    ("loss", "quantile"),
    [
        ("squared_error", None),
        ("absolute_error", None),
        ("quantile", 0.8),
        ("poisson", None),
        ("gamma", None),
    ],
)
def test_rounds_show_the_loss_that_was_fitted(loss, quantile):
    X, y = make_houses()
    model = LHBoostRegressor(
        loss, quantile=quantile, max_iter=6, early_stopping=True, validation_fraction=None, random_state=0
    ).fit(X, y)
    losses = find_losses(model, X, y)
    # Training sees features in bins, so linear leaves differ a little.
    np.testing.assert_allclose(losses["rows passed"], losses["training rows"][: model.n_iter_ + 1], rtol=0.01)
    ax = plot_rounds(model, X, y)
    assert "log loss" not in ax.get_ylabel()
    assert find_flaws(ax) == ([], [])
