"""``lhtree report`` and ``lhtree sheet`` write the same pages as the library."""

import os
import re
from pathlib import Path

import pytest

import lhtree
from support.shop import fail, make_table, shop, succeed  # noqa: F401


@pytest.mark.usefixtures("shop")
class TestReport:
    @pytest.mark.parametrize(
        ("name", "has_test"), [("tree.lht", False), ("tree.lht", True), ("boosted.lht", False)]
    )
    def test_page_equals_that_of_the_library(self, capsys, name, has_test):
        X = make_table()
        y = X.pop("y")
        held = {"X_test": X[200:], "y_test": y[200:]} if has_test else {}
        lhtree.report(lhtree.load(name), X, y, "expected.html", title="What [sells]", **held)
        more = ["--test", "test.csv"] if has_test else []
        asked = ("report", name, "data.csv", "-t", "y", "-o", "r.html", "--title", "What [sells]")
        ran = succeed(capsys, *asked, *more)
        page = Path("r.html").read_text(encoding="utf-8")
        # The model of the library comes from no file.
        own, n_hashes = re.subn(r',\["model sha256","[0-9a-f]{64}"\]', "", page)
        assert n_hashes == 1
        assert own == Path("expected.html").read_text(encoding="utf-8")
        assert ran.out == ""
        assert ran.err.startswith("r.html written, ")
        assert ran.err.endswith("kB: open it in a browser\n")

    def test_quiet(self, capsys):
        asked = ("report", "model.lht", "data.csv", "-t", "y", "-o", "r.html", "--quiet", "--megabytes", 0.1)
        assert succeed(capsys, *asked) == (0, "", "")
        assert Path("r.html").stat().st_size > 10_000

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
    def test_pipes_are_not_replaced(self, capsys):
        os.mkfifo("pipe.html")
        ran = fail(capsys, "report", "model.lht", "data.csv", "-t", "y", "-o", "pipe.html")
        assert (ran.code, ran.err) == (4, "lhtree: cannot write pipe.html: it is not a regular file\n")
        assert Path("pipe.html").is_fifo()


@pytest.mark.usefixtures("shop")
class TestSheet:
    def test_sheet_equals_that_of_the_library(self, capsys):
        X = make_table()[200:]
        y = X.pop("y")
        model = lhtree.load("compact.lht")
        lhtree.sheet(model, "expected.html", X, y, row=3, title="What [sells]")
        asked = ["sheet", "compact.lht", "test.csv", "-t", "y", "--row", "3", "-o", "s.html", "--title"]
        ran = succeed(capsys, *asked, "What [sells]")
        assert Path("s.html").read_text(encoding="utf-8") == Path("expected.html").read_text(encoding="utf-8")
        assert ran.out == ""
        assert ran.err.startswith("s.html written, ")

    def test_sheet_without_rows(self, capsys):
        assert succeed(capsys, "sheet", "compact.lht", "-o", "s.html", "--quiet") == (0, "", "")
        assert "Not measured" in Path("s.html").read_text(encoding="utf-8")

    def test_sheet_of_a_regression(self, capsys):
        X = make_table()[200:].dropna(subset="size")
        frame = make_table().dropna(subset="size")
        model = lhtree.CompactLHTRegressor(max_leaf_nodes=4).fit(frame.drop(columns="size"), frame["size"])
        lhtree.save(model, "sizes.lht")
        y = X.pop("size")
        lhtree.sheet(model, "expected.html", X, y, row=3)
        command = "sheet sizes.lht test.csv -t size --drop-missing-target --row 3 -o s.html"
        succeed(capsys, *command.split())
        assert Path("s.html").read_text(encoding="utf-8") == Path("expected.html").read_text(encoding="utf-8")

    def test_pdf(self, capsys):
        succeed(capsys, "sheet", "compact.lht", "new.csv", "-o", "s.pdf")
        assert Path("s.pdf").read_bytes().startswith(b"%PDF")
