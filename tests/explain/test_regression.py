"""Explanations of regressions: they add up to the prediction, in its unit."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree import LHBoostRegressor, LHForestRegressor, LHTRegressor
from support.regressions import KINDS, fit_regression
from support.strategies import problems

EACH = pytest.mark.parametrize("kind", KINDS)


@st.composite
def regressions(draw):
    """A fitted regressor of any kind, with responses of any size, and rows with gaps."""
    problem = draw(problems(max_rows=40))
    unit = draw(st.sampled_from([1e-200, 1e-3, 1.0, 1e6, 1e200]))
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    y = (problem.y + generator.normal(size=len(problem.y)) + 10.0) * unit
    maker = draw(
        st.sampled_from(
            [
                lambda: LHTRegressor(min_samples_leaf=2, pruning=0),
                lambda: LHTRegressor(
                    min_samples_leaf=3, membership="marginal", direction="fisher", pruning=0
                ),
                lambda: LHForestRegressor(3, min_samples_leaf=2, membership="least_squares", random_state=0),
                lambda: LHForestRegressor(3, random_state=0),
                lambda: LHBoostRegressor(max_iter=4, min_samples_leaf=2, learning_rate=0.3, random_state=0),
                lambda: LHBoostRegressor("absolute_error", max_iter=4, min_samples_leaf=2, random_state=0),
                lambda: LHBoostRegressor("gamma", max_iter=4, min_samples_leaf=2, random_state=0),
            ]
        )
    )
    rows = problem.X.copy()
    rows[generator.random(rows.shape) < 0.2] = np.nan
    return maker().fit(problem.X, y), rows


@given(regressions())
@settings(max_examples=60, deadline=None)
def test_base_and_contributions_add_up(case):
    model, rows = case
    frame = model.explain_batch(rows)
    np.testing.assert_array_equal(frame["prediction"], model.predict(rows))
    is_log = "raw_score" in frame
    total = frame["raw_score"] if is_log else frame["prediction"]
    parts = frame["base"] + frame.filter(like="contribution.").sum(axis=1) + frame.get("clipped", 0.0)
    terms = frame.filter(regex="contribution|base|clipped").abs().sum(axis=1)
    assert (np.abs(parts - total) <= 1e-9 * terms).all()
    if is_log:
        np.testing.assert_allclose(np.exp(total), frame["prediction"], rtol=1e-12)
    one, line = model.explain(rows[0]), frame.iloc[0]
    account = one.account()
    assert one.prediction == line["prediction"]
    assert sum(account.contributions.values()) + account.base + account.clipped == pytest.approx(
        account.total, rel=1e-9, abs=1e-9 * terms.iloc[0]
    )
    for name, value in account.contributions.items():
        assert value == pytest.approx(line[f"contribution.{name}"], rel=1e-9, abs=1e-9 * terms.iloc[0])


@pytest.mark.parametrize("membership", ["least_squares", "marginal"])
def test_linear_models_keep_the_means_of_their_features(membership):
    _, X, y = fit_regression("tree")
    weight = np.arange(len(y)) % 3 + 1.0
    model = LHTRegressor(membership=membership, pruning=0).fit(X, y, weight)
    fitted, view, leaf = model._read(), model.trees_[0], model.apply(X)[:, 0]
    Z = fitted.normalise(fitted.encode(X))
    assert view.n_leaves > 2
    for block in np.flatnonzero(view.is_leaf):
        own = leaf == block
        for name, mean in view.means(block).items():
            z = Z[own, fitted.feature_names.index(name)]
            assert mean == pytest.approx(np.average(z, weights=weight[own]), abs=1e-6)
    np.testing.assert_allclose(view.value, view.n_target / view.weight, rtol=1e-6)


@EACH
def test_terms_add_up_to_the_predictions_of_leaves(kind):
    model, X, _ = fit_regression(kind)
    terms = model.explain(X.iloc[0]).terms_frame()
    assert "target" not in terms
    leaves = terms[terms["part"].isin(["value", "slope", "clipped"])]
    fitted = model._read()
    expected = fitted.score("per_tree", fitted.encode(X[:1]))[0].ravel()
    np.testing.assert_allclose(leaves.groupby("tree")["term"].sum(), expected, rtol=1e-9)


@EACH
def test_dictionary_has_no_classes(kind):
    model, X, _ = fit_regression(kind)
    explanation = model.explain(X.iloc[0])
    facts = json.loads(json.dumps(explanation.to_dict()))
    assert facts["prediction"] == explanation.prediction
    assert "classes" not in facts


def test_neighbours_have_responses():
    model, X, y = fit_regression("tree")
    neighbours = model.explain(X.iloc[5]).paths[0].leaf.neighbours
    assert len(neighbours) == 3
    assert [near.label for near in neighbours] == [y[near.given] for near in neighbours]


@EACH
def test_scores_of_classes_are_refused_with_a_remedy(kind, rejects):
    model, X, _ = fit_regression(kind)
    explanation = model.explain(X.iloc[0])
    for name in ("proba", "wolf", "membership", "confidence", "votes"):
        rejects(getattr, explanation, name)
    rejects(model.predict_or_abstain, X, coverage=0.5)


def test_counterfactuals_keep_to_the_features_that_may_change():
    model, X, _ = fit_regression("boosted")
    explanation = model.explain(X.iloc[3])
    found = explanation.counterfactuals(["living area"], to=[explanation.prediction + 20_000, None])
    assert found
    assert set(found[0].changes) == {"living area"}
    same = explanation.counterfactuals(["living area"], to=(explanation.prediction + 20_000, np.inf))
    assert str(same) == str(found)


@pytest.mark.parametrize(
    "to", [None, "north", 5, (1,), (None, None), (3, 2), ("a", "b"), (0, 1e9), (np.inf, None), (0, np.nan)]
)
def test_invalid_ranges_are_refused(to, rejects):
    model, X, _ = fit_regression("tree")
    rejects(model.explain(X.iloc[0]).counterfactuals, to=to)
    rejects(fit_regression("gamma")[0].explain(X.iloc[0]).counterfactuals, to=(None, 0))


@EACH
def test_importances_find_what_matters(kind, rejects):
    model, X, y = fit_regression(kind)
    for how, rows in (
        ("gain", ()), ("contribution", (X,)), ("contribution", (X, y)), ("permutation", (X, y))
    ):  # fmt: skip
        found = model.importances(*rows, kind=how)
        assert found.names[found.order[0]] == "living area"
    assert model.importances(X, y, kind="permutation").values[0] > 0.2
    rejects(model.importances, X, X["town"], kind="permutation")
