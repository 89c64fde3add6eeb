"""Rows as applications have them: dicts, lists of dicts, and frames with the columns in any order."""

import warnings
from collections import OrderedDict
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import lhtree
from lhtree import ExtraColumnsWarning, LHBoostRegressor, LHForestClassifier, LHTClassifier, load_scorer, save
from lhtree.tables.encoding import Encoding
from lhtree.tables.frames import RecordTable, take_table
from lhtree.tables.rows import EncodedRows
from reference.rows import expand


def make_table(n_rows=300):
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": random.integers(18, 80, n_rows).astype(float),
            "colour": random.choice(["red", "green", "blue"], n_rows),
            "size": random.normal(size=n_rows),
            "town": [f"town {number}" for number in random.integers(0, 30, n_rows)],
            "rooms": random.integers(1, 4, n_rows),
        }
    )
    table.loc[:40, "age"] = np.nan
    table["rooms"] = table["rooms"].astype("category")
    return table


TABLE = make_table()
LABELS = np.where(TABLE.age.fillna(0) + 20 * (TABLE.colour == "red") + 5 * TABLE["size"] > 45, "yes", "no")


@pytest.fixture(scope="module")
def model():
    """A model with an indicator, one-hot columns of text and of numbers, and a target statistic."""
    settings = {"missing_indicator": True, "max_one_hot": 10, "random_state": 0}
    return LHForestClassifier(10, **settings).fit(TABLE, LABELS)


@pytest.fixture(scope="module")
def scorer(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "model.lht"
    save(model, path)
    return load_scorer(path)


def as_record(table, row):
    return {name: None if pd.isna(value) else value for name, value in table.iloc[row].items()}


RECORDS = [as_record(TABLE, row) for row in range(60)]


def same(first, second):
    np.testing.assert_array_equal(first, second, strict=True)


class TestForms:
    def test_a_dict_is_one_row(self, model, scorer):
        expected = model.predict_proba(TABLE[:1])
        for one in (model, scorer):
            same(one.predict_proba(RECORDS[0]), expected)
            same(one.predict_proba(OrderedDict(RECORDS[0])), expected)
            assert one.predict(RECORDS[0]).tolist() == model.predict(TABLE[:1]).tolist()

    def test_dicts_are_rows(self, model, scorer):
        expected = model.predict_proba(TABLE[:60])
        for one in (model, scorer):
            same(one.predict_proba(RECORDS), expected)
            same(one.predict_proba(tuple(RECORDS)), expected)

    def test_all_methods_take_dicts(self, model):
        same(model.predict_wolf(RECORDS), model.predict_wolf(TABLE[:60]))
        same(model.apply(RECORDS[:3]), model.apply(TABLE[:3]))
        pd.testing.assert_frame_equal(model.explain_batch(RECORDS[:3]), model.explain_batch(TABLE[:3]))
        assert str(model.explain(RECORDS[5])) == str(model.explain(TABLE.iloc[5]))

    @pytest.mark.parametrize("n_rows", [1, 60])
    def test_columns_may_be_in_any_order(self, model, scorer, n_rows):
        table = TABLE[:n_rows]
        expected = model.predict_proba(table)
        turned = table[table.columns[::-1]]
        text = turned.astype({"rooms": "int64"})
        for one in (model, scorer):
            for form in (turned, pl.DataFrame(text), pa.Table.from_pandas(text, preserve_index=False)):
                same(one.predict_proba(form), expected)
            same(one.predict_proba([dict(reversed(row.items())) for row in RECORDS[:n_rows]]), expected)

    def test_numbers_may_be_in_any_order(self):
        table = TABLE[["size", "age"]]
        model = LHForestClassifier(5, random_state=0).fit(table, LABELS)
        same(model.predict_proba(table[["age", "size"]]), model.predict_proba(table))
        same(
            model.predict_proba(table[["age", "size"]].astype(np.float32)),
            model.predict_proba(table.astype(np.float32)),
        )
        same(model.predict_proba(table[:9].to_dict("records")), model.predict_proba(table[:9]))

    def test_models_without_names_take_numbered_columns(self):
        X = np.random.default_rng(0).normal(size=(50, 3))
        model = LHTClassifier().fit(X, X[:, 0] > 0)
        same(model.predict_proba({"x2": X[4, 2], "x0": X[4, 0], "x1": X[4, 1]}), model.predict_proba(X[4:5]))

    def test_one_column(self):
        model = LHTClassifier().fit(TABLE[["size"]], LABELS)
        same(
            model.predict_proba([{"size": 0.5}, {"size": 1}]),
            model.predict_proba(pd.DataFrame({"size": [0.5, 1]})),
        )

    def test_a_model_can_be_fitted_with_dicts(self, model):
        table = TABLE.astype({"rooms": str})
        of_frame = LHForestClassifier(**model.get_params()).fit(table, LABELS)
        of_dicts = LHForestClassifier(**model.get_params()).fit(table.to_dict("records"), LABELS)
        same(of_dicts.predict_proba(table), of_frame.predict_proba(table))


class TestExtraColumns:
    def test_extra_columns_are_ignored_with_a_warning(self, model, scorer):
        expected = model.predict_proba(TABLE[:2])
        wider = TABLE[:2].assign(note="x", more=1.0)
        rows = wider.to_dict("records")
        for form in (
            wider,
            rows,
            pl.DataFrame(wider.astype({"rooms": "int64"})),
            [*rows[:1], OrderedDict(rows[1])],
        ):
            for one in (model, scorer):
                with pytest.warns(ExtraColumnsWarning) as caught:
                    same(one.predict_proba(form), expected)
                assert str(caught[0].message).startswith(
                    "X has columns that the model does not use, which are ignored: 'note', 'more'. Drop them"
                )
                assert caught[0].filename == __file__

    def test_the_warning_can_be_an_error(self, scorer):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ExtraColumnsWarning)
            with pytest.raises(ExtraColumnsWarning):
                scorer.predict(RECORDS[0] | {"note": "x"})

    def test_an_explanation_ignores_them(self, model):
        with pytest.warns(ExtraColumnsWarning):
            explanation = model.explain(RECORDS[0] | {"note": "x"})
        assert str(explanation) == str(model.explain(RECORDS[0]))


def test_bad_rows_are_rejected(model, scorer, rejects):
    row = RECORDS[50]
    for bad in (
        {name: row[name] for name in ("age", "size")},
        [row, {name: value for name, value in row.items() if name != "age"}],
        [row, row | {"age": "old"}],
        [row, row | {"age": np.inf}],
        row | {"age": 10**400},
        row | {"age": [1.0]},
        row | {"colour": 3.5},
        row | {"colour": ["red"]},
        {1: 2.0},
        [row, 1.0],
        {},
    ):
        rejects(scorer.predict, bad)
    model = LHForestClassifier(**model.get_params() | {"unseen": "error"}).fit(TABLE, LABELS)
    rejects(model.predict, [row, row | {"colour": "pink"}])


numbers = st.one_of(
    st.none(),
    st.floats(allow_infinity=False),
    st.integers(-(2**70), 2**70),
    st.booleans(),
    st.floats(width=32, allow_infinity=False).map(np.float32),
    st.integers(-5, 5).map(np.int64),
    st.booleans().map(np.bool_),
    st.just(Decimal("1.5")),
    st.just(pd.NA),
    st.just(np.inf),
    st.just("1.5"),
    st.just(pd.Timestamp("2020-01-01")),
)
texts = st.one_of(
    st.sampled_from(
        ["red", "green", "blue", "Red", "pink", "", "1", "1.0", "2", "True", "nan", "town 3", "town 99"]
    ),
    st.sampled_from([None, np.nan, pd.NA, 1, 1.0, 2, 3.5, True, np.int64(2), np.float32(3), np.str_("red")]),
)
rows = st.tuples(numbers, texts, numbers, texts, texts).map(
    lambda row: dict(zip(TABLE.columns, row, strict=True))
)


def attempt(work):
    """Return the arrays of encoded rows, or the message of an error."""
    try:
        coded = work()
    except (ValueError, TypeError) as error:
        return type(error), str(error)
    return coded.numbers.tobytes(), coded.codes.tobytes(), coded.levels.tobytes(), coded.expand().tobytes()


def encode_columns(encoding, table, unseen):
    """Encode a table by its columns, as tables of many rows are."""
    return encoding._encode_columns(table.columns(), unseen, None)


@given(st.lists(rows, min_size=1, max_size=4), st.sampled_from(["missing", "error"]))
def test_dicts_are_encoded_as_columns_are(model, some, unseen):
    encoding = model._read().encoding
    expected = attempt(lambda: encode_columns(encoding, RecordTable(some), unseen))
    assert attempt(lambda: encoding.code(some, unseen=unseen)) == expected


def make_pandas(some, dtype):
    column = {"Float64": "age"}.get(dtype, "rooms")
    return pd.DataFrame(some).astype({} if dtype is None else {column: dtype})


FORMS = {
    "polars": lambda some: pl.DataFrame(some, strict=False, infer_schema_length=None),
    **{
        f"pandas {dtype}": partial(make_pandas, dtype=dtype)
        for dtype in (None, "category", "string", "Float64")
    },
}


@pytest.mark.parametrize("form", FORMS)
@given(some=st.lists(rows, min_size=1, max_size=4))
def test_small_frames_are_encoded_as_columns_are(model, some, form):
    encoding = model._read().encoding
    try:
        frame = FORMS[form](some)
    except (ValueError, TypeError, pl.exceptions.PolarsError):
        reject()  # the library cannot store these values
    expected = attempt(lambda: encode_columns(encoding, take_table(frame, "model"), "missing"))
    assert attempt(lambda: encoding.code(frame)) == expected


def test_plain_rows_do_not_need_columns(model, monkeypatch):
    """Dicts and small frames take the fast path, also with missing values and numbers of NumPy."""
    monkeypatch.delattr(Encoding, "_encode_columns")
    expected = model.predict_proba(TABLE[:16])
    same(model.predict_proba(RECORDS[:16]), expected)
    same(model.predict_proba(pl.DataFrame(TABLE[:16].astype({"rooms": "int64"}))), expected)
    many = {"age": np.float64(3), "colour": None, "size": np.float32(1), "town": np.nan, "rooms": np.int64(2)}
    assert np.isfinite(model.predict_proba([many, RECORDS[0]])).all()


def test_numbers_in_categories_are_refused_as_in_large_frames(rejects):
    model = LHBoostRegressor(max_iter=5, random_state=0).fit(
        TABLE[["size", "colour"]], TABLE["rooms"].astype(float)
    )
    frame = TABLE[["size", "colour"]].assign(size=pd.Categorical([1.0] * len(TABLE)))
    for n_rows in (1, 100):
        rejects(model.predict, frame[:n_rows])


@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_levels_become_features(seed, dtype, is_transposed):
    random = np.random.default_rng(seed)
    levels = random.integers(0, 4, random.integers(1, 7)).astype(np.int32)
    n_rows, coded = int(random.integers(0, 5)), levels[levels > 0]
    numbers = random.normal(size=(n_rows, int((levels == 0).sum()))).astype(dtype)
    numbers[random.random(numbers.shape) < 0.2] = np.nan
    codes = random.integers(-1, np.maximum(coded, 1), (n_rows, len(coded))).astype(np.int32)
    coded_rows = EncodedRows(np.asfortranarray(numbers) if is_transposed else numbers, codes, levels)
    if len(coded):
        same(coded_rows.expand(), expand(numbers, codes, levels))


def test_invalid_codes_are_rejected(rejects):
    X, codes, levels = np.zeros((2, 1)), np.zeros((2, 1), dtype=np.int32), np.array([0, 3], dtype=np.int32)
    for bad in (
        (X, codes + 3, levels),
        (X, codes.astype(np.int64), levels),
        (X, codes[:1], levels),
        (X, codes, levels[:1]),
        (X, codes, -levels),
        (X, codes.T, levels),
    ):
        rejects(lhtree._core.expand_levels, *bad)
