"""Exports of models with categories and indicators of missing values."""

import json
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import onnxruntime
import pandas
import psycopg
import pytest
from sklearn.base import clone

from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier, export_onnx, export_sql
from support import exports
from support.adult import make_adult

needs_compiler = pytest.mark.skipif(exports.COMPILER is None, reason="no C compiler")


@pytest.fixture(scope="module")
def adult():
    X, y = make_adult(600)
    unknown = X[:30].copy()
    unknown["work"] = "o'clock"
    unknown["country"] = None
    return X, y, unknown


ESTIMATORS = [
    LHForestClassifier(n_estimators=1, gamma=5, random_state=0),
    LHForestClassifier(n_estimators=4, gamma=5, random_state=0),
    LHBoostClassifier(max_iter=10, random_state=0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["tree", "forest", "boosted"])
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgresql"])
def test_sql_takes_categories_as_they_are(adult, estimator, dialect, request):
    X, y, unknown = adult
    X["work"] = X["work"].replace("private", 'it\'s "private"')
    model = clone(estimator).fit(X, y)
    data = pandas.concat([X, unknown], ignore_index=True)
    query = export_sql(model, table="table", keys=["row_number"], dialect=dialect)
    with closing(open_frame(data, dialect, request)) as connection:
        result = exports.read_rows(connection.execute(query).fetchall())
    np.testing.assert_array_equal(result.proba, model.predict_proba(data))
    np.testing.assert_array_equal(result.label, model.predict(data))


def open_frame(data, dialect, request):
    """A connection that has a frame as "table"."""
    if dialect == "sqlite":
        connection = sqlite3.connect(":memory:")
        data.to_sql("table", connection, index_label="row_number")
    elif dialect == "duckdb":
        connection = duckdb.connect()
        connection.register("table", data.assign(row_number=range(len(data))))
    else:
        connection = psycopg.connect(request.getfixturevalue("postgresql"))
        kinds = ["NUMERIC" if data[name].dtype.kind in "biuf" else "TEXT" for name in data]
        columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(data, kinds, strict=True))
        connection.execute(f'CREATE TEMPORARY TABLE "table" (row_number INTEGER, {columns})')
        rows = data.astype(object).where(data.notna(), None)
        with connection.cursor() as cursor, cursor.copy('COPY "table" FROM STDIN') as copy:
            for row in rows.itertuples(name=None):
                copy.write_row([int(cell) if isinstance(cell, bool) else cell for cell in row])
    return connection


@needs_compiler
@pytest.mark.parametrize("estimator", ESTIMATORS[::2], ids=["tree", "boosted"])
def test_onnx_takes_text_and_c_a_number_per_category(adult, estimator, tmp_path):
    """Computed features are ignored."""
    X, y, unknown = adult
    model = clone(estimator)
    if isinstance(model, LHForestClassifier):
        model.set_params(missing_indicator=True)
    model.fit(X, y)
    encoding = model._model.encoding
    assert encoding.is_indicator.any() == isinstance(model, LHForestClassifier)
    for table in (X, unknown, X[:9].assign(country="Atlantis")):
        rows = encoding.encode(table)
        given = np.where(encoding.is_indicator, 7.0, rows)
        c = exports.run_c(model, given, tmp_path)
        for result in (c, exports.run_onnx(model, given, tmp_path)):
            np.testing.assert_array_equal(result.proba, model.predict_proba(table))
            np.testing.assert_array_equal(result.label, model.predict(table))


def test_onnx_takes_a_frame_as_it_is(adult, tmp_path):
    """Columns of text are passed as they are, including unseen and missing categories."""
    X, y, unknown = adult
    X, unknown = X.rename(columns={"age": "label"}), unknown.rename(columns={"age": "label"})
    model = LHBoostClassifier(max_iter=10, random_state=0).fit(X, y)
    export_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    names = json.loads(session.get_modelmeta().custom_metadata_map["inputs"])
    assert "label_" in names
    for table in (X, unknown, X[:9].assign(country="Atlantis", work="?")):
        inputs = {}
        for name in names:
            column = table[name.removesuffix("_")]
            is_text = column.dtype.kind not in "biuf"
            values = column.astype(object).fillna("") if is_text else column.astype(np.float64)
            inputs[name] = values.to_numpy()[:, None]
        label, proba = session.run(None, inputs)
        np.testing.assert_array_equal(proba, model.predict_proba(table))
        np.testing.assert_array_equal(label, model.predict(table))


def test_categories_that_differ_in_case_only():
    X = pandas.DataFrame({"size": np.tile(["m", "M", "L"], 20), "x": np.arange(60.0)})
    y = np.where(X["size"] == "m", "milli", "mega")
    model = LHTClassifier(gamma=3).fit(X, y)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (number INTEGER, size TEXT COLLATE NOCASE, x REAL)")
    rows = pandas.concat([X, X[:2].assign(size="l")], ignore_index=True)
    connection.executemany("INSERT INTO data VALUES (?, ?, ?)", rows.itertuples(name=None))
    result = exports.read_rows(connection.execute(export_sql(model, keys=["number"])).fetchall())
    connection.close()
    np.testing.assert_array_equal(result.proba, model.predict_proba(rows))
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE data (number INTEGER, size VARCHAR COLLATE NOCASE, x DOUBLE)")
        connection.executemany("INSERT INTO data VALUES (?, ?, ?)", list(rows.itertuples(name=None)))
        query = export_sql(model, keys=["number"], dialect="duckdb")
        result = exports.read_rows(connection.execute(query).fetchall())
    np.testing.assert_array_equal(result.proba, model.predict_proba(rows))


def test_columns_of_numbers_as_categories():
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.integers(0, 4, 300), generator.normal(size=300)]).astype(object)
    y = (X[:, 0] % 2 == 0) ^ (X[:, 1] > 1)
    model = LHTClassifier(categorical_features=[0]).fit(X, y.astype(int))
    connection = exports.open_sqlite(X, ["x0", "x1"])
    result = exports.read_rows(connection.execute(export_sql(model, keys=["row_number"])).fetchall())
    connection.close()
    np.testing.assert_array_equal(result.proba, model.predict_proba(X))
