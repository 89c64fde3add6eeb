"""``lhtree fit`` on tables that are read in batches."""

import json
from pathlib import Path

import pytest

import lhtree
from lhtree.cli import fit
from lhtree.io import passes as scratch
from lhtree.tables import rows as sample
from support.batches import assert_same_model
from support.shop import fail, make_table, shop, succeed  # noqa: F401

ASKED = ("fit", "data.csv", "-t", "y", "--model", "boost", "--rounds", 5)

pytestmark = pytest.mark.usefixtures("shop", "few_sampled")


@pytest.fixture
def few_sampled(monkeypatch):
    """So that small tables are too large for the sample."""
    monkeypatch.setattr(sample, "MOST_SAMPLED", 100)


@pytest.mark.parametrize(
    "options", [(), ("--early-stopping", "--increasing", "size", "--categorical", "weight")]
)
def test_the_model_is_the_same(capsys, options):
    whole = succeed(capsys, *ASKED, *options, "-o", "whole.lht")
    streamed = succeed(capsys, *ASKED, *options, "-o", "streamed.lht", "--out-of-core")
    assert_same_model(lhtree.load("whole.lht"), lhtree.load("streamed.lht"))
    assert whole.out.splitlines()[:6] == streamed.out.splitlines()[:6]
    assert whole.err == ""
    assert streamed.err.startswith("lhtree: data.csv is read in batches; codes take about ")


def test_rows_without_a_class_are_dropped(capsys):
    table = make_table()
    table.loc[::7, "y"] = None
    table.to_csv("gaps.csv", index=False)
    asked = ("fit", "gaps.csv", *ASKED[2:], "--drop-missing-target")
    succeed(capsys, *asked, "-o", "whole.lht")
    ran = succeed(capsys, *asked, "-o", "streamed.lht", "--out-of-core", "--json")
    assert_same_model(lhtree.load("whole.lht"), lhtree.load("streamed.lht"))
    facts = json.loads(ran.out)["table"]
    assert (facts["n_rows"], facts["n_dropped"], facts["is_streamed"]) == (257, 43, True)
    assert "missing in 43 of 300 rows" in fail(capsys, *asked[:-1], "-o", "new.lht", "--out-of-core").err


def test_task_is_the_same_as_in_memory(capsys):
    asked = ("fit", "data.csv", "-t", "weight", "--model", "boost", "--rounds", 3)
    succeed(capsys, *asked, "-o", "whole.lht")
    ran = succeed(capsys, *asked, "-o", "streamed.lht", "--out-of-core", "--json")
    assert json.loads(ran.out)["table"]["task"] == "regression"
    assert_same_model(lhtree.load("whole.lht"), lhtree.load("streamed.lht"))


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "folder"])
def test_large_tables_are_read_in_batches(capsys, monkeypatch, ending):
    path, table = Path(f"shop.{ending}"), make_table()
    if ending == "folder":
        path.mkdir()
        table.to_parquet(path / "a.parquet", index=False)
    elif ending == "parquet":
        table.to_parquet(path, index=False)
    elif ending == "arrow":
        table.to_feather(path)
    else:
        table.to_csv(path, index=False)
    asked = ("fit", path, *ASKED[2:], "-o", "new.lht")
    assert "read in batches" not in succeed(capsys, *asked).err
    monkeypatch.setattr(fit, "find_free_memory", lambda: 2000)
    assert "read in batches" in succeed(capsys, *asked).err
    assert "read in batches" not in succeed(capsys, *asked, "--in-memory").err
    assert "read in batches" not in succeed(capsys, *asked[:4], "-o", "new.lht", "--model", "tree").err
    monkeypatch.setattr(fit, "find_free_memory", lambda: None)
    assert "read in batches" not in succeed(capsys, *asked).err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--in-memory",), "--in-memory contradicts --out-of-core"),
        (("--model", "forest"), "does not apply to --model forest: pass --model boost"),
        (("--holdout", 0.2), "does not apply to --holdout: omit it"),
        (("--calibrate", "sigmoid"), "does not apply to --calibrate: omit it"),
        (("--increasing", "colour"), "colour is categorical"),
        (("--increasing", "nothing"), "nothing"),
    ],
)
def test_invalid_options_are_rejected(capsys, options, told):
    asked = ASKED if "--model" not in options else ASKED[:4]
    assert told in fail(capsys, *asked, *options, "-o", "new.lht", "--out-of-core").err


def test_a_full_disk(capsys, monkeypatch):
    monkeypatch.setattr(scratch.shutil, "disk_usage", lambda place: type("Usage", (), {"free": 10}))
    ran = fail(capsys, *ASKED, "-o", "new.lht", "--out-of-core", "--quiet")
    assert "GB of free disk space" in ran.err
    assert ran.code == 4
