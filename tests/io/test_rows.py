"""Rows of files for a model: columns, types and categories as it knows them; one test per error."""

import numpy as np
import pandas as pd
import pytest

from lhtree import LHTClassifier
from lhtree.io.read import read_rows, read_training
from support.table_files import FORMATS


def read(path, model, **options):
    return read_rows(path, model._model.encoding, model.classes_, **options)


@pytest.fixture
def model(shop):
    FORMATS["data.csv"](shop, "data.csv")
    X, y, _ = read_training("data.csv", "kind")
    return LHTClassifier().fit(X, y)


def test_columns_by_name_in_any_order_with_others_between(shop, model):
    shop["other"] = "x"
    shop[["rooms", "other", "kind", "colour", "size"]].to_csv("mixed.csv", index=False)
    rows, expected = read("mixed.csv", model, target="kind"), read("data.csv", model)
    assert rows.X.columns.tolist() == ["size", "colour", "rooms"]
    assert rows.y.tolist() == shop["kind"].tolist()
    assert expected.y is None
    pd.testing.assert_frame_equal(rows.X, expected.X)
    np.testing.assert_array_equal(model.predict(rows.X), model.predict(expected.X))


@pytest.mark.parametrize(
    "change",
    [
        {"columns": {"colour": "Color", "rooms": "r"}},
        {"size": "large"},
        {"size": "1,5"},
        {"colour": "blau"},
        {"kind": "lost"},
        {"kind": None},
    ],
    ids=str,
)
def test_tables_that_are_refused(shop, model, change, refuse):
    if "columns" in change:
        shop = shop.rename(**change)
    else:
        ((name, value),) = change.items()
        shop[name] = shop[name].astype(object)
        shop.loc[90, name] = value
    shop.to_csv("bad.csv", index=False)
    refuse(read, "bad.csv", model, target="kind")


def test_unseen_categories_and_rows_without_a_class(shop, model, refuse):
    shop.loc[[5, 7], "colour"] = ["blau", "mauve"]
    shop.loc[3, "kind"] = None
    shop.to_csv("unseen.csv", index=False)
    refuse(read, "unseen.csv", model)
    rows = read("unseen.csv", model, unseen="missing", target="kind", drop_missing_target=True)
    assert rows.n_unseen == {"colour": 2}
    assert rows.X["colour"].isna().sum() == shop["colour"].drop(3).isna().sum() + 2
    assert len(rows.X) == len(rows.y) == 119
    assert rows.X.index.tolist() == list(range(119))


@pytest.mark.parametrize("texts", [("True", "False"), ("TRUE", "FALSE"), (" true", "false "), ("1", "0.0")])
@pytest.mark.parametrize("learned", ["truths", "True", "true"])
def test_truth_values(shop, learned, texts, refuse):
    """As numbers; and as categories, which models of a CSV took them for once."""
    is_new = shop["rooms"] > 4
    spell = {"truths": (True, False), "True": ("True", "False"), "true": ("true", "false")}[learned]
    values = np.where(is_new, *spell)
    model = LHTClassifier().fit(shop[["size"]].assign(new=values), shop["kind"])
    shop.assign(new=is_new).to_parquet("typed.parquet")
    np.testing.assert_array_equal(read("typed.parquet", model).X["new"], values)
    if texts[0] == "1" and learned != "truths":
        return
    written = pd.Series(np.where(is_new, *texts).astype(object))
    written[3] = None
    shop.assign(new=written).to_csv("truths.csv", index=False)
    found = read("truths.csv", model).X["new"]
    assert found.isna().tolist() == [row == 3 for row in range(120)]
    assert found.drop(3).tolist() == np.delete(values, 3).tolist()
    shop.assign(new=written.fillna("maybe")).to_csv("truths.csv", index=False)
    refuse(read, "truths.csv", model)


@pytest.mark.parametrize("spell", [int, float])
@pytest.mark.parametrize("learned", [int, float, str, "1.0"])
def test_categories_that_are_whole_numbers(shop, spell, learned):
    codes = shop["rooms"].astype(float).astype(str) if learned == "1.0" else shop["rooms"].astype(learned)
    model = LHTClassifier().fit(shop[["size"]].assign(rooms=codes.astype("category")), shop["kind"])
    table = shop.assign(rooms=shop["rooms"].astype(spell))
    table.to_csv("codes.csv", index=False)
    table.astype({"size": str}).to_parquet("codes.parquet")
    for path in ("codes.csv", "codes.parquet"):
        rows = read(path, model).X
        assert rows["rooms"].tolist() == codes.tolist()
        np.testing.assert_array_equal(rows["size"], shop["size"])


def test_categories_that_look_missing_or_have_blanks(shop):
    shop["colour"] = np.where(shop["colour"] == "red", "None", " -x")
    model = LHTClassifier().fit(shop[["size", "colour"]], shop["kind"])
    shop.to_csv("odd.csv", index=False)
    assert read("odd.csv", model).X["colour"].tolist() == shop["colour"].tolist()


def test_a_model_without_names(shop, two, refuse):
    X, y = two
    model = LHTClassifier().fit(X, y)
    pd.DataFrame(X, columns=list("abcde")).to_csv("five.csv", index=False)
    np.testing.assert_array_equal(model.predict(read("five.csv", model).X.to_numpy()), model.predict(X))
    shop.to_csv("four.csv", index=False)
    refuse(read, "four.csv", model)


@pytest.mark.parametrize(
    ("learned", "written"),
    [
        (("NA", "?"), ("NA", "?")),
        ((" sold", "kept "), (" sold", "kept ")),
        ((True, False), ("True", "False")),
        ((True, False), ("TRUE", "false")),
        ((1, 2), ("1.0", "2")),
        ((1.0, 2.0), ("1", "2.")),
        (("01", "1"), ("01", "1.0")),
    ],
)
def test_classes_as_they_are_written(shop, learned, written):
    is_sold = (shop["kind"] == "sold").to_numpy()
    y = np.array([learned[0 if sold else 1] for sold in is_sold])
    model = LHTClassifier().fit(shop[["size"]], y)
    shop.assign(kind=np.where(is_sold, *written)).to_csv("written.csv", index=False)
    assert read("written.csv", model, target="kind").y.tolist() == y.tolist()
