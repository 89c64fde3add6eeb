"""Exports to ONNX: inputs, metadata and runs."""

import json
import sys

import numpy as np
import onnx as onnx_library
import onnxruntime
import pandas
import pytest

from lhtree import LHTClassifier, export_onnx
from lhtree.export import onnx
from support import exports
from support.clouds import fit_named, make_clouds


def test_infinities_are_refused(model, tmp_path, rejects):
    X = np.array([[0.0, 1.0, np.nan], [0.0, -np.inf, 1.0], [np.inf, np.nan, 0.0]])
    export_onnx(model, tmp_path / "model.onnx", single_input=True)
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    assert session.run(["label"], {"X": X[:1]})[0].tolist() == model.predict(X[:1]).tolist()
    for output in ("label", "probabilities"):
        rejects(session.run, [output], {"X": X})


def test_facts_in_onnx(tmp_path):
    names, labels = ['a"', "größe\n"], ["ja", "nein"]
    export_onnx(fit_named(names, labels), tmp_path / "model.onnx", dtype="float32")
    file = onnx_library.load(tmp_path / "model.onnx")
    onnx_library.checker.check_model(file, full_check=True)
    facts = {entry.key: json.loads(entry.value) for entry in file.metadata_props}
    assert facts == {"columns": names, "inputs": names, "classes": labels}
    assert {node.domain for node in file.graph.node} == {""}
    assert [opset.domain for opset in file.opset_import] == [""]


def test_batches_of_any_size(model, tmp_path):
    export_onnx(model, tmp_path / "model.onnx", single_input=True)
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    X = np.random.default_rng(0).normal(size=(50, 3))
    for n_rows in (0, 1, 2, 50):
        label, proba = session.run(None, {"X": X[:n_rows]})
        assert label.shape == (n_rows,)
        assert np.array_equal(proba, model.predict_proba(X)[:n_rows])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_one_input_for_all_columns(dtype, tmp_path):
    X, y = make_clouds(200, 4, 2)
    X[::3, 1] = np.nan
    X = X.astype(dtype)
    model = LHTClassifier(missing_indicator=True).fit(X, y)
    assert model._model.n_features == 5
    result = exports.run_onnx(model, X, tmp_path, single_input=True)
    np.testing.assert_array_equal(result.proba, model.predict_proba(X))


def test_names_of_columns_are_unique_inputs(tmp_path):
    X, y = make_clouds(60, 6, 2)
    X = pandas.DataFrame(X, columns=["label", "label_", "/Add_1", "a\0b", "_", "probabilities"])
    model = LHTClassifier().fit(X, y)
    export_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    names = [one.name for one in session.get_inputs()]
    assert names == ["label_", "label__", "_Add_1", "a_b", "_", "probabilities_"]
    _, proba = session.run(None, {name: X.to_numpy()[:, [i]] for i, name in enumerate(names)})
    np.testing.assert_array_equal(proba, model.predict_proba(X))


def test_rows_of_float32(tmp_path):
    X, y = make_clouds(300, 9, 3)
    model = LHTClassifier().fit(X, y)
    X = X.astype(np.float32)
    result = exports.run_onnx(model, X, tmp_path)
    np.testing.assert_array_equal(result.proba, model.predict_proba(X))
    np.testing.assert_array_equal(result.label, model.predict(X))


def test_missing_extra_names_the_command_that_installs_it(monkeypatch, tmp_path, rejects):
    monkeypatch.setitem(sys.modules, "onnx", None)
    model = LHTClassifier().fit([[0.0], [1.0]], [0, 1])
    rejects(export_onnx, model, tmp_path / "model.onnx")


def test_files_that_are_too_large(model, monkeypatch, tmp_path, rejects):
    monkeypatch.setattr(onnx, "_MOST_BYTES", 100)
    rejects(export_onnx, model, tmp_path / "model.onnx")
