"""Results by group against fairlearn, scikit-learn and SciPy."""

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics

from lhtree import LHBoostClassifier, LHTRegressor, evaluate
from lhtree.evaluation.paired import find_placements
from support.clouds import make_clouds


@pytest.fixture(scope="module")
def measured():
    X, y = make_clouds(600, 3, 2, seed=0)
    X = pd.DataFrame(X + np.random.default_rng(0).normal(0, 2, X.shape), columns=["a", "b", "c"])
    model = LHBoostClassifier(10, random_state=0, positive=1).fit(X[:300], y[:300])
    table = X[300:].assign(
        sex=np.where(X["a"][300:] > 0, "f", "m"), age=np.where(X["b"][300:] > 1, "old", None)
    )
    return model, table, y[300:], evaluate(model, table, y[300:], by=["sex", "age"])


def test_measures_are_those_of_fairlearn(measured):
    model, table, y, found = measured
    predicted = model.predict(table[["a", "b", "c"]])
    sensitive = {name: table[name].fillna("(missing)") for name in ("sex", "age")}
    for by, columns in (("sex", ["sex"]), ("age", ["age"]), ("sex × age", ["sex", "age"])):
        frame = fairlearn.MetricFrame(
            metrics={
                "accuracy": metrics.accuracy_score,
                "selection_rate": fairlearn.selection_rate,
                "true_positive_rate": fairlearn.true_positive_rate,
                "false_positive_rate": fairlearn.false_positive_rate,
                "precision": metrics.precision_score,
            },
            y_true=y,
            y_pred=predicted,
            sensitive_features=pd.DataFrame({name: sensitive[name] for name in columns}),
        )
        gaps = {gap.measure: gap for gap in found.groups.find_gaps(with_small=True) if gap.by == by}
        for measure in frame.by_group:
            scores = {one.group: one.value for one in found.groups.select(by, measure)}
            for group, value in frame.by_group[measure].items():
                name = group if isinstance(group, str) else " × ".join(group)
                assert scores[name] == pytest.approx(value), (by, name, measure)
            assert gaps[measure].difference == pytest.approx(frame.difference()[measure])
            assert gaps[measure].ratio == pytest.approx(frame.ratio()[measure])


def test_groups_equal_evaluations_of_their_rows(measured):
    model, table, y, found = measured
    own = (table["sex"] == "f").to_numpy()
    alone = evaluate(model, table[["a", "b", "c"]][own], y[own])
    scores = {one.measure: one for one in found.groups.scores if one.by == "sex" and one.group == "f"}
    for measure in ("accuracy", "roc_auc", "log_loss", "brier"):
        assert scores[measure].value == pytest.approx(getattr(alone, measure))
    assert scores["rate"].value == pytest.approx(alone.event.rate)
    assert scores["calibration"].value == pytest.approx(alone.event.probability - alone.event.rate)
    assert (scores["accuracy"].low, scores["accuracy"].high) == pytest.approx(
        (alone.accuracy_low, alone.accuracy_high)
    )


def test_intervals_are_those_of_scipy_and_newcombe(measured):
    found = measured[3]
    first, second = (
        next(one for one in found.groups.select("sex", "selection_rate") if one.is_reference == is_it)
        for is_it in (True, False)
    )
    n = [one.n_rows for one in (first, second)]
    counts = [round(one.value * one.n_rows) for one in (first, second)]
    ends = [stats.binomtest(k, m).proportion_ci(method="wilson") for k, m in zip(counts, n, strict=True)]
    assert (first.low, first.high) == pytest.approx(tuple(ends[0]), abs=1e-6)
    p, q = second.value, first.value
    low = p - q - np.hypot(p - ends[1].low, ends[0].high - q)
    high = p - q + np.hypot(ends[1].high - p, q - ends[0].low)
    assert (second.difference_low, second.difference_high) == pytest.approx((low, high), abs=1e-6)
    risk = stats.contingency.relative_risk(counts[1], n[1], counts[0], n[0])
    assert (second.ratio, second.ratio_low, second.ratio_high) == pytest.approx(
        (risk.relative_risk, *risk.confidence_interval(0.95)), rel=1e-4
    )


def test_variance_of_an_area_is_that_of_all_pairs():
    generator = np.random.default_rng(3)
    is_event = generator.random(60) < 0.4
    score = np.round(generator.normal(is_event, 1.0), 1)  # with ties
    above, below = find_placements(score, is_event)
    pairs = score[is_event][:, None] - score[~is_event][None]
    wins = (pairs > 0) + 0.5 * (pairs == 0)
    np.testing.assert_allclose(above, wins.mean(axis=1))
    np.testing.assert_allclose(below, wins.mean(axis=0))
    assert above.mean() == pytest.approx(metrics.roc_auc_score(is_event, score))


def test_groups_of_a_regression_and_weights():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 2))
    y, group = X[:, 0] + generator.normal(size=200), np.where(X[:, 1] > 0, "a", "b")
    model, weight = LHTRegressor().fit(X, y), generator.integers(0, 3, 200)
    scores = evaluate(model, X, y, by=group, sample_weight=weight).groups.select("group", "rmse")
    for one in scores:
        own = np.repeat(group == one.group, weight)
        error = np.repeat(model.predict(X) - y, weight)[own]
        assert one.value == pytest.approx(np.sqrt(np.mean(error**2)))


def test_a_group_of_one_class_has_no_rate_of_the_other(measured):
    model, table, y, _ = measured
    groups = evaluate(model, table, y, by={"kind": np.where(y == 1, "good", "bad")}).groups
    assert {one.group: one.value for one in groups.select("kind", "true_positive_rate")}["bad"] is None
    assert {one.group: one.value for one in groups.select("kind", "roc_auc")} == {"good": None, "bad": None}


def test_bad_groups_name_the_remedy(measured, rejects):
    model, table, y, _ = measured
    for by in ("sexes", "a", {"empty": [None] * len(y)}, {"short": ["a"]}, []):
        rejects(evaluate, model, table, y, by=by)
    rejects(evaluate, model, table, y, by="sex", reference={"sex": "x"})
    rejects(evaluate, model, table[["a", "b", "c"]].to_numpy(), y, by="sex")
