"""Additive models in SQL: a CASE per column that a person could have written, equal to the model to the bit."""

import sqlite3
from contextlib import closing
from functools import cache

import numpy as np
import pandas as pd
import pytest

from lhtree import AdditiveLHTClassifier, AdditiveLHTRegressor, export_sql
from support.additive import FAST, make_people
from support.exports import fill_table


def disturb(model, X):
    """Return the rows, rows at every edge and just beside it, and a row of categories that were not seen."""
    parts = [
        X,
        X.iloc[[0]].assign(town="East"),
        X.iloc[[0]].assign(age=1e300),
        X.iloc[[0]].assign(age=-1e300),
    ]
    for curve in model.curves_:
        if curve.edges is None:
            continue
        for factor in (1.0, 1 - 1e-16, 1 - 1e-15, 1 + 1e-15, 1 - 1e-8, 1 + 1e-8, 1 - 1e-6):
            rows = pd.concat([X.iloc[[1]]] * len(curve.edges), ignore_index=True)
            parts.append(rows.assign(**{curve.name: curve.edges * factor}))
    return pd.concat(parts, ignore_index=True).astype({"town": object})


@cache
def fit(kind):
    X, score = make_people(income='in"come')
    options = FAST | {"interactions": [("age", 'in"come'), ("age", "town")]}
    if kind == "number":
        return AdditiveLHTRegressor(**options).fit(X, 1000.0 * score), X
    if kind == "log":
        return AdditiveLHTRegressor("poisson", **options).fit(X, np.exp(score / 3)), X
    y = np.digitize(score, [0.0, 2.0] if kind == "three" else [1.0])
    if kind == "statistic":
        return AdditiveLHTClassifier(max_one_hot=2, **options).fit(X, y), X
    return AdditiveLHTClassifier(**options).fit(X, y), X


@pytest.mark.parametrize("kind", ["two", "three", "number", "log", "statistic"])
def test_every_engine_predicts_as_the_model(engine, kind):
    dialect, connection = engine
    model, X = fit(kind)
    rows = disturb(model, X)
    fill_table(connection, rows, {"town": "TEXT COLLATE NOCASE" if dialect == "sqlite" else "TEXT"})
    found = sorted(connection.execute(export_sql(model, table="t", keys=["n"], dialect=dialect)).fetchall())
    assert [row[1] for row in found] == model.predict(rows).tolist()
    if kind in ("two", "three", "statistic"):
        np.testing.assert_array_equal([row[2:] for row in found], model.predict_proba(rows))


def test_every_column_has_one_case():
    X, score = make_people(income='in"come')
    model = AdditiveLHTClassifier(0, max_steps=3, **FAST).fit(X, score > 1)
    text = export_sql(model)
    part = text[text.index("terms_ AS") : text.index("sums_ AS")]
    assert part.count("CASE\n") == 3
    assert '  WHEN "age" IS NULL THEN 0.0\n  WHEN "age" < ' in part
    assert "  WHEN \"town\" = 'o''west' THEN " in part
    assert part.count("e0") == 0  # values are decimals, no fractions
    first = model.curves_[0]
    assert f"THEN {float(first.values[0])!r}\n" in part


def test_names_that_are_the_same_in_sql_are_numbered():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"true": random.normal(size=80), "is_infinite": random.normal(size=80)})
    model = AdditiveLHTClassifier(0, **FAST).fit(X, X["true"] > 0)
    with closing(sqlite3.connect(":memory:")) as connection:
        X.to_sql("data", connection, index_label="n")
        found = sorted(connection.execute(export_sql(model, keys=["n"])).fetchall())
    np.testing.assert_array_equal([row[2:] for row in found], model.predict_proba(X))


def test_edges_far_from_the_centre_are_kept():
    x = 10.0 ** np.arange(0, 200)
    model = AdditiveLHTRegressor(interactions=0, min_samples_leaf=1, **FAST).fit(
        x[:, None], np.sin(np.arange(200) / 20)
    )
    edges = model.curves_[0].edges
    rows = np.concatenate([x, edges, np.nextafter(edges, 0.0), -edges])
    centre, scale = (float(values[0]) for values in model._model.normalisation)
    assert (edges - centre).max() / scale > 1000.0 * model._model.clip
    with closing(sqlite3.connect(":memory:")) as connection:
        pd.DataFrame({"x0": rows}).to_sql("data", connection, index_label="n")
        found = sorted(connection.execute(export_sql(model, keys=["n"])).fetchall())
    assert [row[1] for row in found] == model.predict(rows[:, None]).tolist()


def test_rows_with_infinite_values_have_no_prediction():
    X, score = make_people(income='in"come')
    model = AdditiveLHTRegressor(interactions=0, **FAST).fit(X, score)
    with closing(sqlite3.connect(":memory:")) as connection:
        fill_table(connection, X.iloc[:1].assign(age=np.inf).astype({"town": object}), {"town": "TEXT"})
        assert connection.execute(export_sql(model, table="t")).fetchall() == [(None,)]
