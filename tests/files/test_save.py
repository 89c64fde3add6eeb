"""Saved models load with the same bits: predictions, parameters, names and the state for warm starts."""

import json
import os
import pickle
from dataclasses import replace

import numpy as np
import pandas
import pytest
import safetensors.numpy as safetensors

import lhtree
from lhtree import LHForestClassifier, LHTClassifier, inspect, load, load_scorer, save
from support.bridge import assert_same, assert_same_model
from support.clouds import make_clouds


@pytest.fixture
def again(tmp_path):
    """Save and load."""

    def save_and_load(model):
        save(model, tmp_path / "model.lht")
        return load(tmp_path / "model.lht")

    return save_and_load


@pytest.mark.parametrize("kind", [LHTClassifier, LHForestClassifier])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_optional_contents_survive_a_file(again, kind, n_classes):
    X, y = make_clouds(120, 5, n_classes)
    X[::7, 2] = np.nan
    X[:, 4] = np.nan
    frame = pandas.DataFrame(X, columns=["a", "ö", "with space", '"', "\x00🌲"])
    model = kind(keep_prototypes=20, class_weight={"c0": 2, "c1": 0.5}, random_state=np.int64(5))
    if kind is LHForestClassifier:
        model.set_params(n_estimators=5, oob_score=True)
    model.fit(frame, np.array([f"c{label}" for label in y], dtype=object))
    copy = again(model)
    assert_same_model(model.set_params(random_state=5), copy)
    assert_same_model(model, pickle.loads(pickle.dumps(model)))
    assert str(copy.explain(frame.iloc[[3]])) == str(model.explain(frame.iloc[[3]]))
    assert_same(model.feature_importances_, copy.feature_importances_)
    assert lhtree.export_text(copy) == lhtree.export_text(model)
    assert_same(model.apply(frame), copy.apply(frame))


@pytest.mark.parametrize("chosen", ["from_dtype", ["colour"]])
def test_categories_survive_a_file(again, tmp_path, chosen):
    X, y = make_clouds(90, 2, 3)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    frame["colour"] = np.array(["red", "green", None], dtype=object)[
        np.random.default_rng(0).integers(0, 3, 90)
    ]
    model = LHTClassifier(gamma=3, categorical_features=chosen).fit(frame, y)
    copy = again(model)
    assert_same_model(model, copy)
    assert_same(model.predict_proba(frame), copy.predict_proba(frame))
    scorer = load_scorer(tmp_path / "model.lht")
    assert_same(model.predict_proba(frame), scorer.predict_proba(frame))
    assert scorer.feature_names == ["a", "b", "colour = green", "colour = red"]
    assert scorer.n_features_in_ == 3
    assert_same(model.predict_proba(frame), scorer.predict_proba(frame[["colour", "b", "a"]]))
    columns = inspect(tmp_path / "model.lht")["encoding"]["columns"]
    assert columns == [{"kind": "numbers"}] * 2 + [{"kind": "one_hot", "categories": ["green", "red"]}]


@pytest.mark.parametrize(
    "chosen",
    [("b", "a"), {"b", "a"}, np.array(["a", "b"]), np.array([True, True, False]), range(2)],
    ids=["tuple", "set", "names", "mask", "range"],
)
def test_categorical_features_load_as_a_list(again, chosen):
    X, y = make_clouds(40, 3, 2)
    frame = pandas.DataFrame((X > 0).astype(int), columns=["a", "b", "c"])
    model = LHTClassifier(categorical_features=chosen).fit(frame, y)
    copy = again(model)
    assert type(copy.categorical_features) is list
    assert sorted(copy.categorical_features) == sorted(chosen)
    assert_same(model.predict_proba(frame), copy.predict_proba(frame))
    assert_same(model.predict_proba(frame), copy.fit(frame, y).predict_proba(frame))


@pytest.mark.parametrize(
    "classes",
    [
        np.array([False, True]),
        np.array([-3, 7], dtype=np.int8),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([1, 2], dtype=">i4"),
        np.array([0.0, 1.0], dtype=np.float32),
        np.array([-1.0, 3.0]),
        np.array(["no", "yes"], dtype="<U20"),
        np.array(["", "ü\x01\ud800"]),
        np.array(["a", "b"], dtype=object),
        np.array([1, 2, 5], dtype=np.uint16),
    ],
    ids=lambda classes: f"{classes.dtype.str}{len(classes)}",
)
def test_classes_keep_their_dtype(again, tmp_path, classes):
    X, y = make_clouds(40, 2, len(classes))
    model = LHTClassifier().fit(X, classes[y])
    assert_same_model(model, again(model))
    assert_same(model.predict(X), load(tmp_path / "model.lht").predict(X))
    assert_same(model.predict(X), load_scorer(tmp_path / "model.lht").predict(X))


def test_unsupported_classes_are_rejected(again, rejects):
    X, y = make_clouds(40, 2, 2)
    model = LHTClassifier().fit(X, y)
    for classes in (
        np.array([1, "b"], dtype=object),
        np.array([0, 1], dtype="M8[D]"),
        np.array([0, 1], np.longdouble),
    ):
        model._model = replace(model._model, classes=classes)
        rejects(again, model)


def test_unsupported_parameters_are_rejected(again, two, rejects):
    model = LHTClassifier(random_state=np.random.RandomState(0)).fit(*two)
    with pytest.raises(TypeError, match=r"random_state=RandomState.*model\.set_params\(random_state=None\)"):
        again(model)
    again(model.set_params(random_state=None))
    rejects(again, model.set_params(alpha=np.nan))
    rejects(again, model.set_params(alpha=0.0, n_jobs=0))


@pytest.mark.parametrize("n_jobs", [5000, 10**6, -5000, np.int32(3)])
def test_any_number_of_threads_that_fits_can_be_saved(again, two, n_jobs):
    model = LHForestClassifier(2, random_state=0, n_jobs=n_jobs).fit(*two)
    assert again(model).n_jobs == n_jobs


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("LHTClassifier", ["max_depth", "max_features", "max_one_hot", "keep_prototypes", "n_jobs"]),
        (
            "LHForestRegressor",
            ["max_depth", "max_features", "max_one_hot", "keep_prototypes", "n_jobs", "verbose"],
        ),
        ("LHBoostClassifier", ["max_depth", "max_one_hot", "min_samples_leaf", "n_directed", "n_jobs"]),
        ("CompactLHTClassifier", ["max_terms", "max_passes", "max_one_hot", "min_samples_leaf", "n_jobs"]),
    ],
)
@pytest.mark.parametrize("value", [np.int64(3), 2**64, 10**400])
def test_integers_beyond_64_bits_are_saved_as_the_nearest(again, two, kind, names, value):
    model = getattr(lhtree, kind)(**dict.fromkeys(names, value), random_state=0).fit(*two)
    loaded = again(model)
    assert {loaded.get_params()[name] for name in names} == {min(value, 2**64 - 1)}
    np.testing.assert_array_equal(loaded.predict(two[0]), model.predict(two[0]))


def test_other_objects_are_rejected(tmp_path, two, rejects):
    class Own(LHTClassifier):
        pass

    rejects(save, Own().fit(*two), tmp_path / "model.lht")
    rejects(save, {}, tmp_path / "model.lht")
    rejects(save, LHTClassifier(), tmp_path / "model.lht")
    assert os.listdir(tmp_path) == []


def test_metadata_is_stored_or_rejected(tmp_path, two, rejects):
    path = tmp_path / "model.lht"
    model = LHTClassifier().fit(*two)
    given = {
        "author": "me",
        "scores": [0.5, 1, None, True],
        "nested": {"ä": {}},
        "brackets": '[{"\\\\\\"' * 50,
    }
    save(model, path, metadata=given)
    assert inspect(path)["metadata"] == given == load_scorer(path).metadata
    before = path.read_bytes()
    for wrong in ([1], {1: 2}, {"a": (1,)}, {"a": np.nan}, {"a": {1, 2}}, "text"):
        rejects(save, model, path, metadata=wrong)
    nested = {}
    for _ in range(40):
        nested = {"in": nested}
    rejects(save, model, path, metadata=nested)
    with pytest.raises(ValueError, match="bytes, more than 16777216: shorten the metadata"):
        save(model, path, metadata={"long": "x" * (1 << 24)})
    assert path.read_bytes() == before


def test_the_same_model_gives_the_same_bytes(tmp_path, three):
    for name in ("one", "two"):
        save(LHForestClassifier(4, random_state=0).fit(*three), tmp_path / name, metadata={"b": 1, "a": 2})
    save(load(tmp_path / "one"), tmp_path / "three", metadata={"b": 1, "a": 2})
    assert len({(tmp_path / name).read_bytes() for name in ("one", "two", "three")}) == 1


def test_warm_start_continues_a_loaded_model(again, three):
    X, y = three
    model = LHForestClassifier(4, beta=0.1, oob_score=True, warm_start=True, random_state=0).fit(X, y)
    copy = again(model)
    model.set_params(n_estimators=7).fit(X, y)
    copy.set_params(n_estimators=7).fit(X, y)
    assert_same_model(model, copy)
    assert_same_model(model, again(model))
    assert_same(model.estimators_[2].predict_proba(X), copy.estimators_[2].predict_proba(X))


def test_inspect_returns_the_contents(tmp_path, three):
    path = tmp_path / "model.lht"
    forest = LHForestClassifier(4, beta=0.1, oob_score=True, keep_prototypes=9, random_state=0).fit(*three)
    save(forest, path)
    facts = inspect(path)
    json.dumps(facts, allow_nan=False)
    assert facts["estimator"] == "LHForestClassifier"
    assert facts["format_version"] == "2.0"
    assert facts["written_by"]["lhtree"] == lhtree.__version__
    assert facts["n_bytes"] == path.stat().st_size
    assert facts["parameters"]["n_estimators"] == 4
    assert facts["classes"] == [0, 1, 2]
    assert facts["n_features"] == facts["n_columns"] == 5
    assert facts["feature_names"] is facts["metadata"] is None
    assert facts["encoding"]["names"] == ["x0", "x1", "x2", "x3", "x4"]
    assert facts["n_trees"] == 12
    assert facts["n_samples"] == 240
    assert facts["n_blocks"] == sum(tree.n_blocks for tree in forest.trees_)
    assert (facts["n_leaves"], facts["depth"]) == (forest.n_leaves_, forest.depth_)
    assert facts["n_prototypes"] == 9
    assert facts["oob_score"] == forest.oob_score_
    assert facts["arrays"]["prototypes_X"] == {"dtype": "float64", "shape": [9, 5]}


def test_safetensors_reads_the_arrays(tmp_path, three):
    save(LHTClassifier().fit(*three), tmp_path / "model.lht")
    arrays = safetensors.load_file(tmp_path / "model.lht")
    assert_same(arrays["left"], load(tmp_path / "model.lht")._model.trees.left)
