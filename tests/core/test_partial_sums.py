"""Tests of scores that use some of the trees: raw scores after every round, and sums over out-of-bag trees."""

import numpy as np
import pandas
import pytest

from lhtree import LHBoostClassifier, LHBoostRegressor, LHForestClassifier, LHForestRegressor, LHTClassifier
from lhtree.model import model as model_module
from lhtree.tables.rows import EncodedRows


def make_rows(n_rows=70, n_features=5, seed=0, n_classes=3):
    """Return rows with missing values, classes and a response."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    y = (X.sum(axis=1) + rng.normal(size=n_rows)).argsort().argsort() * n_classes // n_rows
    response = X[:, 0] * 3 + rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, response


def make_table():
    """Return rows of numbers and a category, and their classes."""
    X, y, _ = make_rows(300)
    table = pandas.DataFrame(X).assign(category=np.array(["a", "b", None], dtype=object)[y])
    table.columns = table.columns.astype(str)
    return table, y


def score_round(round_, X):
    """Return the values that a model of one round adds to the raw scores."""
    trees = round_.trees
    if not trees.is_joint:
        return round_.score("per_tree", X)[0]
    values = np.zeros((trees.n_blocks, round_.n_classes))
    values[trees.value_block, trees.value_class] = trees.value
    return values[round_.score("apply", X)[:, 0]]


def stage_slowly(model, X):
    """Return the raw scores after every round, from one scorer per round."""
    raw_score, stages = np.tile(model.base, (len(X), 1)), []
    for number in range(model.n_estimators):
        raw_score = raw_score + score_round(model.estimator(number), X)
        stages.append(raw_score)
    return np.array(stages)


@pytest.fixture(scope="module", params=["two classes", "three classes", "regression", "linear leaves"])
def boosted(request):
    """A boosted model and rows to score."""
    X, y, response = make_rows(n_classes=2 if request.param == "two classes" else 3)
    if request.param == "regression":
        return LHBoostRegressor(max_iter=12, random_state=0).fit(X, response)._read(), X
    leaves = {"leaf": "linear"} if request.param == "linear leaves" else {}
    return LHBoostClassifier(max_iter=12, random_state=0, **leaves).fit(X, y)._read(), X


@pytest.mark.parametrize("at_a_time", [1, 300, 1 << 22])
@pytest.mark.parametrize("n_rows", [1, 70])
def test_staged_raw_scores_match_one_scorer_per_round(boosted, at_a_time, n_rows, monkeypatch):
    monkeypatch.setattr(model_module, "_STAGED_VALUES", at_a_time)
    model, X = boosted
    X = X[:n_rows]
    stages = np.array(list(model.staged_raw_score(EncodedRows.plain(X), n_threads=2)))
    assert stages.tobytes() == stage_slowly(model, X).tobytes()
    assert stages[-1].tobytes() == model.scorer.raw_score(X).tobytes()


def test_staged_raw_scores_of_categories_match_one_scorer_per_round():
    table, y = make_table()
    model = LHBoostClassifier(max_iter=5, random_state=0).fit(table, y)._read()
    coded = model.code(table)
    assert coded.has_codes
    stages = np.array(list(model.staged_raw_score(coded)))
    assert stages.tobytes() == stage_slowly(model, coded.expand()).tobytes()


def test_staged_raw_scores_reject_infinity_and_unknown_rounds(boosted, rejects):
    model, X = boosted
    rejects(next, model.staged_raw_score(EncodedRows.plain(np.where(np.isnan(X), np.inf, X))))
    staged = model.scorer.stage(X)
    staged.next(11)
    rejects(staged.next, 2)
    rejects(model.scorer.stage, X[:, 1:])


def sum_slowly(model, X, left_out, mean, unit):
    """Return the sums over the estimators that did not see a row, from one scorer per estimator."""
    n_columns = max(model.n_classes, 1)
    first, second = np.zeros((2, len(X), n_columns))
    for number, is_out in left_out:
        if not is_out.any():
            continue
        estimator = model.estimator(number)
        if model.n_classes:
            membership, confidence = (values[:, 0] for values in estimator.per_tree(X[is_out]))
            first[is_out] += confidence * membership
            second[is_out] += membership
        else:
            value = estimator.score("value", X[is_out])[:, None]
            first[is_out] += value
            second[is_out] += ((value - mean) / unit) ** 2
    return first, second


FORESTS = {
    "two classes": (LHForestClassifier, {}),
    "three classes": (LHForestClassifier, {}),
    "three classes in one tree": (LHForestClassifier, {"multi_class": "one_tree", "direction": "mixed"}),
    "regression": (LHForestRegressor, {}),
}


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_sums_over_left_out_rows_match_one_scorer_per_estimator(kind, n_threads):
    X, y, response = make_rows(400, n_classes=2 if kind == "two classes" else 3)
    estimator, params = FORESTS[kind]
    forest = estimator(8, random_state=0, **params)
    model = forest.fit(X, response if kind == "regression" else y)._read()
    rng = np.random.default_rng(1)
    left_out = [
        (number, rng.random(400) < share) for number, share in ((0, 0.4), (2, 1.0), (3, 0.0), (7, 0.01))
    ]
    mean, unit = 0.3, 2.5
    expected = sum_slowly(model, X, left_out, mean, unit)
    *sums, n_trees = model.sum_left_out(EncodedRows.plain(X), left_out, mean, unit, n_threads)
    for own, slow in zip(sums, expected, strict=True):
        assert own.tobytes() == slow.tobytes()
    assert n_trees.tolist() == sum(is_out.astype(int) for _, is_out in left_out).tolist()


def test_sums_over_left_out_rows_of_batches_match_those_of_all_rows(monkeypatch):
    table, y = make_table()
    model = LHForestClassifier(4, random_state=0).fit(table, y)._read()
    coded = model.code(table)
    rng = np.random.default_rng(2)
    left_out = [(number, rng.random(300) < 0.4) for number in range(4)]
    expected = model.sum_left_out(coded, left_out)
    monkeypatch.setattr("lhtree.tables.rows._BATCH_BYTES", 8 * 9 * 41)
    for own, slow in zip(model.sum_left_out(coded, left_out), expected, strict=True):
        assert own.tobytes() == slow.tobytes()


def test_sums_over_left_out_rows_reject_wrong_arrays(rejects):
    X, y, _ = make_rows()
    scorer = LHTClassifier().fit(X, y)._read().scorer
    bits = np.zeros((1, 9), dtype=np.uint8)
    rejects(scorer.sum_left_out, X, np.array([1]), bits)
    rejects(scorer.sum_left_out, X, np.array([0]), bits, first_row=3)
    boosted = LHBoostClassifier(max_iter=1, random_state=0).fit(X, y)._read().scorer
    rejects(boosted.sum_left_out, X, np.array([0]), bits)


def test_scorer_is_built_on_first_use():
    X, y, _ = make_rows()
    model = LHForestClassifier(3, random_state=0).fit(X, y)._read()
    part = model.estimator(1)
    assert "scorer" not in vars(part)
    assert part.scorer.n_trees == 3
    assert part.scorer is part.scorer
