"""``lhtree report``: the page is the one that the library writes."""

import os
from pathlib import Path

import pytest

import lhtree
from support.shop import fail, make_table, shop, succeed  # noqa: F401


@pytest.mark.usefixtures("shop")
class TestReport:
    @pytest.mark.parametrize(
        ("name", "has_test"), [("tree.lht", False), ("tree.lht", True), ("boosted.lht", False)]
    )
    def test_the_page_of_the_library(self, capsys, name, has_test):
        X = make_table()
        y = X.pop("y")
        held = {"X_test": X[200:], "y_test": y[200:]} if has_test else {}
        lhtree.report(lhtree.load(name), X, y, "expected.html", title="What [sells]", **held)
        more = ["--test", "test.csv"] if has_test else []
        asked = ("report", name, "data.csv", "-t", "y", "-o", "r.html", "--title", "What [sells]")
        ran = succeed(capsys, *asked, *more)
        assert Path("r.html").read_text(encoding="utf-8") == Path("expected.html").read_text(encoding="utf-8")
        assert ran.out == ""
        assert ran.err.startswith("r.html written, ")
        assert ran.err.endswith("kB: open it in a browser\n")

    def test_quiet(self, capsys):
        asked = ("report", "model.lht", "data.csv", "-t", "y", "-o", "r.html", "--quiet", "--megabytes", 0.1)
        assert succeed(capsys, *asked) == (0, "", "")
        assert Path("r.html").stat().st_size > 10_000

    @pytest.mark.parametrize(
        ("code", "target", "out", "message"),
        [
            (1, "Y", "r.html", "--target Y is not a column of data.csv (did you mean 'y'?)"),
            (1, "shop", "r.html", "--target shop contains the class"),
            (4, "y", "no/r.html", "cannot write no/r.html: the directory no does not exist"),
            (4, "y", ".", "cannot write .: it is not a regular file"),
        ],
    )
    def test_errors(self, capsys, code, target, out, message):
        ran = fail(capsys, "report", "model.lht", "data.csv", "--target", target, "--out", out)
        assert ran.code == code
        assert ran.err.startswith(f"lhtree: {message}")
        assert not Path("r.html").exists()

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
    def test_what_is_no_file_is_not_replaced(self, capsys):
        os.mkfifo("pipe.html")
        ran = fail(capsys, "report", "model.lht", "data.csv", "-t", "y", "-o", "pipe.html")
        assert (ran.code, ran.err) == (4, "lhtree: cannot write pipe.html: it is not a regular file\n")
        assert Path("pipe.html").is_fifo()
