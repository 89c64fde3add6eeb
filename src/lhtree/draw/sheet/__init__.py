"""A decision sheet: a compact tree on one page, to print and to decide by."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._parameters import is_integer, refuse
from ..._write import write_whole
from ...describe.outline import read_outline
from ...evaluation import evaluate
from ...model.model import read
from ._facts import Example, SheetFacts, follow
from ._html import write_html
from ._page import HEIGHT, MARGIN, WIDTH, compose

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def sheet(
    model: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    row: int = 0,
    title: str | None = None,
) -> Path:
    """Write a decision sheet of a compact tree: everything that a decision needs, on one page of A4.

    The page has the tree with the weights of every block in the user's units, what a missing value counts as, and the
    share of every class. With rows, it also shows the path of one of them; with their classes, the accuracy and the
    calibration on them. For a regressor it has the numbers of the leaves and the errors instead.

    Parameters
    ----------
    model : fitted CompactLHTClassifier or CompactLHTRegressor, or a Scorer of one
        The fitted model.
    path : str or path
        Output file: HTML, or PDF, which needs matplotlib. An existing file is replaced atomically.
    X : array-like of shape (n, m), optional
        Samples that were not used for training.
    y : array-like of shape (n,), optional
        Their class labels or responses.
    row : int, default=0
        Index of the row of X that is the example; its values are in the file.
    title : str, optional
        Title of the page.

    Returns
    -------
    pathlib.Path
        The path of the sheet.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import CompactLHTClassifier, sheet
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = CompactLHTClassifier(max_leaf_nodes=4).fit(X[::2], y[::2])
    >>> sheet(model, "wine.html", X[1::2], y[1::2], title="Which wine is it?").name
    'wine.html'
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm", ".pdf") or not path.parent.is_dir():
        raise refuse("path", str(path), "the path of an HTML or PDF file in an existing directory")
    if title is not None and not isinstance(title, str):
        raise refuse("title", title, "a string or None")
    facts = find_facts(model, X, y, row=row, title=title)
    if path.suffix.lower() == ".pdf":
        file = io.BytesIO()
        draw_sheet(facts).savefig(file, format="pdf", metadata={"Title": facts.title, "CreationDate": None})
        write_whole(path, file.getvalue())
    else:
        write_whole(path, write_html(*compose(facts), facts.title).encode())
    return path


def find_facts(
    model: Any, X: Any = None, y: Any = None, *, row: int = 0, title: str | None = None
) -> SheetFacts:
    """What a sheet shows, as data."""
    fitted = read(model, takes_numbers=True)
    outline = read_outline(fitted)
    if X is None and y is not None:
        raise ValueError("y was passed without X: pass both, or X alone.")
    measured = None if y is None else evaluate(model, X, y)
    example = None if X is None else _find_example(model, X, y, row)
    return SheetFacts(title or "Decision sheet", outline, measured, example, fitted.response)


def _find_example(model: Any, X: Any, y: Any, row: Any) -> Example:
    fitted = read(model, takes_numbers=True)
    n_rows = len(X) if hasattr(X, "__len__") else X.shape[0]
    if not is_integer(row) or not 0 <= row < n_rows:
        raise refuse("row", row, f"an integer from 0 to {n_rows - 1}")
    one = X.iloc[[row]] if hasattr(X, "iloc") else X[row : row + 1]
    encoded = fitted.encode(one, model)[0]
    actual = None
    if y is not None:
        actual = y.iloc[row] if hasattr(y, "iloc") else y[row]
    return follow(
        read_outline(fitted),
        fitted.name_values(encoded),
        f"Row {row} of the table.",
        actual,
        features=dict(zip(fitted.feature_names, encoded.tolist(), strict=True)),
    )


def draw_sheet(facts: SheetFacts) -> Figure:
    """A sheet as a figure of matplotlib."""
    from ..shapes import draw_shapes, new_sheet

    figure, ax = new_sheet(WIDTH, HEIGHT)
    shapes, factor = compose(facts)
    draw_shapes(ax, shapes, WIDTH, HEIGHT, factor, MARGIN)
    return figure
