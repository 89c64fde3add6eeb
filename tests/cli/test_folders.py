"""``lhtree predict`` reads and writes folders of Parquet files."""

import os
from pathlib import Path

import pandas as pd
import pytest

from support.shop import fail, fit_models, make_table, shop, succeed  # noqa: F401

pytestmark = pytest.mark.usefixtures("shop")

N_ROWS = 300


@pytest.fixture
def table():
    """The table as one Parquet file, and as a folder of three files."""
    frame = make_table(N_ROWS).reset_index(names="id")
    frame.to_parquet("data.parquet", row_group_size=70, index=False)
    os.mkdir("data")
    for number, (first, last) in enumerate([(0, 10), (10, 10), (10, N_ROWS)]):
        frame[first:last].to_parquet(f"data/part-{number}.parquet", row_group_size=100, index=False)
    Path("data/_SUCCESS").touch()
    return frame


def predict(capsys, *arguments):
    return succeed(capsys, "predict", "model.lht", *arguments, "--keep", "id", "--proba").out


def read_folder(path):
    assert all(name.startswith("part-") for name in os.listdir(path))
    return pd.concat([pd.read_parquet(f"{path}/{name}") for name in sorted(os.listdir(path))])


def check_nothing_left(*names):
    assert not [name for name in os.listdir() if name in names or ".part" in name]


def test_folder_is_one_table(capsys, table):
    alone = predict(capsys, "data.parquet")
    assert alone.count("\n") == N_ROWS + 1
    assert predict(capsys, "data") == alone
    assert predict(capsys, "data", "--batch-rows", 7) == alone


def test_folder_is_written_atomically(capsys, table, monkeypatch):
    monkeypatch.setattr("lhtree.cli.predict._PART_BYTES", 2000)
    succeed(capsys, "predict", "model.lht", "data", "--keep-all", "--batch-rows", 50, "--out", "out/")
    assert len(os.listdir("out")) > 1
    out = read_folder("out")
    assert out["id"].tolist() == list(range(N_ROWS))
    assert out["prediction"].tolist() == fit_models()[0].predict(make_table().drop(columns="y")).tolist()
    check_nothing_left()
    os.mkdir("empty")
    succeed(capsys, "predict", "model.lht", "out", "--keep", "id", "--out", "empty/")
    assert read_folder("empty")["id"].tolist() == list(range(N_ROWS))


@pytest.mark.parametrize(
    ("data", "out", "options", "code", "message"),
    [
        ("data", "data/", (), 4, "cannot write data/: it is not empty"),
        ("data", "data/out.parquet", (), 4, "it is in the input folder"),
        ("data", "new/", ("--out-format", "csv"), 2, "files of a folder are Parquet"),
        ("data", "nowhere/new/", (), 4, "the directory nowhere does not exist"),
        ("data", "out.csv", ("--format", "csv"), 2, "of folders, Parquet files are read only"),
    ],
)
def test_invalid_folders_are_rejected(capsys, table, data, out, options, code, message):
    before = sorted(os.listdir()), sorted(os.listdir("data"))
    ran = fail(capsys, "predict", "model.lht", data, *options, "--out", out)
    assert ran.code == code
    assert message in ran.err
    assert (sorted(os.listdir()), sorted(os.listdir("data"))) == before


def test_files_with_different_columns_are_rejected(capsys, table):
    table.drop(columns="size").to_parquet("data/other.parquet")
    assert "data/other.parquet has no column 'size'" in fail(capsys, "predict", "model.lht", "data").err
    table.assign(size="large").to_parquet("data/other.parquet")
    assert "different types in different files" in fail(capsys, "predict", "model.lht", "data").err
    table.assign(size=range(N_ROWS)).to_parquet("data/other.parquet")  # integers among floats
    assert predict(capsys, "data").count("\n") == 2 * N_ROWS + 1
    Path("data/other.parquet").write_bytes(b"PAR1 but not really")
    ran = fail(capsys, "predict", "model.lht", "data")
    assert ran.code == 3
    assert "data/other.parquet is damaged" in ran.err or "not a folder of Parquet files" in ran.err


def test_folder_names_give_a_column(capsys, table):
    for colour, rows in table.groupby("colour", sort=True):
        os.makedirs(f"by/colour={colour}")
        rows.drop(columns="colour").to_parquet(f"by/colour={colour}/0.parquet", index=False)
    given = table.dropna(subset="colour").sort_values("colour", kind="stable")
    out = succeed(capsys, "predict", "model.lht", "by").out
    expected = fit_models()[0].predict(given[["size", "weight", "colour", "shop"]]).tolist()
    assert out.split("\n")[1:-1] == expected


def test_errors_name_file_and_row(capsys, table):
    table.loc[250, "shop"] = "west"
    table.to_parquet("data.parquet", row_group_size=70, index=False)
    table[120:].to_parquet("data/part-2.parquet", index=False, row_group_size=100)
    table[10:120].to_parquet("data/part-1.parquet", index=False)
    ran = fail(capsys, "predict", "model.lht", "data.parquet", "--out", "out.csv")
    assert ran.err.startswith("lhtree: data.parquet, row 251: column 'shop' is 'west'")
    ran = fail(capsys, "predict", "model.lht", "data", "--out", "out/")
    assert ran.err.startswith("lhtree: data, part-2.parquet, row 131: column 'shop' is 'west'")
    ran = succeed(capsys, "predict", "model.lht", "data", "--unseen", "missing")
    assert ran.err == "lhtree: categories not seen in training are treated as missing: 1 of column 'shop'\n"
    check_nothing_left("out", "out.csv")
