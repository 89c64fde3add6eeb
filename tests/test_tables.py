"""Tables with categories: both estimators take them as they are, in fit and in prediction."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from adult import SCHOOL, make_adult
from lhtree import LHForestClassifier, LHTClassifier
from lhtree._encode import Encoding, learn_encoding

MODELS = [
    LHTClassifier(),
    LHTClassifier(direction="mixed", normalize="standard"),
    LHForestClassifier(5, random_state=0),
    LHForestClassifier(5, direction="mixed", random_state=0),
]
CATEGORIES = ["work", "school", "country"]


def as_polars(X):
    """The same table in polars."""
    plain = X.astype(dict.fromkeys(CATEGORIES, object))
    columns = {name: plain[name].where(plain[name].notna(), None).tolist() for name in plain}
    columns = {
        name: [None if value is pd.NA or value != value else value for value in values]
        for name, values in columns.items()
    }
    return pl.DataFrame(columns).with_columns(pl.col("school").cast(pl.Enum(SCHOOL)))


@pytest.fixture(scope="module")
def adult():
    return make_adult(800)


@pytest.fixture
def small():
    X = pd.DataFrame({"size": [1.0, 2.0, np.nan, 4.0] * 5, "colour": ["red", "blue", None, "red"] * 5})
    return X, np.array(["yes", "no"] * 10)


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
        own = clone(model).fit(given, y)
        np.testing.assert_array_equal(own.predict_proba(given), pipeline.predict_proba(given))
        np.testing.assert_array_equal(own.apply(given), pipeline[-1].apply(encoder.transform(given)))

    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_missing_categories_are_missing_numbers(self, model, adult):
        X, y = adult
        own = clone(model).fit(X, y)
        parts = []
        for name in X:
            if name not in CATEGORIES:
                parts.append(X[name].astype(float).rename(name))
                continue
            dummies = pd.get_dummies(X[name], dtype=float)
            dummies[X[name].isna()] = np.nan
            parts.append(dummies)
        by_hand = pd.concat(parts, axis=1).to_numpy(np.float64)
        np.testing.assert_array_equal(own._encoding.encode(X), by_hand)
        np.testing.assert_array_equal(
            own.predict_proba(X), clone(model).fit(by_hand, y).predict_proba(by_hand)
        )

    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_pandas_polars_and_objects_alike(self, model, adult):
        X, y = adult
        of_pandas, of_polars = clone(model).fit(X, y), clone(model).fit(as_polars(X), y)
        assert of_pandas._encoding == of_polars._encoding
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


class TestWhichColumns:
    def test_what_a_model_says_of_itself(self, small):
        X, y = small
        model = LHTClassifier().fit(X, y)
        assert model.n_features_in_ == 2
        assert model.feature_names_in_.tolist() == ["size", "colour"]
        assert model.feature_importances_.shape == (2,)
        assert model.feature_importances_.sum() == pytest.approx(1.0)
        assert model._encoding.feature_names == ["size", "colour = blue", "colour = red"]

    @pytest.mark.parametrize(
        "setting", ["from_dtype", ["colour"], ("colour",), [1], [-1], [False, True], np.array([1])]
    )
    def test_every_way_to_name_them(self, small, setting):
        X, y = small
        model = LHTClassifier(categorical_features=setting).fit(X, y)
        assert model._encoding == LHTClassifier().fit(X, y)._encoding
        assert clone(model).fit(X, y)._encoding == model._encoding

    def test_numbers_may_be_categories(self, small):
        X, y = small
        model = LHTClassifier(categorical_features=["size", "colour"]).fit(X, y)
        assert model._encoding.categories == ((1, 2, 4), ("blue", "red"))
        assert model._encoding.feature_names[:3] == ["size = 1", "size = 2", "size = 4"]
        model.predict(X.assign(size=X["size"].astype("Int64")))

    def test_numbers_need_no_encoding(self, adult):
        X, y = adult
        numbers = X.drop(columns=CATEGORIES)
        for setting in ("from_dtype", None, []):
            model = LHTClassifier(categorical_features=setting).fit(numbers, y)
            assert "_encoding" not in vars(model)
            plain = LHTClassifier().fit(numbers.to_numpy(np.float64, na_value=np.nan), y)
            np.testing.assert_array_equal(
                model.predict_proba(numbers),
                plain.predict_proba(numbers.to_numpy(np.float64, na_value=np.nan)),
            )

    def test_a_second_fit_forgets_the_first(self, small):
        X, y = small
        model = LHTClassifier().fit(X, y)
        model.fit(X[["size"]], y)
        assert "_encoding" not in vars(model)
        assert model.predict(X[["size"]]).shape == (20,)

    @pytest.mark.parametrize(
        ("setting", "words"),
        [
            ("colour", ["'colour'", "'from_dtype'", "list"]),
            (3, ["categorical_features=3", "list"]),
            (["color"], ["'color'", "nearest is 'colour'"]),
            ([7], ["7 is no column"]),
            ([1.5], ["1.5 is no column"]),
            ([True], ["mask of 2"]),
            ([], ["column 'colour'", "does not name it"]),
        ],
    )
    def test_settings_that_are_refused(self, small, setting, words):
        X, y = small
        with pytest.raises(ValueError, match="categorical_features") as error:
            LHTClassifier(categorical_features=setting).fit(X, y)
        for word in words:
            assert word in str(error.value)

    def test_names_without_names(self, small):
        X, y = small
        with pytest.raises(ValueError, match="have no names"):
            LHTClassifier(categorical_features=["colour"]).fit(X.to_numpy(), y)

    def test_none_refuses_text(self, small):
        X, y = small
        with pytest.raises(ValueError, match=r"column 'colour' holds text.*categorical_features"):
            LHTClassifier(categorical_features=None).fit(X, y)


class TestColumnsThatAreRefused:
    @pytest.mark.parametrize(
        ("values", "words"),
        [
            (pd.to_datetime(["2020-01-01"] * 20), ["column 'bad'", "dates or times", "days since"]),
            ([1, "a"] * 10, ["column 'bad'", "text and numbers", "to_numeric"]),
        ],
    )
    def test_in_fit(self, small, values, words):
        X, y = small
        X = X.assign(bad=pd.Series(values, dtype=None if not isinstance(values, list) else object))
        for setting in ("from_dtype", ["colour"]):
            with pytest.raises(ValueError, match="X: column") as error:
                LHTClassifier(categorical_features=setting).fit(X, y)
            for word in words:
                assert word in str(error.value)

    def test_objects(self, small):
        X, y = small
        for setting in ("from_dtype", ["colour"], ["colour", "bad"]):
            with pytest.raises(TypeError, match="column 'bad' holds other objects: turn"):
                LHTClassifier(categorical_features=setting).fit(X.assign(bad=[[1]] * 20), y)

    def test_too_many_categories(self):
        X = pd.DataFrame({"name": [f"n{i}" for i in range(300)], "size": range(300)})
        with pytest.raises(ValueError, match="column 'name' has 300 categories, more than 255: leave it out"):
            LHTClassifier().fit(X, np.arange(300) % 2)

    def test_names_that_collide(self, small):
        X, y = small
        with pytest.raises(ValueError, match="'colour = red': rename"):
            LHTClassifier().fit(X.assign(**{"colour = red": 1.0}), y)

    def test_nothing_but_missing(self):
        X = pd.DataFrame({"c": pd.Series([None] * 4, dtype="string")})
        with pytest.raises(ValueError, match="every value of every column is missing"):
            LHTClassifier().fit(X, [0, 1, 0, 1])

    def test_mixed_objects_if_they_are_named(self, small):
        X, y = small
        X = X.assign(mix=pd.Series([1, "1x"] * 10, dtype=object))
        model = LHTClassifier(categorical_features=["colour", "mix"]).fit(X, y)
        assert model._encoding.categories[2] == (1, "1x")

    @pytest.mark.parametrize("y", [None, [1, 2], ["a"] * 20, pd.Series(["a", "b", None, "a"] * 5)])
    def test_classes_that_are_wrong(self, small, y):
        X, _ = small
        with pytest.raises(ValueError, match=r"\by\b|class"):
            LHTClassifier().fit(X, y)


class TestPrediction:
    def test_an_unseen_category_counts_as_missing(self, small):
        X, y = small
        model = LHTClassifier().fit(X, y)
        wanted = model.predict_proba(X.assign(colour=None))
        np.testing.assert_array_equal(model.predict_proba(X.assign(colour="purple")), wanted)
        np.testing.assert_array_equal(model.predict_proba(X.assign(colour=np.nan)), wanted)
        np.testing.assert_array_equal(
            model.predict_proba(pl.DataFrame({"size": X["size"].to_numpy(), "colour": [None] * 20})), wanted
        )

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda X: X[["colour", "size"]], ["same order"]),
            (lambda X: X.rename(columns={"size": "Size"}), ["- Size", "- size"]),
            (lambda X: X[["size"]], ["- colour", "missing"]),
            (lambda X: X.assign(more=1), ["- more"]),
            (lambda X: X.to_numpy()[:, :1], ["1 columns and the model has 2", "same order"]),
            (lambda X: X.assign(size="large"), ["column 'size'", "'large'", "takes numbers"]),
            (lambda X: X.assign(size=np.inf), ["infinity", "column 'size'", "row 0"]),
            (
                lambda X: X.assign(size=pd.Series([10**400] * 20, dtype=object)),
                ["column 'size'", "no float can hold"],
            ),
            (lambda X: X.assign(colour=3), ["column 'colour'", "holds numbers", "'blue'"]),
            (lambda X: X.assign(colour=pd.Timestamp(0)), ["column 'colour'", "dates or times"]),
            (lambda X: X.to_numpy()[0], ["shape (2,)", "pass a table"]),
            (lambda X: {"size": 1.0, "colour": "red"}, ["shape ()", "pass a table"]),
            (lambda X: pl.LazyFrame({"size": [1.0], "colour": ["red"]}), ["pass a table", "X.collect()"]),
            (lambda X: X[:0], ["0 rows", "at least one row"]),
        ],
    )
    @pytest.mark.filterwarnings("ignore:X does not have valid feature names")
    def test_tables_of_another_shape(self, small, change, words):
        X, y = small
        model = LHTClassifier().fit(X, y)
        for method in (model.predict, model.predict_proba, model.apply, model.explain_batch):
            with pytest.raises(ValueError, match="X") as error:
                method(change(X))
            for word in words:
                assert word in str(error.value)

    def test_models_of_numbers_refuse_the_rest(self, small):
        X, y = small
        numbers = X.assign(colour=1.0)
        model = LHTClassifier().fit(numbers, y)
        day = pd.Timestamp(0)
        for bad, words in (
            (X, "column 'colour' holds text or categories, such as 'red', where the model takes numbers"),
            (X.assign(colour=day), "column 'colour' holds dates or times"),
            (X.assign(size=day, colour=day), "column 'size' holds dates or times"),
            (
                pl.DataFrame({"size": [1.0], "colour": [day.to_pydatetime()]}),
                "column 'colour' holds dates or times",
            ),
        ):
            with pytest.raises(ValueError, match=words):
                model.predict(bad)
        with pytest.raises(ValueError, match="column 'size' holds dates or times"):
            LHTClassifier(categorical_features=None).fit(X.assign(size=day, colour=day), y)
        with pytest.raises(ValueError, match="column 0 holds dates or times"):
            LHTClassifier().fit(np.full((20, 2), np.datetime64("2020-01-01")), y)

    def test_what_numpy_cannot_read_is_read_by_column(self, small):
        """Nullable types, pd.NA among objects, sparse columns: numbers all the same, with categories or without."""
        y = small[1]
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
        with pytest.raises(TypeError, match="column 'b' holds other objects"):
            model.predict(plain.assign(b=plain["b"] * 1j))
        with pytest.raises(ValueError, match=r"one row per sample.*collect\(\)"):
            LHTClassifier().fit(pl.LazyFrame({"a": [1.0] * 20}), y)

    def test_a_column_that_is_all_missing(self, small):
        X, y = small
        model = LHTClassifier().fit(X, y)
        wanted = model.predict_proba(X.assign(size=np.nan))
        for nothing in (None, pd.Series([None] * 20, dtype="string"), pd.Series([pd.NA] * 20, dtype="Int64")):
            np.testing.assert_array_equal(model.predict_proba(X.assign(size=nothing)), wanted)

    def test_numbers_of_the_width_of_the_features_are_no_rows(self, small):
        X, y = small
        model = LHTClassifier(categorical_features=[1]).fit(X.to_numpy(), y)
        with pytest.raises(ValueError, match="the model has 2"):
            model.predict(np.zeros((4, model._encoding.n_features)))


class TestLife:
    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_pickle(self, model, adult):
        X, y = adult
        model = clone(model).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.feature_importances_.tolist() == model.feature_importances_.tolist()

    def test_trees_of_a_forest_take_tables(self, adult):
        X, y = adult
        forest = LHForestClassifier(3, random_state=0).fit(X, y)
        mean = np.mean([tree.predict_wolf(X) for tree in forest.estimators_], axis=0)
        np.testing.assert_allclose(mean, forest.predict_wolf(X), atol=1e-12)

    def test_warm_start_keeps_the_categories(self, adult):
        X, y = adult
        forest = LHForestClassifier(3, direction="mixed", warm_start=True, random_state=0).fit(X, y)
        encoding = forest._encoding
        forest.set_params(n_estimators=5).fit(X[X["work"] != "state"], y[X["work"] != "state"])
        assert forest._encoding == encoding
        assert len(forest.estimators_) == 5
        whole = LHForestClassifier(5, direction="mixed", random_state=0).fit(X, y)
        forest = LHForestClassifier(3, direction="mixed", warm_start=True, random_state=0).fit(X, y)
        np.testing.assert_array_equal(
            forest.set_params(n_estimators=5).fit(X, y).predict_proba(X), whole.predict_proba(X)
        )

    def test_warm_start_refuses_another_table(self, small):
        X, y = small
        forest = LHForestClassifier(2, beta=0.1, warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match="column 'size' holds text"):
            forest.set_params(n_estimators=3).fit(X.assign(size="a"), y)
        numbers = LHForestClassifier(2, beta=0.1, warm_start=True).fit(X.assign(colour=1.0), y)
        with pytest.raises(ValueError, match="column 'colour' holds text"):
            numbers.set_params(n_estimators=3).fit(X, y)

    def test_rows_of_weight_zero_bring_no_categories(self, small):
        X, y = small
        weight = np.where(X["colour"] == "blue", 0, 2)
        kept = weight > 0
        weighted = LHForestClassifier(3, direction="mixed", random_state=0).fit(X, y, sample_weight=weight)
        assert weighted._encoding.categories == (None, ("red",))
        repeated = LHForestClassifier(3, direction="mixed", random_state=0).fit(
            X[kept], y[kept], sample_weight=weight[kept]
        )
        np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))

    def test_weights_that_are_none(self, small):
        X, y = small
        for weight in ([[1], [1, 2]], ["a"] * 20, [1.0] * 3):
            with pytest.raises(ValueError, match=r"sample_weight .*: pass one"):
                LHTClassifier().fit(X, y, sample_weight=weight)

    def test_out_of_bag_score(self, adult):
        X, y = adult
        forest = LHForestClassifier(10, oob_score=True, random_state=0).fit(X, y)
        assert forest.oob_score_ > 0.6

    def test_search_and_cross_validation(self, adult):
        X, y = adult
        for table in (X, as_polars(X)):
            assert cross_val_score(LHTClassifier(gamma=50), table, y, cv=3).min() > 0.6
        search = GridSearchCV(LHTClassifier(), {"gamma": [20, 100]}, cv=2).fit(X, y)
        assert search.best_estimator_.predict(X).shape == (800,)


class TestEncoding:
    @given(
        st.lists(
            st.tuples(
                st.none() | st.floats(-1e9, 1e9),
                st.none() | st.sampled_from(["a", "b", "c", "d = e"]),
                st.booleans(),
            ),
            min_size=1,
            max_size=12,
        )
    )
    @settings(max_examples=60)
    def test_rows_come_back(self, rows):
        X = pd.DataFrame(
            {
                "size": [np.nan if row[0] is None else row[0] for row in rows],
                "colour": pd.Series([row[1] for row in rows], dtype=object),
                "ok": [row[2] for row in rows],
            }
        )
        encoding = learn_encoding(X, ["colour"])
        encoded = encoding.encode(X)
        assert encoded.shape == (len(rows), encoding.n_features) == (len(rows), len(encoding.feature_names))
        own = encoded[:, encoding.is_category]
        assert np.isin(np.nansum(own, axis=1), [0.0, 1.0]).all()
        assert (np.isnan(own).all(axis=1) | ~np.isnan(own).any(axis=1)).all()
        for row, x in zip(rows, encoded, strict=True):
            decoded = encoding.decode(x)
            assert decoded["colour"] == row[1]
            assert decoded["ok"] == float(row[2])
            assert np.isnan(decoded["size"]) if row[0] is None else decoded["size"] == row[0]
            np.testing.assert_array_equal(encoding.encode_row(list(row)), x)

    def test_as_json(self, adult):
        X, _ = adult
        encoding = learn_encoding(X.assign(code=[1, 2] * 400), [1, 2, 6, "code"])
        again = Encoding.from_dict(json.loads(json.dumps(encoding.to_dict())))
        assert again == encoding
        np.testing.assert_array_equal(again.encode(X.assign(code=2)), encoding.encode(X.assign(code=2)))
