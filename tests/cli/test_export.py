"""``lhtree export`` writes the same files as the functions of the library."""

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

    def test_too_long_names_are_rejected(self, capsys):
        ran = fail(capsys, "export", "model.lht", "--out", "x" * 300 + ".c")
        assert (ran.code, ran.err[:20]) == (4, "lhtree: cannot write")
