"""Model files: a model with the name and parameters of its estimator. See docs/model_files.md."""

from __future__ import annotations

import json
import os
import platform
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._write import write_whole
from ..model.model import Model, Pool
from ..model.profile import JointSpread, Summary, TableProfile, find_categories
from ..model.records import (
    AdditiveRecord,
    Bins,
    BoostRecord,
    Calibration,
    CompactRecord,
    Drawn,
    ForestRecord,
    OutputRecord,
    Prototypes,
    Provenance,
    RacedSetting,
    ResponseRecord,
)
from ..model.terms import read_terms
from ..model.trees import SCHEMA, Trees
from ..tables.encoding import Encoding
from ..tables.normalise import Normalisation, Span
from .arrays import (
    ALL_ARRAYS,
    MODEL_ARRAYS,
    Arrays,
    check_shapes,
    check_summary,
    check_trees,
    check_values,
    expand_levels,
    fold_levels,
)
from .container import Container, ModelFileError, check, pack_container, parse, parse_json, read_container
from .header import (
    ADDITIVE,
    BOOST,
    COMPACT,
    FOREST,
    HEADER,
    JOINT,
    OUTPUT,
    POOL,
    PROFILE,
    PROVENANCE,
    RACE,
    RESPONSE,
    check_estimators,
    check_header,
    decode_classes,
    encode_classes,
)

VERSION = (2, 0)
_FOREST_HEADER: dict[str, Any] = {"estimator": "forest", "parameters": {}, "metadata": None}  # of an ensemble


class ModelFile(NamedTuple):
    """Contents of a file."""

    model: Model
    header: dict[str, Any]
    arrays: Arrays
    version: tuple[int, int]
    sha256: str
    n_bytes: int


def read_file(path: str | os.PathLike[str]) -> ModelFile:
    """Read and check a model file."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(
            f"the path is of type {type(path).__name__}: pass the path of a model file, as lhtree.save writes it."
        )
    with naming(path):
        return check_file(read_container(path))


def write_file(path: str | os.PathLike[str], model: Model, header: dict[str, Any]) -> None:
    """Write a model file; ``header`` has the estimator, its parameters and metadata.

    If the new file could not be read, nothing is written.
    """
    write_whole(path, _pack_checked(model, header).data)


def pack_bytes(model: Model, estimator: str) -> bytes:
    """Return the compressed bytes of a model file without parameters, for pickles."""
    header: dict[str, Any] = {"estimator": estimator, "parameters": {}, "metadata": None}
    return zlib.compress(_pack_checked(model, header).data, 4)


def unpack_bytes(content: bytes) -> Model:
    """Return the model that ``pack_bytes`` packed."""
    return check_file(parse(np.frombuffer(bytearray(zlib.decompress(content)), np.uint8))).model


def _pack_checked(model: Model, header: dict[str, Any]) -> NDArray[np.uint8]:
    """Return the bytes of a file that can be read."""
    content = pack(model, header)
    try:
        check_file(parse(content, is_new=True))
    except ModelFileError as error:
        raise ValueError(
            f"the model cannot be saved because the file could not be loaded again: {error}."
        ) from None
    return content


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the path to error messages."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"path={os.fspath(path)!r} is not a valid lhtree model file: {error}.") from None


def pack(model: Model, header: dict[str, Any]) -> NDArray[np.uint8]:
    """Return the bytes of a file."""
    found: dict[str, Any] = fold_levels(model.trees.arrays()) | {
        "centre": model.normalisation.centre,
        "scale": model.normalisation.scale,
        "feature_low": np.asarray(model.span.low, dtype=np.float64),
        "feature_high": np.asarray(model.span.high, dtype=np.float64),
        "feature_whole": model.span.is_whole.astype(np.int8),
        "prior": model.prior,
        "base": model.base,
        "statistics": model.encoding.statistics if model.encoding.counted else None,
        "pool_forest": None if model.pool is None else pack(model.pool.forest, _FOREST_HEADER).view(np.int8),
    }
    for prefix, record in (
        ("calibration_", model.calibration),
        ("prototypes_", model.prototypes),
        ("bins_", model.boost and model.boost.bins),
        ("", model.forest),
        ("", model.additive),
        ("", model.response),
        ("profile_", model.profile),
        ("joint_", model.joint),
    ):
        own = {} if record is None else {prefix + name: value for name, value in vars(record).items()}
        found |= {name: value for name, value in own.items() if name in MODEL_ARRAYS}
    arrays: Arrays = {name: values for name, values in found.items() if values is not None}
    header = header | {
        "written_by": {"lhtree": __version__, "numpy": np.__version__, "python": platform.python_version()},
        "classes": encode_classes(model.classes),
        "encoding": model.encoding.to_dict(),
        "confidence": model.confidence,
        "seed": model.seed,
        "forest": _encode(model.forest, FOREST),
        "boost": _encode(model.boost, BOOST),
        "race": _encode(model.boost, RACE),
        "compact": _encode(model.compact, COMPACT),
        "additive": _encode(model.additive, ADDITIVE),
        "link": model.link,
        "calibration": None if model.calibration is None else model.calibration.kind,
        "min_samples_leaf": model.min_samples_leaf,
        "clip": model.clip,
        "response": _encode(model.response, RESPONSE),
        "outputs": [_encode(output, OUTPUT) for output in model.outputs],
        "n_rows": model.n_rows,
        "pool": _encode(model.pool, POOL),
        "positive": model.positive,
        "profile": _encode(model.profile, PROFILE),
        "provenance": _encode(model.provenance, PROVENANCE),
        "joint": _encode(model.joint, JOINT),
        "declared": model.declared,
    }
    given = {name: value for name, value in header.items() if value != HEADER[name].default}
    # Arrays and fields without which a reader would predict something else.
    given["requires"] = {
        name: array.since
        for name, array in ALL_ARRAYS.items()
        if array.default is not None and array.is_scored and name in arrays
    } | {
        name: HEADER[name].since
        for name in ("link", "clip", "calibration", "pool", "outputs")
        if name in given
    }
    text = json.dumps(given, separators=(",", ":"), allow_nan=False)
    return pack_container(arrays, text, _format(VERSION))


def _encode(record: Any, names: Iterable[str]) -> dict[str, Any] | None:
    """Return fields of a record as plain values, for JSON."""
    return None if record is None else {name: _to_plain(getattr(record, name)) for name in names}


def _to_plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_to_plain(part) for part in value]
    if isinstance(value, (Drawn, RacedSetting)):
        return _encode(value, vars(value))
    return value.tolist() if isinstance(value, np.ndarray) else value


def check_file(container: Container) -> ModelFile:
    """Check the contents of a file and build its model."""
    header = parse_json(container.model.encode("utf-8", "surrogatepass"))
    is_old = container.version[0] < VERSION[0]
    check(
        container.version[0] == VERSION[0],
        f"its format version is {_format(container.version)}, but this lhtree reads version {VERSION[0]}: "
        f"{'fit and save the model again' if is_old else 'update lhtree'} (the file was written by lhtree "
        f"{_find_writer(header)})",
    )
    _check_required(header)
    header = {name: value for name, value in header.items() if name in HEADER}
    stored = {name: values for name, values in container.arrays.items() if name in ALL_ARRAYS}
    check_shapes(stored)
    arrays = expand_levels(stored)
    n_classes = len(arrays["prior"])
    header = check_header(
        header,
        n_features=len(arrays["centre"]),
        n_classes=n_classes,
        n_statistics=len(arrays.get("statistics", ())),
        n_scores=len(arrays.get("base", ())),
    )
    check_values(arrays)
    classes = decode_classes(header["classes"], n_classes)
    try:
        model = _build(header, arrays, classes)
        _ = model.scorer  # its checks
    except ModelFileError:
        raise
    except ValueError as error:  # from the checks of the core
        raise ModelFileError(f"its arrays are {error}") from None
    check_trees(arrays, model.n_targets)
    if model.additive is not None:
        check_terms(model)
    check(
        (model.compact is not None) == model.trees.has_units,
        "a compact tree has no record of its fit (compact), or another model has one",
    )
    if "base" not in arrays or header["forest"] is not None:  # a boosted model needs no description
        check_estimators(header["forest"], model.n_estimators)
    return ModelFile(model, header, stored, container.version, container.sha256, container.n_bytes)


def check_terms(model: Model) -> None:
    """Check that every tree of an additive model is a curve or a surface, with the same cells for all targets."""
    try:
        read_terms(model)
    except ValueError as error:
        raise ModelFileError(str(error)) from None


def _check_required(header: dict[str, Any]) -> None:
    """Reject a file of a newer minor version whose predictions depend on something unknown."""
    requires = header.get("requires", {})
    is_valid = isinstance(requires, dict) and all(isinstance(since, str) for since in requires.values())
    check(is_valid, "requires must map names to versions")
    unknown = sorted(set(requires) - set(HEADER) - set(ALL_ARRAYS))
    if unknown:
        versions = [requires[name] for name in unknown]
        newest = max(versions, key=lambda version: [int(n) for n in re.findall(r"\d{1,9}", version)])[:20]
        raise ModelFileError(
            f"it uses {', '.join(unknown)[:100]} and needs lhtree {newest} or newer: update lhtree"
        )


def _find_writer(header: dict[str, Any]) -> str:
    writer = header.get("written_by")
    return str(writer.get("lhtree", "?"))[:20] if isinstance(writer, dict) else "?"


def _format(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _build(header: dict[str, Any], arrays: Arrays, classes: NDArray[Any]) -> Model:
    forest, boost, response = header["forest"], header["boost"], header["response"]
    compact, additive = header["compact"], header["additive"]
    prototypes, bins = _take_group(arrays, "prototypes_"), _take_group(arrays, "bins_")
    if (boost is None) != (not bins):
        raise ModelFileError("it has boost or bins alone")
    if (additive is None) != ("band" not in arrays):
        raise ModelFileError("it has additive or band alone")
    knots = _take_group(arrays, "calibration_")
    if (header["calibration"] is None) != (not knots):
        raise ModelFileError("it has calibration or its knots alone")
    encoding = Encoding.from_dict(header["encoding"], arrays.get("statistics"))
    return Model(
        trees=Trees(**{name: arrays[name] for name in SCHEMA if name in arrays}),
        encoding=encoding,
        normalisation=Normalisation(arrays["centre"], arrays["scale"]),
        span=_build_span(arrays),
        classes=classes,
        prior=arrays["prior"],
        confidence=header["confidence"],
        seed=header["seed"],
        link=header["link"],
        calibration=Calibration(header["calibration"], **knots) if knots else None,
        min_samples_leaf=header["min_samples_leaf"],
        n_rows=header["n_rows"],
        positive=header["positive"],
        summary=_build_summary(header, arrays, encoding),
        provenance=None if header["provenance"] is None else Provenance(**header["provenance"]),
        declared=header["declared"],
        base=arrays.get("base"),
        clip=header["clip"],
        prototypes=Prototypes(**prototypes) if prototypes else None,
        forest=None if forest is None else _build_forest(forest, arrays),
        boost=None if boost is None else _build_boost(boost, header["race"], bins),
        compact=compact and CompactRecord(**compact | {"objective": tuple(compact["objective"])}),
        pool=_build_pool(header, arrays),
        additive=None if additive is None else _build_additive(additive, arrays),
        response=response
        and ResponseRecord(
            **response, residual=arrays.get("residual"), residual_weight=arrays.get("residual_weight")
        ),
        outputs=tuple(OutputRecord(**output) for output in header["outputs"]),
    )


def _build_summary(header: dict[str, Any], arrays: Arrays, encoding: Encoding) -> Summary | None:
    found: dict[str, Any] = {}
    for name in ("profile", "joint"):
        own, record = _take_group(arrays, f"{name}_"), header[name]
        check((record is None) == (not own), f"it has {name} or its arrays alone")
        found[name] = None if record is None else record | own
    check_summary(
        arrays, [None if one.categories is None else len(one.categories) for one in encoding.encoders]
    )
    if found["profile"] is None and found["joint"] is None:
        return None
    profile = found["profile"] and TableProfile(is_category=find_categories(encoding), **found["profile"])
    return Summary(profile, found["joint"] and JointSpread(**found["joint"]))


def _build_pool(header: dict[str, Any], arrays: Arrays) -> Pool | None:
    content, record = arrays.get("pool_forest"), header["pool"]
    check((content is None) == (record is None), "it has pool or its forest alone")
    if content is None or record is None:
        return None
    forest = check_file(parse(content.view(np.uint8).copy()))  # a copy is aligned
    check(
        forest.model.pool is None
        and forest.model.forest is not None
        and forest.header["encoding"] == header["encoding"]
        and forest.header["classes"] == header["classes"],
        "the forest of the ensemble has other columns or classes",
    )
    return Pool(forest.model, **record)


def _build_span(arrays: Arrays) -> Span:
    """Return the ranges of the features; earlier files do not have their kind."""
    low, high = arrays["feature_low"], arrays["feature_high"]
    whole = arrays.get("feature_whole")
    return Span(low, high, np.zeros(len(low), dtype=bool) if whole is None else whole.astype(bool))


def _take_group(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}


def _build_additive(additive: dict[str, Any], arrays: Arrays) -> AdditiveRecord:
    return AdditiveRecord(
        additive["learning_rate"], tuple(additive["n_iter"]), arrays["band"], tuple(additive["edits"])
    )


def _build_boost(boost: dict[str, Any], race: dict[str, Any] | None, bins: Arrays) -> BoostRecord:
    train, validation = (
        np.array(boost[name], dtype=np.float64) for name in ("train_score", "validation_score")
    )
    chosen = race or {"settings": {}, "race": []}
    runs = tuple(RacedSetting(**run) for run in chosen["race"])
    return BoostRecord(boost["learning_rate"], Bins(**bins), train, validation, chosen["settings"], runs)


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


def _count_rows(model: Model) -> int:
    """Return the number of training rows; from a file without it, that of a forest or of the largest tree."""
    if model.n_rows is not None:
        return model.n_rows
    roots = model.trees.n_samples[model.trees.block_ptr[:-1]]
    return int(roots.max() if model.forest is None else model.forest.sizes.sum())


def inspect(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the contents of a model file as plain values: versions, parameters, classes, features, sizes, metadata.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        Values that can be written as JSON.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, inspect, save
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> save(LHTClassifier().fit(X, y), "wine.lht", metadata={"by": "Ada"})
    >>> facts = inspect("wine.lht")
    >>> facts["estimator"], facts["n_trees"], facts["classes"], facts["metadata"]
    ('LHTClassifier', 3, [0, 1, 2], {'by': 'Ada'})
    """
    file = read_file(path)
    header, model = file.header, file.model
    trees, boost = model.trees, model.boost
    return {
        "estimator": header["estimator"],
        "format_version": _format(file.version),
        "written_by": header["written_by"],
        "n_bytes": file.n_bytes,
        "sha256": file.sha256,
        "parameters": header["parameters"],
        "classes": header["classes"]["values"],
        "shares": model.prior.tolist(),
        "positive": None if model.positive is None else header["classes"]["values"][model.positive],
        "response": header["response"],
        "outputs": header["outputs"],
        "n_columns": model.encoding.n_columns,
        "n_features": model.n_features,
        "feature_names": list(model.encoding.names) if model.encoding.has_names else None,
        "encoding": header["encoding"],
        "link": model.link,
        "calibration": header["calibration"],
        "min_samples_leaf": model.min_samples_leaf,
        "boost": boost
        and {"n_rounds": model.n_estimators, "learning_rate": boost.learning_rate, **boost.describe()},
        "pool": model.pool and header["pool"] | {"n_estimators": model.pool.forest.n_estimators},
        "n_samples": _count_rows(model),
        "n_trees": trees.n_trees,
        "n_blocks": trees.n_blocks,
        "n_leaves": int((trees.left < 0).sum()),
        "depth": int(trees.depths().max()),
        "n_weights": len(trees.hyperplane_weight),
        "n_slopes": len(trees.membership_slope),
        "n_prototypes": 0 if model.prototypes is None else len(model.prototypes.codes),
        "oob_score": None if model.forest is None else model.forest.oob_score,
        "provenance": header["provenance"],
        "declared": header["declared"],
        "metadata": header["metadata"],
        "arrays": {
            name: {"dtype": str(values.dtype), "shape": list(values.shape)}
            for name, values in file.arrays.items()
        },
    }
