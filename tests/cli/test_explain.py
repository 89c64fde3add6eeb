"""``lhtree explain``."""

import io
import json
import math
import sys
from contextlib import suppress

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lhtree
from lhtree.cli._errors import Problem
from lhtree.cli.explain import parse_values
from lhtree.tables.encoders import Numbers, OneHot
from lhtree.tables.encoding import Encoding
from lhtree.tables.errors import TableError
from support.regressions import fit_regression
from support.shop import fail, fit_boosted, fit_models, make_table, shop, succeed  # noqa: F401

ROW = ("explain", "model.lht", "data.csv", "--row", 17)


def explain_row(number, **changes):
    frame = make_table().drop(columns="y")
    return fit_models()[0].explain(frame.iloc[[number]].assign(**changes))


@pytest.mark.usefixtures("shop")
class TestExplain:
    @pytest.mark.parametrize("row", [0, 17, 299])
    def test_text_equals_that_of_the_library(self, capsys, row):
        ran = succeed(capsys, "explain", "model.lht", "data.csv", "--row", row)
        assert ran == (0, f"{explain_row(row)}\n", "")

    def test_boosted_model(self, capsys):
        asked = ("explain", "boosted.lht", "data.csv", "--row", 17)
        expected = fit_boosted().explain(make_table().drop(columns="y").iloc[[17]])
        assert succeed(capsys, *asked).out == f"{expected}\n"
        assert "raw score" in str(expected)
        other = expected.counterfactuals()[0]
        assert f"  {other}\n" in succeed(capsys, *asked, "--counterfactual").out
        facts = json.loads(succeed(capsys, *asked, "--json").out)
        assert facts == json.loads(json.dumps(expected.to_dict()))

    def test_regression(self, capsys, tmp_path):
        model, X, y = fit_regression("tree")
        lhtree.save(model, tmp_path / "prices.lht")
        X.assign(price=y).to_csv(tmp_path / "houses.csv", index=False)
        asked = ("explain", tmp_path / "prices.lht", tmp_path / "houses.csv", "--row", 7)
        expected = model.explain(X.iloc[7])
        assert succeed(capsys, *asked, "--html", "why.html", "--plot", "why.png").out == f"{expected}\n"
        other = expected.counterfactuals(to=(400_000, None))[0]
        assert f"  {other}\n" in succeed(capsys, *asked, "--to", "400000..").out
        assert "already in it" in fail(capsys, *asked, "--to", "1..1e9").err

    def test_one_tree_of_a_forest(self, capsys):
        ran = succeed(capsys, *ROW, "--tree", 3)
        assert ran.out == f"{explain_row(17).tree(3)}\n"

    def test_counterfactuals(self, capsys):
        expected = [str(other) for other in explain_row(17).counterfactuals()]
        assert expected
        shown = succeed(capsys, *ROW, "--counterfactual").out
        assert shown.partition("What would change the prediction:\n")[2] == "".join(
            f"  {one}\n" for one in expected
        )
        (only,) = json.loads(succeed(capsys, *ROW, "--to", "sold", "--change", "size", "--json").out)[
            "counterfactuals"
        ]
        assert only["prediction"] == "sold"
        assert list(only["changes"]) == ["size"]

    def test_values_are_parsed_like_fields_of_a_table(self, capsys):
        X = pd.DataFrame({"size": [1.5, 2.5] * 20, "new": [True, True, False, False] * 10})
        lhtree.save(lhtree.LHTClassifier().fit(X, ["a", "b"] * 20), "new.lht")
        ran = succeed(
            capsys, "explain", "new.lht", "--values", "size=1,5", "--values", "new=TRUE", "--decimal", ","
        )
        assert ran.out == f"{lhtree.load('new.lht').explain(X[:1])}\n"

    def test_values_replace_fields_of_the_table(self, capsys):
        asked = ("--values", "size=70", "--values", "shop=NA")
        ran = succeed(capsys, *ROW, *asked)
        assert ran.out == f"{explain_row(17, size=70.0, shop=None)}\n"

    def test_table_of_one_row_from_stdin(self, capsys, monkeypatch):
        row = make_table()[17:18].to_csv(index=False)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(row.encode())))
        assert succeed(capsys, "explain", "model.lht", "-").out == f"{explain_row(17)}\n"

    def test_html_page_and_picture(self, capsys, tmp_path):
        asked = (*ROW, "--counterfactual")
        ran = succeed(capsys, *asked, "--html", "why.html", "--plot", "why.png")
        assert ran.err == "why.html written\nwhy.png written\n"
        page = (tmp_path / "why.html").read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>")
        assert explain_row(17)._repr_html_() in page
        assert "the prediction would be sold instead of kept" in page
        assert (tmp_path / "why.png").read_bytes().startswith(b"\x89PNG")
        assert succeed(capsys, *asked, "--plot", "why.svg", "--quiet").err == ""

    def test_names_are_escaped(self, capsys, tmp_path):
        X = pd.DataFrame({"<b>&": [0.0, 1.0] * 20})
        y = ["<i>a", "[red]b"] * 20
        lhtree.save(lhtree.LHTClassifier().fit(X, y), "odd.lht")
        ran = succeed(
            capsys, "explain", "odd.lht", "--values", "<b>&=0", "--html", "odd.html", "--to", "[red]b"
        )
        assert "Prediction: <i>a" in ran.out
        assert "would be [red]b instead of <i>a" in ran.out
        page = (tmp_path / "odd.html").read_text(encoding="utf-8")
        assert "<i>" not in page
        assert "<b>" not in page


@pytest.mark.usefixtures("shop")
class TestTables:
    def test_other_rows_may_be_invalid(self, capsys, tmp_path):
        lines = (tmp_path / "data.csv").read_text().splitlines()
        lines[30] = "big,1,red,north,kept"
        lines[40] = "1,1,violet,north,kept"
        (tmp_path / "data.csv").write_text("\n".join(lines))
        succeed(capsys, *ROW)
        assert (
            "data.csv, line 31: column 'size'"
            in fail(capsys, "explain", "model.lht", "data.csv", "--row", 29).err
        )
        assert "--unseen missing" in fail(capsys, "explain", "model.lht", "data.csv", "--row", 39).err
        succeed(capsys, "explain", "model.lht", "data.csv", "--row", 39, "--unseen", "missing")

    def test_unknown_picture_format_is_rejected(self, capsys, tmp_path):
        ran = fail(capsys, "explain", "model.lht", "--values", "size=1", "--plot", "why.doc")
        assert ran.code == 2
        assert ran.err.startswith("lhtree: --plot why.doc: the extension must be one of ")
        assert not (tmp_path / "why.doc").exists()


TYPED = ["size=", "colour=red", "shop=NA", "size=1e999", "=", "shop=2", "size=nan", "size=NAN ", "size= 1_0"]


@given(typed=st.lists(st.text() | st.sampled_from(TYPED)))
def test_values_are_parsed_or_rejected(typed):
    known = {"size": None, "colour": ("blue", "red"), "shop": (1, 2)}
    encoders = [Numbers() if some is None else OneHot(some) for some in known.values()]
    encoding = Encoding(tuple(known), tuple(encoders))
    with suppress(Problem, TableError):
        row = parse_values(typed, encoding, ".", "error")
        assert set(row) <= set(known)
        for name, value in row.items():
            assert value is None or (not math.isinf(value) if known[name] is None else value in known[name])
