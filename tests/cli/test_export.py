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

    @pytest.mark.parametrize(
        ("code", "arguments", "told"),
        [
            (2, [], "specify the format: --to onnx, --to c or --to sql"),
            (2, ["--out", "model.txt"], "specify the format: --to onnx, --to c or --to sql"),
            (2, ["--to", "onnx"], "onnx needs a file: pass --out FILE"),
            (1, ["--out", "a.c", "--name", "no good"], "name='no good' is not valid: pass a C identifier"),
            (4, ["--out", "no/model.c"], "cannot write no/model.c: the directory no does not exist"),
            (4, ["--out", "folder.c"], "cannot write folder.c"),
            (4, ["--out", "x" * 300 + ".c"], "cannot write x"),
        ],
    )
    def test_errors(self, capsys, tmp_path, code, arguments, told):
        (tmp_path / "folder.c").mkdir()
        ran = fail(capsys, "export", "model.lht", *arguments)
        assert ran.code == code
        assert ran.err.startswith(f"lhtree: {told}")

    def test_the_model_is_not_written_over(self, capsys, tmp_path):
        content = (tmp_path / "model.lht").read_bytes()
        ran = fail(capsys, "export", "model.lht", "--to", "c", "--out", tmp_path / "model.lht")
        assert ran.code == 4
        assert ran.err.endswith("model.lht: it is an input file; write to another file\n")
        assert (tmp_path / "model.lht").read_bytes() == content
