"""What a format cannot hold is refused, and what SQL is made of is exact."""

import json
import sqlite3
import subprocess
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.exports import runs as exports
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lhtree import (
    LHBoostClassifier,
    LHForestClassifier,
    LHTClassifier,
    export_c,
    export_onnx,
    export_sql,
    save,
)
from lhtree.export import _sql_z, onnx, sql
from lhtree.export._sql_text import write_number
from lhtree.export._walks import check_walkable
from lhtree.model.labels import find_labels
from support.clouds import make_clouds

needs_compiler = pytest.mark.skipif(exports.COMPILER is None, reason="no C compiler")


@pytest.fixture(scope="module")
def model():
    X, y = make_clouds(90, 3, 3)
    return LHTClassifier().fit(X, y)


def fit_named(names, labels=(0, 1)):
    pandas = pytest.importorskip("pandas")
    X, y = make_clouds(40, len(names), len(labels))
    return LHTClassifier().fit(
        pandas.DataFrame(X, columns=pandas.Index(names, dtype=object)), np.array(labels)[y]
    )


def test_infinities_are_refused(model, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    X = np.array([[0.0, 1.0, np.nan], [0.0, -np.inf, 1.0], [np.inf, np.nan, 0.0]])
    export_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    assert session.run(["label"], {"X": X[:1]})[0].tolist() == model.predict(X[:1]).tolist()
    for output in ("label", "probabilities"):
        with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument, match="infinit"):
            session.run([output], {"X": X})


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgresql"])
def test_infinities_are_refused_in_sql(model, dialect, request):
    X = np.array([[0.0, 1.0, np.nan], [0.0, -np.inf, 1.0], [np.inf, np.nan, 0.0]])
    boosted = LHBoostClassifier(max_iter=3).fit(*make_clouds(90, 3, 3))
    server = [request.getfixturevalue("postgresql")] * (dialect == "postgresql")
    for one in (model, boosted):
        with closing(getattr(exports, f"open_{dialect}")(X, ["x0", "x1", "x2"], *server)) as connection:
            rows = connection.execute(export_sql(one, keys=["row_number"], dialect=dialect)).fetchall()
        rows.sort()
        assert [row[1:] for row in rows[1:]] == [(None,) * 4] * 2
        assert rows[0][2:] == tuple(one.predict_proba(X[:1])[0])


@needs_compiler
def test_infinities_are_refused_in_c(model, tmp_path):
    program = exports.compile_c(model, tmp_path)
    row = np.array([0.0, np.inf, 1.0]).tobytes()
    done = subprocess.run([program], input=row, capture_output=True, check=True)
    assert np.frombuffer(done.stdout).tolist() == [-1.0, 0.0, 0.0, 0.0]


@needs_compiler
def test_c_without_ieee_arithmetic_is_refused(model, tmp_path):
    export_c(model, tmp_path / "model.c")
    command = [exports.COMPILER, "-ffast-math", "-c", "model.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "compile without -ffast-math" in done.stderr


@needs_compiler
def test_names_in_c(tmp_path):
    names, labels = ['a"??/b', "größe\n*/", "\\0 %d"], ["ja", "nein '?'"]
    program = exports.compile_c(fit_named(names, labels), tmp_path)
    done = subprocess.run([program, "names"], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == names + labels


@needs_compiler
def test_several_models_in_one_program(model, tmp_path):
    for name in ("one", "n"):  # the file has names like n_targets of its own
        export_c(model, tmp_path / f"{name}.c", name=name)
    (tmp_path / "main.c").write_text(
        "int one_predict(const double*, double*); int n_predict(const double*, double*);"
        "int main(void) { double x[3] = {0}; return one_predict(x, 0) - n_predict(x, 0); }"
    )
    command = [exports.COMPILER, "one.c", "n.c", "main.c", "-o", "both"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "both"], check=True)


def test_facts_in_onnx(tmp_path):
    onnx_library = pytest.importorskip("onnx")
    names, labels = ['a"', "größe\n"], ["ja", "nein"]
    export_onnx(fit_named(names, labels), tmp_path / "model.onnx", dtype="float32")
    file = onnx_library.load(tmp_path / "model.onnx")
    onnx_library.checker.check_model(file, full_check=True)
    facts = {entry.key: json.loads(entry.value) for entry in file.metadata_props}
    assert facts == {"feature_names": names, "classes": labels}
    assert {node.domain for node in file.graph.node} == {""}
    assert [opset.domain for opset in file.opset_import] == [""]


def test_batches_of_any_size(model, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    export_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    X = np.random.default_rng(0).normal(size=(50, 3))
    for n_rows in (0, 1, 2, 50):
        label, proba = session.run(None, {"X": X[:n_rows]})
        assert label.shape == (n_rows,)
        assert np.array_equal(proba, model.predict_proba(X)[:n_rows])


@pytest.mark.parametrize("name", ["", "2x", "a-b", "a" * 40, 3, "Größe"])
def test_names_that_c_does_not_take(model, name, tmp_path):
    with pytest.raises(ValueError, match=r"name=.*C identifier"):
        export_c(model, tmp_path / "model.c", name=name)
    assert not list(tmp_path.iterdir())


def test_arguments(model, tmp_path):
    with pytest.raises(ValueError, match="dtype='float16'"):
        export_onnx(model, tmp_path / "model.onnx", dtype="float16")
    with pytest.raises(
        ValueError, match=r"dialect='oracle'.*'sqlite' or 'duckdb' or 'postgresql' or 'spark'"
    ):
        export_sql(model, dialect="oracle")
    with pytest.raises(ValueError, match="table=''"):
        export_sql(model, table="")
    with pytest.raises(ValueError, match=r"keys=\[3\]"):
        export_sql(model, keys=[3])
    with pytest.raises(TypeError, match="pass a fitted"):
        export_sql("model")


def test_text_that_cannot_be_written(tmp_path):
    zero, broken = fit_named(["a\0b", "c"]), fit_named(["a\ud800b", "c"])
    for bad in (zero, broken):
        with pytest.raises(ValueError, match="cannot be written in C: rename it"):
            export_c(bad, tmp_path / "model.c")
        with pytest.raises(ValueError, match="cannot be written in SQL: rename it"):
            export_sql(bad)
    with pytest.raises(ValueError, match="has 5000 bytes, but C99 allows 4095: shorten it"):
        export_c(fit_named(["x" * 5000, "y"]), tmp_path / "model.c")
    with pytest.raises(ValueError, match="cannot be written in ONNX: rename it"):
        export_onnx(fit_named(["a", "b"], ["x\0y", "z"]), tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_names_that_sql_takes_for_one(model):
    with pytest.raises(ValueError, match="the columns 'Size' and 'size' are the same: rename"):
        export_sql(fit_named(["Size", "size"]))
    with pytest.raises(ValueError, match="output columns 'probability_A' and 'probability_a' are the same"):
        export_sql(fit_named(["x", "y"], ["A", "a"]))
    long = ["x" * 63 + "a", "x" * 63 + "b"]
    assert export_sql(fit_named(long))
    with pytest.raises(ValueError, match="are the same"):
        export_sql(fit_named(long), dialect="postgresql")
    with pytest.raises(ValueError, match="'prediction' and 'prediction' are the same"):
        export_sql(model, keys=["prediction"])


class Labels:
    def __init__(self, labels):
        self.labels = labels


def test_labels_that_cannot_be_written():
    with pytest.raises(TypeError, match=r"the classes \[b'x', b'y'\] cannot be written in C"):
        find_labels(Labels([b"x", b"y"]), "C")
    with pytest.raises(ValueError, match="the class 18446744073709551615 does not fit into 64 bits"):
        find_labels(Labels([1, 2**64 - 1]), "SQL")


def test_models_that_are_too_large(model, monkeypatch, tmp_path):
    X, y = make_clouds(60, 3, 2)
    forest = LHForestClassifier(n_estimators=700, max_depth=1).fit(X, y)
    with pytest.raises(
        ValueError,
        match=r"it needs 2,\d+ columns, more than 2,000\. Fit fewer trees.*, or use export_onnx or export_c\.$",
    ):
        export_sql(forest, force=True)
    forest = LHForestClassifier(n_estimators=500, random_state=0).fit(X, y)
    with pytest.raises(
        ValueError, match=r"500 trees .* about \d+ seconds .*Fit fewer trees.*or pass force=True"
    ):
        export_sql(forest)
    n_terms = len(model._model.trees.hyperplane_weight) + model._model.trees.n_blocks
    monkeypatch.setattr(sql, "_MOST_CHARACTERS", 12 * n_terms)
    with pytest.raises(ValueError, match=r"too large for SQL: its SELECT would have [\d,]+ characters"):
        export_sql(model)
    monkeypatch.setattr(sql, "_MOST_CHARACTERS", 12 * n_terms - 1)
    with pytest.raises(ValueError, match=f"too large for SQL: it has {n_terms:,} weights and blocks"):
        export_sql(model)
    monkeypatch.setattr(sql, "_MOST_LEVELS", model.depth_ - 1)
    with pytest.raises(ValueError, match=f"its trees have up to {model.depth_} levels"):
        export_sql(model)
    assert export_sql(model, force=True).startswith("WITH")
    monkeypatch.setattr(onnx, "_MOST_BYTES", 100)
    with pytest.raises(ValueError, match="an ONNX file is limited to 2 GB"):
        export_onnx(model, tmp_path / "model.onnx")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"link": "softmax"}, "link='softmax'"),
        ({"base": np.zeros(3)}, "initial scores"),
        ({"missing": np.array([0, 1])}, "missing values"),
    ],
)
def test_walks_that_are_not_known_yet(model, change, what):
    kept = {name: getattr(model._model, name) for name in ("link", "base", "clip")}
    trees = SimpleNamespace(**({"target": np.zeros(1), "missing": np.zeros(2)} | change))
    with pytest.raises(ValueError, match=f"{what}.*, which SQL does not support yet: use lhtree.save"):
        check_walkable(SimpleNamespace(**(kept | {"trees": trees} | change)), "SQL")


def test_boosted_models_that_are_too_large(monkeypatch):
    boosted = LHBoostClassifier(max_iter=3, min_samples_leaf=5).fit(*make_clouds(90, 3, 3))
    n_blocks = boosted._model.trees.n_blocks
    monkeypatch.setattr(sql, "_SECONDS_OF_A_BLOCK", 61.0 / n_blocks)
    with pytest.raises(ValueError, match=f"its {n_blocks} blocks .*about 61 seconds.*Lower max_iter"):
        export_sql(boosted)
    assert export_sql(boosted, force=True).startswith("WITH")
    monkeypatch.setattr(sql, "_MOST_JOINS", 1)
    with pytest.raises(
        ValueError, match=r"levels, more than 1\. Lower max_depth, or use export_onnx or export_c\.$"
    ):
        export_sql(boosted, force=True)


def test_a_missing_column_is_an_error(model):
    """SQLite reads an unknown quoted name as text, unless it is named with its table."""
    with (
        closing(exports.open_sqlite(np.zeros((1, 2)), ["x0", "x1"])) as connection,
        pytest.raises(sqlite3.OperationalError, match=r"no such column: t\.x2"),
    ):
        connection.execute(export_sql(model))


def test_tables_and_keys(model):
    with closing(exports.open_sqlite(np.zeros((2, 3)), ["x0", "x1", "x2"], kind="")) as connection:
        connection.execute("""ALTER TABLE data RENAME TO "a ""b"" c" """)
        connection.execute("""ALTER TABLE "a ""b"" c" RENAME COLUMN row_number TO "the 'key'" """)
        rows = connection.execute(export_sql(model, table='a "b" c', keys=["the 'key'", "x1"]))
        names = [column[0] for column in rows.description]
        assert names == ["the 'key'", "x1", "prediction", "probability_0", "probability_1", "probability_2"]
        assert [row[:2] for row in rows.fetchall()] == [(0, 0.0), (1, 0.0)]


@pytest.mark.parametrize("kind", ["TEXT", "REAL", ""])
def test_text_in_a_column_of_numbers(model, kind):
    """SQLite would read any text as 0; an empty cell of a CSV file is text. Digits are a number."""
    connection = exports.open_sqlite(np.zeros((0, 3)), ["x0", "x1", "x2"], kind=kind)
    cells = [("0.5", 1e300, 2), ("", 1.0, 2.0), ("abc", 1.0, 2.0), (b"1", 1.0, 2.0), (None, 2**60, 2.0)]
    connection.executemany("INSERT INTO data VALUES (?, ?, ?, ?)", [(i, *row) for i, row in enumerate(cells)])
    rows = connection.execute(export_sql(model, keys=["row_number"])).fetchall()
    connection.close()
    numbers = np.array([[0.5, 1e300, 2.0], [np.nan, 2.0**60, 2.0]])
    assert [row[2:] for row in rows[1:4]] == [(None,) * 3] * 3
    assert [row[2:] for row in (rows[0], rows[4])] == list(map(tuple, model.predict_proba(numbers)))


@pytest.mark.parametrize("table", ["given", "Scores", "sums", "level0", "given_", "t", "a.b"])
def test_tables_called_like_parts_of_the_query(model, table):
    """SQLite reads a name that the query itself defines as that part of it."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    connection = exports.open_sqlite(X, ["x0", "x1", "x2"])
    connection.execute(f'ALTER TABLE data RENAME TO "{table}"')
    rows = connection.execute(export_sql(model, table=table, keys=["row_number"])).fetchall()
    connection.close()
    np.testing.assert_array_equal(exports.read_rows(rows).proba, model.predict_proba(X))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_exact(value):
    with closing(sqlite3.connect(":memory:")) as connection:
        found = connection.execute(f"SELECT {write_number(value, 'sqlite')}").fetchone()[0]
    assert found == value
    assert isinstance(found, float)


def hard_to_round():
    """Float64 values at and next to those half way between two float32 values."""
    generator = np.random.default_rng(0)
    bits = generator.integers(0, 2**31, 20000, dtype=np.uint32)
    single = bits.view(np.float32)
    single = single[np.isfinite(single) & (single < 1e30)]
    single = np.concatenate(
        [single, (2.0 ** np.arange(-149, 99)).astype(np.float32), np.zeros(1, np.float32)]
    )
    above = np.nextafter(single, np.float32(np.inf)).astype(np.float64)
    half = (single.astype(np.float64) + above) / 2
    values = np.concatenate([half, np.nextafter(half, np.inf), np.nextafter(half, 0.0), above])
    return np.concatenate([values, -values, generator.normal(size=20000)])


def test_sqlite_rounds_to_float32():
    q = hard_to_round()
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE numbers (q REAL)")
    connection.executemany("INSERT INTO numbers VALUES (?)", ([value] for value in q.tolist()))
    halves = f"SELECT q, {_sql_z._split('q', _sql_z._SPLIT_24)} AS h FROM numbers"
    others = f"SELECT q, h, h+(q-h)+(q-h) AS o FROM ({halves})"
    rows = connection.execute(f"SELECT {_sql_z._settle('q', 'h', 'o')} FROM ({others})").fetchall()
    connection.close()
    np.testing.assert_array_equal(np.array(rows)[:, 0], q.astype(np.float32).astype(np.float64))


@pytest.mark.parametrize(
    ("wrap", "remedy"),
    [
        (lambda model: make_pipeline(StandardScaler(), model), r"last step.*pickle or joblib"),
        (lambda model: CalibratedClassifierCV(model, cv=2), r"calibrated_classifiers_.*pickle or joblib"),
        (lambda model: GridSearchCV(model, {}, cv=2), "best_estimator_"),
    ],
)
def test_wrapped_models(wrap, remedy, tmp_path):
    wrapped = wrap(LHTClassifier()).fit(*make_clouds(90, 3, 3))
    for write in (save, export_c, export_onnx):
        with pytest.raises(TypeError, match=f"model is a {type(wrapped).__name__}: .*{remedy}"):
            write(wrapped, tmp_path / "file")
