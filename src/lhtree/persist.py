"""What a model file holds: the arrays of a model and a header, checked before anything is made of them.

Needs NumPy only. ``docs/model_files.md`` describes the format.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import __version__, _core
from ._array_checks import SCORED, check_shapes, check_trees, check_values
from ._classes import decode_classes
from ._container import Container, pack_container, parse, read_container
from ._header_checks import check_estimators, check_header
from ._json import ModelFileError, check, parse_json
from ._scorer import Scorer
from ._write import write_whole
from .tables.encoding import Encoding
from .tables.treatments import Numbers, OneHot


class ModelFile(NamedTuple):
    """A model as it lies in a file: header, arrays, and the scorer that was made of them."""

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    classes: NDArray[Any]
    encoding: Encoding
    scorer: _core.Scorer
    sha256: str
    n_bytes: int


def read_model(path: str | os.PathLike[str], *, is_mapped: bool = False) -> ModelFile:
    """Read and check a model file."""
    with naming(path):
        return _check_model(read_container(path, is_mapped=is_mapped))


def write_model(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write a model file; what could not be read again is refused, and the old file stays."""
    versions = {"lhtree": __version__, "numpy": np.__version__, "python": platform.python_version()}
    told = json.dumps(header | {"written_by": versions}, separators=(",", ":"), allow_nan=False)
    content = pack_container(arrays, told)
    try:
        _check_model(parse(content))
    except ModelFileError as error:
        raise ValueError(f"the model cannot be saved, for no one could load the file: {error}.") from None
    write_whole(path, content.data)


def load_scorer(path: str | os.PathLike[str]) -> Scorer:
    """Read a saved model for prediction only; needs NumPy only, no scikit-learn.

    Large files are mapped into memory while their trees are laid out for scoring, and let go then.

    Parameters
    ----------
    path : str or path
        A file that ``lhtree.save`` wrote.

    Returns
    -------
    Scorer
        Has the model's methods of prediction, ``classes_`` and ``feature_names``; every bit of its predictions is the
        model's.
    """
    file = read_model(path, is_mapped=True)
    unseen = file.header["parameters"].get("unseen", "missing")
    return Scorer(file.scorer, file.classes, file.encoding, file.header["metadata"], unseen)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say in an error which file it is about."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"path={os.fspath(path)!r} is not a sound model file: {error}.") from None


def _check_model(container: Container) -> ModelFile:
    """From the outside to the inside; nothing is used before it is checked."""
    arrays = container.arrays
    header = parse_json(container.model.encode("utf-8", "surrogatepass"))
    check_shapes(arrays)
    n_classes = len(arrays["prior"])
    check_header(header, n_features=len(arrays["centre"]), n_classes=n_classes)
    classes = decode_classes(header["classes"])
    check(len(classes) == n_classes, "its classes are not as many as their shares")
    check_values(arrays)
    scored = {name: arrays[name] for name in (*SCORED, "centre", "scale", "prior")}
    try:
        scorer = _core.Scorer(**scored, confidence=header["confidence"])
    except ValueError as error:  # what the core found
        raise ModelFileError(f"its arrays are {error}") from None
    n_targets = 1 if n_classes == 2 else n_classes
    check_trees(arrays, n_targets)
    check_estimators(header["forest"], scorer.n_trees // n_targets)
    encoding = _read_encoding(header, scorer.n_features)
    return ModelFile(header, arrays, classes, encoding, scorer, container.sha256, container.n_bytes)


def tell_encoding(encoding: Encoding) -> dict[str, Any] | None:
    """An encoding as version 1 of the format has it: none where all columns hold numbers."""
    if encoding.is_plain:
        return None
    categories = [None if some is None else list(some) for some in encoding.categories]
    return {"names": list(encoding.names), "categories": categories}


def _read_encoding(header: dict[str, Any], n_features: int) -> Encoding:
    names, told = header["feature_names"], header["encoding"]
    if told is None:
        return Encoding.plain(n_features, names)
    treatments = (Numbers() if some is None else OneHot(tuple(some)) for some in told["categories"])
    return Encoding(tuple(told["names"]), tuple(treatments), names is not None)
