"""Saving estimators in model files, and loading them again."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from .base import Predictor
from .boost import LHBoostClassifier
from .files import ModelFileError, naming, read_file, write_file
from .forest import LHForestClassifier
from .model import read
from .tree import LHTClassifier

_ESTIMATORS: dict[str, type[Predictor]] = {
    "LHTClassifier": LHTClassifier,
    "LHForestClassifier": LHForestClassifier,
    "LHBoostClassifier": LHBoostClassifier,
}


def save(model: Any, path: str | os.PathLike[str], *, metadata: dict[str, Any] | None = None) -> None:
    """Save a fitted model in one file, without pickle: arrays and a JSON header in the format of safetensors.

    The file appears whole or not at all; an old one of that name stays until the new one is there.

    Parameters
    ----------
    model : LHTClassifier or LHForestClassifier
        Model.
    path : str or path
        The customary ending is ``.lht``.
    metadata : dict, optional
        Anything to keep with the model that JSON can hold; ``lhtree.inspect`` and ``Scorer.metadata`` give it back.
    """
    learned = read(model)
    name = type(model).__name__
    if type(model) is not _ESTIMATORS.get(name):
        raise TypeError(
            f"model is a {name}, a class of your own: a file holds an LHTClassifier or LHForestClassifier."
        )
    parameters = model.get_params(deep=False)
    header = {
        "estimator": name,
        "parameters": {key: _encode_parameter(key, value) for key, value in parameters.items()},
        "metadata": _check_metadata(metadata),
    }
    write_file(path, learned, header)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that ``lhtree.save`` wrote.

    Nothing in a file is executed; one that is damaged, of an unknown version or no model at all is refused with
    ``lhtree.ModelFileError``.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    LHTClassifier or LHForestClassifier
        Equal to the saved one in every bit of its predictions, explanations and parameters; warm start goes on.
    """
    file = read_file(path)
    header = file.header
    with naming(path):
        kind = _ESTIMATORS.get(header["estimator"])
        if kind is None:
            raise ModelFileError(f"it holds a {header['estimator'][:50]!r}, which is unknown: update lhtree")
        if (file.model.forest is not None) != kind._is_forest or file.model.link not in kind._links:
            raise ModelFileError("its estimator is of another kind than its trees")
        _check_known("parameters", header["parameters"], kind)
        if file.model.forest is not None:
            _check_known("tree_parameters", file.model.forest.tree_parameters, LHTClassifier)
    model = kind(**{key: _decode_parameter(value) for key, value in header["parameters"].items()})
    model._model = file.model
    return model


def _check_known(what: str, parameters: dict[str, Any], kind: type[Predictor]) -> None:
    unknown = set(parameters) - set(kind._get_param_names())
    if unknown:
        raise ModelFileError(f"its {what} {', '.join(sorted(unknown))[:100]} are unknown: update lhtree")


def _encode_parameter(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        labels = [_encode_parameter(name, label) for label in value]
        return {"labels": labels, "weights": [_encode_parameter(name, weight) for weight in value.values()]}
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=str)  # the same model gives the same bytes
    if hasattr(value, "__iter__") and not isinstance(value, str):  # categorical_features in any form
        return [_encode_parameter(name, part) for part in value]
    plain = value.item() if isinstance(value, np.generic) else value
    if (
        plain is None
        or isinstance(plain, (bool, int, str))
        or (isinstance(plain, float) and np.isfinite(plain))
    ):
        return plain
    raise TypeError(
        f"{name}={value!r} cannot be held in a file: set it to a plain value first, "
        f"for example model.set_params({name}=None); a fitted model predicts the same."
    )


def _check_metadata(metadata: Any) -> dict[str, Any] | None:
    try:
        again = json.loads(json.dumps(metadata, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"metadata cannot be held in JSON ({error}): pass plain values only.") from None
    if metadata is not None and (not isinstance(metadata, dict) or again != metadata):
        raise TypeError(
            "metadata does not come back from JSON as it is: pass a dict with text as keys, and lists, dicts, text, "
            "finite numbers, True, False and None in it."
        )
    return again  # type: ignore[no-any-return]


def _decode_parameter(value: Any) -> Any:
    return dict(zip(value["labels"], value["weights"], strict=True)) if isinstance(value, dict) else value
