"""Saving estimators to model files and loading them."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ..files import BITS64, ModelFileError, naming, read_file, write_file
from ..model.model import read
from .additive import AdditiveLHTClassifier, AdditiveLHTRegressor, BaseAdditive
from .base import Predictor
from .boost import LHBoostClassifier, LHBoostRegressor
from .compact import BaseCompact, CompactLHTClassifier, CompactLHTRegressor
from .ensemble import BaseEnsemble, LHEnsembleClassifier, LHEnsembleRegressor
from .forest import LHForestClassifier, LHForestRegressor
from .tree import LHTClassifier, LHTRegressor

_ESTIMATORS: dict[str, type[Predictor]] = {
    estimator.__name__: estimator
    for estimator in (
        *(LHTClassifier, LHForestClassifier, LHBoostClassifier, CompactLHTClassifier),
        *(LHTRegressor, LHForestRegressor, LHBoostRegressor, CompactLHTRegressor),
        *(LHEnsembleClassifier, LHEnsembleRegressor),
        *(AdditiveLHTClassifier, AdditiveLHTRegressor),
    )
}


def save(model: Any, path: str | os.PathLike[str], *, metadata: dict[str, Any] | None = None) -> None:
    """Save a fitted model to one file without pickle: arrays and a JSON header in the safetensors format.

    Writing is atomic: an existing file is replaced only when the new one is complete. Parameters beyond 64 bits are
    saved as the nearest integer of 64 bits.

    Parameters
    ----------
    model : classifier or regressor
        Fitted model.
    path : str or path
        File to write; the usual extension is ``.lht``.
    metadata : dict, optional
        Anything that JSON can represent; ``lhtree.inspect`` and ``Scorer.metadata`` return it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, load, save
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X, y)
    >>> save(model, "wine.lht", metadata={"approved by": "Ada"})
    >>> bool((load("wine.lht").predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    learned = read(model, takes_numbers=True, takes_several=True)
    name = type(model).__name__
    if type(model) is not _ESTIMATORS.get(name):
        raise TypeError(
            f"model is of class {name}: only the estimators of lhtree can be saved, not subclasses of them."
        )
    parameters = model.get_params(deep=False)
    header = {
        "estimator": name,
        "parameters": {key: _encode_parameter(key, value) for key, value in parameters.items()},
        "metadata": _check_metadata(metadata),
    }
    write_file(path, learned, header)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model saved with ``lhtree.save``.

    No code in the file is executed. A file that is damaged, of an unknown version or not a model raises
    ``lhtree.ModelFileError``.

    Parameters
    ----------
    path : str or path
        File to read.

    Returns
    -------
    The fitted estimator, of the class that was saved.
        Predictions, explanations and parameters are bitwise equal to the saved model's; a warm start continues.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, load, save
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> save(LHTClassifier(beta=0.25).fit(X, y), "wine.lht")
    >>> load("wine.lht")
    LHTClassifier(beta=0.25)
    """
    file = read_file(path)
    header = file.header
    with naming(path):
        kind = _ESTIMATORS.get(header["estimator"])
        if kind is None:
            raise ModelFileError(f"unknown estimator {header['estimator'][:50]!r}: update lhtree")
        model = file.model
        is_same_kind = (model.forest is not None) == kind._is_forest and model.link in kind._links
        is_same_kind &= (model.compact is not None) == issubclass(kind, BaseCompact)
        is_same_kind &= (model.additive is not None) == issubclass(kind, BaseAdditive)
        if not is_same_kind or (model.pool is not None) != issubclass(kind, BaseEnsemble):
            raise ModelFileError("the estimator does not match its trees")
        _check_known("parameters", header["parameters"], kind)
        if model.forest is not None:
            _check_known("tree_parameters", model.forest.tree_parameters, kind._tree)
    estimator = kind(**{key: _decode_parameter(value) for key, value in header["parameters"].items()})
    estimator._model = model
    return estimator


def _check_known(what: str, parameters: dict[str, Any], kind: type[Predictor]) -> None:
    unknown = set(parameters) - set(kind._get_param_names())
    if unknown:
        raise ModelFileError(f"unknown {what} {', '.join(sorted(unknown))[:100]}: update lhtree")


def _encode_parameter(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        labels = [_encode_parameter(name, label) for label in value]
        return {"labels": labels, "weights": [_encode_parameter(name, weight) for weight in value.values()]}
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=str)  # the same model gives the same bytes
    if hasattr(value, "__iter__") and not isinstance(value, str):  # categorical_features in any form
        return [_encode_parameter(name, part) for part in value]
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, int) and plain not in BITS64:  # a limit that no table reaches
        plain = BITS64[0] if plain < 0 else BITS64[-1]
    if (
        plain is None
        or isinstance(plain, (bool, int, str))
        or (isinstance(plain, float) and np.isfinite(plain))
    ):
        return plain
    raise TypeError(
        f"{name}={value!r} cannot be saved: set it to a plain value first, "
        f"for example model.set_params({name}=None); a fitted model predicts the same."
    )


def _check_metadata(metadata: Any) -> dict[str, Any] | None:
    try:
        again = json.loads(json.dumps(metadata, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"metadata cannot be written as JSON ({error}): pass plain values only.") from None
    if metadata is not None and (not isinstance(metadata, dict) or again != metadata):
        raise TypeError(
            "metadata does not survive JSON unchanged: pass a dict with str keys whose values are lists, dicts, str, "
            "finite numbers, bool or None."
        )
    return again  # type: ignore[no-any-return]


def _decode_parameter(value: Any) -> Any:
    return dict(zip(value["labels"], value["weights"], strict=True)) if isinstance(value, dict) else value
