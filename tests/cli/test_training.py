"""Tables for training: formats, types and names; one test per error."""

import gzip
import io
import sys

import numpy as np
import pytest

from lhtree.cli._errors import ExitCode
from lhtree.cli._source import Reading
from lhtree.cli._training import read_training
from support.table_files import FORMATS, make_shop, refusal, write  # noqa: F401

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.feather")
pytest.importorskip("pyarrow.parquet")


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
    (pa.parquet.write_table if name == "data.parquet" else pa.feather.write_feather)(table, name)
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


def test_stdin_that_is_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    assert refusal(read_training, "-", "y") == (
        "'-' reads the table from standard input: pipe one in",
        ExitCode.USAGE,
    )


class TestTypes:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

    def column(self, values, reading=None, **options):
        rows = "".join(f'"{value}",{"ab"[i % 2]}\n' for i, value in enumerate(values))
        return read_training(write(f"x,y\n{rows}"), "y", reading, **options).X["x"]

    @pytest.mark.parametrize(
        "marker", ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?", "-", " ", " ? "]
    )
    def test_missing(self, marker):
        np.testing.assert_array_equal(self.column(["1", marker, "2"]), [1.0, np.nan, 2.0])
        assert self.column(["u", marker, "v"]).isna().tolist() == [False, True, False]

    def test_numbers_in_many_spellings(self):
        values = ["1", " 2", "3 ", "+4", "-5", "6.", ".5", "1e3", "1E-3", "-0", "007"]
        np.testing.assert_array_equal(self.column(values), [1, 2, 3, 4, -5, 6, 0.5, 1000, 0.001, 0, 7])

    @pytest.mark.parametrize("odd", ["1_000", "0x10", "1d", "١", "1 2", "--1", "1e", "e5", "."])
    def test_what_is_no_number_is_a_category(self, odd):
        assert self.column(["1", odd, "1"]).cat.categories.tolist() == sorted({"1", odd})

    def test_blanks_around_categories(self):
        assert self.column([" red", "red ", "red"]).cat.categories.tolist() == ["red"]

    def test_a_column_without_values(self):
        assert self.column(["", "NA", "?"]).isna().all()

    def test_numbers_that_are_categories(self):
        column = self.column(["01", "1", "", "10"], categorical=["x"])
        assert column.cat.categories.tolist() == ["01", "1", "10"]
        assert column.isna().tolist() == [False, False, True, False]

    def test_typed_numbers_that_are_categories(self):
        pd.DataFrame({"x": [1.0, 2.5, None, 10.0], "y": list("abab")}).to_parquet("data.parquet")
        column = read_training("data.parquet", "y", categorical=["x"]).X["x"]
        assert column.cat.categories.tolist() == ["1", "10", "2.5"]
        assert column.isna().tolist() == [False, False, True, False]

    def test_truth_values_of_parquet_are_numbers(self):
        pd.DataFrame({"x": [True, False, True], "y": list("aba")}).to_parquet("data.parquet")
        assert read_training("data.parquet", "y").X["x"].tolist() == [1.0, 0.0, 1.0]

    def test_decimal_commas(self):
        message, code = refusal(self.column, ["1,5", "2", "-3,25"])
        assert message == (
            "data.csv: column 'x' holds numbers with decimal commas, such as '1,5': pass --decimal , or "
            "--categorical 'x'"
        )
        assert code == ExitCode.DATA
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
        ],
    )
    def test_signs_between_thousands(self, values, decimal):
        how = Reading(decimal=decimal)
        message, _ = refusal(self.column, values, how)
        example = next(value for value in values if len(value) > 4)
        assert message == (
            f"data.csv: column 'x' holds numbers with signs between thousands, such as {example!r}: write them without "
            "or pass --categorical 'x'"
        )
        assert self.column(values, how, categorical=["x"]).notna().any()

    def test_commas_of_either_kind(self):
        message, _ = refusal(self.column, ["950", "52,300"])
        assert message.endswith(
            "'52,300': write them without, pass --decimal , if that is a decimal comma, or pass --categorical 'x'"
        )

    def test_fields_with_delimiters_quotes_and_newlines(self):
        column = self.column(["a,b", 'say ""hi""', "two\nlines", "a,b"])
        assert column.tolist() == ["a,b", 'say "hi"', "two\nlines", "a,b"]

    def test_infinity(self):
        message, code = refusal(self.column, ["1", "inf", "1e999"])
        assert message.startswith("data.csv, line 3: column 'x' is infinite")
        assert code == ExitCode.DATA

    @pytest.mark.parametrize(
        "dates",
        [
            ["2024-01-31", "2024-02-01"],
            ["31.1.2024", "1.2.24"],
            ["2024-01-31T10:00:00Z", ""],
            ["10:05", "11:00"],
        ],
    )
    def test_dates(self, dates):
        message, _ = refusal(self.column, dates)
        assert message == (
            f"data.csv: column 'x' holds dates or times, such as {dates[0]!r}: leave it out with --drop 'x', or turn "
            "it into numbers first"
        )
        assert self.column(dates, categorical=["x"]).notna().any()

    def test_dates_of_parquet(self):
        pd.DataFrame({"x": pd.to_datetime(["2024-01-31"] * 2), "y": list("ab"), "z": [1, 2]}).to_parquet(
            "d.parquet"
        )
        message, _ = refusal(read_training, "d.parquet", "y")
        assert message.startswith("d.parquet: column 'x' holds timestamp")
        assert "--drop 'x'" in message
        assert read_training("d.parquet", "y", drop=["x"]).X.columns.tolist() == ["z"]

    def test_lists_of_parquet(self):
        pd.DataFrame({"x": [[1], [2]], "y": list("ab")}).to_parquet("d.parquet")
        assert "column 'x' holds list" in refusal(read_training, "d.parquet", "y")[0]

    def test_too_many_categories(self):
        message, _ = refusal(self.column, [f"name {i}" for i in range(256)])
        assert message == (
            "data.csv: column 'x' has 256 different texts, such as 'name 0', and at most 255 categories can be "
            "learned: leave it out with --drop 'x', or merge rare ones"
        )
        assert len(self.column([f"name {i}" for i in range(255)]).cat.categories) == 255

    def test_all_refused_columns_are_named(self):
        pd.DataFrame(
            {
                "day": ["2024-01-31"] * 300,
                "text": [f"note {i}" for i in range(300)],
                "n": 1,
                "y": ["a", "b"] * 150,
            }
        ).to_csv("data.csv", index=False)
        message, _ = refusal(read_training, "data.csv", "y")
        assert message.startswith("data.csv: column 'day' holds dates or times")
        assert message.endswith("first. More are refused: --drop 'text'")


class TestLongText:
    """Messages stay short whatever a table holds."""

    @pytest.mark.parametrize(
        "content",
        [
            "LONG\n1\n2\n",
            "LONG,LONG,y\n1,2,u\n3,4,v\n",
            "a,y\n1,LONG\n",
            "a,y\n" + "".join(f"LONG{i},{i % 2}\n" for i in range(300)),
        ],
    )
    def test_it_is_cut(self, content, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        message, _ = refusal(read_training, write(content.replace("LONG", "x" * 5000)), "y")
        assert len(message) < 250


class TestNames:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

    def test_twice(self):
        message, _ = refusal(read_training, write("a,a,y\n1,2,u\n3,4,v\n"), "y")
        assert message == "data.csv has two columns called 'a': rename one of them"

    def test_none(self):
        path = write(",a,y\n0,1,u\n1,2,v\n")
        message, _ = refusal(read_training, path, "y")
        assert message == (
            "data.csv: column 1 has no name: give it one in the header, or leave it out with --drop '#1'"
        )
        assert read_training(path, "y", drop=["#1"]).X.columns.tolist() == ["a"]

    def test_blanks_around_them(self):
        assert read_training(write("a, b, y\n1, 2, u\n3, 4, v\n"), "y").X.columns.tolist() == ["a", "b"]

    def test_header_of_two_lines(self):
        X = read_training(write('"a\nb",y\n1,u\n2,v\n'), "y").X
        assert X.columns.tolist() == ["a\nb"]

    @pytest.mark.parametrize("option", ["drop", "categorical"])
    def test_unknown(self, option):
        message, _ = refusal(read_training, write("size,y\n1,u\n2,v\n"), "y", **{option: ["Sise"]})
        assert message == f"--{option} Sise: data.csv has no such column; the nearest is 'size'"

    def test_nothing_left(self):
        message, _ = refusal(read_training, write("a,y\n1,u\n2,v\n"), "y", drop=["a"])
        assert message == "data.csv has no column beside the target: pass at least one to learn from"

    def test_dropping_the_target(self):
        message, _ = refusal(read_training, write("a,y\n1,u\n2,v\n"), "y", drop=["y"])
        assert message == "--drop y is the target: leave out one of the two"
