"""Whatever fits can be saved and loaded: random small tables with weights, gaps and categories, every estimator."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import lhtree
import support.hostile as hostile
from support.bridge import MODEL_METHODS, assert_same_model


@pytest.mark.parametrize("kind", hostile.SETTINGS)
@settings(max_examples=settings().max_examples // 5)
@given(seed=st.integers(0, 2**32 - 1))
def test_saved_and_pickled_models_are_the_same(kind, seed, tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about columns and leaf sizes
        try:
            model, rows, *_ = hostile.make_case(kind, seed, is_varied=True)
        except ValueError:
            reject()  # a table that cannot be learned from, for example one of a single class
    path = tmp_path_factory.mktemp("fit") / "model.lht"
    lhtree.save(model, path)
    copies = lhtree.load(path), pickle.loads(pickle.dumps(model))
    for copy in copies:
        assert_same_model(model, copy)
    for name in (*MODEL_METHODS, "predict_interval"):
        has_interval = getattr(model._model.response, "residual", None) is not None
        if not hasattr(model, name) or (name == "predict_interval" and not has_interval):
            continue
        arguments = (rows, 1e-3) if name == "predict_interval" else (rows,)
        expected = getattr(model, name)(*arguments)
        event(name)
        assert expected.dtype.kind != "f" or np.isfinite(expected).all()
        for copy in (*copies, lhtree.load_scorer(path)):
            np.testing.assert_array_equal(getattr(copy, name)(*arguments), expected)
