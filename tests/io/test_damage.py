"""Messages for files that cannot be read; one test per error."""

import codecs
import gzip

import pytest

from lhtree import LHTClassifier, save
from lhtree.io import csv as table_csv
from lhtree.io.read import read_training
from lhtree.io.source import Reading
from support.table_files import FORMATS, refusal, write


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def reject(refuse):
    """Reading a file with this content fails."""
    return lambda content, **options: refuse(lambda: read_training(write(content), "y", Reading(**options)))


def check_damaged(content, name):
    message, code = refusal(read_training, write(content, name), "y")
    assert message.startswith(f"{name} is damaged")
    assert code == 3


def read(content, **options):
    return read_training(write(content), "y", Reading(**options)).X["a"].tolist()


@pytest.mark.parametrize("path", ["nowhere.csv", "."])
def test_missing_files_are_rejected(path, refuse):
    refuse(read_training, path, "y")


@pytest.mark.parametrize(
    "content", ["", "\n", " \n\n", codecs.BOM_UTF8, codecs.BOM_UTF32_LE, "a,y", "a,y\n", "a,y\n\n\n"]
)
def test_tables_without_rows_are_rejected(content, reject):
    reject(content)


@pytest.mark.parametrize(
    "content",
    [
        "a,y\n1,u\n2\n",
        "a,y\n1,u\n2,v,w\n",
        'a,y\n"1\n1",u\n\n2,v,w\n',
        "\n\na,y\n1,u\n2\n",
        "a,y\n" + "1,u\n" * 400_000 + "1\n",
        b"a,y\n1,u\n\xe9\xe5\n",
    ],
    ids=["short", "long", "quoted", "after blank lines", "late", "not UTF-8"],
)
def test_ragged_rows_are_rejected_with_their_line(content, reject):
    reject(content)


def test_encodings(reject):
    latin = "a,y\nx,u\ncafé,v\n".encode("latin-1")
    reject(latin)
    assert read(latin, encoding="latin-1") == ["x", "café"]
    reject("café,y\n1,u\n".encode("latin-1"))
    reject("a,y\n1,é\n", encoding="ascii")
    for encoding in ("utf-16", "utf-32", "utf-32-be", "utf-16-le"):
        assert read(("\ufeff" * encoding.endswith("e") + "a,y\né,u\nb,v\n").encode(encoding)) == ["é", "b"]


def test_invalid_options_are_rejected(reject):
    for option, values in {
        "encoding": ["utf-99", "hex", ""],
        "delimiter": ["", ";;", '"', "\n", "é"],
        "format": ["xml"],
        "decimal": ["'"],
    }.items():
        for value in values:
            reject("a,y\n1,u\n", **{option: value})


def test_given_delimiter():
    assert read("a:y\n1,5:u\n2,5:v\n", delimiter=":", decimal=",") == [1.5, 2.5]
    assert read("a\ty\n1\tu\n2\tv\n", delimiter=r"\t") == [1, 2]


@pytest.mark.parametrize("tail", ['2,"v', '2,"v\n3,u\n4,v\n'])
def test_unclosed_quotes_are_rejected(tail, reject):
    reject(f"a,y\n1,u\n{tail}\n")


def test_records_of_many_megabytes_are_rejected(monkeypatch, reject):
    monkeypatch.setattr(table_csv, "_MOST_BYTES", 1 << 21)
    reject('a,y\n1,u\n2,"v' + "\n3,u" * 1_000_000)
    monkeypatch.setattr(table_csv, "_HEAD_BYTES", 1000)
    reject("a,y" * 1000)


def test_long_fields_and_quotes_inside_of_fields():
    column = read(f'a,y\n"{"x" * 3_000_000}",u\n"{"y" * 9_000_000}",v\n')
    assert list(map(len, column)) == [3_000_000, 9_000_000]
    assert read('a,y\n5" disk,u\n3" disk,v\nx,v\n') == ['5" disk', '3" disk', "x"]


@pytest.mark.parametrize("n", [3, 30, -4])
def test_truncated_gzip_is_rejected(n):
    packed = gzip.compress(b"a,y\n" + b"1,u\n2,v\n" * 100)
    check_damaged(packed[:n], "data.csv.gz")


@pytest.mark.parametrize("place", [40, -6])
def test_damaged_gzip_is_rejected(place):
    packed = bytearray(gzip.compress(b"a,y\n" + bytes(range(48, 58)) * 100))
    packed[place] ^= 255
    check_damaged(bytes(packed), "data.csv.gz")


@pytest.mark.parametrize("name", ["data.parquet", "data.arrow"])
@pytest.mark.parametrize("n", [8, 100, -10])
def test_truncated_binary_files_are_rejected(shop, name, n):
    FORMATS[name](shop, name)
    with open(name, "rb") as file:
        content = file.read()
    check_damaged(content[:n], name)


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x03\x04" + bytes(50),
        b"BZh91AY",
        b"%PDF-1.7",
        b'[{"a": 1, "y": "u"}]',
        b'{"a": 1, "y": "u"}\n{"a": 2, "y": "v"}\n',
        codecs.BOM_UTF8 + b' {\n  "a": [1, 2]}',
        bytes(100),
        b"\x89PNG\r\n\x1a\n\0\0\0",
        b"a,y\n" + b"1,u\n2,v\n" * 1000 + b"3,\0\n",
    ],
    ids=["Excel", "bzip2", "PDF", "JSON", "lines of JSON", "JSON with BOM", "zeros", "PNG", "a zero"],
)
def test_other_files_are_rejected(content, reject):
    reject(content)


def test_names_in_brackets_are_no_json():
    assert read_training(write("[a],{y}\n1,u\n2,v\n"), "{y}").X.columns.tolist() == ["[a]"]


def test_wrong_formats_are_rejected():
    path = write("a,y\n1,u\n2,v\n")
    message, _ = refusal(read_training, path, "y", Reading(format="parquet"))
    assert message.startswith("data.csv is not a valid parquet file")


def test_models_in_place_of_tables_are_rejected(two, refuse):
    save(LHTClassifier().fit(*two), "model.lht")
    refuse(read_training, "model.lht", "y")
