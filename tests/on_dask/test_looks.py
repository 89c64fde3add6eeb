"""Summaries of the parts of a table give the same encoding as the whole table."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree.dask._estimators import merge_summaries
from lhtree.dask._rows import take
from lhtree.tables.frames import take_table
from lhtree.tables.learn import TableSummary, Wanted, learn_encoding
from lhtree.tables.rows import EncodedRows

WORDS = [f"word {number}" for number in range(30)]


def make_frame(seed, n_rows):
    random = np.random.default_rng(seed)
    numbers = random.normal(size=n_rows)
    numbers[random.random(n_rows) < 0.3] = np.nan
    words = random.choice([*WORDS[: random.integers(1, 30)], None], n_rows)
    return pd.DataFrame(
        {
            "number": numbers,
            "few": pd.Series(words, dtype=object),
            "typed": pd.Categorical(random.choice(["b", "a"], n_rows), categories=["c", "b", "a"]),
            "flag": random.random(n_rows) < 0.5,
        }
    )


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(1, 59), max_size=3, unique=True).map(sorted),
    has_weights=st.booleans(),
    has_indicators=st.booleans(),
    most=st.sampled_from([3, 20]),
)
def test_summaries_of_parts_encode_as_the_whole_table(seed, cuts, has_weights, has_indicators, most):
    frame = make_frame(seed, 60)
    weight = np.random.default_rng(seed).integers(0, 2, 60).astype(float) if has_weights else None
    whole = learn_encoding(
        frame, "from_dtype", weight, max_one_hot=most, missing_indicator=has_indicators, owner="X"
    )
    wanted = Wanted("from_dtype", has_indicators, parts="partitions")
    summaries, parts = [], []
    for first, last in zip([0, *cuts], [*cuts, 60], strict=True):
        kept = None if weight is None else np.flatnonzero(weight[first:last])
        summary = TableSummary(wanted)
        parts.append(summary.add(take_table(frame[first:last], "X"), kept, first))
        summaries.append(summary)
    encoding = merge_summaries(wanted, summaries).finish(most)
    assert encoding == whole
    encoded = [
        summary.encode(encoding, part).expand() for summary, part in zip(summaries, parts, strict=True)
    ]
    rows = slice(None) if weight is None else weight != 0
    np.testing.assert_array_equal(np.concatenate(encoded)[rows], whole.encode(frame)[rows])


def test_rows_that_were_sent_between_workers_are_aligned():
    sent = np.zeros(8 * 12 + 1, dtype=np.uint8)[1:].view(np.float64).reshape(4, 3)
    assert not sent.flags.aligned
    for rows in (None, np.array([0, 2])):
        taken = take(EncodedRows.plain(sent), rows)
        assert taken.numbers.flags.aligned
        np.testing.assert_array_equal(taken.numbers, sent if rows is None else sent[rows])
