"""Importances of columns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree import LHForestClassifier, LHTClassifier
from lhtree.model.trees import SCHEMA, Trees
from reference import trees as reference
from support import bridge, strategies

INFORMATIVE = ["strong", "weak", "group", "flag"]
MODELS = [
    (make, direction) for make in (LHTClassifier, LHForestClassifier) for direction in strategies.DIRECTIONS
]


def make_table(n, seed):
    """Return informative columns, and noise of every kind."""
    generator = np.random.default_rng(seed)
    strong, weak = generator.normal(size=(2, n))
    group, flag = generator.choice(list("abc"), n), generator.choice(["yes", "no"], n)
    score = 2 * strong + 0.7 * weak + 1.2 * (group == "a") - (flag == "yes") + 0.7 * generator.normal(size=n)
    columns = {"strong": strong, "weak": weak, "group": group, "flag": flag}
    columns |= {"normal": generator.normal(size=n), "uniform": generator.uniform(size=n)}
    columns |= {"text": np.char.add("t", generator.integers(0, 40, n).astype(str)), "constant": np.ones(n)}
    return pd.DataFrame(columns), score


def fit(make, direction, X, y):
    more = {"n_estimators": 12} if make is LHForestClassifier else {}
    return make(direction=direction, random_state=0, **more).fit(X, y)


@pytest.fixture(scope="module")
def held_out():
    X, score = make_table(800, 9)
    return X, score > 0.0


@pytest.fixture(scope="module")
def tree():
    X, score = make_table(1200, 0)
    return LHTClassifier().fit(X, score > 0.0)


@pytest.mark.parametrize("cuts", [[0.5], [0.3, 0.6]])
@pytest.mark.parametrize(("make", "direction"), MODELS)
def test_noise_ranks_below_every_informative_column(make, direction, cuts):
    X, score = make_table(1200, 0)
    model = fit(make, direction, X, np.digitize(score, np.quantile(score, cuts)))
    found = model.importances()
    assert {found.names[column] for column in found.order[:4]} == set(INFORMATIVE)
    assert found.values[:4].min() > 5 * found.values[4:].max()
    assert found.values.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(found, model.feature_importances_)


@pytest.mark.parametrize(("make", "direction"), MODELS)
def test_permuted_noise_costs_no_accuracy(make, direction, held_out):
    X, score = make_table(1200, 0)
    model = fit(make, direction, X, score > 0.0)
    found = model.importances(*held_out, kind="permutation")
    assert found.values[:4].min() > found.values[4:].max()
    assert found.values[7] == found.spread[7] == 0.0


def check_shares(grown, arrays, block):
    shares = bridge.rows_of(arrays, "hyperplane", "share", 0, len(grown.left))
    for number, rows in enumerate(bridge.rows_by_block(grown, len(block.y))):
        z, response, weight = block.X[rows].astype(np.float64), block.y[rows] * 1.0, block.weight[rows]
        if grown.left[number] < 0:
            assert shares[number] == {}
            continue
        expected = reference.gain_shares(grown.weights[number], grown.offset[number], z, response, weight)
        assert list(shares[number]) == list(expected)
        np.testing.assert_allclose(list(shares[number].values()), list(expected.values()), 1e-4, 1e-5)


@given(strategies.grid_blocks(), strategies.options(), st.booleans())
def test_shares_are_the_references(block, options, keeps_memberships):
    arrays, grown = bridge.grow(block, options, branching_membership=keeps_memberships)
    if "hyperplane_share" in arrays:
        check_shares(grown, arrays, block)


@pytest.mark.parametrize("direction", strategies.DIRECTIONS)
@pytest.mark.parametrize("is_real", [False, True])
def test_shares_and_gains_of_any_response(direction, is_real):
    generator = np.random.default_rng(1)
    X = generator.normal(size=(300, 5)).astype(np.float32)
    score = X @ [2.0, 1.0, 0.5, 0.0, 0.0] + generator.normal(size=300)
    response = score if is_real else (score > 0).astype(np.uint8)
    block = strategies.Problem(X, response, generator.integers(1, 4, 300) * 0.5)
    options = reference.Options(direction=direction, offset="gini", max_features=3)
    arrays, grown = bridge.grow(block, options, 3)
    assert len(grown.left) > 20
    check_shares(grown, arrays, block)
    trees = Trees(**{name: values for name, values in arrays.items() if name in SCHEMA})
    rows = bridge.rows_by_block(grown, 300)
    errors = [reference.squared_error(block.y[some] * 1.0, block.weight[some]) for some in rows]
    for number, left in enumerate(grown.left):
        expected = errors[number] - errors[left] - errors[left + 1] if left >= 0 else 0.0
        assert trees.gains()[number] == pytest.approx(expected, abs=1e-8)


def test_contributions_are_those_of_explain_batch(tree, held_out):
    X, y = held_out
    frame = tree.explain_batch(X).reset_index()
    columns = [f"contribution.{name}" for name in X.columns]
    predicted = frame[frame["class"] == frame["prediction"].astype(bool)][columns]
    np.testing.assert_allclose(tree.importances(X, kind="contribution"), predicted.abs().mean(), 1e-9)
    true = frame[frame["class"].to_numpy() == np.repeat(y, 2)][columns]
    np.testing.assert_allclose(tree.importances(X, y, kind="contribution"), true.mean(), 1e-9, 1e-12)


def test_permutations_are_repeated_and_seeded(tree, held_out):
    X, y = held_out
    first = tree.importances(X, y, kind="permutation", n_repeats=2)
    again = tree.importances(X, y, kind="permutation", n_repeats=2)
    other = tree.importances(X, y, kind="permutation", n_repeats=2, random_state=1)
    assert first.values.tolist() == again.values.tolist() != other.values.tolist()
    assert X["group"].tolist() == held_out[0]["group"].tolist()


def test_repr_and_frame_are_readable(tree, held_out):
    found = tree.importances(*held_out, kind="permutation")
    frame = found.to_frame()
    assert list(frame.columns) == ["importance", "spread"]
    assert list(frame.index) == [found.names[column] for column in found.order]
    assert repr(found).startswith("Importances by permutation\n  strong ")
    assert "±" in repr(found)
    wide = LHTClassifier().fit(np.eye(30), np.arange(30) % 2).importances()
    assert len(wide) == 30
    assert repr(wide).endswith("and 20 more")
    assert list(wide.to_frame().columns) == ["importance"]


@pytest.mark.parametrize(
    "options", [{"kind": "weight"}, {"kind": "contribution"}, {"kind": "permutation", "n_repeats": 0}]
)
def test_invalid_arguments_are_rejected(tree, options, rejects):
    rejects(tree.importances, **options)
