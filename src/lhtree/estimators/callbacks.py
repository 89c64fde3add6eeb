"""Callbacks of scikit-learn 1.9 or newer: every round of a boosted fit is a task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ModuleNotFoundError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Estimators without callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "RoundTasks", "with_callbacks"]


class RoundTasks:
    """Calls the callbacks of an estimator, if it has any, for the fit and after every round.

    Begin and end of a round are reported together, because early stopping decides whether a round begins.
    """

    def __init__(self, estimator: Any, n_rounds: int, **rows: Any) -> None:
        self._given = {"estimator": estimator, **rows}
        self._fit = None
        if hasattr(estimator, "_skl_callbacks"):
            self._fit = estimator._init_callback_context(max_subtasks=n_rounds)
            self._fit.call_on_fit_task_begin(**self._given)

    def finish_round(self) -> bool:
        """Report a round; return whether a callback ends the fit."""
        if self._fit is None:
            return False
        task = self._fit.subcontext(task_name="round")
        task.call_on_fit_task_begin(**self._given)
        return bool(task.call_on_fit_task_end(**self._given))

    def finish(self) -> None:
        """Report the end of the fit."""
        if self._fit is not None:
            self._fit.call_on_fit_task_end(**self._given)
