"""Plots of boosted models."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.metrics import log_loss

from lhtree import LHBoostClassifier, plot_block, plot_membership, plot_path, plot_rounds, plot_tree
from lhtree.describe.palette import AGAINST, FOR
from lhtree.plot._evaluation import find_losses
from lhtree.plot._path import find_rungs
from lhtree.plot._tree import find_rows
from support import pictures
from support.boosted import fit_boosted

pytestmark = pytest.mark.usefixtures("closing")


@pytest.mark.parametrize("kind", ["adult", "adult linear"])
def test_waterfall_leads_from_base_to_raw_score(kind):
    model, X, _ = fit_boosted(kind)
    rows = X[:80].assign(age=np.nan)
    explained = [model.explain(rows.iloc[number]) for number in range(len(rows))]
    explanation = max(explained, key=lambda one: abs(one.clipped[one.prediction]))
    for label in explanation.classes:
        rungs = find_rungs(explanation, label, 20)
        assert (rungs[0].label, rungs[0].end) == ("base", explanation.base[label])
        assert (rungs[-1].label, rungs[-1].end) == ("raw score", explanation.raw_score[label])
        assert rungs[-2].end == pytest.approx(rungs[-1].end, abs=1e-9)
        labels = [rung.label for rung in rungs]
        assert "age = missing" in labels
        assert ("clipped to the ranges of the leaves" in labels) == (explanation.clipped[label] != 0.0)
        assert (explanation.clipped[label] != 0.0) == (kind == "adult linear")
        low, high = plot_path(explanation, target=label).get_xlim()
        assert low < min(rung.end for rung in rungs) < max(rung.end for rung in rungs) < high
        plt.close("all")


def test_cards_have_values_and_sides_of_missing_values():
    model, _, _ = fit_boosted("adult")
    view, ax = model.trees_[2], plot_tree(model, tree=2)
    bars = {patch.get_gid(): patch for patch in ax.patches}
    written = pictures.written(ax)
    for block in range(view.n_blocks):
        if f"value-{block}" in bars:
            colour = FOR if view.value[block] > 0 else AGAINST
            assert plt.matplotlib.colors.to_hex(bars[f"value-{block}"].get_facecolor()) == colour.lower()
            assert f"{view.value[block]:+.3f}".replace("-", "−") in written
    assert "value-0" in bars
    assert "or missing" in written
    assert any(text.startswith("Round 2, tree for >50K") for text in written)


def test_linear_leaves_have_bars_and_number_of_slopes():
    model, X, _ = fit_boosted("clouds linear")
    written = pictures.written(plot_tree(model, tree=1))
    assert any(text.endswith(" slopes") for text in written)
    explanation = next(
        one for one in map(model.explain, X) if one.paths[0].leaf.clipped and one.paths[0].leaf.terms
    )
    leaf = explanation.paths[0].leaf
    written = pictures.written(plot_path(explanation, target=0, tree=0))
    assert {"value", "adds", "clipped to its range"} <= set(written)
    assert any(text.startswith(f"leaf {leaf.block}: adds ") for text in written)


def test_path_names_missing_features():
    model, X, _ = fit_boosted("adult")
    gaps = np.flatnonzero(X.isna().any(axis=1))[:6]
    told = [
        t
        for n in gaps
        for i in range(3)
        for t in pictures.written(plot_path(model.explain(X.iloc[n]), tree=i))
    ]
    assert any("is missing, so it goes" in text for text in told)
    assert any("to the raw score of >50K" in text for text in told)


def test_rows_without_a_feature_sum_are_counted():
    model, X, y = fit_boosted("clouds")
    trees = model.trees_
    tree, block = next(
        (tree, block)
        for tree, view in enumerate(trees)
        for block in np.flatnonzero(~view.is_leaf)
        if view.conditions(block).subject == "x1"
    )
    facts = find_rows(model, X, y, block, tree)
    indicator, block_ptr = model.decision_path(X)
    inside = indicator[:, block_ptr[tree] + block].toarray()[:, 0] == 1
    is_missing = np.isnan(X[inside, 1])
    assert is_missing.sum() > 1
    assert f"{is_missing.sum()} rows to the" in facts.count_missing()
    assert np.isinf(facts.feature_sum).sum() == is_missing.sum()
    assert np.isfinite(list(facts.extremes.values())).all()
    assert sum(len(facts.on_side(side)) for side in (True, False)) == inside.sum()
    assert facts.count_missing() in plot_block(model, X, y, block, tree=tree).get_xlabel()


def test_curves_are_probabilities():
    model, X, _ = fit_boosted("adult")
    ax = plot_membership(model, "age", row=X.iloc[5], n_points=7)
    for line, label in zip(ax.lines, model.classes_, strict=False):
        rows = X.iloc[[5] * 7].assign(age=line.get_xdata())
        code = list(model.classes_).index(label)
        np.testing.assert_allclose(line.get_ydata(), model.predict_proba(rows)[:, code])
    assert ax.get_ylabel() == "probability"


def test_losses_equal_log_loss_of_rounds():
    X, y = pictures.make_clouds(300, 4, 3)
    model = LHBoostClassifier(12, learning_rate=0.3, early_stopping=True, n_iter_no_change=3, random_state=0)
    model.fit(X[:200], y[:200])
    losses = find_losses(model, X[200:], y[200:])
    assert list(losses) == ["training rows", "held-out rows", "rows passed"]
    expected = [log_loss(y[200:], proba) for proba in model.staged_predict_proba(X[200:])]
    np.testing.assert_allclose(losses["rows passed"][1:], expected, rtol=1e-9)
    np.testing.assert_array_equal(losses["held-out rows"], -model.validation_score_)
    ax = plot_rounds(model, X[200:], y[200:])
    assert len(ax.lines) == 3 + (model.n_iter_ < len(model.train_score_) - 1)
    two, X, y = fit_boosted("adult")
    assert find_losses(two, X, y)["rows passed"][-1] == pytest.approx(
        log_loss(y, two.predict_proba(X)), rel=1e-9
    )
