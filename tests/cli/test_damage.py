"""Tables that cannot be read, and what is said of them; one test per error."""

import codecs
import gzip

import pytest

from lhtree import LHTClassifier
from lhtree.cli import _csv, _records
from lhtree.cli._errors import ExitCode
from lhtree.cli._source import Reading
from lhtree.cli._training import read_training
from support.table_files import FORMATS, make_shop, refusal, write  # noqa: F401


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
            "data.csv, line 3 is not in UTF-8: pass the table's encoding, for example --encoding cp1252"
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
