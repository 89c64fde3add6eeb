"""Run exported models: rows in, labels and probabilities out."""

import shutil
import sqlite3
import subprocess
from typing import NamedTuple

import numpy as np

from lhtree import LHBoostClassifier, LHBoostRegressor, export_c, export_onnx, export_sql
from lhtree.tables.normalise import Normalisation

FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"]
MAIN = r"""
#include <stdio.h>
extern const char *const lhtree_features[], *const lhtree_classes[];
int lhtree_predict(const double *x, double *probabilities);
int main(int argc, char **argv) {
    static double x[N], p[K];
    int c;
    if (argc > 1 && argv[1][0] == 'n') { /* names, each with the zero byte that ends it */
        for (c = 0; c < N; ++c) { fputs(lhtree_features[c], stdout); putchar(0); }
        for (c = 0; c < K; ++c) { fputs(lhtree_classes[c], stdout); putchar(0); }
        return 0;
    }
    while (fread(x, sizeof(double), N, stdin) == N) {
        const double cls = lhtree_predict(x, p);
        if (lhtree_predict(x, NULL) != (int)cls) return 1;
        fwrite(&cls, sizeof cls, 1, stdout);
        fwrite(p, sizeof(double), K, stdout);
    }
    return 0;
}
"""
MAIN_NUMBER = r"""
#include <stdio.h>
extern const char *const lhtree_features[];
double lhtree_predict(const double *x);
int main(int argc, char **argv) {
    static double x[N];
    (void)argc, (void)argv;
    while (fread(x, sizeof(double), N, stdin) == N) {
        const double value = lhtree_predict(x);
        fwrite(&value, sizeof value, 1, stdout);
    }
    return 0;
}
"""
MAIN_NUMBERS = r"""
#include <stdio.h>
extern const char *const lhtree_features[], *const lhtree_outputs[];
int lhtree_predict(const double *x, double *values);
int main(int argc, char **argv) {
    static double x[N], values[K];
    (void)argc, (void)argv;
    while (fread(x, sizeof(double), N, stdin) == N) {
        if (lhtree_predict(x, values) != 0 || !lhtree_outputs[K - 1]) return 1;
        fwrite(values, sizeof(double), K, stdout);
    }
    return 0;
}
"""
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


class Result(NamedTuple):
    """Labels (n,) and probabilities (n, K); numbers (n,) or (n, k) and None for a regression."""

    label: np.ndarray
    proba: np.ndarray | None = None


def split_columns(model, X):
    """Return the inputs that ONNX takes for encoded rows: a column of numbers or text each, without ignored ones."""
    encoding, inputs = model._model.encoding, {}
    for column, encoder in enumerate(encoding.encoders):
        own = X[:, encoding.features_of(column)]
        if encoder.categories is not None:
            texts = [*map(str, encoder.categories), "(not seen)", ""]
            inputs[column] = np.array([texts[code] for code in encoder.recall(own)], dtype=object)[:, None]
        elif own.shape[1]:
            inputs[column] = own[:, :1]
    return list(inputs.values())


def run_onnx(model, X, folder, batch=4096, *, single_input=False):
    """Run a model in onnxruntime on encoded rows."""
    import onnxruntime

    path = folder / "model.onnx"
    export_onnx(model, path, dtype=X.dtype.name, single_input=single_input)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    inputs = dict(zip(names, [X] if single_input else split_columns(model, X), strict=True))
    parts = [
        session.run(None, {name: rows[i : i + batch] for name, rows in inputs.items()})
        for i in range(0, len(X), batch)
    ]
    return Result(*map(np.concatenate, zip(*parts, strict=True)))


def compile_c(model, folder, flags=FLAGS):
    export_c(model, folder / "model.c")
    main = MAIN if model._model.head.labels else MAIN_NUMBERS if model._model.outputs else MAIN_NUMBER
    (folder / "main.c").write_text(main)
    sizes = [f"-DN={model._model.n_features}", f"-DK={model._model.n_outputs}"]
    done = subprocess.run(
        [COMPILER, *flags, *sizes, "model.c", "main.c", "-o", "model", "-lm"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "model"


def run_c(model, X, folder, flags=FLAGS):
    program = compile_c(model, folder, flags)
    rows = np.ascontiguousarray(X, dtype=np.float64).tobytes()
    done = subprocess.run([program], input=rows, capture_output=True, check=True)
    if not model._model.head.labels:
        table = np.frombuffer(done.stdout).reshape(len(X), -1)
        return Result(table if model._model.outputs else table[:, 0])
    table = np.frombuffer(done.stdout).reshape(len(X), 1 + model._model.n_classes)
    return Result(model.classes_[table[:, 0].astype(int)], table[:, 1:])


def quote(name):
    return '"' + name.replace('"', '""') + '"'


def open_sqlite(X, names, kind="REAL"):
    connection = sqlite3.connect(":memory:")
    columns = ", ".join(f"{quote(name)} {kind}" for name in names)
    connection.execute(f"CREATE TABLE data (row_number INTEGER PRIMARY KEY, {columns})")
    marks = ", ".join("?" * (1 + len(names)))
    rows = ([i, *row] for i, row in enumerate(X.tolist()))  # sqlite3 writes NaN as NULL
    connection.executemany(f"INSERT INTO data VALUES ({marks})", rows)
    return connection


def open_duckdb(X, names):
    import duckdb
    import pyarrow

    connection = duckdb.connect()
    columns = [pyarrow.array(np.arange(len(X))), *(pyarrow.array(column) for column in X.T)]
    given = pyarrow.Table.from_arrays(columns, ["row_number", *names])
    connection.execute("CREATE TABLE data AS SELECT * FROM given")
    del given
    return connection


def fill_table(connection, frame, kinds):
    """Create table t with the rows of a frame, numbered by column n; columns without a kind have numbers."""
    columns = [f"{quote(name)} {kinds.get(name, 'DOUBLE PRECISION')}" for name in frame]
    connection.execute(f"CREATE TEMPORARY TABLE t (n INTEGER, {', '.join(columns)})")
    rows = [[None if cell != cell else cell for cell in row] for row in frame.astype(object).to_numpy()]
    is_plain = hasattr(connection, "executemany")  # psycopg has it in cursors only, and writes %s
    command = f"INSERT INTO t VALUES ({', '.join(['?' if is_plain else '%s'] * (1 + frame.shape[1]))})"
    many = connection if is_plain else connection.cursor()
    many.executemany(command, [(n, *row) for n, row in enumerate(rows)])


def read_rows(rows, model=None):
    """Return the result of a SELECT with the key row_number, in the order of the rows."""
    rows = sorted(rows)
    assert [row[0] for row in rows] == list(range(len(rows)))
    if model is not None and model._model.outputs:
        return Result(np.array([row[1:] for row in rows]))
    return Result(np.array([row[1] for row in rows]), np.array([row[2:] for row in rows], dtype=float))


def run_sqlite(model, X):
    connection = open_sqlite(X, model._model.feature_names)
    try:
        return read_rows(connection.execute(export_sql(model, keys=["row_number"])).fetchall(), model)
    finally:
        connection.close()


def run_duckdb(model, X):
    with open_duckdb(X, model._model.feature_names) as connection:
        text = export_sql(model, keys=["row_number"], dialect="duckdb")
        return read_rows(connection.execute(text).fetchall(), model)


def open_postgresql(X, names, where):
    """Return a connection to a server (see psycopg.connect) with the rows in a temporary table."""
    import psycopg

    connection = psycopg.connect(where)
    columns = ", ".join(f"{quote(name)} DOUBLE PRECISION" for name in names)
    connection.execute(f"CREATE TEMPORARY TABLE data (row_number INTEGER, {columns})")
    with connection.cursor() as cursor, cursor.copy("COPY data FROM STDIN") as copy:
        for i, row in enumerate(X.tolist()):
            copy.write_row((i, *row))
    return connection


def run_postgresql(model, X, where):
    with open_postgresql(X, model._model.feature_names, where) as connection:
        text = export_sql(model, keys=["row_number"], dialect="postgresql")
        return read_rows(connection.execute(text).fetchall(), model)


SERVER = []  # connection string of PostgreSQL, if there is a server


def runners(model, X, folder):
    """Return all ways to run an exported model, as (name, function)."""
    ways = [
        ("onnx", lambda: run_onnx(model, X, folder)),
        ("sqlite", lambda: run_sqlite(model, X)),
        ("duckdb", lambda: run_duckdb(model, X)),
    ]
    if SERVER:
        ways.append(("postgresql", lambda: run_postgresql(model, X, SERVER[0])))
    return ways + [("c", lambda: run_c(model, X, folder))] * (COMPILER is not None)


def check(model, X, folder):
    """Assert that all exports give the predictions of the model to the bit."""
    label = model.predict(X)
    proba = model.predict_proba(X) if model._model.head.labels else np.empty((len(X), 0))
    for way, run in runners(model, X, folder):
        result = run()
        if result.proba is not None:
            np.testing.assert_array_equal(result.proba, proba, err_msg=way)
        np.testing.assert_array_equal(result.label, label, err_msg=way)


def spoil(X, seed=0):
    """Return the rows, rows between them, with missing values, far away, and an empty row."""
    generator = np.random.default_rng(seed)
    between = (X + X[generator.permutation(len(X))]) / 2
    missing = np.where(generator.random(X.shape) < 0.2, np.nan, X)
    with np.errstate(over="ignore"):
        far = np.clip(X * generator.choice([-1e300, 1e40, 1e-300, 1e6], X.shape), -1e308, 1e308)
    return np.vstack([X, between, missing, far, np.full((1, X.shape[1]), np.nan), np.zeros((1, X.shape[1]))])


def wrap(model):
    """Return an estimator with this model."""
    estimator = LHBoostClassifier() if model.head.labels else LHBoostRegressor()
    estimator._model = model
    return estimator


def one_to_one(n_features):
    return Normalisation(np.zeros(n_features), np.ones(n_features))
