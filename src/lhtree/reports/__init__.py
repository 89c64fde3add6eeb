"""A report on a model as one self-contained, interactive HTML file."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from .._parameters import is_real, refuse
from .._write import check_output, write_whole
from ..describe.palette import write_css
from ._facts import LabelledTable, summarise

_IMPORT = re.compile(r'^import .* from "\./(.*)";\n', re.MULTILINE)


def report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    X_test: Any = None,
    y_test: Any = None,
    title: str | None = None,
    target_name: str | None = None,
    positive: Any = None,
    by: Any = None,
    file: str | os.PathLike[str] | None = None,
    max_megabytes: float = 8.0,
) -> Path:
    """Write a self-contained HTML report on a model; it needs no other file and no internet connection.

    The report contains a model card with the provenance of the model, warnings about data and model, metrics (for two
    classes with ROC and precision-recall curves and a threshold to move), a tree explorer, a row explorer that computes
    predictions in the page exactly as the model does, and importances and effect curves of the columns. Up to 200 of
    the rows are stored in the file: keep it as private as the data.

    Parameters
    ----------
    model : classifier or regressor of lhtree
        The fitted model.
    X : array-like of shape (n, m)
        Samples, normally those the model was trained on.
    y : array-like of shape (n,)
        Their class labels, or the numbers to predict.
    path : str or path
        Output file. An existing file is replaced atomically.
    X_test, y_test : array-like, optional
        Held-out samples. If given, all figures are measured on them, otherwise on X and y; the page says which.
    title : str, optional
        Title of the page.
    target_name : str, optional
        Name of what is predicted. Default: the name of y, if it is a Series.
    positive : class label, optional
        The class of interest. Default: that of the model, if it declares one, else the second of two classes.
    by : str, list of str, dict, DataFrame or array-like of shape (n,), optional
        Also show results by group: columns of the measured rows, which the model need not use, or values of all of
        them, by name.
    file : str or path, optional
        The file of the model, whose SHA-256 the page shows beside the provenance of the model.
    max_megabytes : float, default=8
        Maximum size of the stored trees. Of a larger forest only the first trees are stored, of a larger boosted model
        only the first rounds, and the page says that its row explorer predicts with these only.

    Returns
    -------
    pathlib.Path
        The path of the report.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, report
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> path = report(LHTClassifier().fit(X, y), X, y, "wine_report.html")
    >>> path.name
    'wine_report.html'
    """
    path = check_output(path, "report(model, X, y, path)")
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test must be passed together: pass both or neither.")
    for name, text in (("title", title), ("target_name", target_name)):
        if text is not None and not isinstance(text, str):
            raise refuse(name, text, "a string or None")
    if not is_real(max_megabytes) or max_megabytes <= 0:
        raise refuse("max_megabytes", max_megabytes, "a number greater than 0")
    facts = summarise(
        model,
        LabelledTable(X, y),
        None if X_test is None else LabelledTable(X_test, y_test),
        title=title,
        target_name=target_name,
        positive=positive,
        by=by,
        file=file,
        max_bytes=max_megabytes * 2**20,
    )
    write_whole(path, build_page(facts).encode())
    return path


def build_page(facts: dict[str, Any]) -> str:
    """Return the whole file. The browser never reads facts as HTML or as a script.

    The browser runs the one script and the one style whose hashes the policy names, and loads nothing.
    """
    script, style = bundle("main.js"), write_css() + _read("page.css")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    page = _read("page.html")
    for mark, text in (
        ("{{policy}}", policy),
        ("{{style}}", style),
        ("{{script}}", script),
        ("{{facts}}", encode(facts)),
    ):
        before, after = page.split(mark)
        page = f"{before}{text}{after}"
    return page


def bundle(name: str) -> str:
    """Return a module and all that it imports as one module: each after its imports, without import and export.

    A page opened from a file cannot import modules. Top-level names must therefore differ between modules.
    """
    texts: dict[str, str] = {}

    def add(name: str) -> None:
        if name not in texts:
            text = _read(name)
            for other in _IMPORT.findall(text):
                add(other)
            texts[name] = re.sub(r"^export ", "", _IMPORT.sub("", text), flags=re.MULTILINE)

    add(name)
    return "".join(texts.values())


def _read(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def encode(facts: dict[str, Any]) -> str:
    """Return JSON without characters that HTML could interpret as markup; arrays as base64 of their bytes."""
    text = json.dumps(facts, default=_encode_array, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _encode_array(values: object) -> dict[str, str]:
    if not isinstance(values, np.ndarray):
        raise TypeError(f"a report cannot hold {type(values).__name__}")
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return {"dtype": values.dtype.name, "base64": base64.b64encode(little.tobytes()).decode()}
