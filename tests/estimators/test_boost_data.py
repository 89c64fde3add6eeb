"""Input of LHBoostClassifier: weights, validation sets, tables with categories and missing values."""

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

from lhtree import LHBoostClassifier
from support import bridge
from support.shop import make_table

OWN = {"max_iter": 6, "learning_rate": 0.2, "random_state": 0}


class TestValidation:
    def test_types_and_scale_of_weights_do_not_matter(self, two):
        X, y = two
        X, some = X.astype(np.float32), np.arange(0, 200, 4)
        plain = LHBoostClassifier(**OWN).fit(X, y, X_val=X[some], y_val=y[some])
        assert len(plain.validation_score_) == 7
        for given in (
            {"X_val": X[some].astype(np.float64)},
            {"X_val": X[some].tolist(), "y_val": y[some].tolist()},
            {"sample_weight_val": np.full(50, 1e-200)},
            {"sample_weight_val": np.full(50, 1e99)},
        ):
            model = LHBoostClassifier(**OWN).fit(X, y, **{"X_val": X[some], "y_val": y[some]} | given)
            bridge.assert_same_trees(model, plain)
            np.testing.assert_allclose(model.validation_score_, plain.validation_score_, rtol=1e-12)
        beyond = np.full((1, 5), 1e300)  # out of the range of float32
        model = LHBoostClassifier(**OWN).fit(X, y, X_val=beyond, y_val=[1])
        assert np.isfinite(model.validation_score_).all()

    def test_validation_rows_of_weight_0_are_ignored(self, two):
        X, y = two
        weight = np.where(np.arange(200) < 150, 1.0, 0.0)
        own = {"X_val": X, "y_val": np.where(weight > 0, y, 1 - y), "sample_weight_val": weight}
        model = LHBoostClassifier(**OWN).fit(X, y, **own)
        some = LHBoostClassifier(**OWN).fit(X, y, X_val=X[:150], y_val=y[:150])
        np.testing.assert_allclose(model.validation_score_, some.validation_score_, rtol=1e-12)


class TestTables:
    @pytest.mark.parametrize(
        "convert",
        [
            lambda frame: frame.astype({"colour": "category", "shop": pd.StringDtype()}),
            polars.from_pandas,
            pyarrow.Table.from_pandas,
        ],
        ids=["pandas", "polars", "pyarrow"],
    )
    def test_every_library_gives_the_same_model(self, convert):
        frame = make_table(200)
        y = frame.pop("y").to_numpy(dtype=object)
        expected = LHBoostClassifier(**OWN).fit(frame, y)
        assert expected.feature_names_in_.tolist() == ["size", "weight", "colour", "shop"]
        assert expected.score(frame, y) > 0.8
        table = convert(frame)
        model = LHBoostClassifier(**OWN).fit(table, y, X_val=table, y_val=y)
        plain = LHBoostClassifier(**OWN).fit(frame, y, X_val=frame, y_val=y)
        bridge.assert_same_trees(model, plain)
        assert model.predict_proba(table).tobytes() == plain.predict_proba(frame).tobytes()
        assert model.validation_score_.tolist() == plain.validation_score_.tolist()

    def test_unseen_categories_in_a_validation_set_are_missing(self):
        frame = make_table(100)
        y = frame.pop("y")
        other = frame.assign(shop="west")
        model = LHBoostClassifier(**OWN).fit(frame, y, X_val=other, y_val=y)
        assert np.isfinite(model.validation_score_).all()
