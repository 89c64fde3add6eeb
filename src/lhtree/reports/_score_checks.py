"""Warnings about the figures of the model card."""

from __future__ import annotations

from ..evaluation import Evaluation, Measured
from ..evaluation.measures import write_number
from ..model.model import Model
from ._checks import Warned, warn


def find_score_warnings(fitted: Model, given: Measured, test: Measured | None) -> list[Warned]:
    """Warnings about the figures of the model card."""
    found = []
    if test is None:
        found.append(
            warn(
                "not-held-out",
                "No held-out rows",
                "All figures are measured on the supplied rows. If the model was trained on them, it will be less "
                "accurate on new data. Pass X_test and y_test to measure by how much.",
            )
        )
    elif _find_score(given) - _find_score(test) > 0.1:
        found.append(
            warn(
                "gap",
                "Overfitting",
                f"{_tell_score(given)} on the supplied rows and {_tell_score(test, is_first=False)} on the held-out "
                "rows. A larger min_samples_leaf reduces overfitting; "
                + (
                    "so do a smaller max_leaf_nodes and a larger penalty."
                    if fitted.compact
                    else "so do fewer rounds, which early_stopping=True finds."
                    if fitted.is_boosted
                    else "so does a smaller max_depth."
                    if fitted.is_regression
                    else "with the paper's cuts, so does a larger gamma."
                ),
            )
        )
    shown = given if test is None else test
    if isinstance(shown, Evaluation):
        if shown.accuracy <= shown.most_frequent:
            found.append(
                warn(
                    "no-better",
                    "No better than the majority class",
                    f"Always predicting the most frequent class has an accuracy of {100 * shown.most_frequent:.1f} %; "
                    f"the model has {100 * shown.accuracy:.1f} %.",
                )
            )
    elif shown.quantile is not None:
        if shown.quantile.pinball >= shown.quantile.baseline:
            found.append(
                warn(
                    "no-better",
                    "No better than a constant",
                    "Always predicting the same quantile of all rows has a pinball loss of "
                    f"{write_number(shown.quantile.baseline)}; the model has {write_number(shown.quantile.pinball)}.",
                )
            )
    elif shown.rmse >= shown.baseline_rmse:
        found.append(
            warn(
                "no-better",
                "No better than the mean",
                f"Always predicting the mean has an RMSE of {write_number(shown.baseline_rmse)}; the model has "
                f"{write_number(shown.rmse)}.",
            )
        )
    return found


def _find_score(measured: Measured) -> float:
    """Accuracy, R², or by how much a quantile is predicted better than by a constant."""
    if isinstance(measured, Evaluation):
        return measured.accuracy
    if measured.quantile is None:
        return measured.r2
    return (
        1.0 - measured.quantile.pinball / measured.quantile.baseline
        if measured.quantile.baseline > 0.0
        else 0.0
    )


def _tell_score(measured: Measured, *, is_first: bool = True) -> str:
    if isinstance(measured, Evaluation):
        name, value = "Accuracy", f"{100 * measured.accuracy:.1f} %"
    elif measured.quantile is None:
        name, value = "R²", f"{measured.r2:.3f}"
    else:
        name, value = "The pinball loss", write_number(measured.quantile.pinball)
    return f"{name} is {value}" if is_first else value
