"""Columns of dates become days before the newest date, years, months and weekdays, in memory, batches and files."""

import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lhtree
from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier
from lhtree.tables.encoders import Dates
from lhtree.tables.learn import learn_encoding
from support.batches import assert_same_model
from support.shop import fail, run, succeed


def make_loans(n=300):
    """Return a frame with a column of dates that decides, and classes."""
    generator = np.random.default_rng(0)
    days = generator.integers(18000, 19500, n)
    X = pd.DataFrame({"opened": days.astype("M8[D]").astype("M8[s]"), "income": generator.normal(30, 8, n)})
    X.loc[::20, "opened"] = pd.NaT
    return X, pd.Series(np.where((days > 18800) ^ (generator.random(n) < 0.05), "bad", "good"), name="status")


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.one_of(st.none(), st.dates(datetime.date(1, 1, 1), datetime.date(9999, 12, 31))), min_size=1)
)
def test_features_are_those_of_the_calendar(dates):
    days = np.array([None if one is None else one.toordinal() - 719163 for one in dates], dtype=float)
    encoder = Dates(20000)
    encoded = np.empty((len(dates), 4))
    encoder.write(days, encoded)
    for date, row in zip(dates, encoded, strict=True):
        if date is None:
            assert np.isnan(row).all()
            assert encoder.decode(row) is None
        else:
            newest = datetime.date(1970, 1, 1) + datetime.timedelta(20000)
            assert row.tolist() == [(newest - date).days, date.year, date.month, date.isoweekday()]
            assert encoder.decode(row) == date.isoformat()


def test_all_libraries_give_the_same_features():
    days = [datetime.date(2024, 1, 31), None, datetime.date(2020, 2, 29)]
    times = [None if day is None else datetime.datetime(day.year, day.month, day.day, 23, 59) for day in days]
    zone = datetime.timezone(datetime.timedelta(hours=5))
    zoned = [None if time is None else time.replace(tzinfo=zone) for time in times]
    columns = [
        *(pd.DataFrame({"day": own}) for own in (pd.to_datetime(times), pd.Series(days, dtype=object))),
        pd.DataFrame({"day": pd.Series(zoned, dtype="datetime64[us, UTC+05:00]")}),
        *(pl.DataFrame({"day": own}) for own in (days, times)),
        *(pa.table({"day": own}) for own in (days, times, pa.array(zoned, pa.timestamp("us", "+05:00")))),
        np.array([[None if day is None else np.datetime64(day)] for day in days], dtype="M8[D]"),
    ]
    expected = [[0, 2024, 1, 3], [np.nan] * 4, [1432, 2020, 2, 6]]
    for X in columns:
        encoding = learn_encoding(X, "from_dtype")
        assert np.array_equal(encoding.encode(X), expected, equal_nan=True)
    encoding = learn_encoding(columns[0], None)
    assert encoding.feature_names == [
        "day (days before 2024-01-31)",
        "day (year)",
        "day (month)",
        "day (weekday)",
    ]
    texts = [{"day": "2024-01-31T10:00"}, {"day": None}, {"day": "2020-02-29"}]
    assert np.array_equal(encoding.encode(texts), expected, equal_nan=True)
    assert np.isnan(encoding.encode([{"day": None}])).all()


def test_batches_give_the_same_model():
    X, y = make_loans()
    one = LHBoostClassifier(5, random_state=0).fit(X, y)
    parts = [(X[a:b], y[a:b]) for a, b in ((0, 90), (90, 100), (100, 300))]
    assert_same_model(LHBoostClassifier(5, random_state=0).fit_batches(lambda: iter(parts)), one)
    empty = [(X[:20].assign(opened=pd.NaT), y[:20]), (X, y)]
    both = pd.concat([part for part, _ in empty]), pd.concat([part for _, part in empty])
    assert_same_model(
        LHBoostClassifier(5, random_state=0).fit_batches(lambda: iter(empty)),
        LHBoostClassifier(5, random_state=0).fit(*both),
    )


def test_files_give_the_same_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = make_loans()
    X.assign(status=y).to_csv("loans.csv", index=False)
    X.assign(status=y).to_parquet("loans.parquet")
    fit = ("--target", "status", "--rounds", 5, "--quiet")
    succeed(capsys, "fit", "loans.csv", *fit, "--out", "csv.lht")
    succeed(capsys, "fit", "loans.parquet", *fit, "--out", "parquet.lht")
    succeed(capsys, "fit", "loans.csv", *fit, "--out", "batches.lht", "--out-of-core")
    model = LHBoostClassifier(5, random_state=0).fit(X, y)
    for name in ("csv.lht", "parquet.lht", "batches.lht"):
        assert np.array_equal(lhtree.load(name).predict_proba(X), model.predict_proba(X))
        succeed(capsys, "predict", name, "loans.csv", "--proba", "--out", "scores.csv", "--quiet")
        scores = pd.read_csv("scores.csv")
        assert scores.iloc[:, -2:].to_numpy() == pytest.approx(model.predict_proba(X), abs=1e-6)
    assert "days before" in succeed(capsys, "inspect", "csv.lht").out
    assert run(capsys, "monitor", "csv.lht", "loans.csv").code == 0
    shown = succeed(
        capsys, "explain", "csv.lht", "--values", "opened=2021-05-06", "--values", "income=3", "--json"
    )
    assert json.loads(shown.out)["row"] == {"opened": "2021-05-06", "income": 3.0}
    pd.DataFrame({"opened": ["6.5.2021"] * 30, "status": ["a", "b"] * 15, "income": 1.0}).to_csv(
        "a.csv", index=False
    )
    assert "2026-01-31" in fail(capsys, "fit", "a.csv", *fit, "--out", "a.lht").err
    assert "expects dates" in fail(capsys, "predict", "csv.lht", "a.csv", "--out", "b.csv").err


@pytest.mark.parametrize("estimator", [LHBoostClassifier(10, random_state=0), LHTClassifier()], ids=str)
def test_explanations_show_dates(estimator, tmp_path):
    X, y = make_loans()
    model = estimator.fit(X, y)
    explanation = model.explain(X.iloc[1])
    day = str(X["opened"][1])[:10]
    assert explanation.row["opened"] == day
    assert f"opened = {day}" in str(explanation)
    assert model.explain(X.iloc[0]).row["opened"] is None
    labels = model.effects(X, ["opened"], n_groups=4)["opened"].labels
    assert labels[0].startswith(str(X["opened"].min())[:10])
    assert labels[-2].endswith(str(X["opened"].max())[:10])
    found = lhtree.reasons(model, X.sort_values("opened")[:3], n=2)
    own = found[found["column"] == "opened"]
    assert set(own["value"]) <= {str(one)[:10] for one in X["opened"]}
    assert set(own["comparison"]) <= {"early: before 90 % of training rows"}
    for one in (*explanation.counterfactuals(), *model.explain(X.iloc[2]).counterfactuals()):
        assert "opened" not in one.changes
    lhtree.save(model, tmp_path / "dates.lht")
    assert np.array_equal(lhtree.load(tmp_path / "dates.lht").predict_proba(X), model.predict_proba(X))
    text = lhtree.document(tmp_path / "dates.lht", tmp_path / "a.md").read_text(encoding="utf-8")
    assert f"{str(X['opened'].min())[:10]} to {str(X['opened'].max())[:10]}" in text


def test_rules_of_compact_trees_name_parts_of_dates():
    X, y = make_loans()
    model = lhtree.CompactLHTClassifier(random_state=0).fit(X, y)
    assert "opened (days before" in str(model.rules())


def test_drift_of_dates_is_found():
    X, y = make_loans()
    model = LHForestClassifier(5, random_state=0).fit(X, y)
    later = X.assign(opened=X["opened"] + pd.Timedelta(days=900))
    columns = {one.column: one for one in lhtree.monitor(model, later).columns}
    assert (columns["opened"].level, columns["income"].level) == ("large", "stable")
    assert columns["opened"].outside > 0.3


def test_other_values_than_dates_are_rejected(rejects, tmp_path):
    X, y = make_loans()
    model = LHBoostClassifier(3, random_state=0).fit(X, y)
    rejects(model.predict, X.assign(opened=3.0))
    rejects(model.predict, [{"opened": "6.5.2021", "income": 3.0}])
    for text in ("20210506", "today", "2021-02-30"):
        rejects(model.predict, [{"opened": text, "income": 3.0}])
    rejects(LHBoostClassifier(3, monotonic_cst={"opened": 1}).fit, X, y)
    rejects(LHBoostClassifier(3, categorical_features=["opened"]).fit, X, y)
    rejects(LHBoostClassifier(3).fit, X.assign(opened=X["opened"] - X["opened"].min()), y)
    parts = [(X[:100], y[:100]), (X[100:].assign(opened=3.0), y[100:])]
    rejects(LHBoostClassifier(3).fit_batches, lambda: iter(parts))
    for export in (lhtree.export_c, lhtree.export_onnx):
        rejects(export, model, tmp_path / "a.out")
    rejects(lhtree.export_sql, model)
    additive = lhtree.AdditiveLHTClassifier(n_bags=2, max_iter=20, random_state=0).fit(X, y)
    rejects(additive.to_excel)
