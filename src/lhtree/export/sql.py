"""Export to one SELECT: a compact tree, a tree, a small forest, a regression or a boosted model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .._parameters import refuse
from ..model.labels import find_labels
from ..model.model import Model, read
from ._sql_case import score_case
from ._sql_columns import score_columns
from ._sql_joins import score_joins
from ._sql_links import LINKS, Result
from ._sql_rows import DIALECTS
from ._sql_text import Query, find_twins, quote_name, write_label
from ._walks import find_walks

_MOST_CHARACTERS = 5_000_000
_MOST_COLUMNS = {
    "sqlite": 2000,
    "duckdb": 2000,
    "postgresql": 1600,
}  # DuckDB has no limit, but is slow with more
_MOST_LEVELS = 200
_MOST_JOINS = 60  # SQLite joins 64 tables
_MOST_SECONDS = 60.0
_SECONDS = (
    1.2e-5  # per column squared and level, because engines look up every column among all at every level
)
_SECONDS_OF_A_BLOCK = 1.5e-4  # of a table of blocks
_FEWER = "Fit fewer trees, or smaller ones (larger gamma, min_samples_leaf or beta, smaller max_depth)"


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
    regression, the predicted number as ``prediction``. NULL (and NaN) means missing; a row with an infinite value, for
    which the model raises an error, gets NULL in every column. The arithmetic and its order are those of the model, so
    results are equal to the bit. A compact tree becomes one CASE expression in the user's units. A boosted model or
    another regression becomes a table of blocks, which is joined once per level. Models whose statement would take a
    database too long, which includes most classification forests, raise an error.

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
    fitted = read(model, takes_numbers=True)
    if dialect not in DIALECTS:
        raise refuse("dialect", dialect, " or ".join(map(repr, DIALECTS)))
    if not isinstance(table, str) or not table:
        raise refuse("table", table, "the name of a table")
    keys = [keys] if isinstance(keys, str) else list(keys)
    if not all(isinstance(key, str) for key in keys):
        raise refuse("keys", keys, "a list of column names")
    labels = find_labels(fitted, "SQL") if fitted.head.labels else []
    outputs = ["prediction", *(f"probability_{label}" for label in labels)]
    _check_names(fitted, keys, outputs, dialect)
    walks = find_walks(fitted)
    layout = _LAYOUTS["case" if walks.space == "units" else LINKS[fitted.head.link].layout]
    layout.check(fitted, len(keys), dialect, force)

    query = Query(table, dialect)
    written = [write_label(label, dialect) for label in labels]
    prediction, probabilities = layout.score(query, fitted, walks, keys, written)
    values = [prediction, *probabilities]
    shown = [f"k{i} AS {quote_name(key, dialect)}" for i, key in enumerate(keys)] + [
        f"CASE WHEN is_infinite=0 THEN {value} END AS {quote_name(name, dialect)}"
        for value, name in zip(values, outputs, strict=True)
    ]
    text = query.finish(shown)
    if layout.is_long and len(text) > _MOST_CHARACTERS and not force:
        raise _too_large(f"its SELECT would have {len(text):,} characters, more than {_MOST_CHARACTERS:,}")
    return text


def _too_large(reason: str, remedy: str = _FEWER, *, can_force: bool = True) -> ValueError:
    ways = (
        "use export_onnx or export_c, or pass force=True" if can_force else "or use export_onnx or export_c"
    )
    return ValueError(f"the model is too large for SQL: {reason}. {remedy}, {ways}.")


def _check_names(fitted: Model, keys: list[str], outputs: list[str], dialect: str) -> None:
    """Raise ValueError if two names are the same in SQL."""
    for what, names in (("columns", fitted.column_names), ("output columns", [*keys, *outputs])):
        twins = find_twins(names, 63 if dialect == "postgresql" else None)
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
    depth = int(fitted.trees.depths().max())
    if depth > _MOST_LEVELS and not force:
        raise _too_large(f"its tree has {depth} levels, more than {_MOST_LEVELS}", "Lower max_leaf_nodes")


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
        raise _too_large(reason, "Lower max_depth", can_force=False)
    seconds = _SECONDS_OF_A_BLOCK * trees.n_blocks
    if seconds > _MOST_SECONDS and not force:
        raise _too_large(
            f"its {trees.n_blocks:,} blocks would take an engine about {seconds:,.0f} seconds before the first row",
            "Lower max_iter or max_depth",
        )


class _Layout(NamedTuple):
    """A way to evaluate trees in SQL: the check of the size, and the expressions of the result."""

    check: Callable[[Model, int, str, bool], None]
    score: Callable[..., Result]
    is_long: bool  # whether the length of the text is limited, too


_LAYOUTS = {
    "case": _Layout(_check_case, score_case, True),
    "columns": _Layout(_check_columns, score_columns, True),
    "joins": _Layout(_check_joins, score_joins, False),
}
