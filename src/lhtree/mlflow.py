"""MLflow flavour: model files as MLflow models, without pickle.

A flavour outside MLflow is a module with ``save_model``, ``log_model``, ``load_model`` and ``_load_pyfunc``. Loading
executes no code of the model, so it also works where ``MLFLOW_ALLOW_PICKLE_DESERIALIZATION`` is false.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from . import __version__
from ._extras import import_extra
from ._parameters import refuse
from .estimators.persist import load, save
from .model.model import Model, read
from .scorer import Scorer, load_scorer
from .serve.rows import describe_columns

FLAVOR_NAME = "lhtree"
_FILE = "model.lht"
_METHODS = ("predict", "predict_proba", "decision_function", "predict_interval")


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    mlflow_model: Any = None,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: Any = None,
    conda_env: Any = None,
    **options: Any,
) -> None:
    """Save a fitted model as an MLflow model, in a new folder.

    Parameters
    ----------
    model : classifier or regressor
        Fitted model.
    path : str or path
        Folder to create.
    mlflow_model : mlflow.models.Model, optional
        The MLflow model that the flavour is added to.
    signature : mlflow.models.ModelSignature, optional
        Default: inferred from the example and its prediction.
    input_example : optional
        Default: a row of the model, with a typical number or the most frequent category of every column.
    pip_requirements : list or str, optional
        Default: this version of lhtree.
    conda_env : dict or str, optional
        Environment that takes the place of ``pip_requirements``.
    **options
        Further options of ``mlflow.pyfunc.save_model``, for example ``metadata``.
    """
    mlflow = _import_mlflow()
    if input_example is None:
        input_example = make_example(read(model, takes_numbers=True, takes_several=True))
    if signature is None:
        signature = _infer_signature(mlflow, input_example, model.predict(input_example))
    if pip_requirements is None and conda_env is None:
        pip_requirements = [f"lhtree=={__version__}"]
    mlflow_model = mlflow.models.Model() if mlflow_model is None else mlflow_model
    mlflow_model.add_flavor(FLAVOR_NAME, lhtree_version=__version__, data=f"data/{_FILE}")
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder, _FILE))
        mlflow.pyfunc.save_model(
            path=os.fspath(path),
            loader_module=__name__,
            data_path=os.path.join(folder, _FILE),
            mlflow_model=mlflow_model,
            signature=signature,
            input_example=input_example,
            pip_requirements=pip_requirements,
            conda_env=conda_env,
            **options,
        )


def log_model(model: Any, name: str = "model", **options: Any) -> Any:
    """Log a fitted model to the current MLflow run.

    Parameters
    ----------
    model : classifier or regressor
        Fitted model.
    name : str, default="model"
        Name of the logged model.
    **options
        Options of ``save_model`` and of ``mlflow.models.Model.log``, for example ``registered_model_name``.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its ``model_uri`` loads the model.
    """
    log = _import_mlflow().models.Model.log
    return log(artifact_path=None, name=name, flavor=sys.modules[__name__], model=model, **options)


def load_model(model_uri: str | os.PathLike[str], dst_path: str | None = None) -> Any:
    """Load an estimator that ``save_model`` or ``log_model`` stored.

    Parameters
    ----------
    model_uri : str or path
        Folder, or an address such as ``models:/churn/3`` or ``runs:/<run>/model``.
    dst_path : str, optional
        Folder for the downloaded files.

    Returns
    -------
    The fitted estimator, of the class that was stored.
    """
    mlflow = _import_mlflow()
    folder = mlflow.artifacts.download_artifacts(artifact_uri=os.fspath(model_uri), dst_path=dst_path)
    flavors = mlflow.models.Model.load(folder).flavors
    if FLAVOR_NAME not in flavors:
        raise ValueError(
            f"model_uri={os.fspath(model_uri)!r} has no flavour lhtree, only {', '.join(flavors)}: "
            "load it with mlflow.pyfunc.load_model, or log it with lhtree.mlflow.log_model."
        )
    return load(Path(folder, flavors[FLAVOR_NAME]["data"]))


class PyfuncModel:
    """A model as ``mlflow.pyfunc`` calls it; ``params={"method": "predict_proba"}`` chooses the method."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer

    def predict(self, data: Any, params: dict[str, Any] | None = None) -> Any:
        """Return the result of a method of the Scorer, by default ``predict``."""
        method = (params or {}).get("method", "predict")
        if method not in _METHODS:
            raise refuse("method", method, f"one of {', '.join(_METHODS)}")
        return getattr(self.scorer, method)(data)

    def get_raw_model(self) -> Scorer:
        """Return the Scorer."""
        return self.scorer


def _load_pyfunc(path: str) -> PyfuncModel:
    """Return the model of a file, for ``mlflow.pyfunc.load_model``."""
    return PyfuncModel(load_scorer(path))


def make_example(model: Model) -> Any:
    """Return one row that the model accepts: a DataFrame, or an array if the model has no column names."""
    encoding, values = model.encoding, {}
    for column in describe_columns(model):
        value, kind = column.get("example"), column["kind"]
        if kind == "date":
            value = np.datetime64(value, "s")
        elif value is None:  # of a column that is ignored, or was missing in all training rows
            value = 0.0 if kind == "number" else ""
        values[column["name"]] = value
    if not encoding.has_names and encoding.is_plain:
        return np.array([list(values.values())], dtype=np.float64)
    frame = import_extra("pandas", "mlflow").DataFrame([values])
    return frame if encoding.has_names else frame.set_axis(range(encoding.n_columns), axis=1)


def _infer_signature(mlflow: Any, example: Any, prediction: Any) -> Any:
    """Return the signature of a model; its columns of whole numbers or truth values take numbers of any type.

    MLflow converts no integers to doubles and no doubles to integers, but whole numbers are doubles as soon as a value
    is missing.
    """
    infer, schema = mlflow.models.infer_signature, mlflow.types.schema
    defaults = {"method": "predict"}
    if not hasattr(example, "dtypes"):
        return infer(example, prediction, defaults)
    types = {float: mlflow.types.DataType.double, str: mlflow.types.DataType.string}
    columns = [
        schema.ColSpec(types.get(type(values.tolist()[0]), schema.AnyType()), name)
        for name, values in example.items()
    ]
    signature = infer(model_output=prediction, params=defaults)
    signature.inputs = schema.Schema(columns)
    return signature


def _import_mlflow() -> Any:
    for module in ("artifacts", "models", "pyfunc", "types.schema"):
        import_extra(f"mlflow.{module}", "mlflow")
    return import_extra("mlflow", "mlflow")
