"""Rows in parts that answer messages give the model that rows in one place give, to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree import _core
from reference.boost import Options
from support.boosting import Parts, assert_same_model, boost

N_ROWS, N_COLUMNS = 240, 5
RESPONSES = ("squared_error", "absolute_error", "quantile", "poisson", "gamma")


def draw_table(seed=0, loss=None, n_classes=2):
    random = np.random.default_rng(seed)
    X = random.normal(size=(N_ROWS, N_COLUMNS))
    X[random.random(X.shape) < 0.05] = np.nan
    raw = np.nansum(X[:, :3], axis=1) + random.normal(size=N_ROWS)
    if loss is None:
        return X, np.digitize(raw, np.quantile(raw, np.linspace(0, 1, n_classes + 1)[1:-1]))
    return X, np.exp(raw) / np.exp(raw).max() if loss in ("poisson", "gamma") else raw / np.abs(raw).max()


def fit_both(cuts, X, y, options, *, rounds=None, **given):
    """Boost in one place and in parts."""
    rounds = {"n_rounds": 3} | (rounds or {})
    parts = Parts(cuts, X, y, options, **given)
    return boost(X, y, options, **given, **rounds), parts.boost(**rounds), parts


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(0, N_ROWS), max_size=4).map(sorted),
    loss=st.sampled_from([None, *RESPONSES]),
    n_classes=st.integers(2, 4),
    weights=st.sampled_from(["none", "whole", "real"]),
    share_held=st.sampled_from([0.0, 0.2]),
    subsample=st.sampled_from([0.6, 1.0]),
    is_linear=st.booleans(),
    is_monotonic=st.booleans(),
)
def test_parts_give_the_same_model(
    seed, cuts, loss, n_classes, weights, share_held, subsample, is_linear, is_monotonic
):
    X, y = draw_table(seed, loss, n_classes)
    random = np.random.default_rng(seed)
    n_targets = 1 if loss or n_classes == 2 else n_classes
    table = {"loss": loss} if loss else {"n_classes": n_classes}
    if loss == "quantile":
        table["quantile"] = 0.3
    if weights != "none":
        table["weight"] = random.integers(1, 5, N_ROWS) * (1.0 if weights == "whole" else 0.37)
    if share_held:
        table["held"] = (random.random(N_ROWS) < share_held).astype(np.uint8)
    options = Options(
        max_depth=3,
        min_samples_leaf=5.0,
        subsample=subsample,
        leaf="linear" if is_linear and loss not in ("absolute_error", "quantile") else "constant",
        monotonic=(1, -1, 0, 0, 0) if is_monotonic and n_targets == 1 else None,
    )
    rounds = {"n_rounds": 4, "patience": 2, "tol": 1e-3}
    whole, in_parts, _ = fit_both(cuts, X, y, options, rounds=rounds, seed=seed, **table)
    assert_same_model(whole, in_parts)


def test_categories_in_parts():
    X, y = draw_table(3)
    random = np.random.default_rng(3)
    levels = np.array([0, 0, 0, 0, 0, 3, 300], dtype=np.int32)  # 300 levels take two slots
    codes = np.stack([random.integers(-1, 3, N_ROWS), random.integers(-1, 300, N_ROWS)], axis=1)
    m = 5 + 303
    given = {"codes": codes.astype(np.int32), "levels": levels, "centre": np.zeros(m), "scale": np.ones(m)}
    options = Options(max_depth=4, min_samples_leaf=2.0, max_features=1.0)
    whole, in_parts, parts = fit_both([100, 100, 170], X, y, options, **given)
    assert_same_model(whole, in_parts)
    assert parts.bins.n_slots == 8
    for name, values in parts.bins.arrays().items():
        np.testing.assert_array_equal(values, whole["bins"][name])


def test_rows_of_a_mapped_file(tmp_path):
    X, y = draw_table(4)
    whole = boost(X, y)
    parts = Parts([], X, y)
    codes = np.memmap(tmp_path / "codes", dtype=np.uint8, mode="w+", shape=(N_ROWS, N_COLUMNS))
    codes[:] = parts.bins.encode(X)
    rows = _core.BoostRows(codes, parts.bins, classes=y.astype(np.int32), **parts.given)
    assert_same_model(whole, parts.boost(rows))


def test_earlier_trees_in_parts():
    X, y = draw_table(5, n_classes=3)
    whole = boost(X, y, n_rounds=6)
    parts = Parts([50], X, y)
    begun = parts.boost(n_rounds=2)
    rest = parts.boost(n_rounds=4, earlier=begun["trees"], first=begun["first"])
    names = ("intercept", "offset", "gain")
    for name in names:
        joined = np.concatenate([begun["trees"][name], rest["trees"][name]])
        assert joined.tobytes() == whole["trees"][name].tobytes(), name


@pytest.mark.parametrize("loss", ["squared_error", "quantile"])
def test_a_part_that_is_replaced(loss):
    """Whoever repeats what changed a part stands in for it."""
    X, y = draw_table(6, loss)
    whole = boost(X, y, loss=loss, n_rounds=3)
    parts, fresh = Parts([80], X, y, loss=loss), Parts([80], X, y, loss=loss)
    n_asked = 0

    def answer(requests):
        nonlocal n_asked
        n_asked += 1
        if n_asked in (10, 16):  # the second part is gone: the history so far is told to another
            lost = fresh.parts[1]
            for earlier in filter(_core.changes_rows, parts.requests):
                lost.answer(earlier)
            parts.parts[1] = lost
        return parts.answer(requests)

    assert_same_model(whole, parts.boost(answer, n_rounds=3))
    assert n_asked > 16


def test_exchanges_of_a_round():
    """Two for a tree and two for each of its levels: changes, and questions that need no other answer, go together."""
    X, y = draw_table(11)
    parts = Parts([100], X, y, Options(max_depth=3, min_samples_leaf=2.0))
    n_asked = 0

    def answer(requests):
        nonlocal n_asked
        n_asked += 1
        return parts.answer(requests)

    parts.boost(answer, n_rounds=4)
    assert n_asked == 2 + 4 * (2 + 2 * 3)


def test_no_row_to_learn_from():
    X, y = draw_table(7)
    parts = Parts([100], X, y, weight=np.ones(N_ROWS))
    none = Parts([100], X, y)
    held = np.ones(N_ROWS, dtype=np.uint8)
    none.parts = [
        _core.BoostRows(none.bins.encode(X), none.bins, classes=y.astype(np.int32), held=held, **none.given)
    ]
    with pytest.raises(ValueError, match="no row to learn from"):
        none.boost()
    with pytest.raises(ValueError, match="no row to learn from"):
        none.boost(none.parts[0])
    with pytest.raises(ValueError, match="other bins"):
        parts.boost(none.parts[0])


def test_errors_of_the_exchange():
    X, y = draw_table(8)
    parts = Parts([100], X, y)

    def fail(requests):
        raise RuntimeError("the wire is cut")

    with pytest.raises(RuntimeError, match="the wire is cut"):
        parts.boost(fail)
    with pytest.raises(ValueError, match="there is no answer"):
        parts.boost(lambda requests: [])
    with pytest.raises(ValueError, match="other than bytes"):
        parts.boost(lambda requests: [["text"]])
    with pytest.raises(ValueError, match="an answer is not to all messages"):
        parts.boost(lambda requests: [[]])
    survey = []

    def repeat(requests):
        survey.append(requests[0])
        return [[parts.parts[0].answer(survey[0])] * len(requests)]

    with pytest.raises(ValueError, match="it answers another message"):
        parts.boost(repeat)


@pytest.mark.parametrize("loss", [None, "absolute_error", "squared_error"])
def test_malformed_messages_are_errors(loss):
    """Messages cut short, lengthened or changed give an error or an answer, and never a crash."""
    X, y = draw_table(9, loss)
    leaf = "linear" if loss == "squared_error" else "constant"
    options = Options(leaf=leaf, max_depth=3, min_samples_leaf=5.0)
    parts = Parts([100], X, y, options, loss=loss)
    parts.boost(n_rounds=1, patience=1)
    part, random = parts.parts[0], np.random.default_rng(0)
    told = []
    for request in dict.fromkeys(parts.requests):
        for broken in (
            request[:-1],
            request + b"\0",
            b"",
            b"LH",
            b"XX" + request[2:],
            b"LH\x02" + request[3:],
        ):
            with pytest.raises(ValueError, match="malformed message"):
                part.answer(broken)
        for _ in range(20):
            changed = bytearray(request)
            changed[random.integers(3, len(request))] = random.integers(256)
            try:
                part.answer(bytes(changed))
            except ValueError as error:
                told.append(str(error))
    assert len(told) > 50
    assert all(message.startswith("malformed message: ") for message in told)


def test_malformed_answers_are_errors():
    X, y = draw_table(10)
    parts, random = Parts([100], X, y), np.random.default_rng(0)
    told = []
    for number in range(60):
        n_asked = 0

        def answer(requests, number=number):
            nonlocal n_asked
            answers = parts.answer(requests)
            for i, own in enumerate(answers[0]):
                n_asked += 1
                if n_asked == number % 20 + 3:
                    changed = bytearray(own)
                    changed[random.integers(0, len(changed))] ^= 1 << int(random.integers(8))
                    answers[0][i] = bytes(changed) if number % 3 else bytes(changed[:-1])
            return answers

        try:
            parts.boost(answer, n_rounds=1)
        except ValueError as error:
            told.append(str(error))
    assert len(told) >= 20
    assert all(message.startswith("malformed message: ") for message in told)


def test_sampled_rows():
    np.testing.assert_array_equal(_core.sample_rows(200_000, 1), np.arange(200_000))
    keys = _core.draw_keys(1, _core.Stream.sampled_rows, 200_500)
    np.testing.assert_array_equal(_core.sample_rows(200_500, 1), np.sort(np.argsort(keys)[:200_000]))
