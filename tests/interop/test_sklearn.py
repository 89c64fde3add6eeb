"""scikit-learn around our estimators: inspection, calibration, search, pipelines, output and metadata."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay, permutation_importance
from sklearn.metrics import (
    ConfusionMatrixDisplay,
    PrecisionRecallDisplay,
    PredictionErrorDisplay,
    RocCurveDisplay,
    log_loss,
)
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import lhtree
from support.adult import make_adult
from support.clouds import make_clouds

pytestmark = pytest.mark.usefixtures("closing")

CLASSIFIERS = [
    lhtree.LHTClassifier(),
    lhtree.LHForestClassifier(3, random_state=0),
    lhtree.LHBoostClassifier(4, random_state=0),
]
REGRESSORS = [
    lhtree.LHTRegressor(),
    lhtree.LHForestRegressor(3, random_state=0),
    lhtree.LHBoostRegressor(max_iter=4),
]


@pytest.fixture(scope="module")
def table():
    X, y = make_adult(200)
    return X, y


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
class TestClassifiers:
    def test_inspection_of_a_table(self, model, table):
        X, y = table
        model = sklearn.clone(model).fit(X, y)
        found = permutation_importance(model, X[:60], y[:60], n_repeats=2, random_state=0)
        assert found.importances_mean.shape == (X.shape[1],)
        shown = PartialDependenceDisplay.from_estimator(
            model, X.dropna()[:60], ["age", "school"], categorical_features=["school"], grid_resolution=6
        )
        assert shown.axes_.size == 2

    def test_displays(self, model):
        X, y = make_clouds(120, 2, 2)
        model = sklearn.clone(model).fit(X, y)
        assert DecisionBoundaryDisplay.from_estimator(model, X, grid_resolution=10).response.shape == (10, 10)
        for display in (RocCurveDisplay, PrecisionRecallDisplay, ConfusionMatrixDisplay, CalibrationDisplay):
            assert display.from_estimator(model, X, y).figure_ is not None

    def test_calibration_and_threshold(self, model):
        X, y = make_clouds(150, 3, 2)
        calibrated = CalibratedClassifierCV(sklearn.clone(model), cv=2).fit(X, y)
        np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
        assert log_loss(y, calibrated.predict_proba(X)) < np.log(2.0)
        assert 0.0 < TunedThresholdClassifierCV(sklearn.clone(model), cv=2).fit(X, y).best_threshold_ < 1.0

    def test_in_ensembles(self, model):
        X, y = make_clouds(90, 3, 3)
        members = [("own", sklearn.clone(model)), ("tree", lhtree.LHTClassifier())]
        assert VotingClassifier(members, voting="soft").fit(X, y).score(X, y) > 0.5
        assert StackingClassifier(members, cv=2).fit(X, y).score(X, y) > 0.5
        chosen = SelectFromModel(sklearn.clone(model)).fit(X, y)
        assert 1 <= chosen.transform(X).shape[1] <= 3


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_regressors(model):
    X, y = make_clouds(120, 3, 3)
    y = np.exp(y + X[:, 0])
    model = sklearn.clone(model)
    wrapped = TransformedTargetRegressor(model, func=np.log, inverse_func=np.exp).fit(X, y)
    assert wrapped.score(X, y) > 0.2
    model.fit(X, y)
    assert PredictionErrorDisplay.from_estimator(model, X, y).figure_ is not None
    assert PartialDependenceDisplay.from_estimator(model, X, [0], grid_resolution=4).axes_.size == 1
    assert permutation_importance(model, X, y, n_repeats=2).importances.shape == (3, 2)


def test_grid_search_over_a_pipeline_with_frames():
    X, y = make_clouds(120, 3, 2)
    X = pd.DataFrame(X, columns=["a", "b", "c"])
    scale = make_column_transformer(
        (StandardScaler(), ["a", "b"]), remainder="passthrough", verbose_feature_names_out=False
    )
    pipeline = Pipeline([("scale", scale), ("tree", lhtree.LHTClassifier())]).set_output(transform="pandas")
    search = GridSearchCV(pipeline, {"tree__beta": [0.0, 0.5], "tree__max_depth": [1, None]}, cv=2).fit(X, y)
    assert set(search.best_params_) == {"tree__beta", "tree__max_depth"}
    tree = search.best_estimator_[-1]
    assert tree.feature_names_in_.tolist() == ["a", "b", "c"]
    assert tree.explain(search.best_estimator_[:-1].transform(X[:1])).prediction == search.predict(X[:1])[0]


def test_weights_and_groups_are_routed():
    X, y = make_clouds(120, 3, 2)
    weight = np.where(np.arange(120) % 4 < 2, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        tree = (
            lhtree.LHTClassifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        )
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), tree)
        pipeline.fit(X, y, sample_weight=weight)
        assert pipeline[-1].trees_[0].n_samples[0] == 60
        assert lhtree.LHTClassifier().fit(X, y).trees_[0].n_samples[0] == 120
        scores = cross_validate(tree, X, y, cv=2, params={"sample_weight": weight}, return_estimator=True)
        assert all(each.trees_[0].n_samples[0] <= 31 for each in scores["estimator"])
        search = GridSearchCV(tree, {"beta": [0.0, 0.5]}, cv=2).fit(X, y, sample_weight=weight)
        assert search.best_estimator_.trees_[0].n_samples[0] == 60
