"""Rows of every library and file format become the same features."""

import os

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from lhtree import LHForestClassifier, LHTClassifier, load_scorer, save
from lhtree.io.source import Reading
from lhtree.io.streams import open_stream
from lhtree.tables.learn import learn_encoding

NAMES = ["size", "colour", "new", "rooms"]
SCHEMA = {"size": pl.Float64, "colour": pl.String, "new": pl.Boolean, "rooms": pl.Int64}
ROWS = st.lists(
    st.tuples(
        st.none() | st.floats(-1e9, 1e9),
        st.none() | st.sampled_from(["red", "light blue", "a,b", 'say "hi"', "é"]),
        st.none() | st.booleans(),
        st.none() | st.integers(-(2**40), 2**40),
    ),
    min_size=1,
    max_size=10,
).filter(lambda rows: all(any(row[i] is not None for row in rows) for i in range(4)))


def make_tables(rows, folder):
    """Yield the rows in every form that can be encoded, also written to files and read again."""
    columns = dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))
    arrow = pa.table(columns)
    objects = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    yield "objects", np.array(rows, dtype=object)
    yield "pandas of objects", objects
    yield "pandas", objects.astype({"size": float, "colour": "string", "new": "boolean", "rooms": "Int64"})
    yield "pandas, as it guesses", objects.infer_objects().assign(colour=objects["colour"].astype("category"))
    yield "polars", pl.DataFrame(columns, schema=SCHEMA)
    yield "arrow", arrow
    yield "arrow batch", arrow.to_batches()[0]
    yield "dictionaries", arrow.set_column(1, "colour", arrow["colour"].dictionary_encode())
    paths = [os.path.join(folder, f"data.{ending}") for ending in ("csv", "parquet", "arrow")]
    objects.to_csv(paths[0], index=False)
    parquet.write_table(arrow, paths[1])
    pl.DataFrame(columns, schema=SCHEMA).write_ipc(paths[2])
    for path in paths:
        with open_stream(path, Reading()) as stream:
            yield path, stream.read_all(NAMES)


@settings(
    suppress_health_check=[*settings().suppress_health_check, HealthCheck.function_scoped_fixture],
    max_examples=50,
)
@given(rows=ROWS)
def test_every_source_gives_the_same_matrix(rows, tmp_path):
    tables = dict(make_tables(rows, tmp_path))
    encoding = learn_encoding(tables["pandas"], "from_dtype")
    wanted = encoding.encode(tables["pandas"])
    numbers = np.array([[np.nan if row[i] is None else row[i] for i in (0, 2, 3)] for row in rows])
    np.testing.assert_array_equal(wanted[:, ~encoding.is_category], numbers)
    for name, table in tables.items():
        assert learn_encoding(table, [1]).encoders == encoding.encoders, name
        np.testing.assert_array_equal(encoding.encode(table, warns=False), wanted, name)
        if not isinstance(table, np.ndarray):
            assert learn_encoding(table, "from_dtype").encoders == encoding.encoders, name
    for row, x in zip(rows, wanted, strict=True):
        np.testing.assert_array_equal(encoding.encode_row(list(row)), x)
        assert encoding.decode(x)["colour"] == row[1]


class TestUnseen:
    """Categories that were not there in training."""

    @pytest.mark.parametrize("estimator", [LHTClassifier(), LHForestClassifier(3, random_state=0)])
    def test_missing_or_an_error(self, estimator, colours, tmp_path, rejects):
        X, y = colours
        model = estimator.fit(X, y)
        other = X.assign(colour=["red", "bleu", *X["colour"][2:-1], "mauve"])
        absent = other.assign(colour=other["colour"].where(other["colour"].isin(["red", "blue"]), None))
        wanted = model.predict_proba(absent)
        np.testing.assert_array_equal(model.predict_proba(other), wanted)
        model.set_params(unseen="error")
        save(model, tmp_path / "model.lht")
        for strict in (model, load_scorer(tmp_path / "model.lht")):
            np.testing.assert_array_equal(strict.predict_proba(absent), wanted)
            for table in (other, pl.from_arrow(pa.Table.from_pandas(other)), pa.Table.from_pandas(other)):
                rejects(strict.predict, table)
        rejects(model.explain, other.iloc[1])
        rejects(model.set_params(unseen="skip").predict, X)

    @pytest.mark.parametrize("learned", [["True", "False"], ["true", "false"]])
    def test_truth_values_that_were_learned_as_text(self, learned):
        """As older models of a CSV did."""
        text = pd.DataFrame({"new": learned * 10, "size": np.arange(20.0)})
        encoding = learn_encoding(text, "from_dtype")
        truths = [True, False] * 10
        for table in (
            text.assign(new=truths),
            pl.DataFrame({"new": truths, "size": np.arange(20.0)}),
            pa.table({"new": truths, "size": np.arange(20.0)}),
            text.assign(new=["TRUE", "FALSE"] * 10),
        ):
            np.testing.assert_array_equal(encoding.encode(table, unseen="error"), encoding.encode(text))


def test_all_refused_columns_are_named(rejects):
    days = pd.to_timedelta([1] * 300)
    mixed = pd.Series(["a", 1] * 150, dtype=object)
    frame = pd.DataFrame({"day": days, "size": 1.0, "mix": mixed})
    rejects(LHTClassifier().fit, frame, np.arange(300) % 2)


def test_exact_arrays_are_not_copied():
    for dtype in (np.float64, np.float32):
        X = np.ones((6, 4), dtype=dtype)
        for given_ in (X, np.asfortranarray(X), X[::2], X[:, ::-1]):
            encoding = learn_encoding(given_, "from_dtype")
            assert encoding.encode(given_) is given_
            assert encoding.takes_arrays
