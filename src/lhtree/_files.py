"""Saving estimators in files and loading them again."""

from __future__ import annotations

import json
import os
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._array_checks import FOREST
from ._base import BaseLHT
from ._classes import encode_classes
from ._container import FORMAT_VERSION
from ._fitted import read
from ._forest import LHForestClassifier
from ._forest_data import ForestData
from ._json import check
from ._prototypes import Prototypes
from ._tree import LHTClassifier
from .persist import ModelFile, naming, read_model, tell_encoding, write_model
from .tables.normalise import Normalisation, Span

_ESTIMATORS: dict[str, type[BaseLHT]] = {
    "LHTClassifier": LHTClassifier,
    "LHForestClassifier": LHForestClassifier,
}


def save(model: Any, path: str | os.PathLike[str], *, metadata: dict[str, Any] | None = None) -> None:
    """Save a fitted model in one file, without pickle: arrays and a JSON header in the format of safetensors.

    The file appears whole or not at all; an old one of that name stays until the new one is there.

    Parameters
    ----------
    model : LHTClassifier or LHForestClassifier
        Fitted.
    path : str or path
        The customary ending is ``.lht``.
    metadata : dict, optional
        Anything to keep with the model that JSON can hold; ``lhtree.inspect`` and ``Scorer.metadata`` give it back.
    """
    fitted = read(model)
    name = type(model).__name__
    if type(model) is not _ESTIMATORS.get(name):
        raise TypeError(
            f"model is a {name}, a class of your own: a file holds an LHTClassifier or LHForestClassifier."
        )
    parameters = model.get_params(deep=False)
    header = {
        "estimator": name,
        "parameters": {key: _encode_parameter(key, value) for key, value in parameters.items()},
        "classes": encode_classes(fitted.classes),
        "feature_names": list(fitted.encoding.names) if fitted.encoding.has_names else None,
        "encoding": tell_encoding(fitted.encoding),
        "confidence": fitted.confidence,
        "seed": model._seed,
        "forest": None,
        "metadata": _check_metadata(metadata),
    }
    arrays = {field: getattr(fitted.forest, field) for field in FOREST} | {
        "centre": fitted.normalisation.centre,
        "scale": fitted.normalisation.scale,
        "low": np.asarray(fitted.low, dtype=np.float64),
        "high": np.asarray(fitted.high, dtype=np.float64),
        "prior": fitted.prior,
    }
    if fitted.prototypes is not None:
        arrays |= {f"prototypes_{part}": values for part, values in vars(fitted.prototypes).items()}
    if isinstance(model, LHForestClassifier):
        header["forest"] = _encode_forest(model)
        if hasattr(model, "oob_decision_function_"):
            arrays["oob_decision_function"] = model.oob_decision_function_
    write_model(path, header, arrays)


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
    file = read_model(path)
    with naming(path):
        return _build(file)


def inspect(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file holds, as plain values: who wrote it, parameters, classes, features, sizes, metadata.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        JSON can hold it.
    """
    file = read_model(path)
    header, arrays = file.header, file.arrays
    forest = _forest_of(file)
    oob_score = None if header["forest"] is None else header["forest"]["oob_score"]
    return {
        "estimator": header["estimator"],
        "format_version": FORMAT_VERSION,
        "written_by": header["written_by"],
        "n_bytes": file.n_bytes,
        "sha256": file.sha256,
        "parameters": header["parameters"],
        "classes": header["classes"]["values"],
        "shares": arrays["prior"].tolist(),
        "n_columns": file.encoding.n_columns,
        "n_features": file.scorer.n_features,
        "feature_names": header["feature_names"],
        "encoding": header["encoding"],
        "n_samples": int(forest.n_samples[forest.block_ptr[:-1]].max()),
        "n_trees": forest.n_trees,
        "n_blocks": forest.n_blocks,
        "n_leaves": int((forest.left < 0).sum()),
        "depth": int(forest.depths().max()),
        "n_weights": len(forest.hyperplane_weight),
        "n_slopes": len(forest.membership_slope),
        "n_prototypes": len(arrays["prototypes_codes"]) if "prototypes_codes" in arrays else 0,
        "oob_score": oob_score,
        "metadata": header["metadata"],
        "arrays": {
            key: {"dtype": str(values.dtype), "shape": list(values.shape)} for key, values in arrays.items()
        },
    }


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


def _encode_forest(model: LHForestClassifier) -> dict[str, Any]:
    draws = [
        {
            "n_estimators": len(list(same)),
            "counts": None if counts is None else list(counts),
            "bootstrap": bootstrap,
        }
        for (counts, bootstrap), same in groupby(
            (None if counts is None else tuple(counts.tolist()), bootstrap)
            for counts, bootstrap in model._draws
        )
    ]
    oob_score = getattr(model, "oob_score_", np.nan)
    return {
        "betas": model._betas.tolist(),
        "tree_parameters": {key: _encode_parameter(key, value) for key, value in model._tree_params.items()},
        "sizes": model._sizes.tolist(),
        "draws": draws,
        "oob_score": None if np.isnan(oob_score) else oob_score,
    }


def _forest_of(file: ModelFile) -> ForestData:
    return ForestData(**{field: file.arrays[field] for field in FOREST})


def _build(file: ModelFile) -> BaseLHT:
    header, arrays = file.header, file.arrays
    check(
        header["estimator"] in _ESTIMATORS,
        f"it holds a {header['estimator'][:50]!r}, which lhtree does not have",
    )
    kind = _ESTIMATORS[header["estimator"]]
    check(
        (header["forest"] is not None) == kind._is_forest, "its estimator is of another kind than its trees"
    )
    unknown = set(header["parameters"]) - set(kind._get_param_names())
    check(not unknown, f"its parameters {', '.join(sorted(unknown))[:100]} are unknown; update lhtree")
    parameters = {key: _decode_parameter(value) for key, value in header["parameters"].items()}
    model = kind(**parameters)
    model._set_encoding(file.encoding)
    model.classes_ = file.classes
    model._seed = header["seed"]
    model._normalisation = Normalisation(arrays["centre"], arrays["scale"])
    model._span = Span(arrays["low"], arrays["high"])
    model._prior = arrays["prior"]
    model._confidence = header["confidence"]
    model._forest = _forest_of(file)
    model._scorer = file.scorer
    model._prototypes = None
    if "prototypes_X" in arrays:
        model._prototypes = Prototypes(
            **{part: arrays[f"prototypes_{part}"] for part in ("X", "codes", "given")}
        )
    if isinstance(model, LHForestClassifier):
        _restore_forest(model, header["forest"], arrays.get("oob_decision_function"))
    return model


def _restore_forest(
    model: LHForestClassifier, told: dict[str, Any], oob_decision_function: NDArray[np.float64] | None
) -> None:
    unknown = set(told["tree_parameters"]) - set(LHTClassifier._get_param_names())
    check(not unknown, f"its tree_parameters {', '.join(sorted(unknown))[:100]} are unknown; update lhtree")
    model._betas = np.array(told["betas"], dtype=np.float64)
    model._tree_params = told["tree_parameters"]
    model._sizes = np.array(told["sizes"], dtype=np.int64)
    model._draws = []
    for draw in told["draws"]:
        counts = None if draw["counts"] is None else np.array(draw["counts"], dtype=np.int64)
        model._draws += [(counts, draw["bootstrap"])] * draw["n_estimators"]
    if oob_decision_function is not None:
        model.oob_score_ = np.nan if told["oob_score"] is None else told["oob_score"]
        model.oob_decision_function_ = oob_decision_function


def _decode_parameter(value: Any) -> Any:
    return dict(zip(value["labels"], value["weights"], strict=True)) if isinstance(value, dict) else value
