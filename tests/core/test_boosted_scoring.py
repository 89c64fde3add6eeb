"""Scores of boosted models against the reference, to the bit: planes, links, one row and many."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree import _pieces
from lhtree.tables.rows import EncodedRows
from reference import scoring as reference_scoring
from reference import trees as reference
from support import bridge
from support.boosted import boosted_model, boosted_rows

METHODS = ("raw_score", "proba", "predict", "apply")


@st.composite
def models(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes = draw(st.sampled_from([2, 2, 3, 5]))
    return rng, boosted_model(
        rng,
        draw(st.sampled_from([1, 2, 3, 4, 5, 9, 16, 30])),
        n_classes,
        draw(st.integers(1, 3)),
        draw(st.integers(0, 4)),
        max_terms=draw(st.sampled_from([1, 2, 4, 8, 12, 30])),
        share_oblique=draw(st.sampled_from([0.0, 0.5, 1.0])),
        n_slopes=draw(st.sampled_from([0, 0, 3, 12])),
        is_symmetric=draw(st.booleans()),
        clip=draw(st.sampled_from([8.0, 8.0, 0.7, 1e30])),
    )


def assert_as_reference(model, X):
    arrays = model.trees.arrays()
    trees = [bridge.as_tree(arrays, tree) for tree in range(model.trees.n_trees)]
    Z = reference.normalise(X, *model.normalisation, missing=np.nan)
    raw = reference_scoring.raw_scores(trees, model.trees.target, model.base, Z, model.clip)
    scorer, same = model.scorer, np.testing.assert_array_equal
    same(scorer.raw_score(X), raw)
    proba = scorer.proba(X)
    np.testing.assert_allclose(proba, [reference_scoring.link(row) for row in raw], 1e-14, 1e-320)
    same(scorer.link(scorer.raw_score(X)), proba)
    same(scorer.predict(X), raw[:, 0] > 0.0 if model.n_classes == 2 else raw.argmax(axis=1))
    value, confidence = scorer.per_tree(X)
    same(value, [[reference_scoring.membership(tree, z, model.clip) for tree in trees] for z in Z])
    same(confidence, np.ones_like(value))
    *_, last = model.staged_raw_score(EncodedRows.plain(X))
    same(last, raw)
    ways = [reference_scoring.trace(tree, z, model.clip) for z in Z for tree in trees]
    same(scorer.apply(X).ravel(), [blocks[-1] for blocks, _ in ways])
    ptr, block, value = scorer.trace(X)
    same(np.diff(ptr, prepend=0), [0, *(len(blocks) for blocks, _ in ways)])
    same(block, np.concatenate([blocks for blocks, _ in ways]))
    same(value, np.concatenate([values for _, values in ways]))


@settings(max_examples=60)
@given(models(), st.sampled_from([np.float64, np.float32]))
def test_scores_match_the_reference(given_model, dtype):
    rng, model = given_model
    assert_as_reference(model, boosted_rows(rng, model, 6, dtype))


@pytest.mark.parametrize("clip", [8.0, 1e30])
def test_rows_on_hyperplanes_of_symmetric_trees_match_the_reference(clip):
    """Offsets are feature sums of rows, or their neighbours: sums of float32 do not find the side."""
    rng = np.random.default_rng(4)
    model = boosted_model(rng, 6, 2, 5, 4, is_symmetric=True, clip=clip)
    rows = boosted_rows(rng, model, 50)
    ptr, _, value = model.scorer.trace(rows)
    offset = model.trees.offset.copy()
    for tree, begin in enumerate(model.trees.block_ptr[:-1]):
        for level in range(4):
            row = rng.integers(len(rows))
            found = value[ptr[row * 5 + tree] + level]
            side = rng.choice([-np.inf, found, np.inf])
            first = begin + 2**level - 1
            offset[first : first + 2**level] = np.nextafter(found, side) if np.isfinite(found) else 0.0
    model = replace(model, trees=replace(model.trees, offset=offset))
    assert_as_reference(model, rows)
    for row in range(50):
        assert model.scorer.raw_score(rows[[row]]).tobytes() == model.scorer.raw_score(rows)[[row]].tobytes()


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("n_slopes", [0, 2])
@pytest.mark.parametrize(("max_terms", "is_symmetric"), [(4, False), (4, True), (40, False)])
def test_a_row_has_the_same_bits_in_every_batch(n_classes, n_slopes, max_terms, is_symmetric):
    rng = np.random.default_rng(2)
    model = boosted_model(
        rng, 45, n_classes, 30, 5, n_slopes=n_slopes, max_terms=max_terms, is_symmetric=is_symmetric
    )
    rows = boosted_rows(rng, model, 3000, np.float32)
    for method in METHODS:
        ask = getattr(model.scorer, method)
        everything = ask(rows)
        for n_rows in (1, 2, 13, 100):
            for begin in (0, 1500, 3000 - n_rows):
                batch = slice(begin, begin + n_rows)
                assert ask(rows[batch]).tobytes() == everything[batch].tobytes()
        for same in (rows.astype(np.float64), np.asfortranarray(rows)):
            assert ask(same, 2).tobytes() == everything.tobytes()


def test_scorers_of_several_models_do_not_interfere():
    """Rooms that threads keep for rows hold infinities of one model while another is scored."""
    rng = np.random.default_rng(3)
    boosted = boosted_model(rng, 7, 2, 3, 3)
    dense = boosted_model(rng, 7, 2, 3, 3, max_terms=7, share_oblique=1.0, clip=1e30)
    X = boosted_rows(rng, dense, 1)
    before = dense.scorer.raw_score(X)
    boosted.scorer.raw_score(np.full((50, 7), np.nan))
    assert dense.scorer.raw_score(X).tobytes() == before.tobytes()


@pytest.fixture
def parts():
    model = boosted_model(np.random.default_rng(4), 3, 3, 2, 2)
    arrays = {name: values.copy() for name, values in model.trees.arrays().items()}
    rest = {"prior": model.prior, "confidence": None, "link": "softmax", "base": model.base, "clip": 8.0}
    return arrays, {"centre": model.normalisation.centre, "scale": model.normalisation.scale} | rest


@pytest.mark.parametrize(
    "changes",
    [
        {"base": None},
        {"base": np.zeros(2)},
        {"base": np.array([0.0, np.nan, 0.0])},
        {"link": "wolf"},
        {"link": "logistic"},
        {"link": "magic"},
        {"confidence": "last"},
        {"confidence": "path", "link": "wolf", "base": None},
        *[{"clip": clip} for clip in (0.0, -1.0, np.inf, np.nan)],
        *[{"scale": np.array([1.0, scale, 1.0])} for scale in (0.0, -1.0, np.inf, np.nan)],
        *[{"centre": np.array([0.0, centre, 0.0])} for centre in (np.inf, np.nan)],
    ],
)
def test_invalid_parts_are_rejected(parts, changes, rejects):
    arrays, rest = parts
    assert bridge.make_scorer(arrays, **rest).n_targets == 3
    rejects(bridge.make_scorer, arrays, **rest | changes)


@pytest.mark.parametrize("n_weights", [0, 1, 2])
def test_sides_of_blocks_of_several_features_are_rejected(parts, n_weights, rejects):
    arrays, rest = parts
    blocks = np.flatnonzero(np.diff(arrays["hyperplane_ptr"]) == n_weights)
    arrays["missing"][blocks[0]] = 1
    if n_weights == 1:
        arrays["hyperplane_weight"][arrays["hyperplane_ptr"][blocks[0]]] *= -1
    rejects(bridge.make_scorer, arrays, **rest)


def test_scores_that_a_link_lacks_are_rejected(parts, rejects):
    arrays, rest = parts
    boosted, X = bridge.make_scorer(arrays, **rest), np.zeros((1, 3))
    for method in ("wolf", "membership", "confidence"):
        rejects(getattr(boosted, method), X)
    rejects(boosted.settle, np.zeros((1, 3)), np.zeros((1, 3)))
    rejects(boosted.link, np.zeros((1, 2)))
    plain = {name: values for name, values in arrays.items() if name not in ("low", "high")}
    forest = bridge.make_scorer(plain, **rest | {"link": "wolf", "base": None})
    assert forest.wolf(X).shape == (1, 3)
    rejects(forest.raw_score, X)
    rejects(forest.link, np.zeros((1, 3)))


@pytest.mark.parametrize("method", METHODS)
def test_infinities_return_none(method, rejects):
    model = boosted_model(np.random.default_rng(5), 4, 2, 2, 2)
    X = np.zeros((40, 4))
    assert len(getattr(model.scorer, method)(X)) == 40
    X[17, 2] = np.inf
    assert getattr(model.scorer, method)(X) is None
    rejects(model.score, method, X)


def test_scores_of_any_size_become_probabilities():
    model = boosted_model(np.random.default_rng(6), 2, 2, 1, 1)
    raw = np.array([0.0, 1e-300, -1e-9, 3.0, -40.0, 745.0, -800.0, 1e308])[:, None]
    proba = model.scorer.link(raw)
    np.testing.assert_allclose(proba, [reference_scoring.link(row) for row in raw], 1e-15, 1e-323)
    assert proba[0].tolist() == [0.5, 0.5]
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, 3e-16)
    several = boosted_model(np.random.default_rng(6), 2, 3, 1, 1).scorer.link(
        np.array([[0.0, 0.0, 0.0], [1e300, -1e300, 0.0], [700.0, 701.0, -5.0]])
    )
    np.testing.assert_allclose(several.sum(axis=1), 1.0, 1e-15)
    assert several[1].tolist() == [1.0, 0.0, 0.0]


def ulps(found, expected):
    """Units in the last place between values, `expected` in long double where that is more than double."""
    return np.abs(found - expected) / np.spacing(np.abs(expected).astype(np.float64))


def test_exp_and_log_have_errors_below_two_ulps():
    rng = np.random.default_rng(7)
    x = np.concatenate([rng.uniform(-708, 709, 50_000), rng.normal(size=50_000), np.linspace(-1, 1, 20_001)])
    exact = np.exp(x.astype(np.longdouble))
    assert ulps(_pieces.exp(x), exact).max() < 1.5
    x = np.concatenate([np.exp(rng.uniform(-700, 700, 50_000)), rng.uniform(0.4, 2.5, 100_000)])
    exact = np.log(x.astype(np.longdouble))
    assert ulps(_pieces.log(x), exact).max() < 1.5


def test_exp_and_log_of_special_values():
    exp = _pieces.exp(np.array([0.0, -0.0, -np.inf, np.inf, 709.7, 710.0, -745.2, -740.0]))
    assert exp[[0, 1, 2, 3, 5, 6]].tolist() == [1.0, 1.0, 0.0, np.inf, np.inf, 0.0]
    np.testing.assert_allclose(exp[[4, 7]], np.exp([709.7, -740.0]), 1e-15, 5e-324)
    log = _pieces.log(np.array([1.0, 0.0, -0.0, np.inf, 5e-324, 1e-310]))
    assert log[:4].tolist() == [0.0, -np.inf, -np.inf, np.inf]
    np.testing.assert_allclose(log[4:], np.log([5e-324, 1e-310]), 3e-16)
    assert np.isnan(_pieces.log(np.array([-1.0, -np.inf, np.nan]))).all()
    assert np.isnan(_pieces.exp(np.array([np.nan]))).all()
