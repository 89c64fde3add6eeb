"""Exports to ONNX, C and SQL predict the same as the model, to the bit."""

from dataclasses import replace

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine

import lhtree
from lhtree.model.heads import NUMBER_LINKS
from lhtree.model.records import CALIBRATORS
from support.boosted import boosted_model, boosted_rows
from support.calibrations import give_calibration
from support.clouds import make_clouds, with_bounds
from support.exports import SERVER, check, one_to_one, runners, spoil, wrap
from support.strategies import DIRECTIONS, MEMBERSHIPS, hostile_problems, wide_problems

pytestmark = pytest.mark.usefixtures("server")


def test_there_is_a_server(postgresql):
    """Without one, all tests below leave PostgreSQL out."""
    assert [postgresql] == SERVER


@pytest.mark.parametrize("confidence", ["last", "path", None])
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_single_trees(load, confidence, tmp_path):
    X, y = load(return_X_y=True)
    for membership, normalize in zip(MEMBERSHIPS, ("standard", "minmax", None), strict=True):
        model = lhtree.LHTClassifier(
            confidence=confidence, membership=membership, normalize=normalize, gamma=3
        )
        check(model.fit(X, y), spoil(X[::2]), tmp_path)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_forests(direction, n_classes, tmp_path):
    X, y = make_clouds(300, 11, n_classes)
    X[::7, 3] = np.nan
    model = lhtree.LHForestClassifier(
        n_estimators=5, direction=direction, membership="least_squares", random_state=0
    )
    check(model.fit(X, y), spoil(X), tmp_path)


@pytest.mark.parametrize("confidence", [None, "last", "path"])
def test_trees_of_all_classes(confidence, tmp_path):
    X, y = make_clouds(200, 5, 4)
    X[::7, 3] = np.nan
    model = lhtree.LHForestClassifier(
        4,
        direction="mixed",
        multi_class="one_tree",
        confidence=confidence,
        min_samples_leaf=4,
        random_state=0,
    )
    check(model.fit(X, y), spoil(X), tmp_path)


@pytest.mark.parametrize(("direction", "leaf"), [("mixed", "auto"), ("single", "auto"), ("mixed", "linear")])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosted_models(direction, leaf, n_classes, tmp_path):
    X, y = make_clouds(150, 6, n_classes)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    settings = {"max_iter": 12, "min_samples_leaf": 5, "direction": direction, "random_state": 0}
    model = lhtree.LHBoostClassifier(leaf=leaf, **settings).fit(X, y)
    sides = {-1, 1} | ({0} if direction == "mixed" else set())
    trees = model._model.trees
    assert set(trees.missing[trees.left >= 0].tolist()) == sides
    assert (len(trees.membership_slope) > 50) == (leaf == "linear")
    check(model, spoil(X), tmp_path)


@pytest.mark.parametrize("kind", CALIBRATORS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        lhtree.LHForestClassifier(3, direction="mixed", random_state=0),
        lhtree.LHForestClassifier(3, direction="mixed", multi_class="one_tree", random_state=0),
        lhtree.LHBoostClassifier(8, random_state=0),
    ],
    ids=["forest", "forest of all classes", "boosted"],
)
def test_calibrated_models(model, n_classes, kind, tmp_path):
    X, y = make_clouds(150, 5, n_classes)
    y = np.where(np.random.default_rng(0).random(150) < 0.2, 0, y)
    model = give_calibration(clone(model).fit(X, y), kind)
    proba = model.predict_proba(X)
    assert not np.array_equal(proba, model._model.scorer.uncalibrated(X))
    check(model, spoil(X), tmp_path)


@pytest.mark.parametrize("multi_output", ["one_tree", "one_per_output"])
@pytest.mark.parametrize("loss", ["quantile", "squared_error"])
def test_several_outputs(loss, multi_output, tmp_path):
    X, y = make_clouds(150, 6, 3)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    y = y + np.random.default_rng(1).normal(size=150)
    quantile = [0.3, 0.35, 0.4, 0.45] if loss == "quantile" else None
    given = {"quantile": quantile, "multi_output": multi_output, "learning_rate": 0.5}
    model = lhtree.LHBoostRegressor(loss, **given, max_iter=12, min_samples_leaf=5, random_state=0)
    model.fit(X, np.stack([y, 1e6 * y**2], axis=1) if loss == "squared_error" else y)
    raw = model._model.scorer.raw_score(X)
    if loss == "quantile":
        assert (np.diff(raw, axis=1) < 0.0).any()
        np.testing.assert_array_equal(model.predict(X), np.sort(raw, axis=1))
    check(model, spoil(X), tmp_path)


def test_hundreds_of_trees(tmp_path):
    X, y = make_clouds(500, 8, 2)
    y ^= np.random.default_rng(0).random(500) < 0.2
    model = lhtree.LHBoostClassifier(max_iter=150, min_samples_leaf=5, random_state=0).fit(X, y)
    check(model, spoil(X[:40]), tmp_path)


@pytest.mark.parametrize("is_symmetric", [False, True])
@pytest.mark.parametrize("n_slopes", [0, 3])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_random_boosted_models(n_slopes, n_classes, is_symmetric, tmp_path):
    """Values far beyond the clip, wide hyperplanes, leaves of any depth and linear ones."""
    rng = np.random.default_rng(n_classes)
    model = boosted_model(
        rng, 11, n_classes, 4, 4, max_terms=10, n_slopes=n_slopes, is_symmetric=is_symmetric
    )
    if is_symmetric:  # of several depths
        deeper = boosted_model(rng, 11, n_classes, 15, 5, n_slopes=n_slopes, is_symmetric=True)
        model = replace(model, trees=model.trees + deeper.trees)
    check(wrap(model), boosted_rows(rng, model, 200), tmp_path)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_raw_scores_of_any_size(n_classes, tmp_path):
    """Exponentials down to the last one that is not 0, and ties of raw scores."""
    rng = np.random.default_rng(0)
    model = boosted_model(rng, 1, n_classes, 1, 1, n_slopes=1, clip=1e30)
    trees = model.trees
    slope = np.repeat([1.0, 0.0, -0.5][-model.n_targets :], 2)  # of the two leaves of every tree
    trees = replace(
        trees,
        intercept=np.zeros(trees.n_blocks),
        membership_slope=slope,
        low=np.full(trees.n_blocks, -1e4),
        high=np.full(trees.n_blocks, 1e4),
    )
    model = replace(model, trees=trees, base=np.zeros(model.n_targets), normalisation=one_to_one(1))
    x = np.concatenate(
        [np.linspace(-1.0, 1.0, 400) * 3000, np.linspace(-1500, -1440, 400), rng.normal(size=400), [0.0]]
    )
    model = wrap(model)
    proba = model.predict_proba(x[:, None])
    assert ((proba > 0) & (proba < 1e-310)).sum() > 5
    assert (proba == 0).sum() > 5
    check(model, x[:, None], tmp_path)


@pytest.mark.parametrize(("centre", "scale"), [(1e-46, 1e-46), (0.3, 1 + 4e-8)])
def test_normalisations_that_nearly_change_nothing(centre, scale, tmp_path):
    # onnxruntime takes them for x - 0 and x / 1, which it drops.
    x = np.linspace(-1, 1, 400)[:, None]
    model = lhtree.LHTClassifier(max_depth=1).fit(x, (x[:, 0] + 0.3 * np.sin(50 * x[:, 0]) > 0).astype(int))
    normalisation = type(model._model.normalisation)(np.array([centre]), np.array([scale]))
    model._model = replace(model._model, normalisation=normalisation)
    check(model, centre + scale * x, tmp_path)


@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 5, 8, 9, 16, 17, 70])
def test_sums_of_any_length(n_features, tmp_path):
    X, y = make_clouds(120, n_features, 3, seed=n_features)
    check(lhtree.LHTClassifier().fit(X, y), spoil(X), tmp_path)


@pytest.mark.parametrize(
    "labels",
    [
        [False, True],
        [-5, 7],
        [-(2**63), 0, 2**63 - 1],
        [1.0, 2.0],  # with a fraction, scikit-learn takes them for a continuous target
        ["it's", 'a "quoted" \\ one', "??/ ünï\n"],
    ],
    ids=["bool", "int", "large", "float", "text"],
)
def test_labels(labels, tmp_path):
    X, y = make_clouds(90, 4, len(labels))
    model = lhtree.LHTClassifier().fit(X, np.array(labels)[y])
    expected = model.predict(X)
    for way, run in runners(model, X, tmp_path):
        found = run().label
        if way == "sqlite" and expected.dtype == bool:
            found = found.astype(bool)  # SQLite has 0 and 1
        assert found.tolist() == expected.tolist(), way
        assert type(found.tolist()[0]) is type(expected.tolist()[0]), way


HOSTILE_NAMES = [
    'a"; DROP TABLE data; --',
    "*/ int x; /*",
    "??/",
    "select",
    "[x] `y` 'z'",
    "größe\n\t\\",
    "%s {0} ${name}",
    "z0",
]


@pytest.mark.parametrize("estimator", [lhtree.LHTClassifier(), lhtree.LHBoostClassifier(max_iter=3)])
def test_hostile_feature_names(estimator, tmp_path):
    X, y = make_clouds(90, len(HOSTILE_NAMES), 3)
    model = clone(estimator).fit(pandas.DataFrame(X, columns=HOSTILE_NAMES), y)
    for way, run in runners(model, X, tmp_path):
        np.testing.assert_array_equal(run().proba, model._model.scorer.proba(X, 1), err_msg=way)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_leaves_with_bounds_of_their_own(n_classes, tmp_path):
    X, y = make_clouds(150, 5, n_classes)
    model = lhtree.LHForestClassifier(3, membership="least_squares", random_state=0).fit(X, y)
    before = model.predict_proba(X)
    model._model = with_bounds(model._model)
    assert (model.predict_proba(X) != before).any()
    check(model, spoil(X), tmp_path)


def test_rows_without_scores(tmp_path):
    """Values that are all 0 fall back on memberships, then on the shares of the classes."""
    X, y = make_clouds(200, 2, 3)
    model = lhtree.LHTClassifier(confidence="path", gamma=1).fit(X, y)
    some = np.random.default_rng(0).uniform(-9, 9, (4000, 2))
    is_zero = ~model.predict_wolf(some).any(axis=1)
    is_nothing = ~model.predict_membership(some).any(axis=1)
    assert is_zero.sum() > 5
    assert is_nothing.sum() > 5
    check(model, some[is_zero | is_nothing], tmp_path)


def test_rows_on_a_hyperplane(tmp_path):
    """A row exactly on a hyperplane goes right, and has no confidence."""
    X, y = np.array([[0.0], [2.0]]), np.array([0, 1])
    model = lhtree.LHTClassifier(normalize=None, gamma=1).fit(X, y)
    rows = np.array([[1.0], [np.nextafter(1.0, 0.0)], [1 - 2.0**-24], [1 + 2.0**-23], [0.5], [7.0]])
    assert model.predict_wolf(rows[:1]).tolist() == [[0.0, 0.0]]
    check(model, rows, tmp_path)


def test_trees_that_are_a_leaf(tmp_path):
    X, y = np.zeros((7, 2)), np.array([0, 1, 2, 2, 1, 2, 2])
    model = lhtree.LHTClassifier().fit(X, y)
    assert model.depth_ == 0
    check(model, np.array([[1.0, 2.0], [np.nan, 0.0]]), tmp_path)
    model = lhtree.LHForestClassifier(n_estimators=3, direction="mixed").fit(
        np.vstack([X, X + 1]), np.tile(y, 2)
    )
    check(model, np.array([[1.0, 2.0], [np.nan, 0.0]]), tmp_path)
    model = lhtree.LHBoostClassifier(max_iter=2).fit(X, y)
    assert not (model._model.trees.left >= 0).any()
    check(model, np.array([[1.0, 2.0], [np.nan, 0.0]]), tmp_path)


def test_deep_trees(tmp_path):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(400, 2)), generator.integers(0, 2, 400)
    model = lhtree.LHTClassifier(gamma=1, confidence="path").fit(X, y)
    assert model.depth_ > 40
    check(model, X, tmp_path)


@settings(max_examples=settings().max_examples // 8)
@given(
    problem=st.one_of(hostile_problems(), wide_problems()),
    confidence=st.sampled_from(["last", "path", None]),
    membership=st.sampled_from(MEMBERSHIPS),
    normalize=st.sampled_from(["robust", "minmax", None]),
    direction=st.sampled_from(DIRECTIONS),
)
def test_any_model(problem, confidence, membership, normalize, direction, tmp_path_factory):
    model = lhtree.LHTClassifier(
        confidence=confidence, membership=membership, normalize=normalize, direction=direction
    ).fit(problem.X, problem.y)
    check(model, spoil(problem.X), tmp_path_factory.mktemp("export"))


@pytest.mark.parametrize(
    "model",
    [
        lhtree.LHTRegressor(min_samples_leaf=5, pruning=0),
        lhtree.LHTRegressor(direction="fisher", membership="marginal"),
        lhtree.LHForestRegressor(7, random_state=0),
        lhtree.LHForestRegressor(4, membership="constant", min_samples_leaf=2, random_state=0),
        lhtree.LHBoostRegressor(max_iter=12, min_samples_leaf=5, random_state=0),
        lhtree.LHBoostRegressor("poisson", max_iter=12, min_samples_leaf=5, random_state=0),
    ],
    ids=["tree", "fisher", "forest", "constant", "boosted", "poisson"],
)
def test_regressions(model, tmp_path):
    X, _ = make_clouds(150, 5, 3)
    y = np.abs(X[:, 0] * 3e5 + np.where(X[:, 1] > 0, X[:, 2], -X[:, 2]) * 1e5)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    check(clone(model).fit(X, y), spoil(X), tmp_path)


@pytest.mark.parametrize("n_slopes", [0, 3])
@pytest.mark.parametrize("link", NUMBER_LINKS)
def test_random_regressions(n_slopes, link, tmp_path):
    rng = np.random.default_rng(n_slopes)
    model = boosted_model(rng, 11, 0, 6, 4, max_terms=10, n_slopes=n_slopes, link=link)
    check(wrap(model), boosted_rows(rng, model, 200), tmp_path)


def test_powers_of_any_size(tmp_path):
    """From the least exponential that is not 0 to the largest that is finite."""
    model = boosted_model(np.random.default_rng(0), 1, 0, 1, 1, n_slopes=1, clip=1e30, link="log")
    trees, n_blocks = model.trees, model.trees.n_blocks
    ends = {"low": np.full(n_blocks, -1e4), "high": np.full(n_blocks, 709.7)}
    trees = replace(trees, intercept=np.zeros(n_blocks), membership_slope=np.ones(2), **ends)
    model = replace(model, trees=trees, base=np.zeros(1), normalisation=one_to_one(1))
    x = np.concatenate(
        [np.linspace(-760.0, 720.0, 500), np.linspace(-746, -700, 300), np.linspace(-2, 2, 300)]
    )
    check(wrap(model), x[:, None], tmp_path)


@pytest.mark.parametrize("digits", [2, None])
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_compact_classifiers(load, digits, tmp_path):
    X, y = load(return_X_y=True)
    check(lhtree.CompactLHTClassifier(digits=digits, max_passes=1).fit(X, y), spoil(X), tmp_path)


def test_compact_classifiers_with_missing_values(tmp_path):
    X, y = make_clouds(300, 5, 6)
    X[::7, 3] = np.nan
    model = lhtree.CompactLHTClassifier(penalty=0.2, min_samples_leaf=2, missing_indicator=False).fit(X, y)
    assert model.n_leaves_ > 3
    check(model, spoil(X), tmp_path)


@settings(max_examples=settings().max_examples // 6)
@given(
    seed=st.integers(0, 2**32 - 1),
    exponent=st.sampled_from([0, -100, -110, -150, -250, 100, 110, 150, 250]),
    digits=st.sampled_from([1, 2, 3, 15, None]),
    membership=st.sampled_from(["constant", "linear"]),
    estimator=st.sampled_from([lhtree.CompactLHTClassifier, lhtree.CompactLHTRegressor]),
)
def test_compact_trees_of_any_magnitude(seed, exponent, digits, membership, estimator, tmp_path_factory):
    """Missing values are replaced by the printed centre."""
    random = np.random.default_rng(seed)
    n_features = int(random.integers(1, 4))
    X = random.normal(random.normal(scale=3.0), 1.0, (400, n_features))
    y = X @ random.normal(size=n_features) + random.normal(0.0, 0.5, 400)
    y = y > np.median(y) if estimator is lhtree.CompactLHTClassifier else y
    X = X * 10.0 ** (exponent + random.integers(-3, 4, n_features))
    X[random.random(X.shape) < 0.2] = np.nan
    model = estimator(
        max_leaf_nodes=int(random.choice([2, 8])),
        max_terms=int(random.integers(1, 4)),
        membership=membership,
        min_samples_leaf=1,
        penalty=0.1,
        digits=digits,
        max_passes=2,
        missing_indicator=False,
    )
    check(model.fit(X, y), spoil(X), tmp_path_factory.mktemp("export"))


def test_compact_trees_that_are_a_leaf(tmp_path):
    X, y = make_clouds(8, 2, 2)
    model = lhtree.CompactLHTClassifier(min_samples_leaf=5).fit(X, y)
    assert model.n_leaves_ == 1
    check(model, spoil(X), tmp_path)
