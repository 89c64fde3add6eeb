"""Partitions of the rows that answer messages give the model of all rows in one place, to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree import _core
from reference.boost import Options
from support.boosting import Partitions, assert_same_model, boost

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
    """Boost in one place and in partitions."""
    rounds = {"n_rounds": 3} | (rounds or {})
    partitions = Partitions(cuts, X, y, options, **given)
    return boost(X, y, options, **given, **rounds), partitions.boost(**rounds), partitions


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(0, N_ROWS), max_size=4).map(sorted),
    loss=st.sampled_from([None, *RESPONSES, "several", "quantiles"]),
    n_classes=st.integers(2, 4),
    weights=st.sampled_from(["none", "whole", "real"]),
    share_held=st.sampled_from([0.0, 0.2]),
    subsample=st.sampled_from([0.6, 1.0]),
    leaf=st.sampled_from(["constant", "linear", "joint"]),
    growth=st.sampled_from(["free", "symmetric"]),
    is_monotonic=st.booleans(),
)
def test_partitions_give_the_same_model(
    seed, cuts, loss, n_classes, weights, share_held, subsample, leaf, growth, is_monotonic
):
    X, y = draw_table(seed, loss, n_classes)
    random = np.random.default_rng(seed)
    is_several = loss in ("several", "quantiles")
    n_targets = 1 if (loss and not is_several) or n_classes == 2 else n_classes
    if loss == "several":
        loss, y = (
            "squared_error",
            np.stack([y * 0.7**k + k * np.nan_to_num(X[:, k]) / 99 for k in range(n_classes)], 1),
        )
    elif loss == "quantiles":
        loss = "quantile"
    table = {"loss": loss} if loss else {"n_classes": n_classes}
    if loss == "quantile":
        table["quantile"] = np.linspace(0.2, 0.9, n_classes) if is_several else 0.3
    if weights != "none":
        table["weight"] = random.integers(1, 5, N_ROWS) * (1.0 if weights == "whole" else 0.37)
    if share_held:
        table["held"] = (random.random(N_ROWS) < share_held).astype(np.uint8)
    options = Options(
        max_depth=3,
        min_samples_leaf=5.0,
        subsample=subsample,
        leaf="linear" if leaf == "linear" and loss not in ("absolute_error", "quantile") else "constant",
        is_joint=leaf == "joint",
        growth=growth,
        monotonic=(1, -1, 0, 0, 0) if is_monotonic and n_targets == 1 and not is_several else None,
    )
    rounds = {"n_rounds": 4, "patience": 2, "tol": 1e-3}
    whole, in_partitions, _ = fit_both(cuts, X, y, options, rounds=rounds, seed=seed, **table)
    assert_same_model(whole, in_partitions)


def test_categories_in_partitions():
    X, y = draw_table(3)
    random = np.random.default_rng(3)
    levels = np.array([0, 0, 0, 0, 0, 3, 300], dtype=np.int32)  # 300 levels take two slots
    codes = np.stack([random.integers(-1, 3, N_ROWS), random.integers(-1, 300, N_ROWS)], axis=1)
    m = 5 + 303
    given = {"codes": codes.astype(np.int32), "levels": levels, "centre": np.zeros(m), "scale": np.ones(m)}
    options = Options(max_depth=4, min_samples_leaf=2.0, max_features=1.0)
    whole, in_partitions, partitions = fit_both([100, 100, 170], X, y, options, **given)
    assert_same_model(whole, in_partitions)
    assert partitions.bins.n_slots == 8
    for name, values in partitions.bins.arrays().items():
        np.testing.assert_array_equal(values, whole["bins"][name])


def test_codes_may_be_a_mapped_file(tmp_path):
    X, y = draw_table(4)
    whole = boost(X, y)
    partitions = Partitions([], X, y)
    codes = np.memmap(tmp_path / "codes", dtype=np.uint8, mode="w+", shape=(N_ROWS, N_COLUMNS))
    codes[:] = partitions.bins.encode(X)
    rows = _core.BoostRows(codes, partitions.bins, classes=y.astype(np.int32), **partitions.given)
    assert_same_model(whole, partitions.boost(rows))


def test_earlier_trees_in_partitions():
    X, y = draw_table(5, n_classes=3)
    whole = boost(X, y, n_rounds=6)
    partitions = Partitions([50], X, y)
    begun = partitions.boost(n_rounds=2)
    rest = partitions.boost(n_rounds=4, earlier=begun["trees"], first=begun["first"])
    names = ("intercept", "offset", "gain")
    for name in names:
        joined = np.concatenate([begun["trees"][name], rest["trees"][name]])
        assert joined.tobytes() == whole["trees"][name].tobytes(), name


@pytest.mark.parametrize("loss", ["squared_error", "quantile"])
def test_replaced_partitions_repeat_the_changes(loss):
    """A new partition that is sent all requests that change rows continues where the old one stopped."""
    X, y = draw_table(6, loss)
    whole = boost(X, y, loss=loss, n_rounds=3)
    partitions, fresh = Partitions([80], X, y, loss=loss), Partitions([80], X, y, loss=loss)
    n_asked = 0

    def answer(requests):
        nonlocal n_asked
        n_asked += 1
        if n_asked in (10, 16):  # the second partition is lost: another is sent all changes so far
            lost = fresh.rows[1]
            for earlier in filter(_core.changes_rows, partitions.requests):
                lost.answer(earlier)
            partitions.rows[1] = lost
        return partitions.answer(requests)

    assert_same_model(whole, partitions.boost(answer, n_rounds=3))
    assert n_asked > 16


def test_exchanges_of_a_round():
    """Two per tree and two per level: changes are sent with the next question."""
    X, y = draw_table(11)
    partitions = Partitions([100], X, y, Options(max_depth=3, min_samples_leaf=2.0))
    n_asked = 0

    def answer(requests):
        nonlocal n_asked
        n_asked += 1
        return partitions.answer(requests)

    partitions.boost(answer, n_rounds=4)
    assert n_asked == 2 + 4 * (2 + 2 * 3)


def test_no_row_to_learn_from(rejects):
    X, y = draw_table(7)
    partitions = Partitions([100], X, y, weight=np.ones(N_ROWS))
    none = Partitions([100], X, y)
    held = np.ones(N_ROWS, dtype=np.uint8)
    none.rows = [
        _core.BoostRows(none.bins.encode(X), none.bins, classes=y.astype(np.int32), held=held, **none.given)
    ]
    rejects(none.boost)
    rejects(none.boost, none.rows[0])
    rejects(partitions.boost, none.rows[0])


def test_errors_of_the_exchange(rejects):
    X, y = draw_table(8)
    partitions = Partitions([100], X, y)

    def fail(requests):
        raise RuntimeError("the wire is cut")

    rejects(partitions.boost, fail)
    rejects(partitions.boost, lambda requests: [])
    rejects(partitions.boost, lambda requests: [["text"]])
    rejects(partitions.boost, lambda requests: [[]])
    survey = []

    def repeat(requests):
        survey.append(requests[0])
        return [[partitions.rows[0].answer(survey[0])] * len(requests)]

    rejects(partitions.boost, repeat)


@pytest.mark.parametrize("loss", [None, "absolute_error", "squared_error"])
def test_malformed_requests_are_rejected(loss, rejects):
    X, y = draw_table(9, loss)
    leaf = "linear" if loss == "squared_error" else "constant"
    options = Options(leaf=leaf, max_depth=3, min_samples_leaf=5.0)
    partitions = Partitions([100], X, y, options, loss=loss)
    partitions.boost(n_rounds=1, patience=1)
    for request in dict.fromkeys(partitions.requests):
        for broken in (
            request[:-1],
            request + b"\0",
            b"",
            b"LH",
            b"XX" + request[2:],
            b"LH\x01" + request[3:],
            request[:3] + b"\x7f" + request[4:],
        ):
            rejects(partitions.rows[0].answer, broken)


def test_requests_before_the_weights_are_known_are_rejected(rejects):
    X, y = draw_table(9)
    partitions, fresh = Partitions([100], X, y), Partitions([100], X, y)
    partitions.boost(n_rounds=1)
    survey, units, *others = dict.fromkeys(partitions.requests)
    for request in others:
        rejects(fresh.rows[0].answer, request)
    assert fresh.rows[0].answer(survey) == partitions.rows[0].answer(survey)
    assert _core.changes_rows(units)


def test_requests_for_another_level_are_rejected(rejects):
    X, y = draw_table(9)
    partitions = Partitions([100], X, y, Options(max_depth=3, min_samples_leaf=5.0))
    partitions.boost(n_rounds=1)
    last_split = [request for request in partitions.requests if _core.changes_rows(request)][-1]
    rejects(partitions.rows[0].answer, last_split)  # again: there are more blocks now


def test_truncated_answers_are_rejected(rejects):
    X, y = draw_table(10)
    partitions = Partitions([100], X, y)
    for number in range(1, 12):
        n_asked = 0

        def answer(requests, number=number):
            nonlocal n_asked
            n_asked += 1
            answers = partitions.answer(requests)
            if n_asked == number:
                answers[0][-1] = answers[0][-1][:-1]
            return answers

        rejects(partitions.boost, answer, n_rounds=3)


def test_sampled_rows():
    np.testing.assert_array_equal(_core.sample_rows(200_000, 1), np.arange(200_000))
    keys = _core.draw_keys(1, _core.Stream.sampled_rows, 200_500)
    np.testing.assert_array_equal(_core.sample_rows(200_500, 1), np.sort(np.argsort(keys)[:200_000]))


@pytest.mark.parametrize("n_rows", [1, 2, 30, 999])
def test_sampled_rows_have_the_smallest_keys(n_rows):
    for seed in range(20):
        order = np.argsort(_core.draw_keys(seed, _core.Stream.sampled_rows, n_rows))
        for most in {0, 1, n_rows // 2, n_rows - 1}:
            np.testing.assert_array_equal(_core.sample_rows(n_rows, seed, most), np.sort(order[:most]))
