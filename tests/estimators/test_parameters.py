"""Parameters of the classifiers: rejected values, equivalent values and effects."""

import inspect
import math
import warnings
from copy import copy
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

import lhtree
from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier
from support import bridge
from support.attacks import catch, describe, is_refusal, predict
from support.clouds import make_clouds

BAD_TREE = {
    "alpha": [-0.1, np.nan, np.inf, "0", None, True, 10**400],
    "beta": [-0.1, 1.0, 2, np.nan, "schedule", "none", None, True],
    "gamma": [0, -1, 0.0, 1.0, 2.5, 1.5, np.nan, np.inf, "auto", None, True, 10**400],
    "direction": ["fischer", "", None, 1, ["fisher"]],
    "offset": ["median", None, 1],
    "membership": ["linear", None, 0],
    "confidence": ["first", 1, True],
    "normalize": ["z", 1, True, False],
    "min_samples_split": [0, -3, 0.0, 1.0, 2.5, "gamma", None, True],
    "min_samples_leaf": [0, -3, 0.0, 1.0, 2.5, "small", None, True],
    "smoothing": [-1, np.nan, np.inf, "none", None, True],
    "max_depth": [0, -1, 1.5, "auto", True],
    "max_features": [0, -1, 0.0, 1.5, np.nan, "log2", True],
    "shrinkage": [-1e-9, np.nan, np.inf, "auto", None, True],
    "class_weight": ["auto", 3, ("balanced",), {0: 0.0}, {0: -1.0}, {0: np.nan}, {0: "much"}, {7: 1.0}],
    "positive": ["default", 7, [0], np.nan],
    "calibrate": ["platt", True, 1],
    "categorical_features": ["auto", 3, True, ["a"], [99], [1.5], [None], [True]],
    "max_one_hot": [-1, 2.5, "auto", None, True],
    "missing_indicator": ["yes", None, 1, 0.5],
    "unseen": ["skip", None, 1, True],
    "keep_prototypes": ["all", -1, 0, 1, 2.5, None],
    "n_jobs": [0, 1.5, "all", True],
    "random_state": ["seed", -1, 1.5],
}
BAD_FOREST = BAD_TREE | {
    "beta": [-0.1, 1.0, 2, np.nan, "scheduled", None, True],
    "n_estimators": [0, -1, 1.5, "100", None, True, np.nan],
    "max_samples": [0, -1, 0.0, 1.5, -0.5, 201, 10**400, "all", None, True, np.nan, [1]],
    "multi_class": ["both", None, 1],
    "time_limit": [-1, "10", np.nan, True, [1]],
    **{name: ["no", None, [1]] for name in ("bootstrap", "oob_score", "warm_start", "verbose")},
}
BAD_BOOST = {
    "max_iter": [0, -1, 1.5, "auto", None, True],
    "learning_rate": [0.0, -0.1, 1.5, np.nan, "fast", None, True],
    "growth": ["level", None, True],
    "multi_class": ["both", None, 1],
    "max_depth": [0, -1, 1.5, "none", None, True],
    "min_samples_leaf": [0, -3, 2.5, 0.1, "small", None, True],
    "l2_regularization": [-1e-9, np.nan, np.inf, "auto", None, True],
    "subsample": [0.0, -0.1, 1.5, np.nan, "all", None, True],
    "max_features": [0.0, -0.1, 1.5, 2, np.nan, "sqrt", None, True],
    "n_directed": [-1, 1.5, "auto", None, True],
    "direction": ["fisher", "", None, 1],
    "shrinkage": [-1e-9, np.nan, np.inf, "auto", None, True],
    "max_bins": [0, 1, 256, 2.5, "auto", None, True],
    "early_stopping": ["yes", None, 1, 0.5],
    "validation_fraction": [0.0, 1.0, -0.1, 0, -1, np.nan, "auto", True],
    "n_iter_no_change": [0, -1, 1.5, None, True],
    "tol": [-1e-9, np.nan, np.inf, "auto", None, True],
    "leaf": ["fisher", None, 1],
    "monotonic_cst": [1, "increase", [1], [[0] * 5], [0, 0, 0, 0, 2], [0.5] * 5, {"age": 1}, {"x0": True}],
    "interaction_cst": ["some", 3, ["x0"], [["age"]], [[9]], [[-1]], {"x0": 1}],
    "class_weight": ["balanced_subsample", *BAD_TREE["class_weight"]],
    "positive": BAD_TREE["positive"],
    "calibrate": BAD_TREE["calibrate"],
    "categorical_features": BAD_TREE["categorical_features"],
    "max_one_hot": BAD_TREE["max_one_hot"],
    "unseen": BAD_TREE["unseen"],
    "time_limit": BAD_FOREST["time_limit"],
    "warm_start": ["yes", None, 2],
    "verbose": [-1, 0.5, "yes", None],
    "n_jobs": BAD_TREE["n_jobs"],
    "random_state": BAD_TREE["random_state"],
}

BAD = [
    (LHTClassifier(), BAD_TREE),
    (LHForestClassifier(2, random_state=0), BAD_FOREST),
    (LHBoostClassifier(2), BAD_BOOST),
]
CASES = [(model, name, value) for model, bad in BAD for name, values in bad.items() for value in values]


ESTIMATORS = [getattr(lhtree, name) for name in lhtree.__all__ if name.endswith(("Classifier", "Regressor"))]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_docstrings_describe_every_parameter(estimator):
    lines = estimator.__doc__.splitlines()
    for name, parameter in inspect.signature(estimator).parameters.items():
        shown = f'"{parameter.default}"' if isinstance(parameter.default, str) else repr(parameter.default)
        (found,) = [i for i, line in enumerate(lines) if line.startswith(f"{name} : ")]
        assert lines[found].endswith(f", default={shown}")
        assert lines[found + 1].startswith("    ")


@pytest.mark.parametrize("estimator", [LHTClassifier, LHForestClassifier])
def test_docstrings_name_the_settings_for_accuracy_first(estimator):
    first = " ".join(estimator.__doc__.partition("Parameters\n")[0].split()[:40])
    assert f'For accuracy, use ``{estimator.__name__}(direction="mixed")``' in first


@cache
def fit_once(model):
    return clone(model).fit(*make_clouds(200, 5, 2))


@pytest.mark.parametrize(("model", "name", "value"), CASES)
def test_invalid_values_are_rejected_with_name_value_and_remedy(two, model, name, value):
    for some in (clone(model), copy(fit_once(model))):
        some.set_params(**{name: value})
        before = dict(vars(some))
        with pytest.raises(ValueError, match=rf"(?s)^{name}=.*is not valid: pass ") as caught:
            some.fit(*two)
        assert repr(value) in str(caught.value) or len(repr(value)) > 100
        assert vars(some) == before


ODD_VALUES = [
    *(None, True, False, -1, 0, 1, 2.5, 1e-320, 1e308, math.nan, math.inf, -math.inf, -(10**30), 3 + 4j),
    *("", "auto", "foo", "1", "nan", b"x", object(), np.int8(3), np.float32(0.5), np.array([1, 2])),
    *([], [1], [None], ["a"], [0.9, 0.1], (), {}, {"a": 1}, {0: 1, 1: -1}, {0: 1e308, 1: 1e308}),
]
FEW = {"n_estimators": 2, "max_iter": 3, "cv": 2, "n_bags": 2}
# Values that once ended in an error of the core or of another library.
FORMER = [
    (lhtree.AdditiveLHTClassifier, "n_iter_no_change", 10**30),
    (lhtree.LHForestRegressor, "direction", np.array([1, 2])),
    (LHTClassifier, "direction", np.array([1, 2])),
    (lhtree.CompactLHTRegressor, "digits", np.int8(3)),
]


@st.composite
def odd_parameters(draw):
    """Draw an estimator, one of its parameters, and a value that may not fit."""
    estimator = draw(st.sampled_from(ESTIMATORS))
    name = draw(st.sampled_from(sorted(estimator().get_params())))
    return estimator, name, draw(st.sampled_from(ODD_VALUES))


@settings(max_examples=2 * settings().max_examples)
@given(odd_parameters())
@example(FORMER[0])
@example(FORMER[1])
@example(FORMER[2])
@example(FORMER[3])
def test_odd_values_are_rejected_by_name_or_fit(odd):
    estimator, name, value = odd
    X, y = make_clouds(40, 3, 2)
    y = y if estimator.__name__.endswith("Classifier") else np.abs(X[:, 0]) + 0.1
    few = {key: few for key, few in FEW.items() if key in estimator().get_params()}
    model = estimator(**few | {name: value})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        error = catch(model.fit, X, y)
    if error is None:
        assert np.isfinite(predict(model, X)).all()
    else:
        assert is_refusal(error), describe(error)
        assert name in str(error)


def test_long_values_are_shown_in_one_line(two, rejects):
    rejects(LHTClassifier(alpha=np.arange(500.0)).fit, *two)


def test_every_parameter_has_rejected_values():
    assert list(BAD_TREE) == list(inspect.signature(LHTClassifier).parameters)
    assert set(BAD_FOREST) == set(inspect.signature(LHForestClassifier).parameters)
    assert list(BAD_BOOST) == list(inspect.signature(LHBoostClassifier).parameters)


def same_model(data, first, second, estimator=LHTClassifier):
    models = [estimator(**arguments).fit(*data) for arguments in (first, second)]
    bridge.assert_same_trees(*models)
    assert models[0].predict_proba(data[0]).tobytes() == models[1].predict_proba(data[0]).tobytes()


@pytest.mark.parametrize("direction", ["mean_difference", "fisher", "mixed"])
def test_auto_depends_on_the_direction(three, direction):
    is_paper = direction == "mean_difference"
    given = {"direction": direction, "gamma": 7}
    settled = given | {
        "beta": 0.0,
        "offset": "purity" if is_paper else "gini",
        "min_samples_split": 7 if is_paper else 2,
        "confidence": "last" if is_paper else None,
        "max_features": None,
    }
    same_model(three, given, settled)
    given |= {"n_estimators": 6, "random_state": 0}
    of_forests = {"max_features": None if is_paper else 3, "max_samples": 0.8 if is_paper else 1.0}
    settled |= given | of_forests | {"beta": "schedule" if is_paper else 0.0}
    same_model(three, given, settled, LHForestClassifier)


def test_shares_are_counts_of_the_training_weight(two):
    same_model(two, {"gamma": 0.1}, {"gamma": 20})  # of 200 rows; min_samples_split follows
    same_model(two, {"min_samples_leaf": 0.05}, {"min_samples_leaf": 10})
    same_model(two, {"min_samples_split": 0.25}, {"min_samples_split": 50})


def test_max_features_accepts_words_counts_and_shares():
    data = make_clouds(150, 10, 2)
    fisher = {"direction": "fisher", "random_state": 3}
    same_model(data, {**fisher, "max_features": "sqrt"}, {**fisher, "max_features": 3})
    same_model(data, {**fisher, "max_features": 0.4}, {**fisher, "max_features": 4})
    same_model(data, {**fisher, "max_features": 0.01}, {**fisher, "max_features": 1})
    for everything in (10, 99, 1.0, "auto"):
        same_model(data, {**fisher, "max_features": everything}, {**fisher, "max_features": None})
    few, all_of_them = (LHTClassifier(**fisher, max_features=m).fit(*data) for m in (3, None))
    assert np.diff(few._model.trees.hyperplane_ptr).max() == 3
    assert np.diff(all_of_them._model.trees.hyperplane_ptr).max() == 10


def test_numpy_numbers_are_numbers(two):
    given = {"gamma": np.int64(5), "beta": np.float32(0.5), "max_depth": np.int8(4), "n_jobs": np.int64(2)}
    same_model(two, given, {"gamma": 5, "beta": 0.5, "max_depth": 4})


def test_effects_of_tree_parameters(two):
    X, y = two
    model = LHTClassifier(max_depth=2, gamma=1).fit(X, y)
    assert model.depth_ == 2
    model = LHTClassifier(min_samples_leaf=15, gamma=1, offset="gini").fit(X, y)
    assert min(model.trees_[0].weight) >= 15
    model = LHTClassifier(min_samples_split=60, gamma=1).fit(X, y)
    assert min(model.trees_[0].weight[~model.trees_[0].is_leaf]) >= 60
    model = LHTClassifier(beta=0.5).fit(X, y)
    assert (np.abs(model._model.trees.hyperplane_weight) > 0.5).all()
    model = LHTClassifier(alpha=1e9).fit(X, y)
    assert model.n_leaves_ == 1
    model = LHTClassifier(membership="constant").fit(X, y)
    assert len(model._model.trees.membership_slope) == 0
    np.testing.assert_array_equal(
        LHTClassifier(confidence=None).fit(X, y).predict_confidence(X), np.ones((200, 2))
    )


def test_max_depth_may_exceed_64_bits(two):
    same_model(two, {"max_depth": 10**30}, {"max_depth": None})


def test_random_state_may_be_a_generator(two):
    draws = {"direction": "fisher", "max_features": 2}
    same_model(two, {**draws, "random_state": np.random.RandomState(5)}, {**draws, "random_state": 5})


def test_names_are_those_of_scikit_learn():
    """docs/coming_from.md explains the parameters of HistGradientBoosting that are missing."""
    ours, theirs = set(LHBoostClassifier().get_params()), set(HistGradientBoostingClassifier().get_params())
    assert theirs - ours == {"loss", "max_leaf_nodes", "scoring"}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"direction": "single"}, {"n_directed": 0}),
        ({"direction": "single"}, {"n_directed": 1}),
        ({"n_directed": 10**400}, {"n_directed": 5}),
        ({"max_depth": 10**400, "min_samples_leaf": 40}, {"max_depth": 9, "min_samples_leaf": 40}),
        ({"n_iter_no_change": 10**400, "early_stopping": True, "tol": 0}, {"early_stopping": True}),
        (
            {"learning_rate": np.float64(0.25), "max_iter": np.int64(3)},
            {"learning_rate": 0.25, "max_iter": 3},
        ),
        ({"monotonic_cst": [0] * 5}, {}),
        ({"monotonic_cst": {"x1": -1}}, {"monotonic_cst": np.array([0.0, -1.0, 0.0, 0.0, 0.0])}),
        ({"random_state": np.random.RandomState(5)}, {"random_state": 5}),
        ({"leaf": "constant", "verbose": True}, {"leaf": "auto"}),
        ({"class_weight": "balanced"}, {"class_weight": {0: 200 / 180, 1: 200 / 220}}),
    ],
)
def test_equivalent_values_of_boosting_parameters(given, meant):
    X, y = make_clouds(200, 5, 2)
    y[:] = 1
    y[:90] = 0
    own = {"max_iter": 4, "random_state": 0}
    models = [LHBoostClassifier(**own | some).fit(X, y) for some in (given, meant)]
    bridge.assert_same_trees(*models)


def test_effects_of_boosting_parameters():
    X, y = make_clouds(400, 6, 2)
    own = {"max_iter": 6, "random_state": 0}

    def fit(**some):
        return LHBoostClassifier(**own | some).fit(X, y)._model.trees

    def n_terms(trees):
        return np.diff(trees.hyperplane_ptr)

    assert fit(max_depth=2).depths().max() == 2
    assert fit(min_samples_leaf=60, subsample=1.0, growth="free").weight.min() >= 60
    assert fit(min_samples_leaf=10**400).n_blocks == 6
    assert n_terms(fit(direction="single")).max() == 1
    assert n_terms(fit()).max() == 4
    assert n_terms(fit(n_directed=2)).max() == 2
    assert np.abs(fit(l2_regularization=1e6).intercept).max() < 1e-3 < np.abs(fit().intercept).max()
    half = fit(subsample=0.5).n_samples[fit(subsample=0.5).block_ptr[:-1]]
    assert (np.abs(half - 200) < 80).all()
    roots = fit(max_features=0.01, direction="single", max_depth=1)
    assert len(set(roots.hyperplane_feature.tolist())) > 2  # a level tries one feature, another each time
    bins = LHBoostClassifier(**own, max_bins=5).fit(X, y)._model.boost.bins
    assert np.diff(bins.ptr).tolist() == [6] * 6  # and one for missing values
    assert fit(shrinkage=1e9).hyperplane_weight.tobytes() != fit().hyperplane_weight.tobytes()


def test_monotonic_constraints_by_name_and_position(tmp_path):
    X, y = make_clouds(600, 4, 2)
    X[::9, 2] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=np.array(["u", "v"])[y])
    model = LHBoostClassifier(3, monotonic_cst={"b": 1, "d": 0}, random_state=0).fit(frame, y)
    by_place = LHBoostClassifier(3, monotonic_cst=[0, 1, 0, 0, 0], random_state=0).fit(frame, y)
    bridge.assert_same_trees(model, by_place)
    for saved in (model, by_place.set_params(monotonic_cst=np.array([0, 1, 0, 0, 0]))):
        lhtree.save(saved, tmp_path / "model.lht")
        kept = lhtree.load(tmp_path / "model.lht").monotonic_cst
        assert kept == ({"b": 1, "d": 0} if saved is model else [0, 1, 0, 0, 0])
    three = np.arange(600) % 3
    none, zeros = (
        LHBoostClassifier(3, monotonic_cst=cst, random_state=0).fit(X, three) for cst in (None, [0] * 4)
    )
    bridge.assert_same_trees(none, zeros)
