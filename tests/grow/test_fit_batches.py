"""Fitting in batches gives the model that fit gives, to the bit, for any batches."""

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import dataset as arrow_dataset

from lhtree import LHBoostClassifier, LHBoostRegressor, LHForestClassifier
from lhtree.io import csv, read
from lhtree.io import passes as scratch
from lhtree.io.read import read_training
from lhtree.tables import rows as sample
from support.batches import assert_same_model, cut_rows, make_table

FEW = {"max_iter": 3, "max_depth": 3, "random_state": 0, "min_samples_leaf": 5}


@settings(max_examples=12, deadline=None)
@given(
    cuts=st.lists(st.integers(0, 400), max_size=5).map(sorted),
    n_classes=st.sampled_from([0, 2, 3]),
    weights=st.sampled_from(["none", "whole", "real"]),
    stops=st.booleans(),
    most=st.sampled_from([200_000, 150]),
)
def test_batches_of_a_frame_give_the_model_of_fit(cuts, n_classes, weights, stops, most):
    X, raw = make_table()
    random = np.random.default_rng(1)
    weight = {"none": None, "whole": random.integers(0, 4, 400), "real": random.uniform(0, 1, 400)}[weights]
    model = LHBoostClassifier if n_classes else LHBoostRegressor
    y = np.digitize(raw, np.quantile(raw, np.linspace(0, 1, n_classes + 1)[1:-1])) if n_classes else raw
    params = FEW | {"early_stopping": stops, "n_iter_no_change": 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample, "MOST_SAMPLED", most)
        whole = model(**params).fit(X, y, weight)
        assert_same_model(whole, model(**params).fit_batches(cut_rows(X, y, weight, cuts)))


@pytest.mark.parametrize("cuts", [[], [100, 101, 250]])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_batches_of_arrays_give_the_model_of_fit(cuts, dtype, tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "MOST_SAMPLED", 100)
    random = np.random.default_rng(2)
    X = random.normal(size=(300, 4)).astype(dtype)
    X[random.random(X.shape) < 0.1] = np.nan
    y = np.array(["no", "yes"])[(np.nansum(X, axis=1) > 0).astype(int)]
    whole = LHBoostClassifier(**FEW).fit(X, y)
    assert_same_model(whole, LHBoostClassifier(**FEW).fit_batches(cut_rows(X, y, None, cuts)))
    mapped = np.memmap(tmp_path / "X", dtype=dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    for rows in (None, 7, 1000):
        assert_same_model(whole, LHBoostClassifier(**FEW).fit_batches((mapped, y), batch_rows=rows))


@pytest.mark.parametrize("library", ["category", "polars", "arrow", "object"])
def test_batches_of_other_tables_give_the_model_of_fit(library, monkeypatch):
    monkeypatch.setattr(sample, "MOST_SAMPLED", 120)
    X, raw = make_table()
    y = (raw > np.median(raw)).astype(int)
    if library == "category":
        X["colour"] = pd.Categorical(X["colour"], ["red", "blue", "green", "unused"])
    if library == "object":
        X["n_children"] = X["n_children"].astype(object)
    if library == "polars":
        X = polars.from_pandas(X)
    if library == "arrow":
        X = pa.Table.from_pandas(X, preserve_index=False)

    def read():
        for first in range(0, 400, 130):
            rows = X.iloc[first : first + 130] if hasattr(X, "iloc") else X.slice(first, 130)
            yield rows, y[first : first + 130]

    whole = LHBoostClassifier(**FEW).fit(X, y)
    assert_same_model(whole, LHBoostClassifier(**FEW).fit_batches(read))


def test_categories_that_differ_between_batches(monkeypatch):
    monkeypatch.setattr(sample, "MOST_SAMPLED", 120)
    X, raw = make_table()
    order = np.argsort(
        X["colour"].fillna("zzz").to_numpy(), kind="stable"
    )  # missing ones come last, in batches of their own
    X, y = X.iloc[order].reset_index(drop=True), raw[order]
    whole = LHBoostRegressor(**FEW).fit(X, y)
    in_batches = LHBoostRegressor(**FEW).fit_batches(cut_rows(X, y, None, range(20, 400, 20)))
    assert_same_model(whole, in_batches)
    chunks = [X.iloc[:200].copy(), X.iloc[200:].copy()]
    for chunk in chunks:  # each with the categories it has, as readers of chunks give them
        chunk["colour"] = chunk["colour"].astype("category")
    read = lambda: zip(chunks, (y[:200], y[200:]), strict=True)  # noqa: E731
    assert_same_model(whole, LHBoostRegressor(**FEW).fit_batches(read))


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "arrow", "folder"])
@pytest.mark.parametrize("is_regression", [False, True])
def test_files_give_the_model_of_fit(kind, is_regression, tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "MOST_SAMPLED", 120)
    X, raw = make_table()
    table = X.assign(late=raw if is_regression else np.where(raw > np.median(raw), "yes", "no"))
    table["code"] = [
        str(number % 7) if number < 300 else f"x{number % 3}" for number in range(400)
    ]  # text late
    path = tmp_path / f"flights.{kind}"
    if kind == "folder":
        path.mkdir()
        table.iloc[:150].to_parquet(path / "part-0.parquet", index=False)
        table.iloc[150:].to_parquet(path / "part-1.parquet", index=False)
    elif kind == "parquet":
        table.to_parquet(path, index=False, row_group_size=90)
    elif kind == "arrow":
        with (
            pa.OSFile(str(path), "wb") as file,
            pa.ipc.new_file(file, pa.Table.from_pandas(table).schema) as writer,
        ):
            writer.write_table(pa.Table.from_pandas(table), max_chunksize=110)
    else:
        table.to_csv(path, index=False)
    model = LHBoostRegressor if is_regression else LHBoostClassifier
    training = read_training(str(path), "late", task="regression" if is_regression else "classification")
    whole = model(**FEW).fit(training.X, training.y)
    for rows in (None, 37):
        assert_same_model(whole, model(**FEW).fit_batches(path, target="late", batch_rows=rows))


def test_a_dataset_with_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "MOST_SAMPLED", 120)
    X, raw = make_table()
    weight = np.random.default_rng(3).integers(0, 3, 400)
    table = X.assign(late=raw, w=weight)
    table.iloc[:250].to_parquet(tmp_path / "a.parquet", index=False)
    table.iloc[250:].to_parquet(tmp_path / "b.parquet", index=False)
    source = arrow_dataset.dataset(tmp_path)
    whole = LHBoostRegressor(**FEW).fit(pa.Table.from_pandas(X, preserve_index=False), raw, weight)
    for table in (source, source.to_table()):
        fitted = LHBoostRegressor(**FEW).fit_batches(table, target="late", sample_weight="w", batch_rows=60)
        assert_same_model(whole, fitted)
    fitted = LHBoostRegressor(**FEW).fit_batches(str(tmp_path), target="late", sample_weight="w")
    np.testing.assert_array_equal(whole.predict(X), fitted.predict(X))


def test_too_small_disks_are_rejected(tmp_path, monkeypatch, rejects):
    monkeypatch.setattr(sample, "MOST_SAMPLED", 20)
    monkeypatch.setattr(scratch.shutil, "disk_usage", lambda place: type("Usage", (), {"free": 100}))
    X = np.random.default_rng(0).normal(size=(50, 3))
    rejects(LHBoostRegressor(**FEW).fit_batches, (X, X[:, 0]), scratch_dir=str(tmp_path))


@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError])
def test_scratch_files_are_removed(failure, tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "MOST_SAMPLED", 20)
    X, n_calls = np.random.default_rng(0).normal(size=(50, 3)), 0

    def read():
        nonlocal n_calls
        n_calls += 1
        yield X[:25], X[:25, 0]
        if n_calls == 2:
            raise failure
        yield X[25:], X[25:, 0]

    model = LHBoostRegressor(**FEW)
    with pytest.raises(failure):
        model.fit_batches(read, scratch_dir=str(tmp_path))
    assert n_calls == 2
    assert not hasattr(model, "n_iter_")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("source", "options"),
    [
        (42, {}),
        ("table.csv", {}),
        (lambda: iter([]), {}),
        (lambda: iter([np.zeros(3)]), {}),
        (lambda: iter([]), {"target": "y"}),
        (([[1.0]], [1.0]), {}),
        ((np.zeros((3, 1)), np.zeros(2)), {}),
        ((np.full((3, 1), np.inf), np.zeros(3)), {}),
        ((np.zeros((3, 1)), np.zeros(3)), {"batch_rows": -1}),
        ((np.zeros((3, 1)), np.arange(3.0), np.zeros(3)), {}),
    ],
)
def test_invalid_sources_are_rejected(source, options, rejects):
    rejects(LHBoostRegressor(**FEW).fit_batches, source, **options)


def test_inconsistent_batches_are_rejected(rejects):
    X = np.zeros((4, 2))
    y = np.arange(4.0)
    for batches in (
        [(X, y), (X[:, :1], y)],
        [(X, y), (X, y, y)],
        [(X, y, y[:2])],
        [(pd.DataFrame({"a": [1.0, 2.0]}), y[:2]), (pd.DataFrame({"a": ["x", "y"]}), y[:2])],
        [(X, y[:2])],
    ):
        rejects(LHBoostRegressor(**FEW).fit_batches, lambda batches=batches: iter(batches))


CHANGES = {
    "others": lambda table: table.iloc[::-1],
    "more": lambda table: pd.concat([table, table.iloc[:7]]),
    "393": lambda table: table.iloc[:-7],
    "other columns": lambda table: table.rename(columns={"age": "years"}),
}


def write_table(table, path, kind):
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path, index=False)


@pytest.mark.parametrize("n_passes", [1, 2])
@pytest.mark.parametrize("told", CHANGES)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("target", ["class", "number"])
def test_files_that_change_between_passes_are_refused(
    kind, target, told, n_passes, tmp_path, monkeypatch, rejects
):
    monkeypatch.setattr(sample, "MOST_SAMPLED", 120)
    X, raw = make_table()
    table = X.assign(late=np.where(raw > 0, "yes", "no") if target == "class" else raw)
    path, opened, open_stream = tmp_path / f"data.{kind}", [], read.open_stream
    write_table(table, path, kind)

    def open_and_change(*given):
        if len(opened) == n_passes:
            write_table(CHANGES[told](table), path, kind)
        opened.append(given)
        return open_stream(*given)

    monkeypatch.setattr(read, "open_stream", open_and_change)
    model = LHBoostClassifier(**FEW) if target == "class" else LHBoostRegressor(**FEW)
    rejects(model.fit_batches, path, target="late", batch_rows=150)


class ChangingDataset:
    """A dataset of another table from its second pass on."""

    def __init__(self, first, later):
        self._tables = [first, later]
        self.schema = first.schema

    def to_batches(self, batch_size):
        table = self._tables.pop(0) if len(self._tables) > 1 else self._tables[0]
        return table.to_batches(batch_size)


@pytest.mark.parametrize("told", ["others", "more", "393"])
def test_datasets_that_change_between_passes_are_refused(told, monkeypatch, rejects):
    monkeypatch.setattr(sample, "MOST_SAMPLED", 120)
    X, raw = make_table()
    tables = [
        pa.Table.from_pandas(frame, preserve_index=False)
        for frame in (X.assign(late=raw), CHANGES[told](X.assign(late=raw)))
    ]
    rejects(LHBoostRegressor(**FEW).fit_batches, ChangingDataset(*tables), target="late", batch_rows=150)


def test_datasets_whose_file_is_removed_between_passes_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "MOST_SAMPLED", 120)
    X, raw = make_table()
    path = tmp_path / "data.parquet"
    X.assign(late=raw).to_parquet(path)

    dataset = arrow_dataset.dataset(path)

    class Removed(ChangingDataset):
        def to_batches(self, batch_size):
            if len(self._tables) == 1:
                path.unlink()
            self._tables.pop()
            return dataset.to_batches(batch_size=batch_size)

    with pytest.raises(
        ValueError, match=r"source cannot be read .*: if its files were changed while they were read"
    ):
        LHBoostRegressor(**FEW).fit_batches(Removed(dataset, dataset), target="late", batch_rows=150)


@pytest.mark.parametrize("make", [pd.DataFrame, pa.Table.from_pandas, lambda frame: frame.to_numpy()])
def test_infinities_in_later_batches_are_named_by_their_row(make, rejects):
    frame = pd.DataFrame({"a": np.arange(90.0), "b": 1.0})
    frame.loc[70, "a"] = np.inf
    tables = [make(frame.iloc[first : first + 30].reset_index(drop=True)) for first in (0, 30, 60)]
    frames = [frame.assign(c="text").iloc[first : first + 30] for first in (0, 30, 60)]
    for batches in (tables, frames):
        rejects(
            LHBoostRegressor(**FEW).fit_batches,
            lambda batches=batches: ((X, np.arange(30.0)) for X in batches),
        )


@pytest.mark.parametrize(("name", "value"), [("warm_start", True), ("calibrate", "sigmoid")])
def test_unsupported_parameters_are_rejected(name, value, rejects):
    rejects(LHBoostClassifier(**{name: value}).fit_batches, (np.zeros((4, 1)), np.array([0, 1, 0, 1])))


@pytest.mark.parametrize(
    ("most_sampled", "make", "n_parses"),
    [
        (1000, lambda: LHBoostClassifier(**FEW), 2),
        (100, lambda: LHBoostClassifier(**FEW), 3),
        (100, lambda: LHForestClassifier(3, max_samples=50, oob_score=True, random_state=0), 3),
        (
            100,
            lambda: LHForestClassifier(
                3, max_samples=50, oob_score=True, direction="mixed", min_samples_leaf="auto", random_state=0
            ),
            3,
        ),
        (100, lambda: LHForestClassifier(3, max_samples=50, min_samples_leaf=5, random_state=0), 3),
    ],
)
def test_csv_files_are_parsed_a_fixed_number_of_times(most_sampled, make, n_parses, tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "MOST_SAMPLED", most_sampled)
    X, raw = make_table()
    X["late"] = np.where(raw > np.median(raw), "yes", "no")
    X.to_csv(tmp_path / "data.csv", index=False)
    parse, seen = csv.cut_records, []
    monkeypatch.setattr(csv, "cut_records", lambda *given: seen.append(given) or parse(*given))
    model = make().fit_batches(str(tmp_path / "data.csv"), target="late")
    assert len(seen) == n_parses
    assert model._model.encoding.counted == [3]  # a column has many categories
