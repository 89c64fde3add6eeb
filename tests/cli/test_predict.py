"""``lhtree predict`` gives the same predictions as the library, in the order of the rows; output is atomic."""

import io
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather

import lhtree
from support.shop import fail, fit_boosted, fit_models, make_table, run, shop, succeed  # noqa: F401


def read(source, sep=","):
    """A CSV with its figures to the bit, which pandas before 3 does not promise."""
    table = pd.read_csv(source, sep=sep, keep_default_na=False, dtype=str)
    figures = [name for name in table if name.startswith(("proba ", "confidence "))]
    return table.assign(**{name: [float(value) for value in table[name]] for name in figures})


@pytest.fixture
def expected():
    """Predictions, probabilities and confidences of the library."""
    model, X = fit_models()[0], make_table().drop(columns="y")
    return model.predict(X), model.predict_proba(X), model.predict_confidence(X)


@pytest.mark.usefixtures("shop")
class TestPredictions:
    def test_probabilities_and_confidences_are_bit_identical(self, capsys, expected):
        table = read(
            io.StringIO(succeed(capsys, "predict", "model.lht", "data.csv", "--proba", "--confidence").out)
        )
        names = ["prediction", "proba kept", "proba sold", "confidence kept", "confidence sold"]
        assert table.columns.tolist() == names
        np.testing.assert_array_equal(table[names[1:3]], expected[1])
        np.testing.assert_array_equal(table[names[3:]], expected[2])

    @pytest.mark.parametrize("n_rows", [1, 7, 100, 1000])
    def test_batches_of_any_size(self, capsys, n_rows, expected):
        ran = succeed(capsys, "predict", "model.lht", "data.csv", "--batch-rows", n_rows)
        assert read(io.StringIO(ran.out))["prediction"].tolist() == expected[0].tolist()

    @pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "txt", "parquet", "arrow", "feather"])
    def test_formats_of_output(self, capsys, ending, expected):
        path = f"out.{ending}"
        succeed(capsys, "predict", "model.lht", "data.csv", "--keep", "size", "--proba", "--out", path)
        if ending == "parquet":
            table = pd.read_parquet(path)
        elif ending in ("arrow", "feather"):
            table = pd.read_feather(path)
        else:
            table = read(path, "\t" if ending == "tsv" else ",")
        assert table.columns.tolist() == ["size", "prediction", "proba kept", "proba sold"]
        assert table["prediction"].tolist() == expected[0].tolist()
        np.testing.assert_array_equal(table["proba sold"], expected[1][:, 1])
        np.testing.assert_array_equal(pd.to_numeric(table["size"]), make_table()["size"])

    def test_kept_columns_are_copied_as_written(self, capsys):
        Path("odd.csv").write_text(
            'id,size,weight,colour,shop\n007, 1.50,2,"red",north\n"a,""b""\n",NA,,red, south\n'
        )
        ran = succeed(capsys, "predict", "model.lht", "odd.csv", "--keep", "id", "--keep", "size")
        table = pd.read_csv(io.StringIO(ran.out), dtype=str, keep_default_na=False)
        assert table["id"].tolist() == ["007", 'a,"b"\n']
        assert table["size"].tolist() == [" 1.50", "NA"]
        ran = succeed(capsys, "predict", "model.lht", "odd.csv", "--keep-all")
        names = ["id", "size", "weight", "colour", "shop", "prediction"]
        assert read(io.StringIO(ran.out)).columns.tolist() == names

    @pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
    def test_string_views_of_polars(self, capsys, ending, expected):
        table = pa.Table.from_pandas(make_table(), preserve_index=False)
        views = [pa.string_view() if column.type == pa.string() else column.type for column in table.columns]
        table = table.cast(pa.schema(list(zip(table.column_names, views, strict=True))))
        feather.write_feather(table, "views.arrow")
        path = f"out.{ending}"
        succeed(capsys, "predict", "model.lht", "views.arrow", "--keep-all", "--out", path)
        out = {"csv": pd.read_csv, "parquet": pd.read_parquet, "arrow": pd.read_feather}[ending](path)
        assert out["shop"].tolist() == make_table()["shop"].tolist()
        assert out["prediction"].tolist() == expected[0].tolist()

    def test_a_table_without_rows(self, capsys):
        make_table()[:0].to_csv("none.csv", index=False)
        assert (
            succeed(capsys, "predict", "model.lht", "none.csv", "--proba").out
            == "prediction,proba kept,proba sold\n"
        )
        make_table()[:0].to_parquet("none.parquet")
        succeed(capsys, "predict", "model.lht", "none.parquet", "--keep-all", "--out", "out.parquet")
        assert pd.read_parquet("out.parquet").columns.tolist()[-2:] == ["y", "prediction"]

    def test_classes_that_are_numbers(self, capsys, two):
        X, y = two
        lhtree.save(lhtree.LHTClassifier().fit(X, y), "numbers.lht")
        pd.DataFrame(X).to_csv("numbers.csv", index=False)
        succeed(capsys, "predict", "numbers.lht", "numbers.csv", "--out", "out.parquet")
        out = pd.read_parquet("out.parquet")["prediction"]
        assert out.dtype == np.int64
        np.testing.assert_array_equal(out, lhtree.load("numbers.lht").predict(X))

    def test_unseen_categories_can_be_missing(self, capsys):
        make_table().assign(shop="west").to_csv("west.csv", index=False)
        ran = succeed(capsys, "predict", "model.lht", "west.csv", "--unseen", "missing")
        missing = make_table().drop(columns="y").assign(shop=None)
        assert read(io.StringIO(ran.out))["prediction"].tolist() == fit_models()[0].predict(missing).tolist()
        assert (
            ran.err
            == "lhtree: categories not seen in training are treated as missing: 300 of column 'shop'\n"
        )
        assert succeed(capsys, "predict", "model.lht", "west.csv", "--unseen", "missing", "--quiet").err == ""


@pytest.mark.usefixtures("shop")
class TestErrors:
    def refuse(self, capsys, *arguments, code):
        before = sorted(os.listdir())
        ran = fail(capsys, "predict", "model.lht", *arguments)
        assert ran.code == code
        assert sorted(os.listdir()) == before  # no partial output
        return ran.err.removeprefix("lhtree: ").rstrip("\n")

    def test_lists_cannot_be_written_as_text(self, capsys):
        make_table().assign(tags=[["a"]] * 300).to_parquet("lists.parquet")
        message = self.refuse(capsys, "lists.parquet", "--keep-all", "--out", "out.csv", code=1)
        assert "column 'tags'" in message
        succeed(capsys, "predict", "model.lht", "lists.parquet", "--keep-all", "--out", "out.parquet")
        assert pd.read_parquet("out.parquet")["tags"].map(list).tolist() == [["a"]] * 300

    @pytest.mark.parametrize(
        ("values", "endings"),
        [
            (pa.array([b"\xff\xfe"] * 300, pa.binary(2)), ["csv"]),
            (pa.array([(1, 2, 3)] * 300, pa.month_day_nano_interval()), ["csv", "parquet"]),
        ],
    )
    def test_types_without_a_representation_are_rejected(self, capsys, values, endings):
        table = pa.Table.from_pandas(make_table()).append_column("odd", values)
        feather.write_feather(table, "odd.arrow")
        for ending in endings:
            message = self.refuse(capsys, "odd.arrow", "--keep-all", "--out", f"out.{ending}", code=1)
            assert "drop it, or write " in message
        succeed(capsys, "predict", "model.lht", "odd.arrow", "--keep-all", "--out", "out.arrow")
        assert feather.read_table("out.arrow")["odd"].to_pylist() == values.to_pylist()

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
    def test_no_space_left(self, capsys):
        message = self.refuse(capsys, "data.csv", "--out", "/dev/full", "--out-format", "csv", code=4)
        assert message == "cannot write /dev/full: No space left on device"

    def test_existing_file_stays_after_an_error(self, capsys):
        Path("out.csv").write_text("old")
        make_table().assign(size="x").to_csv("bad.csv", index=False)
        self.refuse(capsys, "bad.csv", "--out", "out.csv", code=1)
        assert Path("out.csv").read_text() == "old"
