"""Methods of the estimators that explain predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._parameters import check_flag
from .model import read

if TYPE_CHECKING:
    import pandas as pd

    from .abstain import Decisions
    from .explain import Explanation, Importances


class Interpretable:
    """Explanations of single predictions and of many."""

    __slots__ = ()  # a Scorer has no dict

    def explain(self, row: Any) -> Explanation:
        """Explain the prediction for one row.

        Parameters
        ----------
        row : array-like of shape (m,) or (1, m), dict or Series from feature name to value, or frame of one row
            The row to explain; NaN is a missing value.

        Returns
        -------
        Explanation
            The prediction, the path through every tree and the terms that add up to each decision.
        """
        from .explain._explanation import Explanation
        from .explain._row import take_row

        fitted = read(self)
        return Explanation(fitted, take_row(fitted, row, self), _draw)

    def explain_batch(self, X: Any, *, terms: bool = False) -> pd.DataFrame:
        """Explain the predictions for many rows.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Samples. The column ``row`` of the result is the index of a DataFrame, otherwise the row number.
        terms : bool, default=False
            Return the terms of every block on the path instead of contributions.

        Returns
        -------
        DataFrame
            One row per sample and class: the prediction, ``proba``, ``wolf``, ``membership`` and ``confidence`` of the
            class, and the ``base`` and ``contribution.<feature>`` that add up to its membership. Of a boosted model
            ``raw_score`` takes the place of the latter three, and is what they add up to. With ``terms=True``
            one row per sample, tree, block and term: those of a branching block add up to y, those of a leaf to p̂ or
            its value.
        """
        from .explain._batch import explain_rows
        from .explain._frame import tabulate_terms
        from .explain._walk import walk

        fitted = read(self)
        rows = fitted.encode(X, self)
        index = X.index if hasattr(X, "iloc") else None
        if check_flag("terms", terms):
            return tabulate_terms(walk(fitted, rows), rows, index)
        return explain_rows(fitted, rows, index)

    def importances(
        self,
        X: Any = None,
        y: Any = None,
        *,
        kind: str = "gain",
        n_repeats: int = 5,
        random_state: Any = 0,
    ) -> Importances:
        """Importance of every column.

        Parameters
        ----------
        X : array-like of shape (n, m), optional
            Rows; required for contributions and permutations.
        y : array-like of shape (n,), optional
            Their classes.
        kind : {"gain", "contribution", "permutation"}, default="gain"
            ``"gain"`` is ``feature_importances_``, learned in training, and needs no rows. ``"contribution"`` needs X:
            the mean |contribution| to the membership of the predicted class, or to its raw score (see
            ``explain_batch``), which shows what the model uses; with y, the mean contribution to the true class, which
            shows what helps. ``"permutation"`` needs both: the drop in accuracy when the values of a column are
            permuted. Pass held-out rows: on training rows, noise that the model has memorised counts as well.
        n_repeats : int, default=5
            Number of permutations of each column.
        random_state : None, int or numpy Generator, default=0
            Random seed of the permutations.

        Returns
        -------
        Importances
            ``names``, ``values`` of shape (m,), and ``to_frame()``. The categories of a column are summed.
        """
        from .explain._importances import find_importances
        from .tables.labels import encode_known

        fitted = read(self)
        rows = None if X is None else fitted.encode(X, self)
        codes = (
            None if y is None or rows is None else encode_known(y, fitted.classes, len(rows), is_strict=True)
        )
        return find_importances(fitted, kind, rows, codes, n_repeats, random_state)

    def predict_or_abstain(
        self, X: Any, threshold: float | None = None, coverage: float | None = None
    ) -> Decisions:
        """Predict the rows with large WOLF values and leave the others undecided.

        For a boosted model, the largest probability of a row takes the place of its largest WOLF value. Pass exactly
        one of ``threshold`` and ``coverage``.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Samples.
        threshold : float of at least 0, optional
            The model abstains where the largest WOLF value of a row is below it.
        coverage : float from 0 to 1, optional
            Minimum share of rows to decide: those with the largest WOLF values, including ties.

        Returns
        -------
        Decisions
            ``labels`` is None where the model abstains; ``threshold`` is the threshold that was applied.
        """
        from .abstain import decide

        return decide(self, X, threshold, coverage)


def _draw(explanation: Explanation, **options: Any) -> Any:
    """What ``Explanation.plot`` does; explanations themselves know no pictures."""
    from .plot import plot_path

    return plot_path(explanation, **options)
