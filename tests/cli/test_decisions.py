"""Commands about decisions: monitor, compare, reasons, and the provenance of lhtree fit."""

import hashlib
import json

import pandas as pd
import pytest

import lhtree
from support.shop import fail, make_table, run, shop, succeed  # noqa: F401

pytestmark = pytest.mark.usefixtures("shop")


def test_monitor_has_an_exit_code_and_json_for_schedulers(capsys, tmp_path):
    table = make_table()
    table["size"] += 30
    table.loc[:50, "colour"] = "gold"
    table.to_csv("moved.csv", index=False)
    ran = run(
        capsys, "monitor", "boosted.lht", "data.csv", "moved.csv", "--json", "--html", "drift.html", "--quiet"
    )
    assert ran.code == 5
    facts = json.loads(ran.out)
    assert (facts["level"], [one["period"] for one in facts["periods"]]) == ("large", ["data", "moved"])
    moved = {one["column"]: one for one in facts["periods"][1]["columns"]}
    assert moved["colour"]["new_categories"] == ["gold"]
    assert moved["size"]["level"] == "large"
    page = (tmp_path / "drift.html").read_text(encoding="utf-8")
    assert "gold" in page
    assert "<script" not in page
    assert run(capsys, "monitor", "boosted.lht", "data.csv").code == 0
    assert "--alarm small" in fail(capsys, "monitor", "boosted.lht", "data.csv", "--alarm", "small").err


def test_fit_records_where_a_model_comes_from(capsys, tmp_path):
    table = make_table()
    table["day"] = [f"2026-{1 + i // 28:02d}-{1 + i % 28:02d}" for i in range(300)]
    table.to_csv("dated.csv", index=False)
    table.assign(day=pd.to_datetime(table["day"])).to_parquet("dated.parquet")
    options = ("--target", "y", "--rounds", 20, "--positive", "sold", "--quiet")
    options += ("--holdout", 0.2, "--holdout-by", "day")
    succeed(capsys, "fit", "dated.csv", *options, "--out", "dated.lht")
    succeed(capsys, "fit", "dated.parquet", *options, "--out", "same.lht")
    same, other = (lhtree.inspect(name)["provenance"]["holdout"] for name in ("same.lht", "dated.lht"))
    assert same == other
    provenance = lhtree.inspect("dated.lht")["provenance"]
    assert provenance["source"]["sha256"] == hashlib.sha256((tmp_path / "dated.csv").read_bytes()).hexdigest()
    assert (provenance["target"], provenance["holdout"]["n_rows"]) == ("y", 60)
    assert provenance["holdout"]["how"] == "0.2 of the rows, the last by day"
    later = table[240:]
    model = lhtree.LHBoostClassifier(20, random_state=0).fit(
        table[:240].drop(columns=["y", "day"]), table["y"][:240]
    )
    expected = lhtree.evaluate(model, later.drop(columns=["y", "day"]), later["y"])
    assert provenance["holdout"]["accuracy"] == pytest.approx(expected.accuracy)
    shown = succeed(capsys, "inspect", "dated.lht").out
    for text in ("dated.csv", "positive class  sold", "the last by day", "Settings in use"):
        assert text in shown
    wrong = ["fit", "data.csv", "--target", "y", "--out", "x.lht", "--holdout", "0.2", "--holdout-by", "shop"]
    assert "neither a number nor a date" in fail(capsys, *wrong).err


def test_reasons_of_predict_and_explain_are_those_of_python(capsys, tmp_path):
    (tmp_path / "texts.json").write_text('{"size": ["S", "Size {value}"]}', encoding="utf-8")
    options = ("--reasons", 2, "--positive", "sold", "--texts", "texts.json")
    succeed(capsys, "predict", "boosted.lht", "data.csv", *options, "--out", "out.csv", "--quiet")
    written, table = pd.read_csv("out.csv"), make_table()
    expected = lhtree.reasons(
        lhtree.load("boosted.lht"),
        table.drop(columns="y"),
        2,
        positive="sold",
        texts={"size": ("S", "Size {value}")},
    )
    for number in (1, 2):
        own = expected.xs(number, level="reason")
        assert written[f"reason {number}"].dropna().tolist() == own["code"].tolist()
        assert written[f"reason {number} text"].dropna().tolist() == own["text"].tolist()
    shown = succeed(
        capsys, "explain", "boosted.lht", "data.csv", "--all", "--reasons", 2, "--target", "sold", "--json"
    )
    assert len(json.loads(shown.out)) == len(expected)
    assert "--reasons" in fail(capsys, "predict", "boosted.lht", "data.csv", "--positive", "sold").err
    assert (
        "no class 'x'"
        in fail(capsys, "predict", "boosted.lht", "data.csv", "--reasons", 2, "--positive", "x").err
    )


def test_compare_names_both_files(capsys):
    found = json.loads(
        succeed(
            capsys, "compare", "tree.lht", "model.lht", "test.csv", "--target", "y", "--by", "shop", "--json"
        ).out
    )
    assert found["names"] == ["tree", "model"]
    assert {one["by"] for one in found["moved"]} == {"all", "shop"}
    assert (
        "'colour'"
        in fail(capsys, "compare", "tree.lht", "model.lht", "test.csv", "--target", "y", "--by", "color").err
    )


def test_document_is_written_from_tables(capsys, tmp_path):
    command = "document boosted.lht --data test.csv --target y --by colour --challenger tree.lht"
    more = "--period new.csv --text purpose=Orders --out a.md --quiet"
    succeed(capsys, *f"{command} {more}".split())
    text = (tmp_path / "a.md").read_text(encoding="utf-8")
    assert [part in text for part in ("Orders", "By colour", "challenger", "new: ", "sha256")] == [True] * 5
    assert "--out a.pdf" in fail(capsys, "document", "boosted.lht", "--out", "a.pdf").err
    assert "--data" in fail(capsys, "document", "boosted.lht", "--by", "colour", "--out", "a.md").err
    succeed(
        capsys, "document", "boosted.lht", "--data", "test.csv", "--out", "b.html", "--quiet"
    )  # its own target
    wrong = fail(capsys, "document", "boosted.lht", "--text", "porpose=x", "--out", "a.md").err
    assert "one of purpose, data" in wrong


def test_report_shows_provenance_and_the_hash_of_the_file(capsys, tmp_path):
    table = ("data.csv", "--target", "y")
    succeed(capsys, "fit", *table, "--out", "own.lht", "--rounds", 10, "--quiet")
    succeed(capsys, "report", "own.lht", *table, "--out", "own.html", "--quiet")
    facts = lhtree.inspect("own.lht")
    page = (tmp_path / "own.html").read_text(encoding="utf-8")
    assert facts["sha256"] in page
    assert facts["provenance"]["source"]["sha256"] in page
    assert facts["provenance"]["date"] in page


def test_columns_are_declared_for_counterfactuals(capsys):
    fit = ("fit", "data.csv", "--target", "y", "--out", "own.lht", "--rounds", 10, "--quiet")
    succeed(capsys, *fit, "--declare", "size=rising", "--declare", "colour=immutable")
    assert lhtree.inspect("own.lht")["declared"] == {"immutable": ["colour"], "rising": ["size"]}
    assert "Declared columns" in succeed(capsys, "inspect", "own.lht").out
    shown = succeed(capsys, "explain", "own.lht", "data.csv", "--row", 0, "--change", "shop", "--json").out
    assert (json.loads(shown)["counterfactuals"], "suffice" in json.loads(shown)["reason"]) == ([], True)
    assert "NAME=immutable" in fail(capsys, *fit, "--declare", "size=fixed").err
    assert "--declare siz" in fail(capsys, *fit, "--declare", "siz=rising").err
    assert "categories" in fail(capsys, *fit, "--declare", "colour=whole").err
