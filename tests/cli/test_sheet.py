"""``lhtree sheet``: the sheet is the one that the library writes."""

from pathlib import Path

import pytest

import lhtree
from support.shop import fail, make_table, shop, succeed  # noqa: F401


@pytest.mark.usefixtures("shop")
class TestSheet:
    def test_the_sheet_of_the_library(self, capsys):
        X = make_table()[200:]
        y = X.pop("y")
        model = lhtree.load("compact.lht")
        lhtree.sheet(model, "expected.html", X, y, row=3, title="What [sells]")
        asked = (
            "sheet",
            "compact.lht",
            "test.csv",
            "-t",
            "y",
            "--row",
            3,
            "--title",
            "What [sells]",
            "-o",
            "s.html",
        )
        ran = succeed(capsys, *asked)
        assert Path("s.html").read_text(encoding="utf-8") == Path("expected.html").read_text(encoding="utf-8")
        assert ran.out == ""
        assert ran.err.startswith("s.html written, ")

    def test_the_tree_alone(self, capsys):
        assert succeed(capsys, "sheet", "compact.lht", "-o", "s.html", "--quiet") == (0, "", "")
        assert "Not measured" in Path("s.html").read_text(encoding="utf-8")

    def test_a_sheet_of_numbers(self, capsys):
        X = make_table()[200:].dropna(subset="size")
        frame = make_table().dropna(subset="size")
        model = lhtree.CompactLHTRegressor(max_leaf_nodes=4).fit(frame.drop(columns="size"), frame["size"])
        lhtree.save(model, "sizes.lht")
        y = X.pop("size")
        lhtree.sheet(model, "expected.html", X, y, row=3)
        succeed(
            capsys,
            "sheet",
            "sizes.lht",
            "test.csv",
            "-t",
            "size",
            "--drop-missing-target",
            "--row",
            3,
            "-o",
            "s.html",
        )
        assert Path("s.html").read_text(encoding="utf-8") == Path("expected.html").read_text(encoding="utf-8")

    def test_pdf(self, capsys):
        pytest.importorskip("matplotlib")
        succeed(capsys, "sheet", "compact.lht", "new.csv", "-o", "s.pdf")
        assert Path("s.pdf").read_bytes().startswith(b"%PDF")

    @pytest.mark.parametrize(
        ("code", "arguments", "message"),
        [
            (
                2,
                ("compact.lht", "-o", "s.txt"),
                "--out s.txt has another ending: pass a file ending in .html or .pdf",
            ),
            (2, ("compact.lht", "-t", "y", "-o", "s.html"), "--target needs DATA"),
            (
                2,
                ("compact.lht", "new.csv", "--row", 40, "-o", "s.html"),
                "--row 40 is not valid: pass 0 to 39",
            ),
            (
                1,
                ("tree.lht", "-o", "s.html"),
                "the model is not one compact tree: fit a CompactLHTClassifier",
            ),
            (
                1,
                ("compact.lht", "test.csv", "-t", "Y", "-o", "s.html"),
                "--target Y is not a column of test.csv",
            ),
            (
                4,
                ("compact.lht", "-o", "no/s.html"),
                "cannot write no/s.html: the directory no does not exist",
            ),
        ],
    )
    def test_errors(self, capsys, code, arguments, message):
        ran = fail(capsys, "sheet", *arguments)
        assert ran.code == code
        assert message in ran.err
