"""Counterfactuals change the prediction within their bounds; crossings are the shortest."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import mahalanobis
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from lhtree import LHBoostClassifier, LHBoostRegressor, LHForestClassifier, LHTClassifier, inspect, load, save
from lhtree.explain._goal import ClassGoal
from lhtree.explain._search import Room, Task, find_planes, find_sides, shortest_moves, single_moves
from lhtree.model.model import read
from reference import scoring as reference_scoring
from support.clouds import make_clouds
from support.strategies import estimator_arguments, problems


@pytest.fixture(scope="module")
def wine():
    data = load_wine(as_frame=True)
    y = data.target.map(dict(enumerate(data.target_names)))
    return train_test_split(data.data, y, test_size=0.3, stratify=y, random_state=0)


@pytest.fixture(scope="module")
def wine_tree(wine):
    return LHTClassifier().fit(wine[0], wine[2])


def check(model, x, found, *, allowed=None, n=3):
    """Check the predictions, bounds, changes and distances of counterfactuals."""
    fitted = read(model)
    names, scale = fitted.feature_names, fitted.normalisation.scale
    before = model.classes_.tolist()[model._model.scorer.predict(x[None])[0]]
    assert len(found) <= n
    assert [c.distance for c in found] == sorted(c.distance for c in found)
    for counterfactual in found:
        row = np.array(list(counterfactual.row.values()))
        assert list(counterfactual.row) == names
        predicted = model.classes_.tolist()[model._model.scorer.predict(row[None])[0]]
        assert predicted == counterfactual.prediction != before == counterfactual.before
        is_missing = np.isnan(x)
        np.testing.assert_array_equal(np.isnan(row), is_missing)
        changed = np.flatnonzero((row != x) & ~is_missing)
        assert sorted(counterfactual.changes) == sorted(names[f] for f in changed)
        assert len(changed)
        assert allowed is None or set(changed) <= set(allowed)
        for feature in changed:
            assert counterfactual.changes[names[feature]] == (x[feature], row[feature])
            least, largest = (
                min(fitted.span.low[feature], x[feature]),
                max(fitted.span.high[feature], x[feature]),
            )
            assert least <= row[feature] <= largest
        sizes = [abs(row[f] - x[f]) / scale[f] for f in changed]
        assert counterfactual.distance == pytest.approx(math.hypot(*sizes), rel=1e-9)
        assert list(counterfactual.changes) == [
            names[f] for _, f in sorted(zip(sizes, changed, strict=True), key=lambda pair: -pair[0])
        ]
    assert len({tuple(map(str, c.row.values())) for c in found}) == len(found)


@settings(max_examples=60)
@given(st.data())
def test_every_counterfactual_flips_within_its_bounds(data):
    problem = data.draw(problems(max_rows=40))
    n_features = problem.X.shape[1]
    arguments = data.draw(estimator_arguments(n_features))
    if data.draw(st.booleans()):
        model = LHForestClassifier(n_estimators=4, random_state=0, **arguments)
    else:
        model = LHTClassifier(random_state=0, **arguments)
    model.fit(problem.X, problem.y, problem.weight)
    x = problem.X[data.draw(st.integers(0, len(problem.X) - 1))]
    features = data.draw(
        st.one_of(st.none(), st.lists(st.integers(0, n_features - 1), min_size=1, max_size=n_features))
    )
    n = data.draw(st.integers(1, 5))
    check(model, x, model.explain(x).counterfactuals(features, n), allowed=features, n=n)


@pytest.mark.parametrize("direction", ["mean_difference", "mixed"])
@pytest.mark.parametrize("kind", [LHTClassifier, LHForestClassifier])
def test_rows_of_wine_have_counterfactuals(wine, kind, direction):
    X_train, X_test, y_train, _ = wine
    model = kind(direction=direction, random_state=0).fit(X_train, y_train)
    for x in X_test.to_numpy()[::6]:
        found = model.explain(x).counterfactuals()
        assert found
        check(model, x, found)


def test_one_feature_moves_just_across_the_offset():
    X = np.arange(10.0)[:, None] / 2
    model = LHTClassifier(gamma=1, normalize=None).fit(X, X[:, 0] >= 2.5)
    (found,) = model.explain([1.25]).counterfactuals()
    assert found.prediction is True
    assert found.changes == {"x0": (1.25, pytest.approx(2.25, abs=0.1))}
    assert found.row["x0"] >= 2.25
    assert found.distance == found.row["x0"] - 1.25
    (found,) = model.explain([3.75]).counterfactuals()
    assert found.prediction is False
    assert 2.15 < found.row["x0"] < 2.25


@pytest.mark.parametrize(("decimals", "step"), [(0, 1.0), (2, 0.01), (12, 0.0)])
def test_changes_are_those_a_feature_can_have(decimals, step):
    generator = np.random.default_rng(0)
    X = np.round(generator.normal(size=(300, 3)) * 4, decimals)
    model = LHTClassifier(direction="mixed").fit(X, X.sum(axis=1) + generator.normal(size=300) > 0)
    n_exact = n_between = 0
    for row in X[:40]:
        for one in model.explain(row).counterfactuals():
            new = np.array(list(one.row.values()))
            outwards = (
                np.where(new > row, np.ceil(new * 10**decimals), np.floor(new * 10**decimals)) / 10**decimals
            )
            is_exact = np.isclose(new, np.round(new, decimals), rtol=0.0, atol=1e-9)
            assert model.predict(new[None])[0] == one.prediction
            assert is_exact.all() or decimals
            if is_exact.all():
                n_exact += 1
                assert (np.abs(new - row)[new != row] >= step * (1 - 1e-9)).all()
            else:  # a value in between stays only where the next one that the feature can have does not suffice
                n_between += 1
                assert model.predict(np.where(is_exact, new, outwards)[None])[0] == one.before
    assert n_exact > n_between
    assert repr(one).startswith(f"Counterfactual({one.before!r} → {one.prediction!r}: x")
    assert len(repr(one)) < 200


def test_values_outside_the_training_range_only_move_towards_it():
    X, y = make_clouds(200, 4, 2)
    model = LHTClassifier().fit(X, y)
    for x in (X.max(axis=0) + 1.0, X.min(axis=0) - 1.0):
        found = model.explain(x).counterfactuals()
        assert found
        check(model, x, found)


@pytest.mark.parametrize("size", [1e300, 1e307, 1e308, 1.7e308])
def test_differences_beyond_every_float(size):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(60, 2)), np.arange(60) % 2
    X[:, 0] = np.where(y == 1, size, -size) * generator.uniform(0.5, 1.0, 60)
    model = LHTClassifier().fit(X, y)
    for row in X[:6]:
        found = model.explain(row).counterfactuals()
        assert found
        for change in found:
            assert model.predict([list(change.row.values())]) != model.predict([row])
            assert 0.0 < change.distance < 10.0


def test_missing_values_stay_missing(wine, wine_tree):
    x = wine[1].to_numpy()[0].copy()
    x[::2] = np.nan
    found = wine_tree.explain(x).counterfactuals(n=8)
    assert found
    check(wine_tree, x, found, allowed=range(1, 13, 2), n=8)


def test_a_class_to_reach(wine, wine_tree):
    x = wine[1].to_numpy()[0]
    explanation = wine_tree.explain(x)
    others = [label for label in explanation.classes if label != explanation.prediction]
    for label in others:
        found = explanation.counterfactuals(to=label)
        assert found
        assert {c.prediction for c in found} == {label}
        check(wine_tree, x, found)
    nearest = min(explanation.counterfactuals(to=label)[0].distance for label in others)
    assert explanation.counterfactuals()[0].distance <= nearest * 1.05


def test_features_by_name_and_by_number(wine, wine_tree):
    x = wine[1].to_numpy()[0]
    names = wine_tree.feature_names_in_.tolist()
    explanation = wine_tree.explain(x)
    by_name = explanation.counterfactuals(["proline", "alcohol", "flavanoids"])
    assert by_name
    assert by_name == explanation.counterfactuals([names.index("proline"), 0, 6])
    assert by_name == explanation.counterfactuals(np.array(["flavanoids", "proline", "alcohol"]))
    check(wine_tree, x, by_name, allowed=[0, 6, 12])
    assert explanation.counterfactuals("proline") == explanation.counterfactuals([12])
    assert explanation.counterfactuals(12) == explanation.counterfactuals([-1])


def test_a_tree_of_a_forest_has_its_own(wine):
    X_train, X_test, y_train, _ = wine
    forest = LHForestClassifier(n_estimators=5, random_state=0).fit(X_train, y_train)
    x = X_test.to_numpy()[0]
    check(forest.estimators_[3], x, forest.explain(x).tree(3).counterfactuals())


def test_row_without_hyperplanes_has_no_counterfactuals():
    model = LHTClassifier().fit([[1.0], [1.0], [1.0]], [0, 1, 1])
    assert model.explain([1.0]).counterfactuals() == []
    model = LHTClassifier().fit([[0.0, 1.0], [1.0, 1.0]] * 10, [0, 1] * 10)
    assert model.explain([0.0, 1.0]).counterfactuals(features=[1]) == []
    assert model.explain([0.0, 1.0]).counterfactuals(features=[0])
    assert model.explain([np.nan, 1.0]).counterfactuals() == []


def test_sentences_have_the_changes(wine, wine_tree):
    explanation = wine_tree.explain(wine[1].iloc[0])
    found = explanation.counterfactuals(["proline", "alcohol", "flavanoids"])[0]
    text = str(found)
    assert text.startswith("If proline were ")
    assert f"would be {found.prediction} instead of {explanation.prediction}" in text
    for name, (before, after) in found.changes.items():
        written = [float(word.rstrip(",")) for word in text.split(f"{name} were ")[1].split()[0:4:3]]
        assert written == [after, before]  # the printed values can be typed in
    whole = explanation.counterfactuals()[0]
    assert f"and {len(whole.changes) - 4} more features were different, the" in str(whole)


def test_dictionaries_have_the_changes_and_none_for_missing_values(wine, wine_tree):
    x = wine[1].to_numpy()[0].copy()
    x[3] = np.nan
    found = wine_tree.explain(x).counterfactuals()[0]
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert facts["row"] == found.row | {"alcalinity_of_ash": None}
    assert facts["prediction"] == found.prediction
    assert {name: tuple(values) for name, values in facts["changes"].items()} == found.changes


@pytest.mark.parametrize(
    "arguments",
    [
        {"features": ["prolin"]},
        {"features": "colour_intensity"},
        {"features": [13]},
        {"features": [1.5]},
        {"features": []},
        {"n": 0},
        {"n": 1.5},
        {"to": "class_7"},
        {"to": "class_0"},
        {"features": 3.5},
        {"to": np.array([1, 2])},
    ],
)
def test_invalid_arguments_are_rejected(wine, wine_tree, arguments, rejects):
    explanation = wine_tree.explain(wine[0].to_numpy()[(wine[2] == "class_0").to_numpy()][0])
    rejects(explanation.counterfactuals, **arguments)


values = st.floats(-2.0, 2.0).map(lambda value: round(value, 3))


@given(st.data(), st.integers(1, 12), st.booleans())
def test_the_shortest_move_is_that_of_its_slow_twin(data, n_features, is_bounded):
    weights = np.array(data.draw(st.lists(values, min_size=n_features, max_size=n_features)))
    need = data.draw(st.floats(0.01, 5.0))
    side = data.draw(st.sampled_from([1.0, -1.0]))
    rooms = st.lists(
        st.floats(0.0, 3.0) if is_bounded else st.just(1e6), min_size=n_features, max_size=n_features
    )
    room = Room(np.array(data.draw(rooms)), np.array(data.draw(rooms)))
    move = shortest_moves(weights[None], np.array([need]), np.array([side]), room)[0]
    twin = reference_scoring.shortest_crossing(side * weights, need, room.down, room.up)
    if twin is None or not weights.any():
        assert np.isnan(move).all()
        return
    if np.isnan(move).any():  # the room suffices by a rounding error only
        assert np.abs(weights) @ np.where(side * weights > 0, room.up, room.down) == pytest.approx(need)
        return
    np.testing.assert_allclose(move, twin, rtol=1e-6, atol=1e-9)
    assert side * (weights @ move) == pytest.approx(need)
    if not is_bounded and np.linalg.norm(weights) > 0.01:
        assert np.linalg.norm(move) == pytest.approx(need / np.linalg.norm(weights))


@given(st.data(), st.integers(1, 6))
def test_no_other_move_is_shorter(data, n_features):
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    weights, side = generator.normal(size=n_features), 1.0
    room = Room(*generator.uniform(0.0, 2.0, size=(2, n_features)))
    need = 0.7 * np.abs(weights) @ np.where(weights > 0, room.up, room.down)
    move = shortest_moves(weights[None], np.array([need]), np.array([side]), room)[0]
    others = generator.uniform(-room.down, room.up, size=(500, n_features))
    crosses = others @ weights >= need
    assert (np.linalg.norm(others[crosses], axis=1) >= np.linalg.norm(move) - 1e-12).all()
    alone = single_moves(weights[None], np.array([need]), np.array([side]), room)[0]
    for feature in np.flatnonzero(~np.isnan(alone)):
        assert alone[feature] * weights[feature] == pytest.approx(need)
        assert abs(alone[feature]) >= np.linalg.norm(move) - 1e-12
        assert -room.down[feature] <= alone[feature] <= room.up[feature]


@given(problems(max_rows=40), st.integers(0, 10**6))
def test_a_crossed_hyperplane_really_is_crossed(problem, number):
    model = LHTClassifier(gamma=1).fit(problem.X, problem.y, problem.weight)
    fitted = read(model)
    x = problem.X[number % len(problem.X)]
    low, high = np.fmin(fitted.span.low, x), np.fmax(fitted.span.high, x)
    task = Task(ClassGoal(fitted, 0, None), x, low, high, fitted.span.is_whole)
    room = task.room(x)
    planes, z = find_planes(task.goal, x, room, 1000), fitted.normalise(x[None])[0]
    offsets = planes.weights @ z - planes.y
    need = np.abs(planes.y) + planes.past
    moves = shortest_moves(planes.weights, need, find_sides(planes), room)
    possible = ~np.isnan(moves).any(axis=1)
    rows = task.move(x, moves[possible])
    y = (
        np.einsum("hm,hm->h", planes.weights[possible], fitted.normalise(rows).astype(float))
        - offsets[possible]
    )
    assert ((y < 0.0) != (planes.y[possible] < 0.0)).all()


def test_a_change_of_a_single_feature_is_among_few(wine, wine_tree):
    n_single = 0
    for _, row in wine[1].iloc[:20].iterrows():
        explanation = wine_tree.explain(row)
        singles = [c.distance for c in explanation.counterfactuals(n=100) if len(c.changes) == 1]
        found = explanation.counterfactuals(n=2)
        check(wine_tree, row.to_numpy(), found, n=2)
        if singles:
            n_single += 1
            assert min(c.distance for c in found if len(c.changes) == 1) <= 1.1 * min(singles)
        assert explanation.counterfactuals(n=1)[0].distance == found[0].distance
    assert n_single


def test_immutable_and_one_way_columns_are_respected(rejects):
    X, y = make_clouds(300, 4, 2, seed=4)
    model = LHBoostClassifier(20, random_state=0).fit(X, y)
    n_found = 0
    for row in X[:15]:
        limits = {"immutable": [0], "rising": ["x1"], "falling": [2]}
        for other in model.explain(row).counterfactuals(**limits):
            moves = {name: after - before for name, (before, after) in other.changes.items()}
            assert "x0" not in moves
            assert moves.get("x1", 0.0) >= 0.0
            assert moves.get("x2", 0.0) <= 0.0
            assert model.predict([list(other.row.values())])[0] == other.prediction != other.before
            n_found += 1
    assert n_found > 10
    explanation = model.explain(X[0])
    rejects(explanation.counterfactuals, ["x0"], immutable=["x0"])
    rejects(explanation.counterfactuals, rising=["x0"], falling=["x0"])
    rejects(explanation.counterfactuals, rising="income")


def test_declared_columns_are_respected_in_files_and_replaced_by_arguments(tmp_path):
    X, y = make_clouds(300, 4, 2, seed=4)
    model = LHBoostClassifier(20, random_state=0).fit(X, y)
    assert model.declare(immutable=[0], rising=["x1"], falling=[2]) is model
    save(model, tmp_path / "declared.lht")
    assert inspect(tmp_path / "declared.lht")["declared"] == {
        "immutable": ["x0"],
        "rising": ["x1"],
        "falling": ["x2"],
    }
    same, n_free = load(tmp_path / "declared.lht"), 0
    plain = LHBoostClassifier(20, random_state=0).fit(X, y)
    for row in X[:10]:
        found = same.explain(row).counterfactuals()
        given = plain.explain(row).counterfactuals(immutable=[0], rising=["x1"], falling=[2])
        assert [one.to_dict() for one in found] == [one.to_dict() for one in given]
        free = same.explain(row).counterfactuals(immutable=[], rising=[], falling=[])
        assert [one.to_dict() for one in free] == [
            one.to_dict() for one in plain.explain(row).counterfactuals()
        ]
        n_free += any("x0" in one.changes for one in free)
    assert n_free
    model.declare()
    assert model._model.declared is None


def test_declared_whole_columns_get_whole_numbers():
    X, y = make_clouds(300, 3, 2, seed=4)
    X *= 10
    model = LHBoostClassifier(20, random_state=0).fit(X, y).declare(whole=["x0", "x1"])
    after = [
        value
        for row in X[:15]
        for one in model.explain(row).counterfactuals()
        for name, (_, value) in one.changes.items()
        if name != "x2"
    ]
    assert len(after) > 10
    assert [value for value in after if value != round(value)] == []


def test_changed_rows_are_plausible_as_a_whole():
    generator = np.random.default_rng(0)
    first = generator.normal(size=600)
    X = np.column_stack([first, first + 0.1 * generator.normal(size=600)])  # the columns agree
    model = LHBoostClassifier(30, random_state=0).fit(X, X[:, 0] > 0)
    spread = model._model.joint
    covariance = np.cov(X.T)
    far = []
    for row in X[:40]:
        for one in model.explain(row).counterfactuals():
            changed = np.array(list(one.row.values()))
            own = spread.distances(model._model, np.array([row, changed]))
            assert own[1] <= max(spread.limit, own[0])
            far.append(mahalanobis(changed, X.mean(axis=0), np.linalg.inv(covariance)))
    assert far
    assert max(far) < 6.0
    lost = [model.explain(row).counterfactuals(["x0"]) for row in X[np.abs(X[:, 0]) > 1.5][:10]]
    assert {one.reason for one in lost} == {
        "Changes that suffice lead to rows unlike the training rows: pass plausible=False to see them."
    }
    assert model.explain(X[np.abs(X[:, 0]) > 1.5][0]).counterfactuals(["x0"], plausible=False)


def test_joint_distances_equal_those_of_scipy():
    X, y = make_clouds(400, 5, 2, seed=1)
    model = LHTClassifier().fit(X, y)._model
    spread = model.joint
    steps = np.rint(16 * np.clip(model.normalise(X).astype(float), -5, 5))
    covariance = np.cov(steps.T, bias=True)
    share = 5 / 405
    shrunken = (1 - share) * covariance + share * np.diag(np.diag(covariance) + 0.01)
    expected = [mahalanobis(row, steps.mean(axis=0), np.linalg.inv(shrunken)) for row in steps]
    assert spread.distances(model, X) == pytest.approx(expected, rel=0.02)
    assert (spread.distances(model, X) <= spread.limit).mean() == pytest.approx(0.99, abs=0.005)


def test_an_empty_result_has_a_reason():
    X, y = make_clouds(300, 4, 2, seed=4)
    model = LHBoostClassifier(20, random_state=0).fit(X, y)
    found = [model.explain(row).counterfactuals(["x3"], n=1) for row in X[:30]]
    assert [one for one in found if bool(one) == (one.reason is not None)] == []
    empty = next(one for one in found if not one)
    assert str(empty) == empty.reason
    texts = {one.reason for one in found if not one}
    assert (
        "The columns that may change, in the directions allowed, do not suffice: allow more of them." in texts
    )
    number = LHBoostRegressor(max_iter=10, random_state=0).fit(X, X[:, 0])
    none = number.explain(X[0]).counterfactuals(to=(1e6, None))
    assert (
        none.reason
        == "No change within the training ranges was found that suffices; missing values stay missing."
    )


def test_wrong_declarations_are_rejected(rejects):
    X = pd.DataFrame({"age": [30.0, 40, 50, 60] * 10, "job": ["a", "b"] * 20})
    model = LHTClassifier().fit(X, X["age"] > 45)
    for limits in (
        {"immutable": ["ages"]},
        {"rising": ["job"]},
        {"whole": "job"},
        {"rising": ["age"], "falling": ["age"]},
        {"immutable": ["age", "job"]},
    ):
        rejects(model.declare, **limits)
    rejects(model.explain(X.iloc[0]).counterfactuals, plausible="no")
    assert model._model.declared is None
