"""Additive models as formulas of spreadsheets: a LOOKUP per curve, a table of values per surface."""

from __future__ import annotations

from collections.abc import Sequence

from .._parameters import check_count, choose
from ..model.model import Model
from ..model.terms import AdditiveTerm, TermAxis, read_terms
from ..tables.encoders import LEVEL, Dropped, Numbers
from ..tables.labels import check_labels
from .curves import find_edges
from .outline import write_number
from .rules import MOST_LEVELS, check_length, name_column, write_excel_constant

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
        formula = f"=EXP({total})" if model.head.link == "log" else f"={total}"
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
