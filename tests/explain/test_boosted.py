"""Explanations of boosted models: contributions to the raw score."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

import lhtree
from lhtree import LHBoostClassifier, LHTClassifier, coverage_curve, export_text
from lhtree.model.model import read
from lhtree.model.records import CALIBRATORS
from lhtree.model.views import TreeViews
from support.boosted import boosted_model, boosted_rows, find_wrong_words, fit_boosted
from support.calibrations import give_calibration
from support.clouds import make_clouds
from support.explained import near

KINDS = ["adult", "clouds", "clouds joint", "adult linear", "clouds linear"]


@pytest.fixture(params=KINDS)
def fitted(request):
    return fit_boosted(request.param)


def take(X, rows):
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def some_rows(X):
    """Rows with and without gaps."""
    gaps = np.flatnonzero(np.asarray(pd.DataFrame(X).isna().any(axis=1)))
    return [0, 3, 5, *gaps[:4].tolist()]


def test_terms_of_leaves_add_up_to_the_raw_score(fitted):
    model, X, _ = fitted
    last = model.classes_[-1]
    explanation = model.explain(take(X, 1), target=last)
    frame = explanation.terms_frame()
    assert {"offset", "weight", "value"} <= set(frame.part)
    assert ("slope" in set(frame.part)) == (model.leaf == "linear")
    is_added = frame.part.isin(["value", "slope", "clipped"]) & (frame.target == last)
    assert frame.term[is_added].sum() + read(model).base[-1] == near(explanation.raw_score[last])


def test_contributions_add_up_to_the_raw_score(fitted):
    model, X, _ = fitted
    raw = model.decision_function(X)
    raw = np.stack([-raw, raw], axis=1) if raw.ndim == 1 else raw
    frame = model.explain_batch(X)
    is_linear = model.leaf == "linear"
    known = ["prediction", "proba", "raw_score", "base", *["clipped"] * is_linear]
    assert [name for name in frame if not name.startswith("contribution.")] == known
    clipped = frame.clipped if is_linear else 0.0 * frame.base
    assert (clipped != 0.0).any() == is_linear
    np.testing.assert_array_equal(frame.raw_score.to_numpy().reshape(raw.shape), raw)
    total = frame.base + clipped + frame.filter(regex="^contribution").sum(axis=1)
    np.testing.assert_allclose(total, frame.raw_score, rtol=0, atol=1e-9)
    for number in some_rows(X):
        explanation = model.explain(take(X, number))
        for label, score in zip(explanation.classes, raw[number], strict=True):
            parts = explanation.contributions[label]
            assert explanation.raw_score[label] == explanation.total[label] == score
            parts_and_clip = math.fsum([*parts.values(), explanation.clipped[label]])
            assert explanation.base[label] + parts_and_clip == near(score)
            line = frame.loc[(number, label)]
            assert explanation.clipped[label] == pytest.approx(clipped[(number, label)], abs=1e-12)
            assert line.filter(like="contribution.").tolist() == pytest.approx(
                list(parts.values()), abs=1e-12
            )
            assert line.proba == explanation.proba[label]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_changes_of_value_are_shared_by_the_shares_of_the_block(n_classes):
    # Slowly, block by block, with shares of any size and with blocks that do not know them.
    rng = np.random.default_rng(0)
    model = boosted_model(rng, 4, n_classes, rounds=3, depth=3)
    trees = model.trees
    for x in boosted_rows(rng, model, 5):
        explanation = lhtree.Scorer(model).explain(np.where(np.abs(x) > 1e30, np.nan, x))
        expected = np.zeros((model.n_targets, 4))
        base = model.base.copy()
        for path in explanation.paths:
            root, target = trees.block_ptr[path.tree], path.tree % model.n_targets
            base[target] += trees.intercept[root]
            ways = [*(step.block for step in path.steps), path.leaf.block]
            for here, there in pairwise(ways):
                change = trees.intercept[root + there] - trees.intercept[root + here]
                some = slice(*trees.hyperplane_ptr[root + here : root + here + 2])
                size = np.abs(trees.hyperplane_weight[some])  # shares are unknown here
                expected[target, trees.hyperplane_feature[some]] += change * size / size.sum()
        for target, label in enumerate(explanation.classes[-model.n_targets :]):
            assert list(explanation.contributions[label].values()) == pytest.approx(
                expected[target], abs=1e-7
            )
            assert explanation.base[label] == near(base[target])


def test_paths_are_those_of_the_model(fitted):
    model, X, _ = fitted
    for number in some_rows(X):
        leaves = model.apply(take(X, [number]))[0]
        explanation = model.explain(take(X, number))
        assert [path.leaf.block for path in explanation.paths] == leaves.tolist()
        for path, view in zip(explanation.paths, model.trees_, strict=True):
            values = [*(step.value for step in path.steps), path.leaf.value]
            blocks = [*(step.block for step in path.steps), path.leaf.block]
            is_joint = view.head.shares_classes
            own = [view.values(block)[path.target] if is_joint else view.value[block] for block in blocks]
            assert values == own
            assert [step.change for step in path.steps] == np.diff(values).tolist()
            leaf = path.leaf
            assert leaf.value + sum(term.term for term in leaf.terms) + leaf.clipped == near(leaf.added)
            assert is_joint or view.low[leaf.block] <= leaf.added <= view.high[leaf.block]
            assert {term.feature: term.weight for term in leaf.terms} == view.slopes(leaf.block)
            if leaf.clipped:
                assert leaf.added in (view.low[leaf.block], view.high[leaf.block])
            for step in path.steps:
                terms = [term.term for term in step.terms]
                assert sum(terms) - step.offset == (step.y if math.isinf(step.y) else near(step.y, terms))
                if math.isinf(step.y):
                    assert math.isnan(step.terms[0].value)
                    assert (step.y < 0.0) == (view.missing[step.block] < 0)
        json.dumps(explanation.to_dict(), allow_nan=False)


def test_sentences():
    model, X, _ = fit_boosted("adult")
    number = int(np.flatnonzero(X.age.isna())[0])
    explanation = model.explain(X.iloc[number])
    label = explanation.prediction
    text = str(explanation)
    assert f"The raw score of {label} is {explanation.raw_score[label]:.2f} = base" in text
    assert f"  age is missing: {explanation.contributions[label]['age']:+.2f}" in text
    assert "Raw scores:" not in text
    three = fit_boosted("clouds")[0].explain([0.0] * 5)
    scores = sorted(three.raw_score.values(), reverse=True)
    assert f"Raw scores: class {three.prediction} {scores[0]:+.2f}, class " in str(three)


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3]), st.integers(1, 4), st.sampled_from([0.5, 8.0]))
def test_slopes_and_clips_add_up(seed, n_classes, n_slopes, clip):
    # Random trees with random means, whose ranges often clip, and rows far beyond the clip of z.
    rng = np.random.default_rng(seed)
    model = boosted_model(rng, 4, n_classes, rounds=3, depth=2, n_slopes=n_slopes, clip=clip)
    mean = rng.normal(size=len(model.trees.membership_slope)).astype(np.float32)
    model = replace(model, trees=replace(model.trees, membership_mean=mean))
    X = boosted_rows(rng, model, 8)
    frame = lhtree.Scorer(model).explain_batch(X)
    out = frame.filter(like="contribution.").to_numpy().reshape(8, n_classes, 4)
    base, clipped = (frame[name].to_numpy().reshape(8, n_classes) for name in ("base", "clipped"))
    raw = model.head.spread(model.score("raw_score", X), np.negative)
    np.testing.assert_allclose(base + clipped + out.sum(axis=2), raw, rtol=0, atol=1e-9)
    explanation = lhtree.Scorer(model).explain(X[0])
    assert list(explanation.clipped.values()) == pytest.approx(clipped[0], abs=1e-12)
    for contributions, expected in zip(explanation.contributions.values(), out[0], strict=True):
        assert list(contributions.values()) == pytest.approx(expected, abs=1e-12)
    for path in explanation.paths:  # slope · (z - mean), z within the clip, 0 where it is missing
        view = TreeViews(model)[path.tree]
        z = dict(zip(model.feature_names, np.clip(model.normalise(X[:1])[0], -clip, clip), strict=True))
        for term in path.leaf.terms:
            mean_of = view.means(path.leaf.block)[term.feature]
            assert term.term == near(term.weight * (float(z[term.feature]) - mean_of))


def test_clipped_amounts_are_facts_of_linear_leaves():
    model, X, _ = fit_boosted("clouds linear")
    explained = [model.explain(row) for row in X[:60]]
    explanation = max(explained, key=lambda one: abs(one.clipped[one.prediction]))
    clipped = explanation.clipped[explanation.prediction]
    assert abs(clipped) > 0.05
    for text in (str(explanation), explanation._repr_html_()):
        assert f"{clipped:+.2f}" in text
    assert explanation.to_dict()["clipped"][explanation.prediction] == clipped
    inside = next(one for one in explained if not any(one.clipped.values()))
    assert "clipped" not in str(inside)
    assert "clipped" not in fit_boosted("clouds")[0].explain(X[0]).to_dict()


def test_boosted_models_have_no_wolf_values(fitted, rejects):
    model, X, _ = fitted
    explanation = model.explain(take(X, 3))
    texts = [
        str(explanation),
        explanation._repr_html_(),
        json.dumps(explanation.to_dict()),
        repr(explanation),
    ]
    texts += [export_text(model), repr(model.trees_), str(explanation.counterfactuals())]
    texts += [str(list(model.explain_batch(X).columns)), str(model.predict_or_abstain(X, coverage=0.5))]
    texts += [str(model.predict_or_abstain(X, coverage=0.5).to_frame()), repr(model.importances())]
    assert [find_wrong_words(text) for text in texts] == [[]] * len(texts)
    for name in ("wolf", "membership", "confidence", "votes"):
        rejects(getattr, explanation, name)
    with rejects:
        _ = model.trees_[0].n_target
    tree = LHTClassifier().fit(*make_clouds(60, 3, 2))
    with rejects:
        _ = tree.explain([0.0] * 3).raw_score


def test_abstaining_goes_by_probability(fitted):
    model, X, y = fitted
    proba = model.predict_proba(X).max(axis=1)
    decisions = model.predict_or_abstain(X, threshold=0.8)
    np.testing.assert_array_equal(decisions.sureness, proba)
    np.testing.assert_array_equal(decisions.is_decided, proba >= 0.8)
    assert 0.0 < decisions.coverage < 1.0
    assert "probability below 0.8" in str(decisions)
    assert list(decisions.to_frame()) == ["label", "is_decided", "proba"]
    curve = coverage_curve(model, X, y)
    assert curve.threshold.tolist() == np.unique(proba)[::-1].tolist()
    assert curve.accuracy[-1] == pytest.approx(model.score(X, y))


def test_counterfactuals_change_no_more_than_they_have_to():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 6))
    y = (X[:, 0] + X[:, 1] > 0.0).astype(int)
    model = LHBoostClassifier(30, learning_rate=0.2, random_state=0).fit(X, y)
    row = np.array([1.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    found = model.explain(row).counterfactuals()
    assert found[0].distance < 2.5
    assert any(set(one.changes) <= {"x0", "x1"} for one in found)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_counterfactuals_follow_slopes(n_classes):
    # No hyperplane to cross: slopes alone lead to where two classes are level, over all features at once.
    rng = np.random.default_rng(1)
    model = boosted_model(rng, 3, n_classes, rounds=3, depth=0, n_slopes=3)
    trees = replace(
        model.trees, low=np.full(model.trees.n_blocks, -99.0), high=np.full(model.trees.n_blocks, 99.0)
    )
    model = replace(model, trees=trees, base=model.base / 4)
    slopes = trees.membership_slope.reshape(3, model.n_targets, 3).sum(axis=0)
    x = model.normalisation.centre + 0.2 * model.normalisation.scale
    raw = model.score("raw_score", x[None])[0]
    lead, slope = raw[0], slopes[0]
    if n_classes == 3:
        first, second, _ = np.argsort(-raw)
        lead, slope = raw[first] - raw[second], slopes[first] - slopes[second]
    found = lhtree.Scorer(model).explain(x).counterfactuals(to=None if n_classes == 2 else int(second))
    shortest = abs(lead) / np.linalg.norm(slope)
    assert abs(lead) / abs(slope).max() > 1.1 * shortest
    assert found[0].distance == pytest.approx(shortest, rel=0.03)


@pytest.mark.parametrize("kind", CALIBRATORS)
def test_calibrated_models_have_counterfactuals(kind):
    X, y = make_classification(400, 5, weights=[0.85], flip_y=0.2, random_state=0)
    model = give_calibration(LHBoostClassifier(30, random_state=0).fit(X, y), kind)
    raw, predicted = model.decision_function(X) > 0, model.predict(X)
    otherwise = np.flatnonzero(raw != predicted)  # calibration decides otherwise than the raw score
    assert len(otherwise) >= 3
    for row in X[[*otherwise[:8], 0, 1, 2]]:
        found = model.explain(row).counterfactuals(plausible=False)
        assert found
        for one in found:
            assert model.predict([list(one.row.values())])[0] == one.prediction != one.before
