"""What the estimators offer to those who want to understand a prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._fitted import read

if TYPE_CHECKING:
    from .explain import Explanation


class Interpretable:
    """Explanations of single predictions and of many."""

    def explain(self, row: Any) -> Explanation:
        """Explain the prediction of one row.

        Parameters
        ----------
        row : array-like of shape (m,) or (1, m), dict or Series from feature name to value, or frame of one row
            NaN counts as missing.

        Returns
        -------
        Explanation
            For every tree the blocks on the way, with the terms that add up to each decision.
        """
        from .explain._explanation import Explanation
        from .explain._row import take_row

        fitted = read(self)
        return Explanation(fitted, take_row(self, fitted, row))
