"""Which columns of a table become numbers or categories, which are refused, and how they are kept."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from lhtree import LHTClassifier
from lhtree.tables.encoding import Encoding
from lhtree.tables.learn import learn_encoding

CATEGORIES = ["work", "school", "country"]


class TestWhichColumns:
    @pytest.mark.parametrize(
        "setting", ["from_dtype", ["colour"], ("colour",), [1], [-1], [False, True], np.array([1])]
    )
    def test_columns_are_named_by_name_index_or_mask(self, colours, setting):
        X, y = colours
        model = LHTClassifier(categorical_features=setting).fit(X, y)
        assert model._model.encoding == LHTClassifier().fit(X, y)._model.encoding
        assert clone(model).fit(X, y)._model.encoding == model._model.encoding

    def test_numbers_may_be_categories(self, colours):
        X, y = colours
        model = LHTClassifier(categorical_features=["size", "colour"]).fit(X, y)
        assert model._model.encoding.categories == ((1, 2, 4), ("blue", "red"))
        assert model._model.encoding.feature_names[:3] == ["size = 1", "size = 2", "size = 4"]
        model.predict(X.assign(size=X["size"].astype("Int64")))

    def test_numbers_need_no_encoding(self, adult):
        X, y = adult
        numbers = X.drop(columns=CATEGORIES)
        for setting in ("from_dtype", None, []):
            model = LHTClassifier(categorical_features=setting).fit(numbers, y)
            assert model._model.encoding.is_plain
            plain = LHTClassifier().fit(numbers.to_numpy(np.float64, na_value=np.nan), y)
            np.testing.assert_array_equal(
                model.predict_proba(numbers),
                plain.predict_proba(numbers.to_numpy(np.float64, na_value=np.nan)),
            )

    @pytest.mark.parametrize("setting", ["colour", 3, ["color"], [7], [1.5], [True], [], None])
    def test_settings_that_are_refused(self, colours, setting, rejects):
        X, y = colours
        rejects(LHTClassifier(categorical_features=setting).fit, X, y)
        rejects(LHTClassifier(categorical_features=["colour"]).fit, X.to_numpy(), y)


class TestColumnsThatAreRefused:
    @pytest.mark.parametrize("values", [pd.to_timedelta([1] * 20), [1, "a"] * 10])
    def test_in_fit(self, colours, values, rejects):
        X, y = colours
        X = X.assign(bad=pd.Series(values, dtype=None if not isinstance(values, list) else object))
        for setting in ("from_dtype", ["colour"]):
            rejects(LHTClassifier(categorical_features=setting).fit, X, y)

    def test_objects(self, colours, rejects):
        X, y = colours
        for setting in ("from_dtype", ["colour"], ["colour", "bad"]):
            rejects(LHTClassifier(categorical_features=setting).fit, X.assign(bad=[[1]] * 20), y)

    def test_names_that_collide(self, colours, rejects):
        X, y = colours
        rejects(LHTClassifier().fit, X.assign(**{"colour = red": 1.0}), y)

    def test_tables_of_missing_text_are_rejected(self, rejects):
        X = pd.DataFrame({"c": pd.Series([None] * 4, dtype="string")})
        rejects(LHTClassifier().fit, X, [0, 1, 0, 1])

    def test_mixed_objects_if_they_are_named(self, colours):
        X, y = colours
        X = X.assign(mix=pd.Series([1, "1x"] * 10, dtype=object))
        model = LHTClassifier(categorical_features=["colour", "mix"]).fit(X, y)
        assert model._model.encoding.categories[2] == (1, "1x")


class TestEncoding:
    def test_as_json(self, adult):
        X, _ = adult
        encoding = learn_encoding(X.assign(code=[1, 2] * 400), [1, 2, 6, "code"], max_one_hot=40)
        again = Encoding.from_dict(json.loads(json.dumps(encoding.to_dict())))
        assert again == encoding
        np.testing.assert_array_equal(again.encode(X.assign(code=2)), encoding.encode(X.assign(code=2)))
