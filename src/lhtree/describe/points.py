"""Tables and formulas of additive models: scorecards, and a LOOKUP per curve for spreadsheets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import check_count, choose
from ..model.model import Model
from ..model.terms import AdditiveTerm, TermAxis, read_terms
from ..tables.encoders import LEVEL, Dropped, Numbers
from ..tables.labels import check_labels
from .curves import Scale, find_edges, write_scale
from .outline import write_number
from .rules import MOST_LEVELS, check_length, name_column, write_excel_constant

if TYPE_CHECKING:
    import pandas as pd

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
@page {{ size: A4; margin: 12mm }}
body {{ font: 9pt/1.3 sans-serif; columns: 2; column-gap: 8mm; margin: 0 auto; max-width: 190mm }}
h1 {{ font-size: 13pt; column-span: all; margin: 0 0 1mm }}
p {{ column-span: all; margin: 0 0 3mm }}
table {{ border-collapse: collapse; width: 100%; margin: 0 0 3mm; break-inside: avoid }}
caption {{ font-weight: bold; text-align: left; border-bottom: 1px solid #444 }}
td {{ padding: 0.3mm 1mm; border-bottom: 1px solid #ddd }}
td:last-child {{ text-align: right; font-variant-numeric: tabular-nums }}
</style></head><body><h1>{title}</h1>
<p>{about}</p>
{tables}
</body></html>
"""


@dataclass(frozen=True, eq=False)
class PointsTable:
    """A scorecard: whole points for every step of every curve; created by ``model.points_table``.

    Attributes
    ----------
    base : int
        Points before all columns.
    factor : float
        Points per unit of the log odds: ``pdo / log(2)``.
    model : estimator
        The model of these points: its log odds are ``(points - offset) / factor``, so what is printed is what predicts.
    """

    base: int
    factor: float
    offset: float
    good: Any  # the class whose odds rise with the points
    scales: tuple[tuple[Scale, ...], ...]  # of every term
    points: tuple[NDArray[np.int64], ...]  # of the cells of every term
    model: Any

    def to_frame(self) -> pd.DataFrame:
        """Return a line per step: the column (or pair of columns), the step and its points; the base comes first."""
        lines: list[tuple[str, str, int]] = [("base", "", self.base)]
        for scales, points in zip(self.scales, self.points, strict=True):
            name = " × ".join(scale.column for scale in scales)
            lines += [(name, step, worth) for step, worth in _list_steps(scales, points)]
        return import_extra("pandas", "pandas").DataFrame(lines, columns=["column", "step", "points"])

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the points of every row, shape (n,)."""
        model: Model = self.model._read()
        leaf = model.score("apply", model.encode(X, self.model))
        worth = model.trees.intercept[model.trees.block_ptr[:-1] + leaf]
        sign = 1.0 if self.good == model.labels[1] else -1.0
        return np.asarray(self.base + np.rint(sign * self.factor * worth).sum(axis=1), dtype=np.int64)

    def to_html(self, title: str = "Scorecard") -> str:
        """Return the scorecard as a page to print: two columns of tables on A4."""
        tables = []
        for scales, points in zip(self.scales, self.points, strict=True):
            name = " × ".join(scale.column for scale in scales)
            rows = "".join(
                f"<tr><td>{escape(step)}</td><td>{worth}</td></tr>"
                for step, worth in _list_steps(scales, points)
            )
            tables.append(f"<table><caption>{escape(name)}</caption>{rows}</table>")
        doubled = self.factor * math.log(2.0)
        about = (
            f"Begin with {self.base} points and add the points of every column. The odds of "
            f"{escape(str(self.good))} double every {doubled:.6g} points; the probability of it is "
            f"1 / (1 + exp(−(points − {self.offset:.6g}) / {self.factor:.6g}))."
        )
        return _PAGE.format(title=escape(title), about=about, tables="\n".join(tables))

    def __str__(self) -> str:
        return str(self.to_frame().to_string(index=False))


def _list_steps(scales: tuple[Scale, ...], points: NDArray[np.int64]) -> list[tuple[str, int]]:
    """Return a text and the points of every step or cell; neighbours of a surface with the same points stay."""
    labels = scales[0].labels
    if len(scales) == 2:
        labels = [f"{first}; {second}" for first in labels for second in scales[1].labels]
    return list(zip(labels, points.ravel().tolist(), strict=True))


def round_terms(
    model: Model, pdo: float, base: float, odds: float, good: int
) -> tuple[list[AdditiveTerm], float, int, list[NDArray[np.int64]], float]:
    """Round the terms of a model to whole points.

    Returns
    -------
    terms, base : the terms and the base of the model of these points, in units of the log odds of the second class.
    base_points, points : the points.
    factor : points per unit of the log odds.
    """
    factor, sign = pdo / math.log(2.0), 1.0 if good == 1 else -1.0
    offset = base - factor * math.log(odds)
    terms, points = [], []
    for term in read_terms(model):
        whole = np.rint(sign * factor * term.values[..., 0]).astype(np.int64)
        points.append(whole)
        terms.append(
            AdditiveTerm(term.axes, np.float64(sign) * whole[..., None] / factor, term.band, term.weight)
        )
    assert model.base is not None
    base_points = int(np.rint(offset + sign * factor * float(model.base[0])))
    return terms, sign * (base_points - offset) / factor, base_points, points, factor


def name_scales(model: Model, terms: list[AdditiveTerm]) -> tuple[tuple[Scale, ...], ...]:
    """Return the scales of the axes of all terms."""
    return tuple(tuple(write_scale(model, axis) for axis in term.axes) for term in terms)


_LOWEST = "-9E+307"  # below every number of a sheet
_LEVELS_AROUND = 4  # of functions around and inside nested IFs
OUTPUTS = ("prediction", "probability", "raw_score")


def write_formula(model: Model, row: int, output: str) -> str:
    """Return the formula of an additive model with one raw score; see ``AdditiveLHTClassifier.to_excel``."""
    row = check_count("row", row, 1)
    choose("output", output, OUTPUTS if model.labels else ("prediction", "raw_score"))
    if model.n_targets > 1:
        raise ValueError(
            f"the model has {model.n_classes} classes, and a formula needs two: use export_sql, export_c or "
            "export_onnx."
        )
    model.encoding.refuse_dates("formulas")
    for name, encoder in zip(model.column_names, model.encoding.encoders, strict=True):
        if not isinstance(encoder, (Dropped, Numbers)) and encoder.features[0] != LEVEL:
            raise ValueError(
                f"{name!r} has too many categories for a formula: use export_sql, export_c or export_onnx, or raise "
                "max_one_hot."
            )
    cells = [f"{name_column(i)}{row}" for i in range(len(model.column_names))]
    assert model.base is not None
    columns = model.encoding.column
    parts = [
        _write_value(float(model.base[0])),
        *(
            _write_term(model, term, [cells[int(columns[axis.feature])] for axis in term.axes])
            for term in read_terms(model)
        ),
    ]
    total = "+".join(parts)
    if output == "raw_score":
        formula = f"={total}"
    elif not model.labels:
        formula = f"=EXP({total})" if model.head.is_log else f"={total}"
    elif output == "probability":
        formula = f"=1/(1+EXP(-({total})))"
    else:
        first, second = map(write_excel_constant, check_labels(model.labels, "a formula"))
        formula = f"=IF({total}>0,{second},{first})"
    return check_length(formula, "max_steps or interactions")


def _write_term(model: Model, term: AdditiveTerm, cells: Sequence[str]) -> str:
    values = term.values[..., 0]
    if len(term.axes) == 1:
        (axis,), (cell,) = term.axes, cells
        if axis.n_levels:
            return _choose_level(model, axis, cell, [_write_value(value) for value in values.tolist()])
        listed = ",".join(map(_write_value, values[:-1].tolist()))
        return f'IF({cell}="",{_write_value(float(values[-1]))},LOOKUP({cell},{_list_edges(model, axis)},{{{listed}}}))'
    table = ";".join(",".join(map(_write_value, line)) for line in values.tolist())
    places = ",".join(_find_place(model, axis, cell) for axis, cell in zip(term.axes, cells, strict=True))
    return f"INDEX({{{table}}},{places})"


def _find_place(model: Model, axis: TermAxis, cell: str) -> str:
    """Return the number of the cell of an axis, from 1."""
    if axis.n_levels:
        return _choose_level(model, axis, cell, [str(i + 1) for i in range(axis.n_cells)])
    return f'IF({cell}="",{axis.n_cells},MATCH({cell},{_list_edges(model, axis)}))'


def _choose_level(model: Model, axis: TermAxis, cell: str, results: list[str]) -> str:
    """Return nested IFs; the last result is that of missing and unknown categories. "=" would ignore case."""
    if axis.n_levels > MOST_LEVELS - _LEVELS_AROUND:
        column = model.column_names[int(model.encoding.column[axis.feature])]
        raise ValueError(
            f"{column!r} has {axis.n_levels} categories, and a formula has room for {MOST_LEVELS - _LEVELS_AROUND}: "
            "use export_sql, export_c or export_onnx, or group the categories before fit."
        )
    text = results[-1]
    known = model.encoding.categories[int(model.encoding.column[axis.feature])] or ()
    for category, result in reversed(list(zip(known, results[:-1], strict=True))):
        text = f"IF(EXACT({cell},{write_excel_constant(category)}),{result},{text})"
    return text


def _list_edges(model: Model, axis: TermAxis) -> str:
    edges = [write_number(edge).upper() for edge in find_edges(model, axis).tolist()]
    return f"{{{','.join([_LOWEST, *edges])}}}"


def _write_value(value: float) -> str:
    return write_number(value).upper()
