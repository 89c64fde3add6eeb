"""Files that are read in batches: the same columns as of a whole table, and every pass the same rows."""

import os

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lhtree.io.read import FilePasses, read_training
from lhtree.io.source import Reading
from lhtree.io.streams import open_stream
from lhtree.tables.encoders import make_dates
from lhtree.tables.errors import TableError

TEXTS = [
    *["1", "2.5", "-3", "1e3", "12", "007", "1,5", "1.234,5", "1,234", "$5", "5 %", "true", "x", "x y"],
    *["2024-01-31", "10:05", "", "NA"],
]


def read_whole(path, reading):
    training = read_training(path, "y", reading)
    return training.as_categories, training.X["x"]


def read_batches(path, reading, batch_rows):
    file = FilePasses(path, "y", reading, batch_rows=batch_rows)
    columns = [X.column("x") for X, _, _ in file.batches()]
    if file.as_categories:
        return file.as_categories, pd.Series([text for one in columns for text in take_texts(one)])
    if any(column.kind == "dates" for column in columns):
        return file.as_categories, make_dates(np.concatenate([column.days() for column in columns]))
    return file.as_categories, np.concatenate([column.numbers() for column in columns])


def take_texts(column):
    codes, categories = column.categories()
    return [categories[code] if code >= 0 else None for code in codes]


def attempt(read, *given):
    """Return the table that is read, or the error."""
    try:
        return read(*given)
    except TableError as error:
        return type(error), str(error)


@settings(
    suppress_health_check=[*settings().suppress_health_check, HealthCheck.function_scoped_fixture],
    max_examples=200,
)
@given(
    texts=st.one_of(
        st.lists(st.sampled_from(some), min_size=2, max_size=8)
        for some in (
            TEXTS,
            TEXTS[:8],
            TEXTS[6:12],
            TEXTS[3:6],
            ["1", "2", "2024-01-31", ""],
            ["01", "2.5", "7"],
        )
    ),
    batch_rows=st.integers(1, 3),
    decimal=st.sampled_from([".", ","]),
)
def test_batches_have_the_columns_of_the_whole_table(texts, batch_rows, decimal, tmp_path):
    path = str(tmp_path / "data.csv")
    pd.DataFrame({"x": texts, "y": ["a", "b", "a", "b", "a", "b", "a", "b"][: len(texts)]}).to_csv(
        path, index=False, quoting=1
    )
    whole = attempt(read_whole, path, Reading(decimal=decimal))
    batches = attempt(read_batches, path, Reading(decimal=decimal), batch_rows)
    assert whole[0] == batches[0]
    if isinstance(whole[1], str):
        assert whole[1] == batches[1]
    else:
        pd.testing.assert_series_equal(
            pd.Series(whole[1]).astype(object), pd.Series(batches[1]).astype(object), check_names=False
        )


class TestLinks:
    def write(self, folder, name):
        os.makedirs(folder, exist_ok=True)
        pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}).to_parquet(os.path.join(folder, name))

    def count(self, folder):
        with open_stream(str(folder), Reading()) as stream:
            return len(stream.read_all(["x"]))

    def test_circular_links_are_rejected(self, tmp_path, rejects):
        self.write(tmp_path / "one" / "inner", "part.parquet")
        (tmp_path / "one" / "inner" / "again").symlink_to(tmp_path / "one")
        rejects(self.count, tmp_path / "one")

    def test_links_that_lead_to_each_other_are_rejected(self, tmp_path, rejects):
        for name, other in (("one", "two"), ("two", "one")):
            self.write(tmp_path / name, "part.parquet")
            (tmp_path / name / "other").symlink_to(tmp_path / other)
        rejects(self.count, tmp_path / "one")

    def test_links_to_other_folders_are_followed(self, tmp_path):
        self.write(tmp_path / "one", "part.parquet")
        self.write(tmp_path / "two", "part.parquet")
        (tmp_path / "one" / "more").symlink_to(tmp_path / "two")
        assert self.count(tmp_path / "one") == 4
