"""Tables in batches: the same rows in the same order, and no more of them held than one batch."""

import csv
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree.io import csv as table_csv
from lhtree.io.source import Feed, Reading
from lhtree.io.streams import open_stream


def cut(content, n_bytes, delimiter=","):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_csv, "CHUNK_BYTES", n_bytes)
        return list(table_csv.cut_records(Feed(io.BytesIO(content), "data.csv"), delimiter, "data.csv"))


def parse(content):
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


FIELDS = st.text(st.sampled_from('ab,"\n\r é'), max_size=6)


@given(
    rows=st.lists(st.lists(FIELDS, min_size=2, max_size=3), min_size=1, max_size=12),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    n_bytes=st.integers(1, 40),
)
def test_chunks_hold_whole_records(rows, end, n_bytes):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end).writerows(rows)
    content = text.getvalue().encode()
    chunks = cut(content, n_bytes)
    assert b"".join(chunks) == content
    # A chunk that ends in \r may be followed by the \n of the same line, which is a blank line then.
    assert [record for chunk in chunks for record in parse(chunk) if record] == [
        row for row in parse(content) if row
    ]


def test_chunks_without_quotes_are_cut_at_the_last_line():
    assert cut(b"1,2\n3,4\n5,6", 6) == [b"1,2\n", b"3,4\n", b"5,6"]
    assert cut(b"1,2\r3,4\r5,6", 6) == [b"1,2\r", b"3,4\r", b"5,6"]
    assert cut(b"1,2;\n", 100, ";") == [b"1,2;\n"]
    assert cut(b"", 100) == []


def test_records_that_are_too_long(monkeypatch, rejects):
    monkeypatch.setattr(table_csv, "_MOST_BYTES", 1000)
    assert len(b"".join(cut(b'1,"' + b"x\n" * 400 + b'"\n2,3\n', 10))) == 809
    rejects(cut, b'1,"' + b"x\n" * 4000, 10)


def write_tables(n_rows):
    """Several formats of the same rows."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(n_rows, 6)).round(4), columns=list("abcdef"))
    frame["text"] = random.choice(["red", "green"], n_rows)
    frame["row"] = range(n_rows)
    frame.to_csv("data.csv", index=False)
    frame.to_csv("quoted.csv", index=False, quoting=csv.QUOTE_ALL)
    frame.to_csv("data.csv.gz", index=False)
    frame.to_parquet("data.parquet", row_group_size=20_000)
    frame.to_feather("data.arrow", chunksize=4096)


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """The number of rows of tables in the working directory."""
    monkeypatch.chdir(tmp_path)
    write_tables(40_000)
    return 40_000


NAMES = ["data.csv", "quoted.csv", "data.csv.gz", "data.parquet", "data.arrow"]


@pytest.mark.parametrize("name", NAMES)
def test_rows_come_once_and_in_order(tables, name):
    with open_stream(name, Reading()) as stream:
        assert stream.names == [*"abcdef", "text", "row"]
        rows, shares = [], []
        for batch in stream.batches(["row", "a"], 1000):
            assert len(batch) <= 1000
            assert batch.records.schema.names == ["row", "a"]
            assert stream.n_rows == len(rows)
            rows += map(int, batch.records.column("row").to_pylist())
            shares.append(stream.share())
    assert rows == list(range(tables))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def count_held(name):
    """Bytes of Arrow at the worst moment of reading a table."""
    before, held = pa.total_allocated_bytes(), 0
    with open_stream(name, Reading()) as stream:
        for batch in stream.batches([*"abcdef", "text", "row"]):
            held = max(held, pa.total_allocated_bytes() - before)
            del batch
    return held


def test_memory_does_not_depend_on_the_number_of_rows(tables):
    few = {name: count_held(name) for name in NAMES}
    write_tables(3 * tables)
    for name in NAMES:
        assert 0 < count_held(name) < 1.3 * few[name], name


def test_errors_in_late_batches_name_the_line(tables, rejects):
    with open("data.csv", "a", encoding="utf-8") as file:
        file.write("1,2\n")
    with open_stream("data.csv", Reading()) as stream, rejects:
        list(stream.batches(["row"]))


def test_a_pipe_has_no_share_and_rows_instead_of_lines(monkeypatch, rejects):
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n3\n")))
    with open_stream("-", Reading()) as stream:
        assert stream.share() is None
        rejects(list, stream.batches(["a"]))
