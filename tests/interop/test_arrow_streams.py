"""Objects with the Arrow stream interface are tables."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from sklearn.utils import get_tags

import lhtree


class Stream:
    """A table of an unknown library."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(0)
    columns = {"income": generator.normal(size=80), "town": generator.choice(["Bonn", "Ulm"], 80)}
    return pa.table(columns), generator.integers(0, 2, 80)


def read_relation(table):
    return duckdb.from_arrow(table).project("income, town")


@pytest.mark.parametrize("wrap", [Stream, read_relation])
def test_streams_give_the_same_model_and_predictions(table, wrap, tmp_path):
    X, y = table
    model = lhtree.LHBoostClassifier(5, random_state=0).fit(wrap(X), y)
    expected = lhtree.LHBoostClassifier(5, random_state=0).fit(X, y).predict_proba(X)
    assert model.feature_names_in_.tolist() == ["income", "town"]
    lhtree.save(model, tmp_path / "model.lht")
    for other in (model, lhtree.load_scorer(tmp_path / "model.lht")):
        np.testing.assert_array_equal(other.predict_proba(wrap(X)), expected)


def test_tags_name_categories_text_and_gaps():
    for name in ("LHTClassifier", "LHForestRegressor", "LHBoostClassifier", "CompactLHTRegressor"):
        tags = get_tags(getattr(lhtree, name)()).input_tags
        assert (tags.categorical, tags.string, tags.allow_nan, tags.sparse) == (True, True, True, False)
