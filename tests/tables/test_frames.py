"""Tables with categories: both estimators take them as they are, in fit and in prediction."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier
from support.adult import SCHOOL, make_adult

MODELS = [
    LHTClassifier(),
    LHTClassifier(direction="mixed", normalize="standard"),
    LHForestClassifier(5, random_state=0),
    LHForestClassifier(5, direction="mixed", random_state=0),
]
CATEGORIES = ["work", "school", "country"]


def as_polars(X):
    """The table in polars."""
    plain = X.astype(dict.fromkeys(CATEGORIES, object))
    columns = {name: plain[name].where(plain[name].notna(), None).tolist() for name in plain}
    columns = {
        name: [None if value is pd.NA or value != value else value for value in values]
        for name, values in columns.items()
    }
    return pl.DataFrame(columns).with_columns(pl.col("school").cast(pl.Enum(SCHOOL)))


class TestEqualEncodings:
    """One-hot inside the estimator is one-hot before it."""

    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_as_a_pipeline(self, model, adult):
        X, y = adult
        X = X.assign(**{name: X[name].astype(object).fillna("none") for name in CATEGORIES})
        others = [name for name in X if name not in CATEGORIES]
        encoder = ColumnTransformer(
            [
                ("numbers", "passthrough", others),
                ("categories", OneHotEncoder(sparse_output=False), CATEGORIES),
            ]
        )
        given = X[others].astype(float).join(X[CATEGORIES])
        pipeline = make_pipeline(encoder, clone(model)).fit(given, y)
        own = clone(model).set_params(max_one_hot=255).fit(given, y)
        np.testing.assert_array_equal(own.predict_proba(given), pipeline.predict_proba(given))
        np.testing.assert_array_equal(own.apply(given), pipeline[-1].apply(encoder.transform(given)))

    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_pandas_polars_and_objects_give_the_same_model(self, model, adult):
        X, y = adult
        of_pandas, of_polars = clone(model).fit(X, y), clone(model).fit(as_polars(X), y)
        assert of_pandas._model.encoding == of_polars._model.encoding
        wanted = of_pandas.predict_proba(X)
        for fitted in (of_pandas, of_polars):
            for table in (X, as_polars(X)):
                np.testing.assert_array_equal(fitted.predict_proba(table), wanted)
        objects = X.to_numpy(dtype=object)
        of_objects = clone(model).set_params(categorical_features=[1, 2, 6]).fit(objects, y)
        assert not hasattr(of_objects, "feature_names_in_")
        assert of_objects.predict_proba(objects).shape == wanted.shape
        np.testing.assert_array_equal(of_objects.predict(objects.tolist()), of_objects.predict(objects))

    def test_mixed_data_is_learned(self):
        X, y = make_adult(3000, seed=1)
        train, test = slice(0, 2000), slice(2000, None)
        forest = LHForestClassifier(30, direction="mixed", random_state=0).fit(X[train], y[train])
        best_of_numbers = LHForestClassifier(30, direction="mixed", random_state=0).fit(
            X[train].drop(columns=CATEGORIES), y[train]
        )
        gain = forest.score(X[test], y[test]) - best_of_numbers.score(
            X[test].drop(columns=CATEGORIES), y[test]
        )
        assert gain > 0.03


class TestPrediction:
    @pytest.mark.parametrize(
        "change",
        [
            lambda X: X.rename(columns={"size": "Size"}),
            lambda X: X[["size"]],
            lambda X: X.to_numpy()[:, :1],
            lambda X: X.assign(size="large"),
            lambda X: X.assign(size=np.inf),
            lambda X: X.assign(size=pd.Series([10**400] * 20, dtype=object)),
            lambda X: X.assign(colour=3),
            lambda X: X.assign(colour=pd.Timestamp(0)),
            lambda X: X.to_numpy()[0],
            lambda X: pl.LazyFrame({"size": [1.0], "colour": ["red"]}),
            lambda X: X["size"],
            lambda X: pl.Series([1.0, 2.0]),
            lambda X: pa.chunked_array([[1.0, 2.0]]),
            lambda X: X[:0],
        ],
    )
    @pytest.mark.filterwarnings("ignore:X does not have valid feature names")
    def test_tables_of_another_shape(self, colours, change, rejects):
        X, y = colours
        model = LHTClassifier().fit(X, y)
        for method in (model.predict, model.predict_proba, model.apply, model.explain_batch):
            rejects(method, change(X))

    def test_models_of_numbers_refuse_the_rest(self, colours, rejects):
        X, y = colours
        numbers = X.assign(colour=1.0)
        model = LHTClassifier().fit(numbers, y)
        day = pd.Timestamp(0)
        for bad in (
            X,
            X.assign(colour=day),
            X.assign(size=day, colour=day),
            pl.DataFrame({"size": [1.0], "colour": [day.to_pydatetime()]}),
        ):
            rejects(model.predict, bad)
        rejects(
            LHTClassifier(categorical_features=None).fit,
            X.assign(size=pd.Timedelta(1), colour=pd.Timedelta(1)),
            y,
        )
        rejects(LHTClassifier().fit, np.full((20, 2), np.timedelta64(1, "D")), y)

    def test_frames_that_numpy_cannot_convert_are_read_by_column(self, colours, rejects):
        """Nullable types, pd.NA among objects, sparse columns: numbers all the same, with categories or without."""
        y = colours[1]
        plain = pd.DataFrame({"a": [1.0, np.nan, 0.0, 4.0] * 5, "b": [0.0, 1.0, 1.0, np.nan] * 5})
        wanted = LHTClassifier().fit(plain, y).predict_proba(plain)
        nullable = plain.astype({"a": "Int64", "b": "boolean"})
        for X in (
            nullable,
            nullable.astype(object),
            plain.astype(pd.SparseDtype("float64")),
            pl.DataFrame({"a": [1, None, 0, 4] * 5, "b": [False, True, True, None] * 5}),
        ):
            model = LHTClassifier().fit(X, y)
            np.testing.assert_array_equal(model.predict_proba(X), wanted)
            assert model.feature_names_in_.tolist() == ["a", "b"]
        rejects(model.predict, plain.assign(b=plain["b"] * 1j))
        rejects(LHTClassifier().fit, pl.LazyFrame({"a": [1.0] * 20}), y)

    def test_weights_that_are_all_zero_are_rejected_in_tables_of_categories(self, colours, rejects):
        for model in (LHTClassifier(), LHBoostClassifier(2)):
            rejects(model.fit, *colours, sample_weight=np.zeros(20))

    def test_a_column_that_is_all_missing(self, colours):
        X, y = colours
        model = LHTClassifier().fit(X, y)
        wanted = model.predict_proba(X.assign(size=np.nan))
        for nothing in (None, pd.Series([None] * 20, dtype="string"), pd.Series([pd.NA] * 20, dtype="Int64")):
            np.testing.assert_array_equal(model.predict_proba(X.assign(size=nothing)), wanted)


class TestLife:
    def test_trees_of_a_forest_take_tables(self, adult):
        X, y = adult
        forest = LHForestClassifier(3, random_state=0).fit(X, y)
        mean = np.mean([tree.predict_wolf(X) for tree in forest.estimators_], axis=0)
        np.testing.assert_allclose(mean, forest.predict_wolf(X), atol=1e-12)

    def test_warm_start_keeps_the_categories(self, adult):
        X, y = adult
        settings = {"direction": "mixed", "min_samples_leaf": 1, "random_state": 0}
        forest = LHForestClassifier(3, warm_start=True, **settings).fit(X, y)
        encoding = forest._model.encoding
        forest.set_params(n_estimators=5).fit(X[X["work"] != "state"], y[X["work"] != "state"])
        assert forest._model.encoding == encoding
        assert len(forest.estimators_) == 5
        whole = LHForestClassifier(5, **settings).fit(X, y)
        forest = LHForestClassifier(3, warm_start=True, **settings).fit(X, y)
        np.testing.assert_array_equal(
            forest.set_params(n_estimators=5).fit(X, y).predict_proba(X), whole.predict_proba(X)
        )

    def test_warm_start_refuses_another_table(self, colours, rejects):
        X, y = colours
        forest = LHForestClassifier(2, beta=0.1, warm_start=True).fit(X, y)
        rejects(forest.set_params(n_estimators=3).fit, X.assign(size="a"), y)
        numbers = LHForestClassifier(2, beta=0.1, warm_start=True).fit(X.assign(colour=1.0), y)
        rejects(numbers.set_params(n_estimators=3).fit, X, y)

    def test_rows_of_weight_zero_bring_no_categories(self, colours):
        X, y = colours
        weight = np.where(X["colour"] == "blue", 0, 2)
        kept = weight > 0
        weighted = LHForestClassifier(3, direction="mixed", random_state=0).fit(X, y, sample_weight=weight)
        assert weighted._model.encoding.categories == (None, ("red",))
        repeated = LHForestClassifier(3, direction="mixed", random_state=0).fit(
            X[kept], y[kept], sample_weight=weight[kept]
        )
        np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
