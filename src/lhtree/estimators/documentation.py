"""Descriptions of parameters that several estimators share, and the decorator that inserts them into docstrings.

A text describes parameters in numpydoc's form, but without defaults, which come from the signature.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TypeVar

Estimator = TypeVar("Estimator", bound=type)

ALL = """
categorical_features : "from_dtype", None or list
    Categorical columns, which are one-hot encoded up to ``max_one_hot`` categories. "from_dtype": the string and
    categorical columns of a pandas or polars DataFrame. A list gives names, indices or a mask. None: all columns
    are numeric. A missing category has no influence.
n_jobs : int or None
    Number of threads; -1 uses all cores. Results do not depend on it.
random_state : int, RandomState or None
    Random seed for drawing rows and features.
verbose : int
    1 shows a progress bar in terminals and notebooks (needs ``lhtree[progress]``).
"""

CLASSIFIER = """
class_weight : "balanced", dict or None
    Class weights, multiplied with ``sample_weight``.
calibrate : {None, "sigmoid", "isotonic"}
    Calibrate the probabilities, with a sigmoid (Platt) or an isotonic map for each class, learned by 5-fold
    cross-fitting; fitting takes six times as long. ``predict`` returns the class most probable after calibration.
max_one_hot : int
    A categorical column with more categories becomes target statistics: one feature per class (one for two
    classes), the share of the class among the training rows of the category, shrunk towards that of all rows.
    Training rows get the share among the rows of the other folds (of 5).
missing_indicator : bool or "auto"
    Whether a numeric column with at least 5 missing values also gives an indicator feature: 1 where the value is
    missing, else 0. "auto": not for the mean difference (the paper), otherwise if the indicator is correlated with
    a class by more than chance.
unseen : {"missing", "error"}
    How to treat a category not seen in fit. "missing": as a missing value; in a column with target statistics, it
    has the share of all rows. "error": raise an error.
keep_prototypes : bool or int
    Store the training rows, or at most this many of them (stratified), so that explanations can show similar rows.
"""

REGRESSOR = """
max_one_hot : int
    A categorical column with more categories becomes one feature, its target statistic: the mean response of the
    training rows of the category, shrunk towards that of all rows. Training rows get the mean of the rows of the
    other folds (of 5).
missing_indicator : bool or "auto"
    Whether a numeric column with at least 5 missing values also gives an indicator feature: 1 where the value is
    missing, else 0. "auto": not for the mean difference, otherwise if the indicator is correlated with the response
    by more than chance.
unseen : {"missing", "error"}
    How to treat a category not seen in fit. "missing": as a missing value; in a column with target statistics, it
    has the mean response of all rows. "error": raise an error.
keep_prototypes : bool or int
    Store the training rows, or at most this many of them, so that explanations can show similar rows.
"""


def document(*texts: str) -> Callable[[Estimator], Estimator]:
    """Replace ``{parameters}`` in the docstring of an estimator by its parameters, in the order of its signature.

    If several texts describe a parameter, the last one is used.
    """
    entries = {}
    for text in texts:
        for entry in re.split(r"\n(?=\w)", text.strip()):
            name, _, description = entry.partition(" : ")
            entries[name] = description

    def insert(estimator: Estimator) -> Estimator:
        lines = []
        for name, parameter in inspect.signature(estimator).parameters.items():
            kind, _, about = entries[name].partition("\n")
            default = parameter.default
            shown = f'"{default}"' if isinstance(default, str) else repr(default)
            lines.append(f"{name} : {kind}, default={shown}\n{about}")
        estimator.__doc__ = inspect.cleandoc(estimator.__doc__ or "").replace(
            "{parameters}", "\n".join(lines)
        )
        return estimator

    return insert
