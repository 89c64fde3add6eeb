"""Boosted models in files: the same model comes back, a Scorer predicts with it, and hostile ones are refused."""

import pickle

import numpy as np
import pytest

from lhtree import inspect, load_scorer
from lhtree.files import write_file
from support import sealing
from support.boosted import boosted_model, boosted_rows

HEADER = {"estimator": "LHBoostClassifier", "parameters": {}, "metadata": None}


@pytest.fixture(params=[2, 4], ids="{} classes".format)
def model(request):
    return boosted_model(np.random.default_rng(0), 5, request.param, 12, 4, n_slopes=request.param - 2)


@pytest.fixture
def rows(model):
    return boosted_rows(np.random.default_rng(1), model, 200)


def test_a_file_gives_the_model_back(model, rows, tmp_path):
    path = tmp_path / "model.lht"
    write_file(path, model, HEADER)
    scorer = load_scorer(path)
    again = scorer._model
    assert (again.link, again.clip, again.base.tolist()) == (model.link, 8.0, model.base.tolist())
    for name, values in model.trees.arrays().items():
        assert getattr(again.trees, name).tobytes() == values.tobytes()
    assert inspect(path)["link"] == model.link
    raw_score = model.scorer.raw_score(rows)
    assert again.scorer.raw_score(rows).tobytes() == raw_score.tobytes()
    decision = scorer.decision_function(rows, n_threads=2)
    assert decision.tolist() == (raw_score[:, 0] if model.n_classes == 2 else raw_score).tolist()
    proba = scorer.predict_proba(rows)
    assert proba.tobytes() == model.scorer.link(raw_score).tobytes()
    np.testing.assert_array_equal(scorer.predict(rows), proba.argmax(axis=1))
    assert scorer.apply(rows).tobytes() == model.scorer.apply(rows).tobytes()
    assert scorer.predict_proba(rows[:1].tolist()).tobytes() == proba[:1].tobytes()


def test_methods_that_a_boosted_scorer_does_not_have(model, rows, tmp_path):
    write_file(tmp_path / "model.lht", model, HEADER)
    scorer = load_scorer(tmp_path / "model.lht")
    for method in ("predict_wolf", "predict_membership", "predict_confidence"):
        with pytest.raises(AttributeError, match=f"no {method}: use decision_function"):
            getattr(scorer, method)(rows)


def test_a_pickle_gives_the_model_back(model, rows):
    again = pickle.loads(pickle.dumps(model))
    assert again.scorer.raw_score(rows).tobytes() == model.scorer.raw_score(rows).tobytes()


def test_sizes_of_a_boosted_model(model):
    assert model.is_boosted
    assert (model.n_estimators, model.n_targets) == (12, 1 if model.n_classes == 2 else 4)
    assert model.target_of.tolist() == list(range(model.n_targets)) * 12


def test_stages_add_up(model, rows):
    stages = list(model.staged_raw_score(rows, n_threads=2))
    assert len(stages) == 12
    assert stages[-1].tobytes() == model.scorer.raw_score(rows).tobytes()
    first = model.estimator(0)
    assert stages[0].tobytes() == first.scorer.raw_score(rows).tobytes()


def test_a_boosted_model_without_its_base(refused):
    header, data = sealing.split(sealing.small_boosted())
    other = {"later" if name == "base" else name: entry for name, entry in header.items()}
    assert "base needs a value per target" in refused(sealing.join(other, data))
    header["base"]["shape"] = [1, 3]
    assert "base has shape (1, 3)" in refused(sealing.join(header, data))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"link": "wolf"}, "base needs another link"),
        ({"link": "logistic"}, "the link of two classes is logistic"),
        ({"confidence": "last"}, "confidence"),
        ({"clip": 0.0}, "clip is not a positive"),
    ],
)
def test_hostile_boosted_models(refused, change, expected):
    content = sealing.edit_model(sealing.small_boosted(), lambda model: model.update(change))
    assert expected in refused(content)


@pytest.mark.parametrize(
    ("name", "place", "value", "expected"),
    [
        ("base", 1, np.nan, "base has a value that is not finite"),
        ("missing", 0, 2, "missing is not -1, 0 or 1"),
        ("missing", -1, 1, "does not use a single feature"),  # a leaf
        ("intercept", -1, np.inf, "intercept has a value that is not finite"),
        ("low", -1, 1e9, "low is above high"),
        ("target", 0, 1, "not in the order of the classes"),
    ],
)
def test_hostile_boosted_values(refused, name, place, value, expected):
    assert expected in refused(sealing.edit_array(sealing.small_boosted(), name, place, value))
