"""Tables as people have them: formats, types, damage; one test per error."""

import codecs
import gzip
import io
import sys

import numpy as np
import pytest

from lhtree import LHTClassifier
from lhtree.cli import _csv, _records
from lhtree.cli._align import read_rows
from lhtree.cli._errors import ExitCode, Problem
from lhtree.cli._source import Reading
from lhtree.cli._training import read_training

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A frame with numbers, text and missing values, and a folder to write it into."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": random.normal(50, 10, 120).round(1),
            "colour": random.choice(["red", "green", "blue"], 120),
            "rooms": random.integers(1, 9, 120),
        }
    )
    frame["kind"] = np.where((frame["size"] > 55) | (frame["colour"] == "blue"), "sold", "kept")
    frame.loc[::20, "colour"] = None
    return frame


def write(text, name="data.csv", encoding="utf-8"):
    with open(name, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode(encoding))
    return name


def refusal(read, *args, **kwargs):
    """The line and the exit code of the error that reading gives."""
    with pytest.raises(Problem) as caught:
        read(*args, **kwargs)
    assert "\n" not in str(caught.value)
    return str(caught.value), caught.value.code


FORMATS = {
    "data.csv": lambda frame, name: frame.to_csv(name, index=False),
    "data.tsv": lambda frame, name: frame.to_csv(name, index=False, sep="\t"),
    "semicolons.csv": lambda frame, name: frame.to_csv(name, index=False, sep=";"),
    "pipes.csv": lambda frame, name: frame.to_csv(name, index=False, sep="|"),
    "data.csv.gz": lambda frame, name: frame.to_csv(name, index=False),
    "quoted.csv": lambda frame, name: frame.to_csv(name, index=False, quoting=1),
    "windows.csv": lambda frame, name: frame.to_csv(name, index=False, lineterminator="\r\n"),
    "old_mac.csv": lambda frame, name: frame.to_csv(name, index=False, lineterminator="\r"),
    "bom.csv": lambda frame, name: frame.to_csv(name, index=False, encoding="utf-8-sig"),
    "utf16.csv": lambda frame, name: frame.to_csv(name, index=False, encoding="utf-16"),
    "unknown_ending": lambda frame, name: frame.to_csv(name, index=False),
    "data.parquet": lambda frame, name: frame.to_parquet(name),
    "text.parquet": lambda frame, name: frame.astype("str").where(frame.notna()).to_parquet(name),
    "categories.parquet": lambda frame, name: frame.astype({"colour": "category"}).to_parquet(name),
    "data.arrow": lambda frame, name: frame.to_feather(name),
    "parquet_without_ending": lambda frame, name: frame.to_parquet(name),
}


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


class TestTarget:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

    def classes(self, labels, **options):
        rows = "".join(f'{i},"{label}"\n' for i, label in enumerate(labels))
        return read_training(write(f"x,y\n{rows}"), "y", **options).y.tolist()

    def test_unknown_one_gets_the_nearest(self):
        path = write("size,colour,Kind\n1,2,u\n3,4,v\n")
        message, code = refusal(read_training, path, "kind")
        assert message == "--target kind: data.csv has no such column; the nearest is 'Kind'"
        assert code == ExitCode.DATA
        message, _ = refusal(read_training, path, "zzz")
        assert message == "--target zzz: data.csv has no such column; there are size, colour, Kind"

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
        ],
    )
    def test_labels_as_written(self, written, read):
        assert self.classes(written) == read

    def test_missing(self):
        labels = ["a", "", "b", "NA", "a", "?"]
        message, _ = refusal(self.classes, labels)
        assert message == (
            "--target y is missing in 3 of 6 rows: add it, or leave these rows out with --drop-missing-target"
        )
        assert self.classes(labels, drop_missing_target=True) == ["a", "b", "a"]
        X, _, n_dropped = read_training("data.csv", "y", drop_missing_target=True)
        assert X["x"].tolist() == [0.0, 2.0, 4.0]
        assert n_dropped == 3

    def test_one_class(self):
        message, code = refusal(self.classes, ["a", "a", ""])
        assert message == (
            "--target y: the only class is 'a', and 1 of 3 rows have none; a classifier needs rows of at least two "
            "classes"
        )
        assert code == ExitCode.DATA
        assert "no row has a class" in refusal(self.classes, ["", ""])[0]

    def test_measured_numbers(self):
        message, _ = refusal(self.classes, [f"{i / 7:.3f}" for i in range(100)])
        assert message == (
            "--target y holds 100 different numbers, and lhtree predicts classes: make classes of them first, such as "
            "low and high"
        )
        assert "different numbers" in refusal(self.classes, [str(i % 300) for i in range(3000)])[0]
        assert len(set(self.classes([str(i % 100) for i in range(3000)]))) == 100

    def test_names_of_rows(self):
        message, _ = refusal(self.classes, [f"name {i}" for i in range(100)])
        assert message == (
            "--target y has 100 classes in 100 rows, which is too many: pass the column that holds the classes"
        )

    def test_dates(self):
        pd.DataFrame({"x": [1, 2], "y": pd.to_datetime(["2024-01-31", "2024-02-01"])}).to_parquet("d.parquet")
        assert "--target y holds timestamp" in refusal(read_training, "d.parquet", "y")[0]


class TestDamage:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

    def read(self, content, name="data.csv", **options):
        return refusal(read_training, write(content, name), "y", Reading(**options))

    def test_missing_file(self):
        assert refusal(read_training, "nowhere.csv", "y") == (
            "cannot read nowhere.csv: No such file or directory",
            ExitCode.READ,
        )

    def test_folder(self):
        assert refusal(read_training, ".", "y") == ("cannot read .: Is a directory", ExitCode.READ)

    @pytest.mark.parametrize("content", ["", "\n", " \n\n", codecs.BOM_UTF8])
    def test_empty(self, content):
        assert self.read(content) == (
            "data.csv is empty: pass a table with a header line and rows",
            ExitCode.READ,
        )

    @pytest.mark.parametrize("content", ["a,y", "a,y\n", "a,y\n\n\n"])
    def test_no_rows(self, content):
        message, _ = self.read(content)
        assert message == "data.csv has no rows below its header: pass a table with rows"

    @pytest.mark.parametrize(
        ("content", "line", "n_fields"),
        [
            ("a,y\n1,u\n2\n", 3, 1),
            ("a,y\n1,u\n2,v,w\n", 3, 3),
            ('a,y\n"1\n1",u\n\n2,v,w\n', 5, 3),
            ("\n\na,y\n1,u\n2\n", 5, 1),
            ("a,y\n" + "1,u\n" * 400_000 + "1\n", 400_002, 1),
        ],
    )
    def test_ragged_rows_with_their_line(self, content, line, n_fields):
        message, code = self.read(content)
        assert message == (
            f"data.csv, line {line} has {n_fields} fields where the header has 2: mend the line; a field that holds a "
            "delimiter must be quoted"
        )
        assert code == ExitCode.READ

    def test_ragged_rows_in_another_encoding(self):
        assert "line 3 has 1 fields" in self.read(b"a,y\n1,u\n\xe9\xe5\n")[0]

    def test_encoding_with_its_line(self):
        message, code = self.read("a,y\nx,u\ncafé,v\n".encode("latin-1"))
        assert message == (
            "data.csv, line 3 is not in UTF-8: pass the table's encoding, for example --encoding latin-1"
        )
        assert code == ExitCode.READ
        X, _, _ = read_training("data.csv", "y", Reading(encoding="latin-1"))
        assert X["a"].tolist() == ["x", "café"]

    def test_encoding_of_the_header(self):
        assert "line 1 is not in UTF-8" in self.read("café,y\n1,u\n".encode("latin-1"))[0]

    @pytest.mark.parametrize("encoding", ["utf-99", "hex", ""])
    def test_unknown_encoding(self, encoding):
        message, code = self.read("a,y\n1,u\n", encoding=encoding)
        assert message.startswith(f"--encoding {encoding} is not")
        assert code == ExitCode.USAGE

    def test_wrong_encoding(self):
        assert "is not in ascii" in self.read("a,y\n1,é\n", encoding="ascii")[0]

    @pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n", "é"])
    def test_wrong_delimiter(self, delimiter):
        message, code = self.read("a,y\n1,u\n", delimiter=delimiter)
        assert message == f"--delimiter {delimiter!r} is not valid: pass one character"
        assert code == ExitCode.USAGE

    def test_given_delimiter(self):
        X, _, _ = read_training(write("a:y\n1,5:u\n2,5:v\n"), "y", Reading(delimiter=":", decimal=","))
        assert X["a"].tolist() == [1.5, 2.5]
        X, _, _ = read_training(write("a\ty\n1\tu\n2\tv\n"), "y", Reading(delimiter=r"\t"))
        assert X["a"].tolist() == [1, 2]

    @pytest.mark.parametrize("tail", ['2,"v', '2,"v\n3,u\n4,v\n'])
    def test_a_quoted_field_that_does_not_end(self, tail):
        message, code = self.read(f"a,y\n1,u\n{tail}\n")
        assert message == "data.csv ends within a quoted field: close its quotes, the file may be cut off"
        assert code == ExitCode.READ

    def test_a_quoted_field_that_goes_on_for_megabytes(self, monkeypatch):
        monkeypatch.setattr(_records, "_MOST_BYTES", 1 << 21)
        message, _ = self.read('a,y\n1,u\n2,"v' + "\n3,u" * 1_000_000)
        assert message == (
            "data.csv has a row of more than 2 MB: close the quotes of a field that does not end"
        )

    def test_a_first_line_that_goes_on_for_megabytes(self, monkeypatch):
        monkeypatch.setattr(_csv, "_HEAD_BYTES", 1000)
        assert self.read("a,y" * 1000)[0] == "data.csv: its first line does not end; pass a text table"

    def test_zero_bytes_far_below(self):
        message, code = self.read(b"a,y\n" + b"1,u\n2,v\n" * 1000 + b"3,\0\n")
        assert message == "data.csv holds zero bytes, so it is damaged or no text"
        assert code == ExitCode.READ

    def test_long_fields(self):
        X, _, _ = read_training(write(f'a,y\n"{"x" * 3_000_000}",u\n"{"y" * 9_000_000}",v\n'), "y")
        assert X["a"].str.len().tolist() == [3_000_000, 9_000_000]

    def test_quotes_inside_of_fields(self):
        assert read_training(write('a,y\n5" disk,u\n3" disk,v\nx,v\n'), "y").X["a"].tolist() == [
            '5" disk',
            '3" disk',
            "x",
        ]

    @pytest.mark.parametrize("n", [3, 30, -4])
    def test_gzip_cut_off(self, n):
        packed = gzip.compress(b"a,y\n" + b"1,u\n2,v\n" * 100)
        message, code = self.read(packed[:n], "data.csv.gz")
        assert message.startswith("data.csv.gz is damaged: its gzip data are wrong")
        assert code == ExitCode.READ

    @pytest.mark.parametrize("place", [40, -6])
    def test_gzip_with_wrong_bytes(self, place):
        packed = bytearray(gzip.compress(b"a,y\n" + bytes(range(48, 58)) * 100))
        packed[place] ^= 255
        assert "is damaged" in self.read(bytes(packed), "data.csv.gz")[0]

    @pytest.mark.parametrize("name", ["data.parquet", "data.arrow"])
    @pytest.mark.parametrize("n", [8, 100, -10])
    def test_binary_files_cut_off(self, shop, name, n):
        FORMATS[name](shop, name)
        with open(name, "rb") as file:
            content = file.read()
        message, code = self.read(content[:n], name)
        assert message.startswith(f"{name} is damaged: ")
        assert code == ExitCode.READ

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"PK\x03\x04" + bytes(50), "an Excel sheet: save the table as CSV"),
            (b"BZh91AY", "packed with bzip2"),
            (b"%PDF-1.7", "a PDF"),
            (bytes(100), "holds zero bytes and is no text"),
            (b"\x89PNG\r\n\x1a\n\0\0\0", "holds zero bytes and is no text"),
        ],
    )
    def test_no_tables(self, content, told):
        message, code = self.read(content)
        assert told in message
        assert code == ExitCode.READ

    def test_another_format_than_said(self):
        message, code = self.read("a,y\n1,u\n2,v\n", format="parquet")
        assert message == "data.csv is not in the format parquet: leave out --format"
        assert code == ExitCode.READ

    def test_a_model_in_place_of_the_table(self, two):
        import lhtree

        lhtree.save(LHTClassifier().fit(*two), "model.lht")
        message, _ = refusal(read_training, "model.lht", "y")
        assert message == "model.lht is a model, not a table: pass the model first, then the table"


class TestRowsForAModel:
    @pytest.fixture
    def model(self, shop):
        FORMATS["data.csv"](shop, "data.csv")
        X, y, _ = read_training("data.csv", "kind")
        return LHTClassifier().fit(X, y)

    def test_columns_by_name_in_any_order_with_others_between(self, shop, model):
        shop["other"] = "x"
        shop[["rooms", "other", "kind", "colour", "size"]].to_csv("mixed.csv", index=False)
        rows = read_rows("mixed.csv", model, target="kind")
        assert rows.X.columns.tolist() == ["size", "colour", "rooms"]
        assert rows.y.tolist() == shop["kind"].tolist()
        expected = read_rows("data.csv", model)
        pd.testing.assert_frame_equal(rows.X, expected.X)
        assert expected.y is None
        np.testing.assert_array_equal(model.predict(rows.X), model.predict(expected.X))

    def test_a_renamed_column(self, shop, model):
        shop.rename(columns={"colour": "Color", "rooms": "r"}).to_csv("renamed.csv", index=False)
        message, code = refusal(read_rows, "renamed.csv", model)
        assert message == (
            "renamed.csv lacks the column 'colour' and 1 more of the model; the nearest is 'Color'"
        )
        assert code == ExitCode.DATA

    def test_text_in_place_of_numbers(self, shop, model):
        shop["size"] = shop["size"].astype(object)
        shop.loc[90, "size"] = "large"
        shop.to_csv("text.csv", index=False)
        message, _ = refusal(read_rows, "text.csv", model)
        assert message == (
            "text.csv, line 92: column 'size' is 'large' where the model takes numbers: mend the value, or leave it "
            "empty if it is unknown"
        )
        shop.loc[90, "size"] = "1,5"
        shop.to_csv("text.csv", index=False)
        assert refusal(read_rows, "text.csv", model)[0].endswith("takes numbers: pass --decimal ,")

    def test_dates_in_place_of_numbers(self, shop, model):
        shop["size"] = pd.Timestamp("2024-01-31")
        shop.to_parquet("dates.parquet")
        message, _ = refusal(read_rows, "dates.parquet", model)
        assert message.startswith("dates.parquet: column 'size' holds timestamp")

    def test_unseen_categories(self, shop, model):
        shop.loc[[5, 7], "colour"] = ["blau", "mauve"]
        shop.to_csv("unseen.csv", index=False)
        message, code = refusal(read_rows, "unseen.csv", model)
        assert message == (
            "unseen.csv, line 7: column 'colour' is 'blau', which was not seen in training, and 1 more of the rows "
            "after it; the nearest is 'blue'. Pass --unseen missing to count such values as missing"
        )
        assert code == ExitCode.DATA
        rows = read_rows("unseen.csv", model, unseen="missing")
        assert rows.n_unseen == {"colour": 2}
        assert rows.X["colour"].isna().sum() == shop["colour"].isna().sum() + 2

    def test_numbers_as_text_and_categories_as_numbers(self, shop):
        shop["rooms"] = shop["rooms"].astype("category")
        model = LHTClassifier().fit(shop[["size", "rooms"]], shop["kind"])
        shop.astype({"size": "str"}).to_parquet("typed.parquet")
        shop.to_csv("plain.csv", index=False)
        for path in ("typed.parquet", "plain.csv"):
            rows = read_rows(path, model)
            np.testing.assert_array_equal(
                model.predict_proba(rows.X), model.predict_proba(shop[["size", "rooms"]])
            )

    @pytest.mark.parametrize(
        "texts", [("True", "False"), ("TRUE", "FALSE"), (" true", "false "), ("1", "0.0")]
    )
    def test_truth_values_as_text(self, shop, texts):
        shop["new"] = shop["rooms"] > 4
        model = LHTClassifier().fit(shop[["size", "new"]], shop["kind"])
        shop["new"] = np.where(shop["new"], *texts).astype(object)
        shop.loc[3, "new"] = None
        shop.to_csv("truths.csv", index=False)
        expected = (shop["rooms"] > 4).astype(float)
        expected[3] = np.nan
        np.testing.assert_array_equal(read_rows("truths.csv", model).X["new"], expected)
        shop.loc[5, "new"] = "maybe"
        shop.to_csv("truths.csv", index=False)
        assert refusal(read_rows, "truths.csv", model)[0].startswith(
            "truths.csv, line 7: column 'new' is 'maybe' where the model takes numbers"
        )

    @pytest.mark.parametrize("spell", [int, float])
    @pytest.mark.parametrize("learned", [int, float, str, "1.0"])
    def test_categories_that_are_whole_numbers(self, shop, spell, learned):
        codes = shop["rooms"].astype(float).astype(str) if learned == "1.0" else shop["rooms"].astype(learned)
        model = LHTClassifier().fit(shop[["size"]].assign(rooms=codes.astype("category")), shop["kind"])
        table = shop.assign(rooms=shop["rooms"].astype(spell))
        table.to_csv("codes.csv", index=False)
        table.to_parquet("codes.parquet")
        for path in ("codes.csv", "codes.parquet"):
            assert read_rows(path, model).X["rooms"].tolist() == codes.tolist()

    def test_categories_that_look_missing_or_have_blanks(self, shop):
        shop["colour"] = np.where(shop["colour"] == "red", "None", " -x")
        model = LHTClassifier().fit(shop[["size", "colour"]], shop["kind"])
        shop.to_csv("odd.csv", index=False)
        assert read_rows("odd.csv", model).X["colour"].tolist() == shop["colour"].tolist()

    def test_a_model_without_names(self, shop, two):
        X, y = two
        model = LHTClassifier().fit(X, y)
        pd.DataFrame(X, columns=list("abcde")).to_csv("five.csv", index=False)
        np.testing.assert_array_equal(
            model.predict(read_rows("five.csv", model).X.to_numpy()), model.predict(X)
        )
        shop.to_csv("four.csv", index=False)
        message, _ = refusal(read_rows, "four.csv", model)
        assert message == (
            "four.csv has 4 columns and the model 5, which have no names: pass a table with just these, in their order"
        )

    def test_classes_that_the_model_does_not_know(self, shop, model):
        shop.loc[3, "kind"] = "lost"
        shop.to_csv("lost.csv", index=False)
        message, _ = refusal(read_rows, "lost.csv", model, target="kind")
        assert message == (
            "--target kind holds the class 'lost', which the model does not know: pass rows of its classes only"
        )

    def test_rows_without_a_class(self, shop, model):
        shop.loc[3, "kind"] = None
        shop.to_csv("some.csv", index=False)
        assert "missing in 1 of 120 rows" in refusal(read_rows, "some.csv", model, target="kind")[0]
        rows = read_rows("some.csv", model, target="kind", drop_missing_target=True)
        assert len(rows.X) == len(rows.y) == 119
        assert rows.X.index.tolist() == list(range(119))
