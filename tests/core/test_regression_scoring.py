"""Predicted numbers against the reference, to the bit, for every link of a regression."""

import numpy as np
import pytest

from lhtree.model.heads import NUMBER_LINKS
from lhtree.tables.rows import EncodedRows
from reference import scoring as reference_scoring
from reference import trees as reference
from support import bridge
from support.boosted import boosted_model, boosted_rows


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_slopes", [0, 3])
@pytest.mark.parametrize("link", NUMBER_LINKS)
def test_values_match_the_reference(link, n_slopes, dtype):
    rng = np.random.default_rng(len(link) + n_slopes)
    model = boosted_model(rng, 4, 0, 7, 3, n_slopes=n_slopes, link=link)
    X = boosted_rows(rng, model, 40, dtype)
    trees = [bridge.as_tree(model.trees.arrays(), tree) for tree in range(7)]
    Z = reference.normalise(X, *model.normalisation, missing=np.nan)
    expected = reference_scoring.values(trees, link, model.base, Z, model.clip)
    values = model.scorer.value(X)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(model.scorer.value(X, 3), expected)
    np.testing.assert_array_equal(np.concatenate([model.scorer.value(row[None]) for row in X]), expected)
    assert (model.head.predicts_classes, model.n_targets, model.n_classes, model.n_estimators) == (
        False,
        1,
        0,
        7,
    )
    assert model.target_of.tolist() == [0] * 7
    if link != "mean":
        raw = model.scorer.raw_score(X)
        np.testing.assert_array_equal(model.scorer.link(raw)[:, 0], values)
        *_, last = model.staged_raw_score(EncodedRows.plain(X))
        np.testing.assert_array_equal(last, raw)


def test_scores_of_classes_are_rejected(rejects):
    model = boosted_model(np.random.default_rng(0), 3, 0, 2, 2, link="mean")
    X = np.zeros((1, 3))
    for method in ("proba", "wolf", "membership", "confidence", "predict"):
        rejects(getattr(model.scorer, method), X)
    rejects(model.scorer.raw_score, X)
    rejects(model.scorer.link, np.zeros((1, 1)))
    rejects(model.scorer.settle, np.zeros((1, 0)), np.zeros((1, 0)))
    classes = boosted_model(np.random.default_rng(0), 3, 2, 2, 2)
    rejects(classes.scorer.value, X)


@pytest.mark.parametrize(
    ("link", "prior", "base", "confidence"),
    [
        ("mean", [0.5, 0.5], None, None),
        ("mean", [], [0.0], None),
        ("mean", [], None, "last"),
        ("identity", [], None, None),
        ("log", [], [0.0, 1.0], None),
        ("identity", [], [np.inf], None),
        ("wolf", [], None, None),
    ],
)
def test_invalid_parts_are_rejected(link, prior, base, confidence, rejects):
    model = boosted_model(np.random.default_rng(0), 3, 0, 2, 2, link="mean")
    given = {"link": link, "base": None if base is None else np.array(base)}
    parts = (model.trees.arrays(), *model.normalisation)
    rejects(bridge.make_scorer, *parts, np.array(prior), confidence, **given)
    arrays = model.trees.arrays() | {"target": np.ones(2, dtype=np.int32)}
    rejects(bridge.make_scorer, arrays, *model.normalisation, np.empty(0), None, link="mean")
