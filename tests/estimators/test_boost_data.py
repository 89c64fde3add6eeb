"""Input of LHBoostClassifier: weights, validation sets, tables with categories and missing values."""

import numpy as np

from lhtree import LHBoostClassifier
from support import bridge

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
