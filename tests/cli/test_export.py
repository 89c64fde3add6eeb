"""``lhtree export``: the files are those that the functions of the library write."""

import pytest

import lhtree
from support.shop import fail, fit_models, shop, succeed  # noqa: F401


@pytest.mark.usefixtures("shop")
class TestExport:
    def test_c(self, capsys, tmp_path):
        ran = succeed(capsys, "export", "model.lht", "--to", "c", "--name", "sales", "--out", "sales.c")
        lhtree.export_c(fit_models()[0], "expected.c", name="sales")
        assert (tmp_path / "sales.c").read_bytes() == (tmp_path / "expected.c").read_bytes()
        assert ran.out == ""
        assert ran.err.startswith("sales.c written: C, ")

    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_onnx(self, capsys, tmp_path, dtype):
        pytest.importorskip("onnx")
        more = ["--float32"] if dtype == "float32" else []
        succeed(capsys, "export", "model.lht", "--out", "model.onnx", *more)
        lhtree.export_onnx(fit_models()[0], "expected.onnx", dtype=dtype)
        assert (tmp_path / "model.onnx").read_bytes() == (tmp_path / "expected.onnx").read_bytes()

    def test_sql(self, capsys, tmp_path):
        options = {"table": "sales", "keys": ["id", "day"], "dialect": "duckdb"}
        expected = lhtree.export_sql(fit_models()[1], **options)
        asked = ["--table", "sales", "--key", "id", "--key", "day", "--dialect", "duckdb"]
        assert succeed(capsys, "export", "tree.lht", "--to", "sql", *asked).out == f"{expected}\n"
        assert (
            succeed(capsys, "export", "tree.lht", "--out", "-", "--to", "sql", *asked).out == f"{expected}\n"
        )
        ran = succeed(capsys, "export", "tree.lht", "--out", "sales.SQL", "--quiet", *asked)
        assert ran[1:] == ("", "")
        assert (tmp_path / "sales.SQL").read_text() == f"{expected}\n"

    def test_the_format_must_be_known(self, capsys):
        for arguments in ([], ["--out", "model.txt"]):
            ran = fail(capsys, "export", "model.lht", *arguments)
            assert (ran.code, ran.err) == (2, "lhtree: specify the output: --to onnx, --to c or --to sql\n")

    def test_onnx_is_not_printed(self, capsys):
        ran = fail(capsys, "export", "model.lht", "--to", "onnx")
        assert (ran.code, ran.err) == (2, "lhtree: onnx needs a file: pass --out FILE\n")

    def test_what_cannot_be_written(self, capsys, tmp_path):
        ran = fail(capsys, "export", "model.lht", "--out", "no/such/folder/model.c")
        assert (ran.code, ran.err) == (
            4,
            "lhtree: cannot write no/such/folder/model.c: the directory no/such/folder does not exist\n",
        )
        (tmp_path / "folder.sql").mkdir()
        assert "folder.sql" in fail(capsys, "export", "tree.lht", "--out", "folder.sql").err

    def test_what_the_format_cannot_hold(self, capsys, tmp_path):
        lhtree.save(
            lhtree.LHForestClassifier(700, random_state=0).fit([[0.0], [1.0]] * 20, [0, 1] * 20), "big.lht"
        )
        ran = fail(capsys, "export", "big.lht", "--out", "big.sql")
        assert ran.code == 1
        assert "too large for SQL" in ran.err
        assert not (tmp_path / "big.sql").exists()

    def test_a_name_that_is_none(self, capsys):
        assert (
            "a C identifier" in fail(capsys, "export", "model.lht", "--out", "a.c", "--name", "no good").err
        )

    def test_the_model_is_not_written_over(self, capsys, tmp_path):
        content = (tmp_path / "model.lht").read_bytes()
        ran = fail(capsys, "export", "model.lht", "--to", "c", "--out", tmp_path / "model.lht")
        assert ran.code == 4
        assert ran.err.endswith("model.lht: it is what is read; write to another file\n")
        assert (tmp_path / "model.lht").read_bytes() == content

    def test_a_name_that_no_file_can_have(self, capsys):
        ran = fail(capsys, "export", "model.lht", "--out", "x" * 300 + ".c")
        assert (ran.code, ran.err[-21:]) == (4, ": File name too long\n")
