"""The contents of a model file, without loading the model."""

from __future__ import annotations

import os
from typing import Any

from .model_file import read_file


def inspect(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Contents of a model file as plain values: versions, parameters, classes, features, sizes, metadata.

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
        "format_version": ".".join(map(str, file.version)),
        "written_by": header["written_by"],
        "n_bytes": file.n_bytes,
        "sha256": file.sha256,
        "parameters": header["parameters"],
        "classes": header["classes"]["values"],
        "shares": model.prior.tolist(),
        "response": header["response"],
        "n_columns": model.encoding.n_columns,
        "n_features": model.n_features,
        "feature_names": list(model.encoding.names) if model.encoding.has_names else None,
        "encoding": header["encoding"],
        "link": model.link,
        "calibration": header["calibration"],
        "min_samples_leaf": model.min_samples_leaf,
        "boost": boost and {"n_rounds": model.n_estimators, "learning_rate": boost.learning_rate},
        "n_samples": int(trees.n_samples[trees.block_ptr[:-1]].max()),
        "n_trees": trees.n_trees,
        "n_blocks": trees.n_blocks,
        "n_leaves": int((trees.left < 0).sum()),
        "depth": int(trees.depths().max()),
        "n_weights": len(trees.hyperplane_weight),
        "n_slopes": len(trees.membership_slope),
        "n_prototypes": 0 if model.prototypes is None else len(model.prototypes.codes),
        "oob_score": None if model.forest is None else model.forest.oob_score,
        "metadata": header["metadata"],
        "arrays": {
            name: {"dtype": str(values.dtype), "shape": list(values.shape)}
            for name, values in file.arrays.items()
        },
    }
