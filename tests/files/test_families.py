"""Boosted models, compact trees and regressions survive files and pickles; a Scorer predicts the same bits."""

import pickle

import numpy as np
import pytest

from lhtree import inspect, load, load_scorer
from lhtree.files import write_file
from lhtree.model.heads import NUMBER_LINKS
from lhtree.tables.rows import EncodedRows
from support import sealing
from support.boosted import boosted_model, boosted_rows

BOOST_HEADER = {"estimator": "LHBoostClassifier", "parameters": {}, "metadata": None}
SCORES = ("predict_proba", "predict_wolf", "predict_membership", "predict_confidence", "decision_function")


@pytest.fixture(params=[2, 4], ids="{} classes".format)
def boosted(request):
    return boosted_model(np.random.default_rng(0), 5, request.param, 12, 4, n_slopes=request.param - 2)


@pytest.fixture
def rows(boosted):
    return boosted_rows(np.random.default_rng(1), boosted, 200)


def test_boosted_models_survive_files_and_pickles(boosted, rows, tmp_path, rejects):
    path = tmp_path / "model.lht"
    write_file(path, boosted, BOOST_HEADER)
    scorer = load_scorer(path)
    again = scorer._model
    assert (again.link, again.clip, again.base.tolist()) == (boosted.link, 8.0, boosted.base.tolist())
    for name, values in boosted.trees.arrays().items():
        assert getattr(again.trees, name).tobytes() == values.tobytes()
    assert inspect(path)["link"] == boosted.link
    raw_score = boosted.scorer.raw_score(rows)
    for other in (again, pickle.loads(pickle.dumps(boosted))):
        assert other.scorer.raw_score(rows).tobytes() == raw_score.tobytes()
    decision = scorer.decision_function(rows, n_threads=2)
    assert decision.tolist() == (raw_score[:, 0] if boosted.n_classes == 2 else raw_score).tolist()
    proba = scorer.predict_proba(rows)
    assert proba.tobytes() == boosted.scorer.link(raw_score).tobytes()
    np.testing.assert_array_equal(scorer.predict(rows), proba.argmax(axis=1))
    assert scorer.apply(rows).tobytes() == boosted.scorer.apply(rows).tobytes()
    assert scorer.predict_proba(rows[:1].tolist()).tobytes() == proba[:1].tobytes()
    for method in SCORES[1:4]:
        rejects(getattr(scorer, method), rows)


def test_sizes_and_stages_of_boosted_models(boosted, rows):
    assert boosted.head.adds_rounds
    assert (boosted.n_estimators, boosted.n_targets) == (12, 1 if boosted.n_classes == 2 else 4)
    assert boosted.target_of.tolist() == list(range(boosted.n_targets)) * 12
    stages = list(boosted.staged_raw_score(EncodedRows.plain(rows), n_threads=2))
    assert len(stages) == 12
    assert stages[-1].tobytes() == boosted.scorer.raw_score(rows).tobytes()
    assert stages[0].tobytes() == boosted.estimator(0).scorer.raw_score(rows).tobytes()


def test_compact_trees_require_a_reader_of_their_units(tmp_path):
    (tmp_path / "model.lht").write_bytes(sealing.small_compact())
    assert load(tmp_path / "model.lht")._model.trees.has_slopes
    assert inspect(tmp_path / "model.lht")["estimator"] == "CompactLHTClassifier"
    header = sealing.split(sealing.small_compact())[0]["__metadata__"]["model"]
    assert '"unit_weight":"0.2.0"' in header


@pytest.mark.parametrize("link", NUMBER_LINKS)
def test_regressions_survive_files_and_pickles(link, tmp_path, rejects):
    model, path = sealing.make_regression(link), tmp_path / "model.lht"
    rows = boosted_rows(np.random.default_rng(1), model, 60)
    expected = model.scorer.value(rows)
    write_file(path, model, sealing.REGRESSION_HEADER)
    scorer = load_scorer(path)
    np.testing.assert_array_equal(scorer.predict(rows, n_threads=2), expected)
    assert repr(scorer) == "Scorer(a regression, 3 features, 4 trees)"
    for again in (scorer._model, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.scorer.value(rows), expected)
        assert (again.link, len(again.classes), len(again.prior)) == (link, 0, 0)
        for part in ("response", "prototypes", "forest"):
            for name, value in vars(getattr(model, part)).items():
                np.testing.assert_array_equal(getattr(getattr(again, part), name), value)
    facts = inspect(path)
    assert facts["response"] == {"low": -1.0, "high": 2.0, "mean": 0.25}
    assert (facts["link"], facts["classes"], facts["oob_score"]) == (link, [], -0.5)
    for method in SCORES[: 5 if link == "mean" else 4]:
        rejects(getattr(scorer, method), rows)
