"""Pickled models are small and load with the same bits."""

import pickle

import numpy as np
import pytest

from lhtree import LHTClassifier
from support import bridge
from support.clouds import make_clouds


def test_deep_and_large_models_survive_a_pickle():
    deep = np.cumsum(np.random.default_rng(0).uniform(0.5, 1.5, 1500))[:, None], np.arange(1500) % 2
    for X, y in (deep, make_clouds(20_000, 9, 5)):
        model = LHTClassifier(gamma=1).fit(X, y)
        copy = pickle.loads(pickle.dumps(model))
        bridge.assert_same_bits(bridge.arrays_of(model), bridge.arrays_of(copy))


def test_pickles_are_smaller_than_the_arrays():
    model = LHTClassifier(gamma=1).fit(*make_clouds(3000, 9, 3))
    assert len(pickle.dumps(model)) < 0.9 * model._model.trees.nbytes


@pytest.mark.parametrize("weight", [[0.5, 1.5], [1.25, 0.75]])
def test_weights_that_sum_to_the_number_of_rows(weight):
    model = LHTClassifier().fit(np.zeros((2, 1)), [0, 1], weight)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict_proba([[0.0]]).tolist() == model.predict_proba([[0.0]]).tolist()
    bridge.assert_same_bits(bridge.arrays_of(model), bridge.arrays_of(copy))
