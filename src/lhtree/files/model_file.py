"""A model file: a model with the name and parameters of its estimator; checked before anything is made of it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._write import write_whole
from ..model.calibration import Calibration
from ..model.model import Bins, BoostRecord, CompactRecord, Drawn, ForestRecord, Model, Prototypes
from ..model.response import ResponseRecord
from ..model.trees import SCHEMA, Trees
from ..tables.encoding import Encoding
from ..tables.normalise import Normalisation, Span
from .arrays import ALL_ARRAYS, Arrays, check_response, check_shapes, check_trees, check_values
from .classes import decode_classes, encode_classes
from .container import Container, pack_container, parse, read_container
from .header import HEADER, check_estimators, check_header
from .strict_json import ModelFileError, parse_json
from .upgrades import VERSION, drop_unknown, upgrade


class ModelFile(NamedTuple):
    """What a file holds."""

    model: Model
    header: dict[str, Any]
    arrays: Arrays
    version: tuple[int, int]
    sha256: str
    n_bytes: int


def read_file(path: str | os.PathLike[str]) -> ModelFile:
    """Read and check a model file."""
    with naming(path):
        return check_file(read_container(path))


def write_file(path: str | os.PathLike[str], model: Model, header: dict[str, Any]) -> None:
    """Write a model file; ``header`` has the estimator, its parameters and metadata.

    What could not be read again is refused, and the old file stays.
    """
    content = pack(model, header)
    try:
        check_file(parse(content))
    except ModelFileError as error:
        raise ValueError(
            f"the model cannot be saved because the file could not be loaded again: {error}."
        ) from None
    write_whole(path, content.data)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file in errors about it."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"path={os.fspath(path)!r} is not a valid lhtree model file: {error}.") from None


def pack(model: Model, header: dict[str, Any]) -> NDArray[np.uint8]:
    """The bytes of a file."""
    arrays = model.trees.arrays() | {
        "centre": model.normalisation.centre,
        "scale": model.normalisation.scale,
        "feature_low": np.asarray(model.span.low, dtype=np.float64),
        "feature_high": np.asarray(model.span.high, dtype=np.float64),
        "prior": model.prior,
    }
    if model.encoding.counted:
        arrays["statistics"] = model.encoding.statistics
    if model.base is not None:
        arrays["base"] = model.base
    if model.calibration is not None:
        parts = ("ptr", "x", "y")
        arrays |= {f"calibration_{part}": getattr(model.calibration, part) for part in parts}
    if model.prototypes is not None:
        arrays |= {f"prototypes_{part}": values for part, values in vars(model.prototypes).items()}
    if model.forest is not None:
        names = ("oob_decision_function", "oob_prediction")
        arrays |= {name: getattr(model.forest, name) for name in names}
    if model.response is not None:
        arrays |= {name: getattr(model.response, name) for name in ("residual", "residual_weight")}
    if model.boost is not None:
        arrays |= {f"bins_{part}": values for part, values in vars(model.boost.bins).items()}
    arrays = {name: values for name, values in arrays.items() if values is not None}
    header = header | {
        "written_by": {"lhtree": __version__, "numpy": np.__version__, "python": platform.python_version()},
        "classes": encode_classes(model.classes),
        "encoding": model.encoding.to_dict(),
        "confidence": model.confidence,
        "seed": model.seed,
        "forest": None if model.forest is None else _encode_forest(model.forest),
        "boost": None if model.boost is None else _encode_boost(model.boost),
        "compact": None if model.compact is None else _encode_compact(model.compact),
        "link": model.link,
        "calibration": None if model.calibration is None else model.calibration.method,
        "min_samples_leaf": model.min_samples_leaf,
        "clip": model.clip,
        "response": model.response
        and {name: getattr(model.response, name) for name in ("low", "high", "mean")},
    }
    given = {name: value for name, value in header.items() if value != HEADER[name].default}
    # A reader that does not know one of these would predict something else.
    optional = {
        name: array for name, array in ALL_ARRAYS.items() if array.default is not None and array.is_scored
    }
    given["requires"] = {name: array.since for name, array in optional.items() if name in arrays}
    given["requires"] |= {
        name: HEADER[name].since for name in ("link", "clip", "calibration") if name in given
    }
    text = json.dumps(given, separators=(",", ":"), allow_nan=False)
    return pack_container(arrays, text, ".".join(map(str, VERSION)))


def _encode_forest(forest: ForestRecord) -> dict[str, Any]:
    return {
        "betas": forest.betas.tolist(),
        "tree_parameters": forest.tree_parameters,
        "sizes": forest.sizes.tolist(),
        "draws": [
            {
                "n_estimators": drawn.n_estimators,
                "counts": None if drawn.counts is None else drawn.counts.tolist(),
                "bootstrap": drawn.bootstrap,
            }
            for drawn in forest.draws
        ],
        "oob_score": forest.oob_score,
    }


def _encode_boost(boost: BoostRecord) -> dict[str, Any]:
    return {
        "learning_rate": boost.learning_rate,
        "train_score": boost.train_score.tolist(),
        "validation_score": boost.validation_score.tolist(),
    }


def _encode_compact(compact: CompactRecord) -> dict[str, Any]:
    return vars(compact) | {"objective": list(compact.objective)}


def check_file(container: Container) -> ModelFile:
    """From the outside to the inside; nothing is used before it is checked."""
    header = parse_json(container.model.encode("utf-8", "surrogatepass"))
    header, arrays = upgrade(container.version, header, container.arrays)
    header, arrays = drop_unknown(header, arrays, set(HEADER), set(ALL_ARRAYS))
    check_shapes(arrays)
    n_classes = len(arrays["prior"])
    header = check_header(
        header,
        n_features=len(arrays["centre"]),
        n_classes=n_classes,
        n_statistics=len(arrays.get("statistics", ())),
    )
    check_values(arrays)
    check_response(arrays, is_regression=header["response"] is not None)
    classes = decode_classes(header["classes"], n_classes)
    try:
        model = _build(header, arrays, classes)
    except ValueError as error:  # what the core found
        raise ModelFileError(f"its arrays are {error}") from None
    check_trees(arrays, model.n_targets)
    check_estimators(header["forest"], model.n_estimators, is_boosted=model.is_boosted)
    return ModelFile(model, header, arrays, container.version, container.sha256, container.n_bytes)


def _build(header: dict[str, Any], arrays: Arrays, classes: NDArray[Any]) -> Model:
    forest, boost, response = header["forest"], header["boost"], header["response"]
    compact = header["compact"]
    prototypes, bins = _take_group(arrays, "prototypes_"), _take_group(arrays, "bins_")
    if (boost is None) != (not bins):
        raise ModelFileError("it has boost or bins alone")
    knots = _take_group(arrays, "calibration_")
    if (header["calibration"] is None) != (not knots):
        raise ModelFileError("it has calibration or its knots alone")
    return Model(
        trees=Trees(**{name: arrays[name] for name in SCHEMA if name in arrays}),
        encoding=Encoding.from_dict(header["encoding"], arrays.get("statistics")),
        normalisation=Normalisation(arrays["centre"], arrays["scale"]),
        span=Span(arrays["feature_low"], arrays["feature_high"]),
        classes=classes,
        prior=arrays["prior"],
        confidence=header["confidence"],
        seed=header["seed"],
        link=header["link"],
        calibration=Calibration(header["calibration"], **knots) if knots else None,
        min_samples_leaf=header["min_samples_leaf"],
        base=arrays.get("base"),
        clip=header["clip"],
        prototypes=Prototypes(**prototypes) if prototypes else None,
        forest=None if forest is None else _build_forest(forest, arrays),
        boost=None if boost is None else _build_boost(boost, bins),
        compact=None if compact is None else _build_compact(compact),
        response=response
        and ResponseRecord(
            **response, residual=arrays.get("residual"), residual_weight=arrays.get("residual_weight")
        ),
    )


def _take_group(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}


def _build_compact(compact: dict[str, Any]) -> CompactRecord:
    return CompactRecord(**compact | {"objective": tuple(compact["objective"])})


def _build_boost(boost: dict[str, Any], bins: Arrays) -> BoostRecord:
    scores = (np.array(boost[name], dtype=np.float64) for name in ("train_score", "validation_score"))
    return BoostRecord(boost["learning_rate"], Bins(**bins), *scores)


def _build_forest(forest: dict[str, Any], arrays: Arrays) -> ForestRecord:
    draws = (
        Drawn(
            draw["n_estimators"],
            None if draw["counts"] is None else np.array(draw["counts"], dtype=np.int64),
            draw["bootstrap"],
        )
        for draw in forest["draws"]
    )
    return ForestRecord(
        betas=np.array(forest["betas"], dtype=np.float64),
        tree_parameters=forest["tree_parameters"],
        sizes=np.array(forest["sizes"], dtype=np.int64),
        draws=tuple(draws),
        oob_score=forest["oob_score"],
        oob_decision_function=arrays.get("oob_decision_function"),
        oob_prediction=arrays.get("oob_prediction"),
    )
