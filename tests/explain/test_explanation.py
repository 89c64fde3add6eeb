"""Explanations of one row: every number adds up and is the model's own."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree import LHTClassifier
from lhtree.model.model import read
from support.explained import fitted_models, near


@settings(max_examples=settings().max_examples // 2)
@given(fitted_models())
def test_terms_add_up_to_the_decisions_of_the_model(case):
    model, rows = case
    indicator, block_ptr = model.decision_path(rows)
    Z = read(model).normalise(rows)
    names = read(model).feature_names
    for number, row in enumerate(rows):
        explanation = model.explain(row)
        passed = []
        for path, view in zip(explanation.paths, model.trees_, strict=True):
            assert path.target == view.target
            blocks = [*(step.block for step in path.steps), path.leaf.block]
            passed += [block_ptr[path.tree] + block for block in blocks]
            assert [*(step.depth for step in path.steps), path.leaf.depth] == list(range(len(blocks)))
            for step, after in zip(path.steps, blocks[1:], strict=True):
                assert after == (view.left if step.side == "left" else view.right)[step.block]
                assert {term.feature: term.weight for term in step.terms} == view.weights(step.block)
                check_terms(step.terms, Z[number], row, names, model)
                sizes = [term.term for term in step.terms]
                assert math.fsum(sizes) - step.offset == near(step.y, sizes)
                assert (step.side == "left") == (step.y < 0)
                assert (step.distance, step.confidence) == (abs(step.y), min(abs(step.y), 1))
                assert (step.n_samples, step.share) == (
                    view.n_samples[step.block],
                    view.n_target[step.block] / view.weight[step.block],
                )
            leaf = path.leaf
            assert {term.feature: term.weight for term in leaf.terms} == view.slopes(leaf.block)
            check_terms(leaf.terms, Z[number], row, names, model)
            sizes = [term.term for term in leaf.terms]
            assert leaf.intercept + math.fsum(sizes) == near(leaf.estimate, sizes)
            assert leaf.membership == min(max(leaf.estimate, view.low[leaf.block]), view.high[leaf.block])
            assert leaf.corrected_membership == leaf.confidence * leaf.membership
        assert sorted(passed) == sorted(indicator[[number]].indices)


def check_terms(terms, z, row, names, model):
    scale = model._model.normalisation.scale
    for term in terms:
        feature = names.index(term.feature)
        assert term.term == float(term.weight) * float(z[feature])
        assert term.unit_weight == pytest.approx(term.weight / scale[feature], rel=1e-15)
        np.testing.assert_equal(term.value, row[feature])
    sizes = [abs(term.term) for term in terms]
    assert sizes == sorted(sizes, reverse=True)


@settings(max_examples=settings().max_examples // 2)
@given(fitted_models())
def test_scores_are_those_of_the_model_and_of_its_paths(case):
    model, rows = case
    for row in rows:
        explanation = model.explain(row)
        x = row[None]
        assert explanation.prediction == model.predict(x)[0]
        for name in ("wolf", "proba", "membership", "confidence"):
            expected = getattr(model, f"predict_{name}")(x)[0]
            assert list(getattr(explanation, name).items()) == list(
                zip(model.classes_.tolist(), expected, strict=True)
            )
        last = explanation.classes[-1]
        own = [path.leaf for path in explanation.paths if path.target == last]
        for name, values in (
            ("wolf", [leaf.corrected_membership for leaf in own]),
            ("membership", [leaf.membership for leaf in own]),
            ("confidence", [leaf.confidence for leaf in own]),
        ):
            assert getattr(explanation, name)[last] == pytest.approx(np.mean(values), abs=1e-12)


@settings(max_examples=settings().max_examples // 2)
@given(fitted_models())
def test_a_contribution_comes_from_features_that_pull_to_the_side_taken(case):
    model, rows = case
    for row in rows:
        explanation = model.explain(row)
        expected = {label: dict.fromkeys(explanation.row, 0.0) for label in explanation.classes}
        for path in explanation.paths:
            for step, after in pairwise([*path.steps, path.leaf]):
                sign = 1.0 if step.side == "right" else -1.0
                deal(expected[path.target], step.terms, step.offset, sign, after.share - step.share)
            leaf = path.leaf
            change = leaf.membership - leaf.share
            sign = 1.0 if change >= 0 else -1.0
            deal(expected[path.target], leaf.terms, leaf.share - leaf.intercept, sign, change)
        if len(explanation.classes) == 2:
            first, second = explanation.classes
            expected[first] = {name: -amount for name, amount in expected[second].items()}
        for label, of_class in expected.items():
            mean = {name: amount / explanation.n_estimators for name, amount in of_class.items()}
            assert explanation.contributions[label] == pytest.approx(mean, abs=1e-9)


def deal(parts, terms, shift, sign, change):
    """Divide a change among the terms that pull beyond their part of the shift."""
    weights = sum(abs(term.weight) for term in terms)
    part = {term: abs(term.weight) / weights if weights else 1 / len(terms) for term in terms}
    pull = {term: max(0.0, sign * (term.term - part[term] * shift)) for term in terms}
    if not any(pull.values()):
        pull = part
    for term in terms:
        parts[term.feature] += change * pull[term] / sum(pull.values())


@settings(max_examples=settings().max_examples // 2)
@given(fitted_models(), st.data())
def test_one_estimator_explains_by_itself(case, data):
    model, rows = case
    explanation = model.explain(rows[0])
    if isinstance(model, LHTClassifier):
        assert explanation.tree(0).to_dict() == explanation.to_dict()
        return
    number = data.draw(st.integers(-3, 2))
    alone, expected = explanation.tree(number), model.estimators_[number].explain(rows[0])
    assert alone.to_dict() == expected.to_dict()
    n_targets = len(explanation.paths) // 3
    first = range(3)[number] * n_targets
    for ours, all_of_them in zip(alone.paths, explanation.paths[first:], strict=False):
        assert (ours.target, repr(ours.steps), repr(ours.leaf)) == (
            all_of_them.target,
            repr(all_of_them.steps),
            repr(all_of_them.leaf),
        )
    votes = [str(tree.explain(rows[0]).prediction) for tree in model.estimators_]
    assert {str(label): n for label, n in explanation.votes.items() if n} == {
        label: votes.count(label) for label in votes
    }


@settings(max_examples=settings().max_examples // 2)
@given(fitted_models())
def test_neighbours_are_the_nearest_training_rows_of_the_leaf(case):
    model, rows = case
    prototypes, is_indicator = read(model).prototypes, read(model).encoding.is_indicator
    for path in model.explain(rows[0]).paths:
        if prototypes is None:
            assert path.leaf.neighbours == ()
            continue
        Z = read(model).normalise(prototypes.X).astype(float)
        leaves = read(model).score("apply", prototypes.X)[:, path.tree]
        distance = np.sqrt(((Z - read(model).normalise(rows[:1])) ** 2).sum(axis=1))
        beside = np.sort(distance[leaves == path.leaf.block])[:3]
        assert [neighbour.distance for neighbour in path.leaf.neighbours] == pytest.approx(beside)
        for neighbour in path.leaf.neighbours:
            at = np.flatnonzero(prototypes.given == neighbour.given)[0]
            np.testing.assert_equal(list(neighbour.row.values()), prototypes.X[at][~is_indicator])
            assert neighbour.label == model.classes_[prototypes.codes[at]]
            assert leaves[at] == path.leaf.block


@settings(max_examples=settings().max_examples // 2)
@given(fitted_models())
def test_dictionaries_and_frames_have_the_facts(case):
    model, rows = case
    explanation = model.explain(rows[0])
    facts = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert facts["prediction"] == explanation.prediction
    assert [len(path["steps"]) for path in facts["paths"]] == [len(path.steps) for path in explanation.paths]
    check_contributions(explanation, explanation.to_frame())
    check_all_terms(explanation, explanation.terms_frame())


def check_contributions(explanation, frame):
    """The frame has the contributions, largest first."""
    for label in explanation.classes:
        assert frame[f"contribution.{label}"].to_dict() == explanation.contributions[label]
        total = explanation.base[label] + frame[f"contribution.{label}"].sum()
        assert total == pytest.approx(explanation.membership[label], abs=1e-9)
    sizes = frame[f"contribution.{explanation.prediction}"].abs()
    assert sizes.is_monotonic_decreasing
    np.testing.assert_array_equal(frame["value"], [explanation.row[name] for name in frame.index])


def check_all_terms(explanation, frame):
    """The terms of every block add up."""
    for path in explanation.paths:
        for block in (*path.steps, path.leaf):
            lines = frame[(frame.tree == path.tree) & (frame.block == block.block)]
            assert set(lines.target) == {path.target}
            assert set(lines.depth) == {block.depth}
            terms = lines[lines.feature.notna()]
            assert list(zip(terms.feature, terms.term, strict=True)) == [
                (t.feature, t.term) for t in block.terms
            ]
            is_leaf = block is path.leaf
            assert set(lines.part) <= ({"intercept", "slope"} if is_leaf else {"offset", "weight"})
            assert math.fsum(lines.term) == near(block.estimate if is_leaf else block.y, lines.term)


@settings(max_examples=settings().max_examples // 2)
@given(fitted_models())
def test_text_and_html_are_short_and_name_the_largest(case):
    model, rows = case
    explanation = model.explain(rows[0])
    text, page = str(explanation), explanation._repr_html_()
    assert len(text.splitlines()) <= 25
    label = explanation.prediction
    assert f"Prediction: {label if isinstance(label, str) else f'class {label}'}, " in text
    assert "<b>" not in page
    parts = explanation.contributions[explanation.prediction]
    largest = max(parts, key=lambda name: abs(parts[name]))
    if parts[largest]:
        first = text.split("\n\n")[1].splitlines()[1]
        assert first.split()[0] in [name for name in parts if abs(parts[name]) == abs(parts[largest])]
        # A part is rounded up or down, so that the printed parts add up.
        assert abs(float(first.split()[-1]) - parts[largest]) < 0.01 + 1e-9
