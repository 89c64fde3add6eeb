"""Exports to SQL: names, sizes, numbers, text in columns of numbers, and infinities."""

import sqlite3
from contextlib import closing
from types import SimpleNamespace

import duckdb
import numpy as np
import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lhtree import LHBoostClassifier, LHForestClassifier, export_sql
from lhtree.export import _sql_query, sql
from lhtree.export._sql_levels import look_up_value
from lhtree.export._sql_query import write_number, write_real, write_short
from lhtree.export._walks import check_plain
from support import exports
from support.clouds import fit_named, make_clouds


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


def test_names_that_sql_takes_for_one(model, rejects):
    rejects(export_sql, fit_named(["Size", "size"]))
    rejects(export_sql, fit_named(["x", "y"], ["A", "a"]))
    long = ["x" * 63 + "a", "x" * 63 + "b"]
    assert export_sql(fit_named(long))
    rejects(export_sql, fit_named(long), dialect="postgresql")
    rejects(export_sql, model, keys=["prediction"])


def test_models_that_are_too_large(model, monkeypatch, rejects):
    X, y = make_clouds(60, 3, 2)
    rejects(export_sql, LHForestClassifier(700, max_depth=1, random_state=0).fit(X, y), force=True)
    rejects(export_sql, LHForestClassifier(500, random_state=0).fit(X, y))
    n_terms = len(model._model.trees.hyperplane_weight) + model._model.trees.n_blocks
    for name, most in (
        ("_MOST_CHARACTERS", 12 * n_terms),
        ("_MOST_CHARACTERS", 12 * n_terms - 1),
        ("_MOST_LEVELS", model.depth_ - 1),
    ):
        monkeypatch.setattr(sql, name, most)
        rejects(export_sql, model)
    assert export_sql(model, force=True).startswith("WITH")


@pytest.mark.parametrize("change", [{"base": np.zeros(3)}, {"missing": np.array([0, 1])}])
def test_unsupported_models_are_rejected(model, change, rejects):
    kept = {name: getattr(model._model, name) for name in ("base", "clip")}
    trees = SimpleNamespace(**({"target": np.zeros(1), "missing": np.zeros(2)} | change))
    rejects(check_plain, SimpleNamespace(**(kept | {"trees": trees} | change)), "SQL")


def test_boosted_models_that_are_too_large(monkeypatch, rejects):
    boosted = LHBoostClassifier(3, growth="free", min_samples_leaf=5, random_state=0).fit(
        *make_clouds(90, 3, 3)
    )
    monkeypatch.setattr(sql, "_SECONDS_OF_A_BLOCK", 61.0 / boosted._model.trees.n_blocks)
    rejects(export_sql, boosted)
    assert export_sql(boosted, force=True).startswith("WITH")
    monkeypatch.setattr(sql, "_MOST_JOINS", 1)
    rejects(export_sql, boosted, force=True)


def test_models_of_too_many_classes(model, monkeypatch, rejects):
    monkeypatch.setattr(sql, "_MOST_TERMS", 2)
    for dialect in ("sqlite", "duckdb"):
        rejects(export_sql, model, dialect=dialect, force=True)
    assert export_sql(model, dialect="postgresql").startswith("WITH")


def test_a_missing_column_is_an_error(model, rejects):
    """SQLite reads an unknown quoted name as text, unless it is named with its table."""
    with closing(exports.open_sqlite(np.zeros((1, 2)), ["x0", "x1"])) as connection, rejects:
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
        for text in (
            write_number(value, "sqlite"),
            write_real(value, "sqlite"),
            f"1.0*{write_short(value, 'sqlite')}",
        ):
            found = connection.execute(f"SELECT {text}").fetchone()[0]
            assert found == value
            assert isinstance(found, float)


def test_numbers_are_exact_in_duckdb_and_postgresql(request):
    rng = np.random.default_rng(0)
    values = [0.1, -97.3, 3818.7, 227.0, 1e-100, 1e100, 2.0**53 + 2, 123456789012345.6]
    values += (rng.normal(size=100) * 10.0 ** rng.integers(-30, 30, 100)).tolist()
    values += rng.normal(size=100).round(3).tolist()
    with duckdb.connect() as one, psycopg.connect(request.getfixturevalue("postgresql")) as other:
        for connection, dialect, real in ((one, "duckdb", "DOUBLE"), (other, "postgresql", "float8")):
            for write in (write_number, write_real, write_short):
                cells = ", ".join(f"CAST(1 AS {real})*{write(value, dialect)}" for value in values)
                assert list(connection.execute(f"SELECT {cells}").fetchone()) == values, write
            cells = ", ".join(write_real(value, dialect) for value in values)
            assert list(connection.execute(f"SELECT {cells}").fetchone()) == values


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16"])
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=9))
@example([0.0, -0.0])
@example([5e-324, -1.7976931348623157e308, 0.1])
@example([0.1, 1e-7, -0.3, 2.0**53 + 2])
def test_listed_values_are_exact_in_sqlite(encoding, values):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"PRAGMA encoding='{encoding}'")
        connection.execute("CREATE TABLE places (i INTEGER)")
        connection.executemany("INSERT INTO places VALUES (?)", [(place,) for place in range(len(values))])
        found = connection.execute(f"SELECT {look_up_value('i', values, 'sqlite')} FROM places ORDER BY i")
        assert [value for (value,) in found] == values


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
    halves = f"SELECT q, {_sql_query._split('q', _sql_query._SPLIT_24)} AS h FROM numbers"
    others = f"SELECT q, h, h+(q-h)+(q-h) AS o FROM ({halves})"
    rows = connection.execute(f"SELECT {_sql_query._settle('q', 'h', 'o')} FROM ({others})").fetchall()
    connection.close()
    np.testing.assert_array_equal(np.array(rows)[:, 0], q.astype(np.float32).astype(np.float64))
