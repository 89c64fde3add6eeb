"""Every parameter: what it takes, what it refuses, and what "auto" means."""

import inspect

import numpy as np
import pytest

from lhtree import LHTClassifier
from support import bridge
from support.clouds import make_clouds
from support.parameters import BAD, DEFAULTS


def test_names_order_and_defaults():
    assert list(inspect.signature(LHTClassifier).parameters) == list(DEFAULTS)
    assert LHTClassifier().get_params() == DEFAULTS


CASES = [(name, value) for name, values in BAD.items() for value in values]


@pytest.mark.parametrize(("name", "value"), CASES, ids=[f"{n}-{str(v)[:12]}" for n, v in CASES])
def test_invalid_values_are_refused_by_name_value_and_remedy(two, name, value):
    model = LHTClassifier(**{name: value})
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match=rf"(?s)^{name}=.*is not valid: pass ") as caught:
        model.fit(*two)
    assert repr(value) in str(caught.value) or len(repr(value)) > 100
    assert model.__dict__ == before


def test_a_long_value_is_refused_in_one_line(two):
    with pytest.raises(ValueError, match=r"^alpha=array\(\[ +0\., .*… is not valid: pass ") as caught:
        LHTClassifier(alpha=np.arange(500.0)).fit(*two)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_every_parameter_is_refused_something():
    assert list(BAD) == list(DEFAULTS)


def test_mixed_goes_with_gini_only(two):
    with pytest.raises(
        ValueError, match=r"offset='purity' is not valid: pass 'gini' or 'auto' with direction='mixed'"
    ):
        LHTClassifier(direction="mixed", offset="purity").fit(*two)


def same_model(two, first, second):
    X, y = two
    models = [LHTClassifier(**arguments).fit(X, y) for arguments in (first, second)]
    bridge.assert_same_bits(*map(bridge.arrays_of, models))
    assert models[0].predict_proba(X).tobytes() == models[1].predict_proba(X).tobytes()


@pytest.mark.parametrize("direction", ["mean_difference", "fisher", "mixed"])
def test_auto_follows_the_direction(two, direction):
    is_paper = direction == "mean_difference"
    settled = {
        "direction": direction,
        "gamma": 7,
        "beta": 0.0,
        "offset": "purity" if is_paper else "gini",
        "min_samples_split": 7 if is_paper else 2,
        "confidence": "last" if is_paper else None,
        "max_features": None,
    }
    same_model(two, {"direction": direction, "gamma": 7}, settled)


def test_a_share_of_gamma_is_a_count_of_the_training_weight(two):
    same_model(two, {"gamma": 0.1}, {"gamma": 20})  # of 200 rows; min_samples_split follows
    same_model(two, {"min_samples_leaf": 0.05}, {"min_samples_leaf": 10})
    same_model(two, {"min_samples_split": 0.25}, {"min_samples_split": 50})


def test_max_features_in_words_counts_and_shares():
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


def test_parameters_do_what_they_say(two):
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


def test_max_depth_beyond_any_integer_of_the_machine(two):
    same_model(two, {"max_depth": 10**30}, {"max_depth": None})


def test_a_random_state_can_be_a_generator(two):
    draws = {"direction": "fisher", "max_features": 2}
    same_model(two, {**draws, "random_state": np.random.RandomState(5)}, {**draws, "random_state": 5})
