"""Errors and warnings about tables, and the names that their messages suggest."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any


class TableError(ValueError):
    """A table that cannot be used as it is; each of ``options`` is a parameter that would help."""

    def __init__(self, message: str, **options: Any) -> None:
        super().__init__(message)
        self.message, self.options = message, options

    def __str__(self) -> str:
        told = " or ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.message} ({told})" if told else self.message


class TableWarning(UserWarning):
    """A table of which a part is not used, or that contradicts a parameter."""


class ExtraColumnsWarning(TableWarning):
    """Columns of a table that the model does not use.

    Predictions ignore them. ``warnings.simplefilter("error", lhtree.ExtraColumnsWarning)`` turns the warning into an
    error, and ``"ignore"`` silences it.

    Examples
    --------
    >>> import warnings
    >>> import lhtree
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", lhtree.ExtraColumnsWarning)
    ...     model = lhtree.LHTClassifier().fit([[1.0], [2.0]], [0, 1])
    ...     model.predict({"x0": 1.0})
    array([0])
    """


class ReadError(TableError):
    """A file that cannot be read: it does not exist, is damaged, or is in another format."""


class OptionError(TableError):
    """A parameter with an invalid value; ``is_usage`` if it is invalid for every table."""

    def __init__(self, name: str, value: Any, told: str, *, is_usage: bool = True, **options: Any) -> None:
        super().__init__(f"{name}={value!r} {told}", **options)
        self.name, self.value, self.told, self.is_usage = name, value, told, is_usage
        self.args = (name, value, told)  # arguments for pickle


_MOST_SHOWN = 60
_MOST_NAMES = 5
_MOST_COMPARED = 1000  # names, because each takes 30 microseconds


def shorten(value: Any) -> str:
    """Return a value of a table as messages show it: text in quotes, and never longer than a line."""
    shown = repr(value)
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[: _MOST_SHOWN - 3]}…"


def find_nearest(name: str, names: Sequence[str]) -> str:
    """Return the end of a message: the name that was probably meant, or the first few available."""
    folded = {known.casefold(): known for known in names}
    near = difflib.get_close_matches(name.casefold(), list(folded)[:_MOST_COMPARED], 1, 0.5)
    if near:
        return f"did you mean {shorten(folded[near[0]])}?"
    shown = ", ".join(map(shorten, names[:5]))
    return f"available: {shown}{', …' if len(names) > 5 else ''}"


def check_known(option: str, wanted: Iterable[str], names: Sequence[str], where: str) -> None:
    """Refuse names of columns that a table does not have."""
    known = set(names)
    for name in wanted:
        if name not in known:
            nearest = find_nearest(name, names)
            raise OptionError(option, name, f"is not a column of {where} ({nearest})", is_usage=False)


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn with the line that called lhtree, which Python shows with the message."""
    package = __name__.partition(".")[0]
    level = 2  # of the function that warns
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def match_names(known: Sequence[str] | None, names: Sequence[str] | None, owner: str, *, warns: bool) -> bool:
    """Return whether the columns of a table must be selected and ordered by the names in fit; None: no names.

    A column that is missing is an error, with scikit-learn's wording; other columns give a warning.
    """
    if names is None or known is None:
        if names is not None:
            message = f"X has feature names, but {owner} was fitted without feature names"
        else:
            message = f"X does not have valid feature names, but {owner} was fitted with feature names"
        if warns and (names is not None or known is not None):
            warn_caller(message, UserWarning)
        return False
    if list(names) == list(known):
        return False
    extra, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
    if not missing:
        warn_extra(names, known)
        return True
    lines = ["X: The feature names should match those that were passed during fit."]
    for title, some in (
        ("Feature names unseen at fit time:", extra),
        ("Feature names seen at fit time, yet now missing:", missing),
    ):
        if some:
            more = ["- ..."] if len(some) > _MOST_NAMES else []
            lines += [title, *(f"- {name}" for name in some[:_MOST_NAMES]), *more]
    lines.append("Pass the columns the model was fitted with, in any order.")
    raise TableError("\n".join(lines))


def warn_extra(names: Iterable[str], known: Iterable[str]) -> None:
    """Warn of columns that the model does not use."""
    own = set(known)
    extra = list(dict.fromkeys(name for name in names if name not in own))
    if extra:
        shown = ", ".join(map(shorten, extra[:_MOST_NAMES]))
        more = f" and {len(extra) - _MOST_NAMES} more" if len(extra) > _MOST_NAMES else ""
        warn_caller(
            f"X has columns that the model does not use, which are ignored: {shown}{more}. Drop them, or make this an "
            'error with warnings.simplefilter("error", lhtree.ExtraColumnsWarning).',
            ExtraColumnsWarning,
        )
