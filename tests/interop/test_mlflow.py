"""MLflow stores, serves and loads models without pickle."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import lhtree.mlflow
from support.bridge import assert_same_model

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of MLflow, about its own type hints
    mlflow = pytest.importorskip("mlflow.pyfunc") and pytest.importorskip("mlflow")
pytestmark = [
    pytest.mark.filterwarnings("ignore:Operation with range is deprecated"),  # by MLflow, of pandas 3
    pytest.mark.filterwarnings("ignore:.*Any type hint:UserWarning"),
]


@pytest.fixture(autouse=True)
def _local_store(tmp_path, monkeypatch):
    for name, value in (
        ("MLFLOW_ALLOW_PICKLE_DESERIALIZATION", "false"),
        ("MLFLOW_ALLOW_FILE_STORE", "true"),
        ("MLFLOW_DISABLE_TELEMETRY", "true"),
    ):
        monkeypatch.setenv(name, value)
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield
    mlflow.set_tracking_uri(None)


@pytest.fixture(scope="module")
def table():
    """A table with numbers, whole numbers, text, truth values and gaps."""
    generator = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": generator.normal(size=120),
            "children": generator.integers(0, 5, 120),
            "town": generator.choice(["Bonn", "Ulm", "Ulm"], 120),
            "member": generator.random(120) < 0.5,
        }
    )
    y = np.where(X["income"] + (X["town"] == "Ulm") > 0.5, "yes", "no")
    X.loc[3, "town"] = None
    X.loc[4, "income"] = np.nan
    return X, y


@pytest.fixture(scope="module")
def model(table):
    return lhtree.LHBoostClassifier(10, random_state=0).fit(*table)


def test_saved_models_predict_and_load_the_same(table, model, tmp_path):
    path = tmp_path / "model"
    lhtree.mlflow.save_model(model, path, metadata={"approved by": "Ada"})
    served = mlflow.pyfunc.load_model(str(path))
    assert served.predict(table[0]).tolist() == model.predict(table[0]).tolist()
    proba = served.predict(table[0], params={"method": "predict_proba"})
    np.testing.assert_array_equal(proba, model.predict_proba(table[0]))
    assert served.metadata.metadata == {"approved by": "Ada"}
    assert_same_model(lhtree.mlflow.load_model(path), model)
    assert served.get_raw_model().classes_.tolist() == ["no", "yes"]
    files = {file.suffix for file in path.rglob("*") if file.is_file()}
    assert files <= {".lht", ".txt", ".yaml", ".json", ""}  # no pickle
    assert f"lhtree=={lhtree.__version__}" in (path / "requirements.txt").read_text()


def test_signature_and_example_are_inferred(model, tmp_path):
    path = tmp_path / "model"
    lhtree.mlflow.save_model(model, path)
    stored = mlflow.models.Model.load(str(path))
    names = {column.name: str(column.type) for column in stored.signature.inputs}
    assert list(names) == ["income", "children", "town", "member"]
    assert (names["income"], names["town"]) == ("DataType.double", "DataType.string")
    example = json.loads((path / "input_example.json").read_text())
    row = pd.DataFrame(example["data"], columns=example["columns"])
    assert row.loc[0, "town"] == "Ulm"  # the most frequent one
    assert model.predict(row)[0] in ("no", "yes")


def test_logged_and_registered_models_load_the_same(table, model):
    with mlflow.start_run():
        info = lhtree.mlflow.log_model(model, "churn", registered_model_name="churn")
    assert set(info.flavors) == {"lhtree", "python_function"}
    for uri in (info.model_uri, "models:/churn/1"):
        assert_same_model(lhtree.mlflow.load_model(uri), model)
    served = mlflow.pyfunc.load_model("models:/churn/1")
    assert served.predict(table[0]).tolist() == model.predict(table[0]).tolist()


@pytest.mark.parametrize(
    "make",
    [lhtree.LHTRegressor, lhtree.LHForestRegressor, lhtree.CompactLHTRegressor, lhtree.LHBoostRegressor],
)
def test_arrays_without_names(make, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = make(random_state=0).fit(X, X[:, 0] ** 2)
    lhtree.mlflow.save_model(model, tmp_path / "model")
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(served.predict(X), model.predict(X))


def test_examples_without_names_and_of_empty_columns():
    X = np.array([["a", 1.0, None] for _ in range(40)], dtype=object)
    X[::2, 0] = "b"
    model = lhtree.LHTClassifier(categorical_features=[0, 2]).fit(X, X[:, 0])
    example = lhtree.mlflow.make_example(model._model)
    assert example.columns.tolist() == [0, 1, 2]
    assert example[2].tolist() == [""]
    assert model.predict(example).tolist() == example[0].tolist()


def test_other_models_and_methods_are_rejected(table, model, tmp_path, rejects):
    lhtree.mlflow.save_model(model, tmp_path / "model")
    rejects(mlflow.pyfunc.load_model(str(tmp_path / "model")).predict, table[0], {"method": "fit"})
    file = tmp_path / "model" / "MLmodel"
    file.write_text(file.read_text().replace("  lhtree:", "  other:"))
    rejects(lhtree.mlflow.load_model, tmp_path / "model")
