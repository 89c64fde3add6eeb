"""Exports of models with categories, and the examples of the documentation that are no Python."""

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from benchmarks.exports import runs as exports
from sklearn.base import clone
from sklearn.datasets import load_wine

from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier, export_c, export_onnx, export_sql

PAGE = Path(__file__).parents[2] / "docs" / "exports.md"
needs_compiler = pytest.mark.skipif(exports.COMPILER is None, reason="no C compiler")


@pytest.fixture(scope="module")
def adult():
    pytest.importorskip("pandas")
    from support.adult import make_adult

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
    import pandas

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
        connection = pytest.importorskip("duckdb").connect()
        connection.register("table", data.assign(row_number=range(len(data))))
    else:
        connection = pytest.importorskip("psycopg").connect(request.getfixturevalue("postgresql"))
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
def test_onnx_and_c_take_a_number_per_category(adult, estimator, tmp_path):
    """And text for a column of many categories; what is computed in the file need not be passed."""
    pytest.importorskip("onnxruntime")
    X, y, unknown = adult
    model = clone(estimator)
    if isinstance(model, LHForestClassifier):
        model.set_params(missing_indicator=True)
    model.fit(X, y)
    encoding = model._model.encoding
    (country,) = encoding.counted
    assert encoding.is_indicator.any() == isinstance(model, LHForestClassifier)
    for table in (X, unknown, X[:9].assign(country="Atlantis")):
        rows = encoding.encode(table)
        given = np.where(encoding.is_indicator, 7.0, rows)
        c = exports.run_c(model, given, tmp_path)
        given[:, encoding.features_of(country)] = 7.0
        text = table["country"].astype(object).fillna("").to_numpy()[:, None]
        for result in (c, exports.run_onnx(model, given, tmp_path, categories=text)):
            np.testing.assert_array_equal(result.proba, model.predict_proba(table))
            np.testing.assert_array_equal(result.label, model.predict(table))


@needs_compiler
def test_c_looks_up_categories(tmp_path):
    pandas = pytest.importorskip("pandas")
    names = [f"Ω{i % 30}\\" if i % 2 else f"a{i % 30}" for i in range(900)]
    X = pandas.DataFrame({"x": np.arange(900) % 7, "name": names})
    model = LHTClassifier().fit(X, np.arange(900) % 30 % 3)
    export_c(model, tmp_path / "model.c", name="model")
    statistic = model._model.encoding.treatments[1]
    known = [*statistic.categories, "nobody", "a"]
    lines = "".join(f'    puts_number({f}, "{name}");\n' for f in (1, 2, 3) for name in map(escape, known))
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\n#include <math.h>\ndouble model_look_up(int feature, const char *category);\n"
        'static void puts_number(int f, const char *name) { printf("%.17g\\n", model_look_up(f, name)); }\n'
        f"int main(void) {{\n{lines}    return model_look_up(1, NULL) == model_look_up(1, NULL);\n}}\n"
    )
    subprocess.run(
        [exports.COMPILER, *exports.FLAGS, "model.c", "main.c", "-o", "model"], cwd=tmp_path, check=True
    )
    done = subprocess.run([tmp_path / "model"], capture_output=True, text=True, check=True)
    codes = np.r_[np.arange(len(known) - 2), [len(known) - 2] * 2]
    np.testing.assert_array_equal(
        np.array(done.stdout.split(), dtype=float), statistic.values[:, codes].ravel()
    )


def escape(text):
    """Text as a C string."""
    return "".join(f"\\{byte:03o}" for byte in text.encode())


def test_categories_that_differ_in_case_only():
    pandas = pytest.importorskip("pandas")
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
    duckdb = pytest.importorskip("duckdb")
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


@needs_compiler
def test_the_c_of_the_documentation(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    (tmp_path / "main.c").write_text(re.search(r"^```c\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1])
    console = re.search(r"^```console\n\$ cc (.*)\n\$ (.*)\n(.*)\n```$", text, re.MULTILINE)
    X, y = load_wine(return_X_y=True)
    export_c(LHTClassifier().fit(X, load_wine().target_names[y]), tmp_path / "wine.c", name="wine")
    subprocess.run([exports.COMPILER, *console[1].split()], cwd=tmp_path, check=True)
    done = subprocess.run([console[2]], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == console[3] + "\n"


def test_a_missing_extra_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnx", None)
    model = LHTClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'lhtree\[onnx\]'"):
        export_onnx(model, tmp_path / "model.onnx")
