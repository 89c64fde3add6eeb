"""Messages for files that cannot be read; one test per error."""

import codecs
import gzip

import pytest

from lhtree import LHTClassifier, save
from lhtree.io import csv as table_csv
from lhtree.io.read import read_training
from lhtree.io.source import Reading
from support.table_files import DATA, FORMATS, READ, USAGE, make_shop, refusal, write  # noqa: F401


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refuse(content, *parts, name="data.csv", code=READ, **options):
    """Reading fails with a line that has these parts."""
    path = write(content, name)
    message, given = refusal(lambda: read_training(path, "y", Reading(**options)))
    for part in parts:
        assert part in message, message
    assert given == code


def read(content, **options):
    return read_training(write(content), "y", Reading(**options)).X["a"].tolist()


def test_no_file():
    message, code = refusal(read_training, "nowhere.csv", "y")
    assert message.startswith("cannot read nowhere.csv: No such file")
    assert code == READ


def test_a_folder_of_nothing():
    message, code = refusal(read_training, ".", "y")
    assert message == ". contains no Parquet file: pass a folder of .parquet files"
    assert code == READ


@pytest.mark.parametrize("content", ["", "\n", " \n\n", codecs.BOM_UTF8, codecs.BOM_UTF32_LE])
def test_empty(content):
    refuse(content, "data.csv is empty", "header line")


@pytest.mark.parametrize("content", ["a,y", "a,y\n", "a,y\n\n\n"])
def test_no_rows(content):
    refuse(content, "but no rows", code=DATA)


@pytest.mark.parametrize(
    ("content", "line", "n_fields"),
    [
        ("a,y\n1,u\n2\n", 3, 1),
        ("a,y\n1,u\n2,v,w\n", 3, 3),
        ('a,y\n"1\n1",u\n\n2,v,w\n', 5, 3),
        ("\n\na,y\n1,u\n2\n", 5, 1),
        ("a,y\n" + "1,u\n" * 400_000 + "1\n", 400_002, 1),
        (b"a,y\n1,u\n\xe9\xe5\n", 3, 1),
    ],
)
def test_ragged_rows_with_their_line(content, line, n_fields):
    refuse(content, f"data.csv, line {line} has {n_fields} fields, but the header has 2", "must be quoted")


def test_encodings():
    latin = "a,y\nx,u\ncafé,v\n".encode("latin-1")
    refuse(latin, "data.csv, line 3 is not valid UTF-8", "--encoding cp1252")
    assert read(latin, encoding="latin-1") == ["x", "café"]
    refuse("café,y\n1,u\n".encode("latin-1"), "line 1 is not valid UTF-8")
    refuse("a,y\n1,é\n", "is not valid ascii", "--encoding", encoding="ascii")
    for encoding in ("utf-16", "utf-32", "utf-32-be", "utf-16-le"):
        assert read(("\ufeff" * encoding.endswith("e") + "a,y\né,u\nb,v\n").encode(encoding)) == ["é", "b"]


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("encoding", ["utf-99", "hex", ""]),
        ("delimiter", ["", ";;", '"', "\n", "é"]),
        ("format", ["xml"]),
        ("decimal", ["'"]),
    ],
)
def test_wrong_options(option, values):
    for value in values:
        refuse("a,y\n1,u\n", f"--{option} ", " is not ", code=USAGE, **{option: value})


def test_given_delimiter():
    assert read("a:y\n1,5:u\n2,5:v\n", delimiter=":", decimal=",") == [1.5, 2.5]
    assert read("a\ty\n1\tu\n2\tv\n", delimiter=r"\t") == [1, 2]


@pytest.mark.parametrize("tail", ['2,"v', '2,"v\n3,u\n4,v\n'])
def test_a_quoted_field_that_does_not_end(tail):
    refuse(f"a,y\n1,u\n{tail}\n", "data.csv ends within a quoted field", "close the quote")


def test_records_of_many_megabytes_are_rejected(monkeypatch):
    monkeypatch.setattr(table_csv, "_MOST_BYTES", 1 << 21)
    refuse('a,y\n1,u\n2,"v' + "\n3,u" * 1_000_000, "data.csv has a row of more than 2 MB", "unclosed quote")
    monkeypatch.setattr(table_csv, "_HEAD_BYTES", 1000)
    refuse("a,y" * 1000, "data.csv", "first line has no end")


def test_long_fields_and_quotes_inside_of_fields():
    column = read(f'a,y\n"{"x" * 3_000_000}",u\n"{"y" * 9_000_000}",v\n')
    assert list(map(len, column)) == [3_000_000, 9_000_000]
    assert read('a,y\n5" disk,u\n3" disk,v\nx,v\n') == ['5" disk', '3" disk', "x"]


@pytest.mark.parametrize("n", [3, 30, -4])
def test_gzip_cut_off(n):
    packed = gzip.compress(b"a,y\n" + b"1,u\n2,v\n" * 100)
    refuse(packed[:n], "data.csv.gz is damaged", "gzip", name="data.csv.gz")


@pytest.mark.parametrize("place", [40, -6])
def test_gzip_with_wrong_bytes(place):
    packed = bytearray(gzip.compress(b"a,y\n" + bytes(range(48, 58)) * 100))
    packed[place] ^= 255
    refuse(bytes(packed), "is damaged", name="data.csv.gz")


@pytest.mark.parametrize("name", ["data.parquet", "data.arrow"])
@pytest.mark.parametrize("n", [8, 100, -10])
def test_binary_files_cut_off(shop, name, n):
    FORMATS[name](shop, name)
    with open(name, "rb") as file:
        content = file.read()
    refuse(content[:n], f"{name} is damaged: ", name=name)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"PK\x03\x04" + bytes(50), "an Excel sheet: save the table as CSV"),
        (b"BZh91AY", "packed with bzip2"),
        (b"%PDF-1.7", "a PDF"),
        (b'[{"a": 1, "y": "u"}]', "is JSON: save the table as CSV or Parquet"),
        (b'{"a": 1, "y": "u"}\n{"a": 2, "y": "v"}\n', "lines=True if every line is a row"),
        (codecs.BOM_UTF8 + b' {\n  "a": [1, 2]}', "is JSON"),
        (bytes(100), "contains null bytes and is not text"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "contains null bytes and is not text"),
        (b"a,y\n" + b"1,u\n2,v\n" * 1000 + b"3,\0\n", "contains null bytes"),
    ],
)
def test_no_tables(content, told):
    refuse(content, "data.csv", told)


def test_names_in_brackets_are_no_json():
    assert read_training(write("[a],{y}\n1,u\n2,v\n"), "{y}").X.columns.tolist() == ["[a]"]


def test_another_format_than_said():
    refuse("a,y\n1,u\n2,v\n", "data.csv is not a valid parquet file", format="parquet")


def test_a_model_in_place_of_the_table(two):
    save(LHTClassifier().fit(*two), "model.lht")
    message, _ = refusal(read_training, "model.lht", "y")
    assert "model.lht is a model file, not a table" in message
