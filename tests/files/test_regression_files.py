"""Models of a regression in files: the same model comes back, a Scorer predicts with it, hostile ones are refused."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from lhtree import inspect, load_scorer
from lhtree.files import write_file
from lhtree.files.model_file import pack
from lhtree.model.heads import NUMBER_LINKS
from lhtree.model.model import Drawn, ForestRecord, Prototypes
from lhtree.model.response import ResponseRecord
from support import sealing
from support.boosted import boosted_model, boosted_rows

HEADER = {"estimator": "LHForestRegressor", "parameters": {}, "metadata": None}


def make_model(link):
    """A model with all that one of a regression can hold."""
    model = boosted_model(np.random.default_rng(0), 3, 0, 4, 3, n_slopes=2, link=link)
    return replace(
        model,
        forest=ForestRecord(
            np.zeros(4), {}, np.array([9]), (Drawn(4, np.array([7]), False),), -0.5, None, np.arange(9.0)
        ),
        prototypes=Prototypes(np.ones((2, 3)), np.zeros(2, np.int32), np.arange(2), np.array([1.5, -1.0])),
        response=ResponseRecord(-1.0, 2.0, 0.25, np.array([0.0, 0.5, 0.5]), np.array([1.0, 2.0, 0.5])),
    )  # fmt: skip


@pytest.mark.parametrize("link", NUMBER_LINKS)
def test_a_file_and_a_pickle_give_the_model_back(link, tmp_path):
    model, path = make_model(link), tmp_path / "model.lht"
    rows = boosted_rows(np.random.default_rng(1), model, 60)
    expected = model.scorer.value(rows)
    write_file(path, model, HEADER)
    scorer = load_scorer(path)
    np.testing.assert_array_equal(scorer.predict(rows, n_threads=2), expected)
    assert repr(scorer) == "Scorer(a regression, 3 features, 4 trees)"
    for again in (scorer._model, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.scorer.value(rows), expected)
        assert again.is_regression
        assert (again.link, len(again.classes), len(again.prior)) == (link, 0, 0)
        for part in ("response", "prototypes", "forest"):
            for name, value in vars(getattr(model, part)).items():
                np.testing.assert_array_equal(getattr(getattr(again, part), name), value)
    told = inspect(path)
    assert told["response"] == {"low": -1.0, "high": 2.0, "mean": 0.25}
    assert (told["link"], told["classes"], told["oob_score"]) == (link, [], -0.5)


def test_methods_that_a_regression_does_not_have(tmp_path):
    write_file(tmp_path / "model.lht", make_model("mean"), HEADER)
    scorer = load_scorer(tmp_path / "model.lht")
    for method in (
        "predict_proba", "predict_wolf", "predict_membership", "predict_confidence", "decision_function"
    ):  # fmt: skip
        with pytest.raises(AttributeError, match="use predict"):
            getattr(scorer, method)(np.zeros((1, 3)))


@pytest.fixture(scope="module")
def content():
    return pack(make_model("mean"), HEADER).tobytes()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"link": "wolf"}, "link and response do not match"),
        ({"link": "identity"}, "base needs a value per target"),
        ({"response": None}, "link and response do not match"),
        ({"response": {"low": 0.0, "high": 1.0}}, "response is not"),
        ({"response": {"low": 3.0, "high": 1.0, "mean": 2.0}}, "response is not"),
        ({"classes": {"dtype": "<i8", "values": [0, 1]}}, "one value per share"),
        ({"confidence": "last"}, "confidence"),
    ],
)
def test_hostile_headers(refused, content, change, expected):
    assert expected in refused(sealing.edit_model(content, lambda model: model.update(change)))


@pytest.mark.parametrize(
    ("name", "place", "value", "expected"),
    [
        ("residual", 0, -1.0, "residual is not ascending"),
        ("residual", 1, np.inf, "residual is not ascending"),
        ("residual", 0, 0.7, "residual is not ascending"),
        ("residual_weight", 0, 0.0, "residual_weight has a value"),
        ("prototypes_response", 0, np.nan, "prototypes_response has a value"),
        ("prototypes_codes", 0, 1, "out of range"),
        ("n_target", 0, np.inf, "n_target"),
        ("target", 0, 1, "target is out of range"),
    ],
)
def test_hostile_values(refused, content, name, place, value, expected):
    assert expected in refused(sealing.edit_array(content, name, place, value))


def test_arrays_of_the_other_task(refused, content):
    def without(name):
        header, data = sealing.split(content)
        return sealing.join({("later" if key == name else key): entry for key, entry in header.items()}, data)

    assert "prototypes have no responses" in refused(without("prototypes_response"))
    assert "residual_weight has shape" in refused(without("residual"))
    classes = sealing.edit_model(
        sealing.small_forest(), lambda model: model.update(response={"low": 0.0, "high": 1.0, "mean": 0.5})
    )
    assert "link and response do not match" in refused(classes)
    with_probabilities = replace(
        make_model("mean"),
        forest=replace(make_model("mean").forest, oob_decision_function=np.empty((9, 0))),
    )
    assert "a regression has no probabilities" in refused(pack(with_probabilities, HEADER).tobytes())
