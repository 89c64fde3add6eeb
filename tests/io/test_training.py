"""Tables of files to train with: formats, types, names and classes; one test per error."""

import gzip
import io
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from lhtree.io.read import read_training
from lhtree.io.source import Reading
from support.table_files import FORMATS, write


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_table(shop, name):
    FORMATS[name](shop, name)
    X, y, n_dropped = read_training(name, "kind")
    assert X.columns.tolist() == ["size", "colour", "rooms"]
    np.testing.assert_array_equal(X["size"], shop["size"])
    np.testing.assert_array_equal(X["rooms"], shop["rooms"])
    assert X["colour"].cat.categories.tolist() == ["blue", "green", "red"]
    assert X["colour"].astype(object).where(X["colour"].notna(), None).tolist() == [
        None if value is np.nan or value is None else value for value in shop["colour"].astype(object)
    ]
    assert y.tolist() == shop["kind"].tolist()
    assert n_dropped == 0


@pytest.mark.parametrize("name", ["data.parquet", "data.arrow"])
def test_the_index_of_a_frame_is_no_column(shop, name):
    table = pa.Table.from_pandas(shop[shop["size"] > 45])
    assert "__index_level_0__" in table.column_names
    (parquet.write_table if name == "data.parquet" else feather.write_feather)(table, name)
    assert read_training(name, "kind").X.columns.tolist() == ["size", "colour", "rooms"]


@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data.arrow", "stream"])
def test_stdin_by_content(shop, name, pack, monkeypatch):
    if name == "stream":
        table = pa.Table.from_pandas(shop, preserve_index=False)
        with pa.OSFile(name, "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    else:
        FORMATS[name](shop, name)
    with open(name, "rb") as file:
        content = file.read()
    stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(content) if pack else content))
    monkeypatch.setattr(sys, "stdin", stdin)
    X, y, _ = read_training("-", "kind")
    np.testing.assert_array_equal(X["size"], shop["size"])
    assert y.tolist() == shop["kind"].tolist()


def test_stdin_that_is_a_terminal(monkeypatch, refuse):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    refuse(read_training, "-", "y")


class TestTypes:
    def column(self, values, reading=None, **options):
        rows = "".join(f'"{value}",{"ab"[i % 2]}\n' for i, value in enumerate(values))
        return read_training(write(f"x,y\n{rows}"), "y", reading, **options).X["x"]

    @pytest.fixture
    def refuse_numbers(self, refuse):
        """Values are rejected, except as categories."""

        def check(values, reading=None):
            refuse(self.column, values, reading)
            assert self.column(values, reading, categorical=["x"]).notna().any()

        return check

    @pytest.mark.parametrize(
        "marker", ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?", "-", " ", " ? "]
    )
    def test_missing(self, marker):
        np.testing.assert_array_equal(self.column(["1", marker, "2"]), [1.0, np.nan, 2.0])
        np.testing.assert_array_equal(self.column(["True", marker, "0"]), [1.0, np.nan, 0.0])
        assert self.column(["u", marker, "v"]).isna().tolist() == [False, True, False]

    def test_numbers_in_many_spellings(self):
        values = ["1", " 2", "3 ", "+4", "-5", "6.", ".5", "1e3", "1E-3", "-0", "007", "TRUE", " false"]
        np.testing.assert_array_equal(self.column(values), [1, 2, 3, 4, -5, 6, 0.5, 1000, 0.001, 0, 7, 1, 0])

    @pytest.mark.parametrize("odd", ["1_000", "0x10", "1d", "١", "1 2", "--1", "1e", "e5", ".", "yes", "T"])
    def test_text_without_numbers_is_a_category(self, odd):
        assert self.column(["1", odd, "1"]).cat.categories.tolist() == sorted({"1", odd})

    def test_categories(self):
        assert self.column([" red", "red ", "red"]).cat.categories.tolist() == ["red"]
        assert self.column(["", "NA", "?"]).isna().all()
        column = self.column(["01", "1", "", "10"], categorical=["x"])
        assert column.cat.categories.tolist() == ["01", "1", "10"]
        assert column.isna().tolist() == [False, False, True, False]
        values = ["a,b", "say 'hi'", "two\nlines", "a,b"]
        assert self.column(values).tolist() == values

    @pytest.mark.parametrize(
        ("values", "read", "categories"),
        [
            ([1.0, 2.5, None, 10.0], [1.0, 2.5, np.nan, 10.0], ["1", "10", "2.5"]),
            ([True, False, None, True], [1.0, 0.0, np.nan, 1.0], ["False", "True"]),
        ],
    )
    def test_types_of_parquet(self, values, read, categories):
        pd.DataFrame({"x": values, "y": list("abab")}).to_parquet("data.parquet")
        np.testing.assert_array_equal(read_training("data.parquet", "y").X["x"], read)
        column = read_training("data.parquet", "y", categorical=["x"]).X["x"]
        assert column.cat.categories.tolist() == categories
        assert column.isna().tolist() == [False, False, True, False]

    def test_decimal_commas(self, refuse_numbers):
        refuse_numbers(["1,5", "2", "-3,25"])
        decimal = Reading(decimal=",")
        assert self.column(["1,5", "2", "-3,25"], decimal).tolist() == [1.5, 2.0, -3.25]
        assert self.column(["1.5", "2", "-3,25"], decimal).cat.categories.tolist() == ["-3,25", "1.5", "2"]

    @pytest.mark.parametrize(
        ("values", "decimal"),
        [
            (["1.326,2", "876,3", ""], ","),
            (["950", "1,234,567"], "."),
            (["-1,234.5", "2"], "."),
            (["1'000", "2"], "."),
            (["12 500", "1 250 000"], ","),
            (["950", "52,300"], "."),
        ],
    )
    def test_thousands_signs(self, values, decimal, refuse_numbers):
        refuse_numbers(values, Reading(decimal=decimal))

    @pytest.mark.parametrize(
        "values", [["$23,455.61", "$1", "2"], ["-1.234,50 €", "7 €"], ["USD 5", ""], ["5.3%", "7 %", "0"]]
    )
    def test_currencies_and_percentages(self, values, refuse_numbers):
        refuse_numbers(values)
        assert self.column([*values, "free"]).dtype == "category"

    def test_digits_with_leading_zeros_are_categories(self):
        column = self.column(["00123", " 04567", "10115", ""])
        assert column.cat.categories.tolist() == ["00123", "04567", "10115"]
        assert column.isna().tolist() == [False, False, False, True]
        assert self.column(["0", "1", "10"]).tolist() == [0, 1, 10]
        assert self.column(["00.5", "01", "-01"]).tolist() == [0.5, 1, -1]

    def test_infinity(self, refuse):
        refuse(self.column, ["1", "inf", "1e999"])

    @pytest.mark.parametrize(
        "dates", [["31.1.2024", "1.2.24"], ["2024-01-31", "1.2.2024"], ["10:05", "11:00"]]
    )
    def test_dates(self, dates, refuse_numbers):
        refuse_numbers(dates)

    @pytest.mark.parametrize("values", [pd.to_timedelta([1, 2], "h"), [[1], [2]]], ids=["times", "lists"])
    def test_types_that_are_refused(self, values, refuse):
        pd.DataFrame({"x": values, "y": list("ab"), "z": [1, 2]}).to_parquet("d.parquet")
        for options in ({}, {"categorical": ["x"]}):
            refuse(read_training, "d.parquet", "y", **options)
        assert read_training("d.parquet", "y", drop=["x"]).X.columns.tolist() == ["z"]

    def test_all_refused_columns_are_named(self, refuse):
        frame = pd.DataFrame({"day": ["2024-01-31"] * 4, "the time": ["10:05"] * 4, "n": 1, "y": [*"abab"]})
        frame.to_csv("data.csv", index=False)
        refuse(read_training, "data.csv", "y")


class TestNames:
    @pytest.mark.parametrize(
        ("content", "options"),
        [
            ("a,a,y\n1,2,u\n3,4,v\n", {}),
            (",a,y\n0,1,u\n1,2,v\n", {}),
            ("a,y\n1,u\n2,v\n", {"drop": ["a"]}),
            ("a,y\n1,u\n2,v\n", {"drop": ["y"]}),
            ("size,y\n1,u\n", {"drop": ["Sise"]}),
            ("size,y\n1,u\n", {"categorical": ["Sise"]}),
            ("size,b,Y\n1,2,u\n", {}),
            ("size,b,c\n1,2,u\n", {}),
            ("LONG\n1\n2\n", {}),
            ("LONG,LONG,y\n1,2,u\n3,4,v\n", {}),
        ],
    )
    def test_names_that_are_refused(self, content, options, refuse):
        refuse(read_training, write(content.replace("LONG", "x" * 5000)), "y", **options)

    @pytest.mark.parametrize(
        ("content", "options", "names"),
        [
            (",a,y\n0,1,u\n1,2,v\n", {"drop": ["#1"]}, ["a"]),
            ("a, b, y\n1, 2, u\n3, 4, v\n", {}, ["a", "b"]),
            ('"a\nb",y\n1,u\n2,v\n', {}, ["a\nb"]),
        ],
    )
    def test_names_that_are_read(self, content, options, names):
        assert read_training(write(content), "y", **options).X.columns.tolist() == names


class TestTarget:
    def write(self, labels):
        return "x,y\n" + "".join(f'{i},"{label}"\n' for i, label in enumerate(labels))

    @pytest.mark.parametrize(
        ("written", "read"),
        [
            (["1", "2", "1"], [1, 2, 1]),
            (["1.0", "2.0", "-3"], [1, 2, -3]),
            (["01", "2", "01"], ["01", "2", "01"]),
            (["+", "-", "+"], ["+", "-", "+"]),
            (["None", "some", "None"], ["None", "some", "None"]),
            ([" a ", "a", "b"], ["a", "a", "b"]),
            (["0.5", "1.5", "0.5"], ["0.5", "1.5", "0.5"]),
            (["True", "False", "True"], ["True", "False", "True"]),
            (["1", "1.0", "2"], ["1", "1.0", "2"]),
            (["9" * 30, "1", "1"], ["9" * 30, "1", "1"]),
            (["a, b", 'say ""hi""', "a, b"], ["a, b", 'say "hi"', "a, b"]),
            ([str(i % 100) for i in range(3000)], [i % 100 for i in range(3000)]),
        ],
    )
    def test_labels_as_written(self, written, read):
        assert read_training(write(self.write(written)), "y").y.tolist() == read

    @pytest.mark.parametrize(
        "labels",
        [
            ["a", "", "b", "NA", "a", "?"],
            ["a", "a", ""],
            ["", ""],
            [f"name {i}" for i in range(100)],
            ["x" * 5000],
            [f"${i},000.50" for i in range(1, 99)],
        ],
    )
    def test_labels_that_are_refused(self, labels, refuse):
        refuse(read_training, write(self.write(labels)), "y")

    @pytest.mark.parametrize(
        ("written", "is_regression"),
        [
            ([f"{i / 7:.3f}" for i in range(100)], True),
            ([str(i % 300) for i in range(3000)], True),
            ([str(i) for i in range(30)], True),  # most rows have one of their own
            ([str(i / 2) for i in range(20)] * 3, False),
            ([str(i % 200) for i in range(3000)], False),
        ],
    )
    def test_many_numbers_are_responses(self, written, is_regression):
        training = read_training(write(self.write(written)), "y")
        assert (training.task == "regression") == is_regression
        if is_regression:
            assert training.y.tolist() == [float(text) for text in written]

    def test_the_task_can_be_chosen(self, refuse):
        path = write(self.write(["1", "2", "", "2"]))
        options = {"drop_missing_target": True}
        assert read_training(path, "y", task="regression", **options).y.tolist() == [1.0, 2.0, 2.0]
        path = write(self.write([str(i % 300) for i in range(3000)]))
        assert read_training(path, "y", task="classification").y.dtype.kind == "i"
        path = write(self.write(["", ""]))
        refuse(read_training, path, "y", task="regression", **options)

    def test_dropping_rows_without_a_class(self):
        path = write(self.write(["a", "", "b", "NA", "a", "?"]))
        X, y, n_dropped = read_training(path, "y", drop_missing_target=True)
        assert (X["x"].tolist(), y.tolist(), n_dropped) == ([0.0, 2.0, 4.0], ["a", "b", "a"], 3)

    def test_dates(self, refuse):
        pd.DataFrame({"x": [1, 2], "y": pd.to_datetime(["2024-01-31", "2024-02-01"])}).to_parquet("d.parquet")
        refuse(read_training, "d.parquet", "y")
