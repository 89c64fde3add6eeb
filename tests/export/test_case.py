"""Compact trees in SQL: one CASE expression that a person could have written."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import duckdb
import numpy as np
import psycopg
import pytest
from hypothesis import given, settings
from sklearn.datasets import load_wine

from lhtree import CompactLHTClassifier, CompactLHTRegressor, export_sql
from lhtree.export import sql
from lhtree.scorer import Scorer
from support.clouds import make_clouds
from support.compact import CHAINS, make_model, models
from support.exports import fill_table


def compare(connection, dialect, model, frame):
    scorer = Scorer(model)
    fill_table(connection, frame, {"colour": "TEXT", "plan": "INTEGER"})
    query = export_sql(scorer, table="t", keys=["n"], dialect=dialect)
    found = sorted(connection.execute(query).fetchall())
    connection.execute("DROP TABLE t")
    assert [row[1] for row in found] == scorer.predict(frame).tolist()
    np.testing.assert_array_equal([row[2:] for row in found], scorer.predict_proba(frame))


@settings(max_examples=settings().max_examples * 2 // 5)
@given(model=models())
def test_sqlite(model):
    with closing(sqlite3.connect(":memory:")) as connection:
        compare(connection, "sqlite", *model)


@settings(max_examples=settings().max_examples // 5)
@given(model=models())
def test_duckdb(model):
    with duckdb.connect() as connection:
        compare(connection, "duckdb", *model)


@pytest.mark.parametrize("seed", range(4))
def test_postgresql(postgresql, seed):
    with psycopg.connect(postgresql) as connection:
        for n_classes in (2, 3):
            compare(
                connection, "postgresql", *make_model(seed, "text", n_classes, 7, digits=(3, None)[seed % 2])
            )


def read_case(model, **options):
    """Return the CASE expression of a model."""
    text = export_sql(model, **options)
    return text[text.index(", CASE\n") + 2 : text.index("\nEND AS ")] + "\nEND"


def test_text_of_a_classifier():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = CompactLHTClassifier(max_passes=1).fit(X, load_wine().target_names[y])
    text = export_sql(model, dialect="duckdb")
    case = read_case(model, dialect="duckdb")
    assert case.count("CASE") == 1
    assert case.count("THEN") == model.n_leaves_ - 1
    assert case.startswith("CASE\n  WHEN ")
    assert ' * "alcohol" + ' in case
    assert "'class_0'" in text


def test_text_of_a_regressor():
    X, _ = make_clouds(200, 2, 2)
    model = CompactLHTRegressor(penalty=0.1, max_leaf_nodes=2).fit(X, 10.0 * (X[:, 0] > 0.0))
    case = read_case(model)
    low, high = sorted(set(model.predict(X)))
    assert case == f'CASE\n  WHEN "x0" < 0 THEN {low}\n  ELSE {high}\nEND'


def test_blocks_that_branch_on_both_sides_are_nested():
    model = next(
        model
        for model in (make_model(seed, n_leaves=8, digits=3)[0] for seed in range(20))
        if (model.trees.left[1:3] >= 0).all()
    )
    lines = read_case(Scorer(model)).splitlines()
    assert lines[1].endswith(" THEN CASE")
    assert lines[2].startswith("    WHEN ")
    assert "  END" in lines


def test_names_that_differ_in_case_only_are_numbered():
    X, y = make_clouds(90, 2, 2)
    model = CompactLHTClassifier(max_passes=1).fit(X, y)
    encoding = replace(model._model.encoding, names=("is_infinite", "b"))
    model._model = replace(model._model, encoding=encoding)
    assert "z0" in read_case(model)
    assert '"is_infinite"' not in read_case(model)


@pytest.mark.parametrize("chain", CHAINS)
def test_deep_trees(chain, engine):
    """SQLite parses about 19 CASE inside each other."""
    dialect, connection = engine
    compare(connection, dialect, *make_model(0, left=CHAINS[chain]))


def test_sums_of_many_terms_are_rejected(monkeypatch, rejects):
    model = Scorer(make_model(0, n_leaves=8)[0])
    widest = int(np.diff(model._model.trees.hyperplane_ptr).max())
    monkeypatch.setattr(sql, "_MOST_TERMS", widest - 1)
    for dialect in ("sqlite", "duckdb"):
        rejects(export_sql, model, dialect=dialect, force=True)
    assert export_sql(model, dialect="postgresql").startswith("WITH")
