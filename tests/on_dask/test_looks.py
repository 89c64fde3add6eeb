"""Looks at the parts of a table say what a look at all of it says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree.tables.learn import learn_encoding

pd = pytest.importorskip("pandas")
pytest.importorskip("distributed")
from lhtree.dask._look import look_at, settle_encoding  # noqa: E402

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
def test_parts_and_whole(seed, cuts, has_weights, has_indicators, most):
    frame = make_frame(seed, 60)
    weight = np.random.default_rng(seed).integers(0, 2, 60).astype(float) if has_weights else None
    whole = learn_encoding(
        frame, "from_dtype", weight, max_one_hot=most, missing_indicator=has_indicators, owner="X"
    )
    looks = []
    for first, last in zip([0, *cuts], [*cuts, 60], strict=True):
        kept = None if weight is None else weight[first:last] != 0
        looks.append(look_at(frame[first:last], "from_dtype", kept, "X"))
    assert settle_encoding(looks, max_one_hot=most, missing_indicator=has_indicators) == whole


def test_parts_that_do_not_fit():
    frame = make_frame(0, 20)
    looks = [look_at(part, "from_dtype", None, "X") for part in (frame, frame.drop(columns="flag"))]
    with pytest.raises(ValueError, match="partition 1 has other columns"):
        settle_encoding(looks, max_one_hot=20, missing_indicator=False)
    texts = frame.assign(number="text")
    looks = [look_at(part, "from_dtype", None, "X") for part in (frame, texts)]
    with pytest.raises(ValueError, match="'number' holds text in some partitions and numbers in others"):
        settle_encoding(looks, max_one_hot=20, missing_indicator=False)
