"""Export to one SELECT: any model but large classification forests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._parameters import refuse
from ..model.model import Model, read
from ..model.records import Knots
from ..tables.encoders import Dropped
from ..tables.labels import check_labels
from . import _walks as e
from ._sql_case import score_case
from ._sql_columns import score_columns
from ._sql_ensemble import score_ensemble
from ._sql_joins import score_joins
from ._sql_levels import TREES_AT_ONCE, can_list_values, score_levels
from ._sql_query import (
    DIALECTS,
    Given,
    Query,
    Result,
    find_largest,
    find_twins,
    quote_name,
    read_features,
    write_label,
)
from ._sql_terms import score_terms
from ._walks import Walks, find_walks

_MOST_CHARACTERS = 5_000_000
# DuckDB has no limit of columns, but is slow with more.
_MOST_COLUMNS = {"sqlite": 2000, "duckdb": 2000, "postgresql": 1600}
_MOST_LEVELS = 200
_MOST_JOINS = 60  # SQLite joins 64 tables
_MOST_TERMS = 900  # of a sum or comparison: SQLite and DuckDB parse expressions of 1,000 levels
_MOST_SECONDS = 60.0
# per column squared and level, because engines look up every column among all at every level
_SECONDS = 1.2e-5
_SECONDS_OF_A_BLOCK = 1.5e-4  # of a table of blocks
_MOST_BITS = 10  # of half of the largest power of 1/2
# PostgreSQL raises an error where a product or quotient becomes 0, so those are replaced before.
_SMALL_X, _SMALL = -700.0, 1e-300
_FEWER = "Fit fewer trees, or smaller ones (larger gamma, min_samples_leaf or beta, smaller max_depth)"

Finish: TypeAlias = Callable[[Query, list[str], Model, Sequence[str]], Result]


def export_sql(
    model: Any,
    *,
    table: str = "data",
    keys: Iterable[str] = (),
    dialect: str = "sqlite",
    force: bool = False,
) -> str:
    """Write a SELECT statement that predicts the rows of a table, for SQLite, DuckDB or PostgreSQL.

    It returns the ``keys``, the class as ``prediction`` and a column ``probability_<class>`` per class; for a
    regression, the predicted number as ``prediction``, or a column ``prediction_<name>`` for each of several
    quantiles or responses. NULL (and NaN) means missing; a row with an infinite value, for
    which the model raises an error, gets NULL in every column. The arithmetic and its order are those of the model, so
    results are equal to the bit. A compact tree becomes one CASE expression in the user's units, an
    additive model one for every column, nested for surfaces. Symmetric
    trees of a boosted model become one expression per level and a list of values per tree; free trees, linear
    leaves and the forest of an ensemble a table of blocks, which is joined once per level. Models whose statement would
    take a database too long, which includes most classification forests outside of ensembles, raise an error.

    Parameters
    ----------
    model : classifier, regressor or Scorer
        Fitted model; the columns it was fitted on are looked up in the table by name.
    table : str, default="data"
        Name of the table.
    keys : iterable of str, optional
        Columns of the table to include in the result, to identify rows: a SELECT has no guaranteed order.
    dialect : {"sqlite", "duckdb", "postgresql"}, default="sqlite"
        SQL dialect.
    force : bool, default=False
        Write the statement however large it is. The limits of 2,000 columns in SQLite, 1,600 in
        PostgreSQL and 60 levels of boosted models still apply.

    Returns
    -------
    str

    Examples
    --------
    >>> import sqlite3
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, export_sql
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X[["alcohol", "proline"]], y)
    >>> with sqlite3.connect(":memory:") as connection:
    ...     _ = X.to_sql("wines", connection, index_label="id")
    ...     query = export_sql(model, table="wines", keys=["id"])
    ...     rows = connection.execute(query + " ORDER BY id LIMIT 2").fetchall()
    >>> [(number, int(label)) for number, label, *_ in rows]
    [(0, 0), (1, 0)]
    >>> connection.close()
    """
    fitted = read(model, takes_numbers=True, takes_several=True)
    if dialect not in DIALECTS:
        raise refuse("dialect", dialect, " or ".join(map(repr, DIALECTS)))
    if not isinstance(table, str) or not table:
        raise refuse("table", table, "the name of a table")
    keys = [keys] if isinstance(keys, str) else list(keys)
    if not all(isinstance(key, str) for key in keys):
        raise refuse("keys", keys, "a list of column names")
    labels = check_labels(fitted.labels, "SQL") if fitted.head.labels else []
    outputs = ["prediction", *(f"probability_{label}" for label in labels)]
    if fitted.outputs:
        outputs = [f"prediction_{name}" for name in fitted.head.names]
    _check_names(fitted, keys, outputs, dialect)
    walks, link = find_walks(fitted), LINKS[fitted.head.link]
    layout = _choose_layout(fitted, walks)
    _CHECKS[layout](fitted, len(keys), dialect, force)
    if fitted.pool is not None:
        _check_joins(fitted.pool.forest, len(keys), dialect, force)
    if layout != "case" and fitted.n_classes > _MOST_TERMS and dialect != "postgresql":
        reason = f"it has {fitted.n_classes:,} classes, more than {_MOST_TERMS:,}"
        raise _too_large(reason, "Group the classes", can_force=False)

    query = Query(table, dialect)
    written = [write_label(label, dialect) for label in labels]
    if layout == "case":
        prediction, probabilities = score_case(query, fitted, walks, keys, written)
    else:
        if layout == "terms":
            passed = score_terms(query, fitted, keys)
        elif fitted.pool is not None:
            passed = score_ensemble(query, fitted, read_features(query, fitted, keys), _SCORES[layout])
        else:
            passed = _SCORES[layout](query, fitted, walks, read_features(query, fitted, keys))
        prediction, probabilities = link.finish(query, passed, fitted, written)
    values = [prediction, *probabilities]
    shown = [f"k{i} AS {quote_name(key)}" for i, key in enumerate(keys)] + [
        f"CASE WHEN is_infinite=0 THEN {value} END AS {quote_name(name)}"
        for value, name in zip(values, outputs, strict=True)
    ]
    text = query.finish(shown)
    if layout in ("case", "columns", "terms") and len(text) > _MOST_CHARACTERS and not force:
        raise _too_large(f"its SELECT would have {len(text):,} characters, more than {_MOST_CHARACTERS:,}")
    return text


def _choose_layout(fitted: Model, walks: Walks) -> str:
    """Return how trees are written."""
    if walks.space == "units":
        return "case"
    if fitted.additive is not None:
        return "terms"
    layout = LINKS[fitted.head.link].layout
    return "levels" if layout == "joins" and can_list_values(walks) else layout


def _too_large(reason: str, remedy: str = _FEWER, *, can_force: bool = True) -> ValueError:
    ways = (
        "use export_onnx or export_c, or pass force=True" if can_force else "or use export_onnx or export_c"
    )
    return ValueError(f"the model is too large for SQL: {reason}. {remedy}, {ways}.")


def _check_names(fitted: Model, keys: list[str], outputs: list[str], dialect: str) -> None:
    """Raise ValueError if two names are the same in SQL, or one is empty where the engine has no such names."""
    columns = zip(fitted.column_names, fitted.encoding.encoders, strict=True)
    used = [name for name, encoder in columns if not isinstance(encoder, Dropped)]
    if "" in [*used, *keys] and dialect != "sqlite":
        raise ValueError(
            f"a column has the name '', which {dialect} cannot read: rename it in the table and fit again, or use "
            "export_onnx or export_c."
        )
    for what, names in (("columns", fitted.column_names), ("output columns", [*keys, *outputs])):
        twins = find_twins(names, dialect)
        if twins:
            reads = "reads 63 bytes of a name and " if dialect == "postgresql" else ""
            raise ValueError(
                f"SQL {reads}ignores case, so the {what} {twins[0]!r} and {twins[1]!r} are the same: "
                "rename one of them."
            )


def _check_width(n_columns: int, dialect: str, force: bool) -> None:
    most = _MOST_COLUMNS[dialect]
    can_force = dialect == "duckdb"
    if n_columns > most and not (force and can_force):
        raise _too_large(f"it needs {n_columns:,} columns, more than {most:,}", can_force=can_force)


def _check_case(fitted: Model, n_keys: int, dialect: str, force: bool) -> None:
    """Raise ValueError if a compact tree is too large for one expression."""
    _check_width(n_keys + 1 + fitted.n_features, dialect, force)
    trees = fitted.trees
    widest = int(max(np.diff(ptr).max() for ptr in (trees.hyperplane_ptr, trees.membership_ptr)))
    if widest > _MOST_TERMS and dialect != "postgresql":
        reason = f"it has sums of up to {widest:,} terms, more than {_MOST_TERMS:,}"
        raise _too_large(reason, "Lower max_terms", can_force=False)


def _check_columns(fitted: Model, n_keys: int, dialect: str, force: bool) -> None:
    """Raise ValueError if trees are far too large as columns, before writing anything."""
    trees = fitted.trees
    depth = int(trees.depths().max())
    n_shares = trees.n_trees * fitted.n_classes if fitted.head.shares_classes else 0
    n_columns = n_keys + 1 + max(3 * max(fitted.n_features, trees.n_trees) + fitted.n_features, n_shares)
    _check_width(n_columns, dialect, force)
    if force:
        return
    if depth > _MOST_LEVELS:
        raise _too_large(f"its trees have up to {depth} levels, more than {_MOST_LEVELS}")
    n_terms = len(trees.hyperplane_weight) + int(trees.left.size)
    if 12 * n_terms > _MOST_CHARACTERS:
        raise _too_large(f"it has {n_terms:,} weights and blocks")
    seconds = _SECONDS * n_columns**2 * depth
    if seconds > _MOST_SECONDS:
        raise _too_large(
            f"its {trees.n_trees:,} trees of up to {depth} levels would take an engine about {seconds:,.0f} seconds "
            "before the first row"
        )


def _check_joins(fitted: Model, n_keys: int, dialect: str, force: bool) -> None:
    """Raise ValueError if a model is too large as a table of blocks."""
    trees = fitted.trees
    depth = int(trees.depths().max())
    _check_width(n_keys + 2 + 4 * fitted.n_features, dialect, force)  # columns of planes in SQLite
    if depth > _MOST_JOINS:
        reason = f"its trees have up to {depth} levels, more than {_MOST_JOINS}"
        raise _too_large(reason, "Lower max_depth" if fitted.head.adds_rounds else _FEWER, can_force=False)
    seconds = _SECONDS_OF_A_BLOCK * trees.n_blocks
    if seconds > _MOST_SECONDS and not force:
        raise _too_large(
            f"its {trees.n_blocks:,} blocks would take an engine about {seconds:,.0f} seconds before the first row",
            "Lower max_iter or max_depth" if fitted.head.adds_rounds else _FEWER,
        )


def _check_levels(fitted: Model, n_keys: int, dialect: str, force: bool) -> None:
    """Raise ValueError if the values of rows are too many columns."""
    _check_width(n_keys + 1 + 4 * fitted.n_features + TREES_AT_ONCE + fitted.n_classes, dialect, force)


def _check_terms(fitted: Model, n_keys: int, dialect: str, force: bool) -> None:
    """Raise ValueError if an additive model has too many terms."""
    _check_width(n_keys + 1 + fitted.n_features + fitted.trees.n_trees, dialect, force)
    if fitted.n_estimators > _MOST_TERMS and dialect != "postgresql":
        reason = f"it has {fitted.n_estimators:,} curves and surfaces, more than {_MOST_TERMS:,}"
        raise _too_large(reason, "Fit fewer columns or interactions", can_force=False)


_CHECKS = {
    "case": _check_case,
    "columns": _check_columns,
    "joins": _check_joins,
    "levels": _check_levels,
    "terms": _check_terms,
}
_SCORES: dict[str, Callable[[Query, Model, Walks, Given], list[str]]] = {
    "columns": score_columns,
    "joins": score_joins,
    "levels": score_levels,
}


class Link(NamedTuple):
    """How trees are evaluated ("columns" or "joins"), and the function that turns their sums into a result.

    Columns give the scores s0, s1, ... of the classes. Joins give the sums raw0, raw1, ... of the targets.
    """

    layout: str
    finish: Finish


def _finish_wolf(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
    """Return the class of the largest score, and the shares of the scores."""
    scores = [f"s{c}" for c in range(fitted.n_classes)]
    parts = [f"{score}/({'+'.join(scores)})" for score in scores]
    if fitted.calibration is None:
        return find_largest(scores, labels), parts
    own = parts[-fitted.calibration.n_maps :]
    query.add("uncalibrated", [*passed, *(f"{share} AS f{i}" for i, share in enumerate(own))])
    return _calibrate(query, passed, fitted, [f"f{i}" for i in range(len(own))], labels)


def _finish_raw(link: Finish) -> Finish:
    """Return a function that calibrates raw scores, or passes them through a link if there is no calibration."""

    def finish(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
        if fitted.calibration is None:
            return link(query, passed, fitted, labels)
        return _calibrate(query, passed, fitted, _name_raws(fitted), labels)

    return finish


def _name_raws(fitted: Model) -> list[str]:
    return [f"raw{target}" for target in range(fitted.head.n_scores)]


def _softmax(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
    """Return the class of the largest raw score, which needs no exponential, and the probabilities."""
    raws = _name_raws(fitted)
    query.add("largest", [*passed, *raws, f"{find_largest(raws, raws)} AS most"])
    query.add("exponents", [*passed, *raws, *(f"{raw}-most AS x{i}" for i, raw in enumerate(raws))])
    _add_exponentials(query, [*passed, *raws], len(raws))
    powers = [f"e{i}" for i in range(len(raws))]
    query.add("totals", [*passed, *raws, *powers, f"{'+'.join(powers)} AS total"])
    return find_largest(raws, labels), [_divide(query, power) for power in powers]


def _finish_mean(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
    query.add("summed", [*passed, "raw0"])
    return f"raw0/{query.number(float(fitted.n_estimators))}", []


def _finish_identity(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
    first, *others = raws = _name_raws(fitted)
    query.add("summed", [*passed, *raws])
    return first, others


def _finish_sorted(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
    """Return raw scores in ascending order: neighbours change places in as many turns as there are scores."""
    first, *others = raws = _name_raws(fitted)
    query.add("summed", [*passed, *raws])
    for turn in range(len(raws)):
        columns = list(raws)
        for i in range(turn % 2, len(raws) - 1, 2):
            one, other = raws[i], raws[i + 1]
            columns[i] = f"CASE WHEN {other}<{one} THEN {other} ELSE {one} END AS {one}"
            columns[i + 1] = f"CASE WHEN {other}<{one} THEN {one} ELSE {other} END AS {other}"
        query.add(f"turn{turn}", [*passed, *columns])
    return first, others


def _finish_log(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
    query.add("summed", [*passed, "raw0"])
    query.add("exponents", [*passed, "raw0 AS x0"])
    _add_exponentials(query, passed, 1, is_signed=True)
    return "e0", []


def _logistic(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
    """Return the class and the probabilities of two classes, from raw0."""
    kept = [*passed, "raw0"]
    query.add("exponents", [*kept, "-abs(raw0) AS x0"])
    _add_exponentials(query, kept, 1)
    large, small = "1/(1+e0)", "e0/(1+e0)"
    first, second = [f"CASE WHEN raw0>0 THEN {a} ELSE {b} END" for a, b in ((small, large), (large, small))]
    return f"CASE WHEN raw0>0 THEN {labels[1]} ELSE {labels[0]} END", [first, second]


def _divide(query: Query, power: str) -> str:
    """Return a column divided by total."""
    small, up, more = (query.number(value) for value in (_SMALL, 2.0**537, 2.0**538))
    quotient = f"{power}/total"
    is_zero = f"{power}*{up}*{more}<=total"  # at most half of 2^-1074
    return f"CASE WHEN {power}>{small} THEN {quotient} WHEN {is_zero} THEN {query.number(0.0)} ELSE {quotient} END"


def _add_exponentials(query: Query, passed: list[str], n: int, *, is_signed: bool = False) -> None:
    """Add e0, e1, ... = e^x of x0, x1, ... by the operations of the core: engines differ in the last digits.

    x may be above 0 only if ``is_signed``.
    """
    number, least, largest = query.number, query.number(e.EXP_LEAST), query.number(e.EXP_LARGEST)
    more = 2 * e.EXP_MOST_HALF if is_signed else 0  # so that no power of 1/2 is negative

    def add(name: str, *columns: str) -> None:
        query.add(name, [*passed, *(column.replace("#", str(i)) for i in range(n) for column in columns)])

    above = f" WHEN x#>{largest} THEN {largest}" if is_signed else ""
    add("bounded", f"CASE WHEN x#<{least} THEN {least}{above} ELSE x# END AS x#")
    rounder = number(e.EXP_ROUNDER)
    add("turns", "x#", f"(x#*{number(e.EXP_PER_LN2)}+{rounder})-{rounder} AS turn#")
    add(
        "parts",
        "x#",
        "turn#",
        f"x#-turn#*{number(e.EXP_LN2_HIGH)} AS high#",
        f"turn#*{number(e.EXP_LN2_LOW)} AS low#",
    )
    add("remainders", "x#", f"CAST({more}-turn# AS BIGINT) AS turn#", "high#", "low#", "high#-low# AS r#")
    tail = number(e.EXP_TAIL[0])
    for coefficient in e.EXP_TAIL[1:]:
        tail = f"({tail}*r#+{number(coefficient)})"
    add("series", "x#", "turn#", f"{number(1.0)}+(high#+(r#*r#*{tail}-low#)) AS e#")
    # Times 2^-k in two steps: neither factor leaves the range, and only the last product is rounded.
    add(
        "steps",
        "x#",
        f"e#*{_power_of_half(query, '(turn#>>1)', more // 2)} AS e#",
        f"{_power_of_half(query, '(turn#-(turn#>>1))', more // 2)} AS h#",
    )
    is_zero = f"(e#*{number(2.0**538)})*(h#*{number(2.0**537)})<=1"  # at most half of 2^-1074
    add(
        "powers",
        f"CASE WHEN x#>{number(_SMALL_X)} THEN e#*h# WHEN {is_zero} THEN {number(0.0)} ELSE e#*h# END AS e#",
    )


def _power_of_half(query: Query, exponent: str, more: int) -> str:
    """Return 2^(more - exponent), computed bit by bit."""
    one = query.number(1.0)
    bits = [
        f"CASE WHEN ({exponent}&{2**bit})=0 THEN {one} ELSE {query.number(2.0 ** -(2**bit))} END"
        for bit in range(_MOST_BITS + (more > 0))
    ]
    return f"({'*'.join([query.number(2.0**more)] * (more > 0) + bits)})"


def _calibrate(
    query: Query, passed: list[str], fitted: Model, scores: list[str], labels: Sequence[str]
) -> Result:
    """Return the class and calibrated probabilities from columns of scores, one per target."""
    calibration = fitted.calibration
    assert calibration is not None
    n = len(scores)
    if calibration.kind == "sigmoid":
        lines = zip(scores, calibration.x.tolist(), calibration.y.tolist(), strict=True)
        raws = [f"{query.number(x)}*{score}+{query.number(y)}" for score, x, y in lines]
        query.add("mapped", [*passed, *(f"{raw} AS raw{i}" for i, raw in enumerate(raws))])
        if n == 1:
            return _logistic(query, passed, fitted, labels)
        kept = [*passed, *(f"raw{i}" for i in range(n))]
        query.add("exponents", [*kept, *(f"-abs(raw{i}) AS x{i}" for i in range(n))])
        _add_exponentials(query, kept, n)
        own = [f"CASE WHEN raw{i}>0 THEN 1/(1+e{i}) ELSE e{i}/(1+e{i}) END" for i in range(n)]
    else:
        maps = zip(scores, calibration.knots, strict=True)
        own = [_interpolate(query, score, knots) for score, knots in maps]
    query.add("calibrated", [*passed, *(f"{value} AS p{i}" for i, value in enumerate(own))])
    if n == 1:
        one = query.number(1.0)
        query.add("both", [*passed, f"{one}-p0 AS c0", "p0 AS c1"])
        return find_largest(["c0", "c1"], labels), ["c0", "c1"]
    shares = [f"p{i}" for i in range(n)]
    query.add("totals", [*passed, *shares, f"{'+'.join(shares)} AS total"])
    even = query.number(1.0 / n)
    divided = [f"CASE WHEN total=0 THEN {even} ELSE {_divide(query, share)} END" for share in shares]
    query.add("shares", [*passed, *(f"{value} AS c{i}" for i, value in enumerate(divided))])
    columns = [f"c{i}" for i in range(n)]
    return find_largest(columns, labels), columns


def _interpolate(query: Query, score: str, knots: Knots) -> str:
    """Return the lines through the knots of a column."""
    number = query.number
    (x, y), whens = (values.tolist() for values in knots), []
    for k, (width, rise) in enumerate(zip(np.diff(x).tolist(), np.diff(y).tolist(), strict=True)):
        line = f"{number(y[k])}+({score}-{number(x[k])})/{number(width)}*{number(rise)}"
        whens.append(f"WHEN {score}<{number(x[k + 1])} THEN {line}")
    return f"CASE WHEN {score}<={number(x[0])} THEN {number(y[0])} {' '.join(whens)} ELSE {number(y[-1])} END"


LINKS = {
    "wolf": Link("columns", _finish_wolf),
    "logistic": Link("joins", _finish_raw(_logistic)),
    "softmax": Link("joins", _finish_raw(_softmax)),
    "mean": Link("joins", _finish_mean),
    "identity": Link("joins", _finish_identity),
    "sorted": Link("joins", _finish_sorted),
    "log": Link("joins", _finish_log),
}
