"""Rows for a model: columns, types and categories as it knows them; one test per error."""

import numpy as np
import pytest

from lhtree import LHTClassifier
from lhtree.cli._align import read_rows
from lhtree.cli._errors import ExitCode
from lhtree.cli._training import read_training
from support.table_files import FORMATS, make_shop, refusal  # noqa: F401

pd = pytest.importorskip("pandas")


class TestRowsForAModel:
    @pytest.fixture
    def model(self, shop):
        FORMATS["data.csv"](shop, "data.csv")
        X, y, _ = read_training("data.csv", "kind")
        return LHTClassifier().fit(X, y)

    def test_columns_by_name_in_any_order_with_others_between(self, shop, model):
        shop["other"] = "x"
        shop[["rooms", "other", "kind", "colour", "size"]].to_csv("mixed.csv", index=False)
        rows = read_rows("mixed.csv", model, target="kind")
        assert rows.X.columns.tolist() == ["size", "colour", "rooms"]
        assert rows.y.tolist() == shop["kind"].tolist()
        expected = read_rows("data.csv", model)
        pd.testing.assert_frame_equal(rows.X, expected.X)
        assert expected.y is None
        np.testing.assert_array_equal(model.predict(rows.X), model.predict(expected.X))

    def test_a_renamed_column(self, shop, model):
        shop.rename(columns={"colour": "Color", "rooms": "r"}).to_csv("renamed.csv", index=False)
        message, code = refusal(read_rows, "renamed.csv", model)
        assert message == (
            "renamed.csv lacks the column 'colour' and 1 more of the model; the nearest is 'Color'"
        )
        assert code == ExitCode.DATA

    def test_text_in_place_of_numbers(self, shop, model):
        shop["size"] = shop["size"].astype(object)
        shop.loc[90, "size"] = "large"
        shop.to_csv("text.csv", index=False)
        message, _ = refusal(read_rows, "text.csv", model)
        assert message == (
            "text.csv, line 92: column 'size' is 'large' where the model takes numbers: mend the value, or leave it "
            "empty if it is unknown"
        )
        shop.loc[90, "size"] = "1,5"
        shop.to_csv("text.csv", index=False)
        assert refusal(read_rows, "text.csv", model)[0].endswith("takes numbers: pass --decimal ,")

    def test_dates_in_place_of_numbers(self, shop, model):
        shop["size"] = pd.Timestamp("2024-01-31")
        shop.to_parquet("dates.parquet")
        message, _ = refusal(read_rows, "dates.parquet", model)
        assert message.startswith("dates.parquet: column 'size' holds timestamp")

    def test_unseen_categories(self, shop, model):
        shop.loc[[5, 7], "colour"] = ["blau", "mauve"]
        shop.to_csv("unseen.csv", index=False)
        message, code = refusal(read_rows, "unseen.csv", model)
        assert message == (
            "unseen.csv, line 7: column 'colour' is 'blau', which was not seen in training, and 1 more of the rows "
            "after it; the nearest is 'blue'. Pass --unseen missing to count such values as missing"
        )
        assert code == ExitCode.DATA
        rows = read_rows("unseen.csv", model, unseen="missing")
        assert rows.n_unseen == {"colour": 2}
        assert rows.X["colour"].isna().sum() == shop["colour"].isna().sum() + 2

    def test_numbers_as_text_and_categories_as_numbers(self, shop):
        shop["rooms"] = shop["rooms"].astype("category")
        model = LHTClassifier().fit(shop[["size", "rooms"]], shop["kind"])
        shop.astype({"size": "str"}).to_parquet("typed.parquet")
        shop.to_csv("plain.csv", index=False)
        for path in ("typed.parquet", "plain.csv"):
            rows = read_rows(path, model)
            np.testing.assert_array_equal(
                model.predict_proba(rows.X), model.predict_proba(shop[["size", "rooms"]])
            )

    @pytest.mark.parametrize(
        "texts", [("True", "False"), ("TRUE", "FALSE"), (" true", "false "), ("1", "0.0")]
    )
    def test_truth_values_as_text(self, shop, texts):
        shop["new"] = shop["rooms"] > 4
        model = LHTClassifier().fit(shop[["size", "new"]], shop["kind"])
        shop["new"] = np.where(shop["new"], *texts).astype(object)
        shop.loc[3, "new"] = None
        shop.to_csv("truths.csv", index=False)
        expected = (shop["rooms"] > 4).astype(float)
        expected[3] = np.nan
        np.testing.assert_array_equal(read_rows("truths.csv", model).X["new"], expected)
        shop.loc[5, "new"] = "maybe"
        shop.to_csv("truths.csv", index=False)
        assert refusal(read_rows, "truths.csv", model)[0].startswith(
            "truths.csv, line 7: column 'new' is 'maybe' where the model takes numbers"
        )

    @pytest.mark.parametrize("spell", [int, float])
    @pytest.mark.parametrize("learned", [int, float, str, "1.0"])
    def test_categories_that_are_whole_numbers(self, shop, spell, learned):
        codes = shop["rooms"].astype(float).astype(str) if learned == "1.0" else shop["rooms"].astype(learned)
        model = LHTClassifier().fit(shop[["size"]].assign(rooms=codes.astype("category")), shop["kind"])
        table = shop.assign(rooms=shop["rooms"].astype(spell))
        table.to_csv("codes.csv", index=False)
        table.to_parquet("codes.parquet")
        for path in ("codes.csv", "codes.parquet"):
            assert read_rows(path, model).X["rooms"].tolist() == codes.tolist()

    @pytest.mark.parametrize("texts", [("True", "False"), ("true", "false")])
    def test_categories_that_are_truth_values(self, shop, texts):
        shop["new"] = shop["rooms"] > 4
        learned = np.where(shop["new"], *texts)
        model = LHTClassifier().fit(shop[["size"]].assign(new=learned), shop["kind"])
        shop.to_parquet("truths.parquet")
        shop.assign(new=np.where(shop["new"], "TRUE", "FALSE")).to_csv("truths.csv", index=False)
        for path in ("truths.parquet", "truths.csv"):
            assert read_rows(path, model).X["new"].tolist() == learned.tolist()

    def test_categories_that_look_missing_or_have_blanks(self, shop):
        shop["colour"] = np.where(shop["colour"] == "red", "None", " -x")
        model = LHTClassifier().fit(shop[["size", "colour"]], shop["kind"])
        shop.to_csv("odd.csv", index=False)
        assert read_rows("odd.csv", model).X["colour"].tolist() == shop["colour"].tolist()

    def test_a_model_without_names(self, shop, two):
        X, y = two
        model = LHTClassifier().fit(X, y)
        pd.DataFrame(X, columns=list("abcde")).to_csv("five.csv", index=False)
        np.testing.assert_array_equal(
            model.predict(read_rows("five.csv", model).X.to_numpy()), model.predict(X)
        )
        shop.to_csv("four.csv", index=False)
        message, _ = refusal(read_rows, "four.csv", model)
        assert message == (
            "four.csv has 4 columns and the model 5, which have no names: pass a table with just these, in their order"
        )

    def test_classes_that_the_model_does_not_know(self, shop, model):
        shop.loc[3, "kind"] = "lost"
        shop.to_csv("lost.csv", index=False)
        message, _ = refusal(read_rows, "lost.csv", model, target="kind")
        assert message == (
            "--target kind holds the class 'lost', which the model does not know: pass rows of its classes only"
        )

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
    def test_classes_as_they_are_written(self, shop, learned, written):
        is_sold = (shop["kind"] == "sold").to_numpy()
        y = np.array([learned[0 if sold else 1] for sold in is_sold])
        model = LHTClassifier().fit(shop[["size"]], y)
        shop.assign(kind=np.where(is_sold, *written)).to_csv("written.csv", index=False)
        assert read_rows("written.csv", model, target="kind").y.tolist() == y.tolist()

    def test_rows_without_a_class(self, shop, model):
        shop.loc[3, "kind"] = None
        shop.to_csv("some.csv", index=False)
        assert "missing in 1 of 120 rows" in refusal(read_rows, "some.csv", model, target="kind")[0]
        rows = read_rows("some.csv", model, target="kind", drop_missing_target=True)
        assert len(rows.X) == len(rows.y) == 119
        assert rows.X.index.tolist() == list(range(119))
