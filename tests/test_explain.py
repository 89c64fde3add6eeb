"""Explanations of one row: every number adds up and is the model's own."""

import json
import math
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

import strategies
from lhtree import LHForestClassifier, LHTClassifier
from lhtree._fitted import read
from lhtree.explain import Explanation

LABELS = {
    "int": lambda y: y * 7 - 3,
    "str": lambda y: np.array([f"<b>{code}</b> & 'é' 🍷" for code in y]),
    "bool": lambda y: y == 1,
    "float": lambda y: y * 1.0,
}


@st.composite
def fitted_models(draw, max_classes=4):
    """A fitted model of any kind and rows to explain, some with missing values."""
    problem = draw(strategies.problems(max_rows=40, max_classes=max_classes))
    assume(problem.weight.max() >= 1)
    n_classes = problem.y.max() + 1
    kind = draw(st.sampled_from(["int", "str", "float", *(["bool"] if n_classes == 2 else [])]))
    arguments = draw(strategies.estimator_arguments(problem.X.shape[1]))
    if draw(st.booleans()):
        arguments["keep_prototypes"] = draw(st.sampled_from([True, 6]))
    if draw(st.booleans()):
        arguments["n_estimators"] = 3
    maker = LHForestClassifier if "n_estimators" in arguments else LHTClassifier
    model = maker(**arguments, random_state=draw(st.integers(0, 99)))
    model.fit(problem.X, LABELS[kind](problem.y), problem.weight)
    rows = problem.X[draw(st.lists(st.integers(0, len(problem.X) - 1), min_size=1, max_size=3))]
    is_missing = draw(strategies.indices(rows.size, 4)).reshape(rows.shape) == 0
    return model, np.where(is_missing, np.nan, rows)


def near(value, terms=()):
    """Within 1e-9 of a value, or of the largest term where terms are huge."""
    largest = max([1.0, abs(value), *(abs(term) for term in terms)])
    return pytest.approx(value, abs=1e-9 * largest, rel=0)


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
            assert leaf.membership == min(max(leaf.estimate, 0), 1)
            assert leaf.corrected_membership == leaf.confidence * leaf.membership
        assert sorted(passed) == sorted(indicator[[number]].indices)


def check_terms(terms, z, row, names, model):
    scale = model._normalisation.scale
    for term in terms:
        feature = names.index(term.feature)
        assert term.term == float(term.weight) * float(z[feature])
        assert term.unit_weight == pytest.approx(term.weight / scale[feature], rel=1e-15)
        np.testing.assert_equal(term.value, row[feature])
    sizes = [abs(term.term) for term in terms]
    assert sizes == sorted(sizes, reverse=True)


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


@given(fitted_models())
def test_contributions_add_up_to_the_membership(case):
    model, rows = case
    for row in rows:
        explanation = model.explain(row)
        for label in explanation.classes:
            parts = explanation.contributions[label]
            assert list(parts) == list(explanation.row)
            total = explanation.base[label] + math.fsum(parts.values())
            assert total == pytest.approx(explanation.membership[label], abs=1e-9)


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
    """The convention in plain words: a change goes to those who pull beyond their part of what must be passed."""
    weights = sum(abs(term.weight) for term in terms)
    part = {term: abs(term.weight) / weights if weights else 1 / len(terms) for term in terms}
    pull = {term: max(0.0, sign * (term.term - part[term] * shift)) for term in terms}
    if not any(pull.values()):
        pull = part
    for term in terms:
        parts[term.feature] += change * pull[term] / sum(pull.values())


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


@given(fitted_models())
def test_neighbours_are_the_nearest_training_rows_of_the_leaf(case):
    model, rows = case
    prototypes = read(model).prototypes
    for path in model.explain(rows[0]).paths:
        if prototypes is None:
            assert path.leaf.neighbours == ()
            continue
        Z = read(model).normalise(prototypes.X).astype(float)
        leaves = model.apply(prototypes.X)[:, path.tree]
        distance = np.sqrt(((Z - read(model).normalise(rows[:1])) ** 2).sum(axis=1))
        beside = np.sort(distance[leaves == path.leaf.block])[:3]
        assert [neighbour.distance for neighbour in path.leaf.neighbours] == pytest.approx(beside)
        for neighbour in path.leaf.neighbours:
            at = np.flatnonzero(prototypes.given == neighbour.given)[0]
            np.testing.assert_equal(list(neighbour.row.values()), prototypes.X[at])
            assert neighbour.label == model.classes_[prototypes.codes[at]]
            assert leaves[at] == path.leaf.block


@given(fitted_models())
def test_the_dictionary_is_json_and_the_frame_adds_up(case):
    model, rows = case
    explanation = model.explain(rows[0])
    facts = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert facts["prediction"] == explanation.prediction
    assert [len(path["steps"]) for path in facts["paths"]] == [len(path.steps) for path in explanation.paths]
    frame = explanation.to_frame()
    for path in explanation.paths:
        for block in (*path.steps, path.leaf):
            lines = frame[(frame.tree == path.tree) & (frame.block == block.block)]
            assert set(lines.target) == {path.target}
            assert set(lines.depth) == {block.depth}
            is_feature = lines.feature.notna()
            terms = sorted((term.feature, term.term) for term in block.terms)
            assert sorted(zip(lines.feature[is_feature], lines.term[is_feature], strict=True)) == terms
            total = block.estimate if block is path.leaf else block.y
            assert math.fsum(lines.term) == near(total, lines.term)
            assert set(lines.part) <= ({"intercept", "slope"} if block is path.leaf else {"offset", "weight"})


@given(fitted_models())
def test_text_and_html_are_short_and_name_the_largest(case):
    model, rows = case
    explanation = model.explain(rows[0])
    text, page = str(explanation), explanation._repr_html_()
    assert len(text.splitlines()) <= 20
    label = explanation.prediction
    assert f"Prediction: {label if isinstance(label, str) else f'class {label}'}, " in text
    assert "<b>" not in page
    parts = explanation.contributions[explanation.prediction]
    largest = max(parts, key=lambda name: abs(parts[name]))
    if parts[largest]:
        first = text.split("\n\n")[1].splitlines()[1]
        assert first.split()[0] in [name for name in parts if abs(parts[name]) == abs(parts[largest])]
        assert first.endswith(f"{parts[largest]:+.2f}")


# By hand


def test_a_row_explained_by_hand():
    # One feature, minmax: centre 5, scale 5. The only cut lies midway between 4 and 6, at z = 0.
    X = np.array([[0.0], [2.0], [4.0], [6.0], [8.0], [10.0]])
    model = LHTClassifier(gamma=1, normalize="minmax").fit(X, ["a", "a", "a", "b", "b", "b"])
    explanation = model.explain([8.0])
    (path,) = explanation.paths
    (step,) = path.steps
    assert (path.target, step.side, step.offset, step.share) == ("b", "right", 0.0, 0.5)
    assert step.terms[0].term == step.y == pytest.approx(0.6)
    assert step.terms[0].unit_weight == pytest.approx(0.2)
    assert (path.leaf.estimate, path.leaf.n_samples) == (1.0, 3)
    assert explanation.wolf == pytest.approx({"a": 0.0, "b": 0.6})
    assert explanation.base == {"a": 0.5, "b": 0.5}
    assert explanation.contributions == {"a": {"x0": -0.5}, "b": {"x0": 0.5}}
    assert str(explanation) == (
        "Prediction: b, 100 % sure (a 0 %).\n"
        "WOLF: membership 1.00 × confidence 0.60 = 0.60.\n"
        "\n"
        "50 % of the training rows are b. The values of this row take its membership from 0.50 to 1.00:\n"
        "  x0 8 is high: +0.50\n"
        "\n"
        "The way through the tree for b:\n"
        "  block 0 (3 of 6 training rows are b): goes right, because x0 8 (high) pulls that way.\n"
        "  leaf 2: 3 of 3 training rows are b."
    )
    assert repr(explanation) == "Explanation(prediction='b', proba=1)"
    beyond = str(model.explain([17.0]))
    assert "x0 17 is very high, outside the training range: +0.50" in beyond
    assert "because x0 17 (very high, outside the training range) pulls that way" in beyond
    assert "outside" not in str(model.explain([10.0])) + str(model.explain([0.0])) + str(
        model.explain([np.nan])
    )
    other = str(model.explain([4.4]))  # the class that the tree does not have as its target
    assert "Prediction: a, 100 % sure (b 0 %)" in other
    assert "confidence 0.12 (close to a boundary) = 0.12" in other
    assert "block 0 (3 of 6 training rows are a): goes left, because x0 4.4 (usual) pulls that way." in other
    assert "leaf 1: 3 of 3 training rows are a." in other


def test_a_root_that_is_a_leaf():
    model = LHTClassifier().fit([[1.0], [1.0], [1.0]], [0, 0, 1])
    explanation = model.explain([1.0])
    assert explanation.paths[0].steps == ()
    assert explanation.paths[0].leaf.confidence == 1.0
    assert explanation.contributions[0] == {"x0": 0.0}
    assert "No value of this row changes it." in str(explanation)
    assert explanation.to_frame().part.tolist() == ["intercept"]


def test_deep_ways_are_told_in_part():
    generator = np.random.default_rng(0)
    X = np.arange(300.0)[:, None]
    model = LHTClassifier(gamma=1, offset="gini").fit(X, generator.integers(0, 2, 300))
    row = max(X, key=lambda x: len(model.explain(x).paths[0].steps))
    explanation = model.explain(row)
    n_steps = len(explanation.paths[0].steps)
    assert n_steps > 8
    lines = str(explanation).splitlines()
    assert sum(line.startswith("  block") for line in lines) == 6
    told = [int(line.split()[1]) for line in lines if line.startswith("  …")]
    assert sum(told) == n_steps - 6


def test_rows_without_any_wolf_value_say_what_decides():
    X, y = load_wine(return_X_y=True)
    model = LHTClassifier(gamma=30).fit(X[::2], y[::2])
    undecided = X[(model.predict_wolf(X) == 0).all(axis=1)]
    assert len(undecided)
    texts = {str(model.explain(row)) for row in undecided}
    assert all("No class has a WOLF value above 0 here, so the" in text for text in texts)


def test_a_forest_is_summed_up():
    X, y = load_wine(return_X_y=True)
    model = LHForestClassifier(random_state=0).fit(X, y)
    explanation = model.explain(X[70])
    text = str(explanation)
    assert len(text.splitlines()) <= 12
    assert sum(explanation.votes.values()) == 100
    assert f"{explanation.votes[explanation.prediction]} say class {explanation.prediction}" in text
    assert len(explanation.paths) == 300


def test_weighted_rows_are_not_counted():
    X, y = load_wine(return_X_y=True)
    text = str(LHTClassifier(class_weight="balanced").fit(X, y).explain(X[0]))
    assert "33.3 % of the weight of the training rows is class 0." in text
    assert "178 training rows, 33.3 % of their weight class 0" in text


def test_values_are_not_called_high_where_nothing_was_learned_of_them():
    X, y = load_wine(return_X_y=True)
    text = str(LHTClassifier(normalize=None).fit(X, y).explain(X[0]))
    assert "high" not in text
    assert "x12 1065: +" in text


def test_missing_values_are_said_to_be_missing():
    X, y = load_wine(return_X_y=True)
    explanation = LHTClassifier().fit(X, y).explain(np.full(13, np.nan))
    assert explanation.to_dict()["row"]["x0"] is None
    assert "as rows with usual or missing values do" in str(explanation)


# Rows in any form


def test_a_row_may_have_any_form():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = LHTClassifier().fit(X, y)
    values = X.iloc[5].to_numpy()
    expected = model.explain(values).to_dict()
    shuffled = X.iloc[5].sample(frac=1.0, random_state=0)
    forms = [
        values.tolist(),
        values[None],
        X.iloc[[5]],
        X.iloc[5],
        shuffled,
        X.iloc[5].to_dict(),
        pd.Series(values),
    ]
    for row in forms:
        assert model.explain(row).to_dict() == expected
    none = X.iloc[5].to_dict() | {"ash": None}
    assert math.isnan(model.explain(none).row["ash"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda X: X.iloc[:2],
            r"row has the shape \(2, 13\): pass one row, for example X\[0\], or explain_batch",
        ),
        (lambda X: X.to_numpy()[0, :12], "row has 12 values and the model 13 features"),
        (lambda X: X.iloc[0].drop("ash"), "row lacks 'ash': pass a value for every feature"),
        (
            lambda X: {**X.iloc[0], "acid": 1, "x": 2, "y": 3, "z": 4},
            "has 'acid', 'x', 'y' and 1 more, which",
        ),
        (lambda X: ["a"] * 13, "row is not numeric"),
        (lambda X: [np.inf] * 13, "Input X contains infinity"),
        (lambda X: X.iloc[[0]].rename(columns={"ash": "acid"}), "feature names should match"),
        (lambda X: 5.0, r"row has the shape \(\)"),
    ],
)
def test_rows_that_are_refused(change, message):
    X, y = load_wine(return_X_y=True, as_frame=True)
    with pytest.raises(ValueError, match=message):
        LHTClassifier().fit(X, y).explain(change(X))


HOSTILE = [
    "<script>alert('1')</script>",
    'a "quoted" name',
    "🍷 \n new\tline \x1b[31m",
    "x" * 300,
    "</td>&amp;",
    "{0} %s",
]


def test_hostile_names_are_harmless():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(60, 6)), columns=HOSTILE)
    y = np.where(X.sum(axis=1) > 0, "<img src=x onerror=alert(1)>", "fine & well")
    explanation = LHTClassifier(keep_prototypes=True).fit(X, y).explain(X.iloc[0])
    page, text = explanation._repr_html_(), str(explanation)
    assert not [bad for bad in ("<script", "<img", "</td>&amp;", "x" * 61) if bad in page]
    assert "&lt;script&gt;" in page
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) < 600
    assert list(explanation.row) == HOSTILE
    json.dumps(explanation.to_dict())


# Models


def test_only_fitted_models_are_read():
    with pytest.raises(TypeError, match="model is a dict: pass a fitted LHTClassifier or LHForestClassifier"):
        read({})
    with pytest.raises(NotFittedError):
        LHTClassifier().explain([1.0])
    with pytest.raises(NotFittedError):
        LHForestClassifier().explain_batch([[1.0]])


@pytest.mark.parametrize("maker", [LHTClassifier, lambda **kw: LHForestClassifier(3, **kw)])
def test_a_pickled_model_explains_alike(maker):
    X, y = load_wine(return_X_y=True)
    model = maker(keep_prototypes=20, random_state=0).fit(X, y)
    expected = model.explain(X[0])
    explanation = pickle.loads(pickle.dumps(model)).explain(X[0])
    assert isinstance(explanation, Explanation)
    assert explanation.to_dict() == expected.to_dict()
    assert str(pickle.loads(pickle.dumps(expected))) == str(expected)  # an explanation can travel, too


def test_a_deep_tree_is_explained_without_recursion():
    # Every cut takes one row off: the classes alternate along the only feature, ever wider apart.
    X = 1.02 ** np.arange(1200.0)[:, None]
    model = LHTClassifier(gamma=1, min_samples_split=2, normalize=None).fit(X, np.arange(1200) % 2)
    row = X[model.decision_path(X)[0].sum(axis=1).argmax()]
    explanation = model.explain(row)
    assert len(explanation.paths[0].steps) > 200
    assert explanation.to_dict()
    assert explanation._repr_html_()


def test_dates_as_classes_are_fit_for_json():
    X, y = load_wine(return_X_y=True)
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="M8[D]")[y]
    explanation = LHTClassifier(keep_prototypes=True).fit(X, days).explain(X[0])
    facts = json.loads(json.dumps(explanation.to_dict()))
    assert facts["prediction"] == "2020-01-01"
    assert list(facts["proba"]) == facts["classes"] == ["2020-01-01", "2020-01-02", "2020-01-03"]
    assert json.loads(json.dumps(explanation.counterfactuals(n=1)[0].to_dict()))["before"] == "2020-01-01"


@pytest.mark.parametrize("index", ["a", 1.0, None, True])
def test_a_tree_of_a_forest_has_a_number(index):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=r"index=.* is not valid: pass a number from 0 to 1"):
        LHForestClassifier(2).fit(X, y).explain(X[0]).tree(index)


def test_rounding_takes_no_value_out_of_the_training_range():
    X = np.array([[0.1], [0.3], [0.7], [0.9]], dtype=np.float32)
    model = LHTClassifier(gamma=1).fit(X, [0, 0, 1, 1])
    assert not any("outside" in str(model.explain([value])) for value in (0.1, 0.9))
    assert "outside the training range" in str(model.explain([0.91]))


def test_weights_are_not_called_rows():
    X = np.random.default_rng(0).normal(size=(150, 3))
    y = np.repeat([0, 1], [100, 50])
    text = str(LHTClassifier(class_weight="balanced").fit(X, y).explain(X[0]))
    assert "50 % of the weight of the training rows is class" in text
    assert "150 training rows, 50 % of their weight class" in text
