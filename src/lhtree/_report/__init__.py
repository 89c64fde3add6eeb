"""A report on a model: one HTML file to read, to explore and to pass on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._parameters import is_real, refuse
from .._write import write_whole
from ._page import build_page
from ._summary import Table, summarise


def report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    X_test: Any = None,
    y_test: Any = None,
    title: str | None = None,
    betas: Sequence[float] | str | None = "auto",
    max_megabytes: float = 8.0,
) -> Path:
    """Write a report on a model as one HTML file that needs nothing else, neither files nor the internet.

    It holds a model card, warnings in plain words, the trees to explore, a row explorer that predicts in the page as
    the model does, importances and the sparsity curve. Up to 200 of the rows are written into it, so keep it as
    private as the data.

    Parameters
    ----------
    model : fitted LHTClassifier or LHForestClassifier
        The model the report is about.
    X : array-like of shape (n, m)
        Rows, as a rule those the model was trained on.
    y : array-like of shape (n,)
        Their classes.
    path : str or path
        Where to write; a file that is there is replaced, whole or not at all.
    X_test, y_test : array-like, optional
        Rows the model has not seen. Figures are measured on them if they are given, else on X and y, and the page
        says which.
    title : str, optional
        Headline of the page.
    betas : sequence of float or None, default="auto"
        Values of beta for the sparsity curve, which is measured by cross-validation on X and y; None leaves it out.
        ``"auto"`` leaves it out, too, where it would take minutes: for a forest, and for more than 50,000 rows.
    max_megabytes : float, default=8
        Room for the trees. Of a larger forest only the first trees are put into the page, which then says that its
        row explorer does not predict as the whole forest does.

    Returns
    -------
    pathlib.Path
        The path.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, report
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> report(LHTClassifier().fit(X, y), X, y, "wine_report.html")  # doctest: +SKIP
    PosixPath('wine_report.html')
    """
    path = Path(path)
    if path.is_dir() or not path.parent.is_dir():
        raise refuse("path", str(path), "the path of a file in a directory that exists")
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together: pass both or neither.")
    if title is not None and not isinstance(title, str):
        raise refuse("title", title, "a string or None")
    if not is_real(max_megabytes) or max_megabytes <= 0:
        raise refuse("max_megabytes", max_megabytes, "a number above 0")
    if isinstance(betas, str) and betas != "auto":
        raise refuse("betas", betas, "'auto', None or a sequence of numbers of at least 0 and below 1")
    facts = summarise(
        model,
        Table(X, y),
        None if X_test is None else Table(X_test, y_test),
        title=title,
        betas=betas,
        max_bytes=max_megabytes * 2**20,
    )
    write_whole(path, build_page(facts).encode())
    return path
