"""The normalised features z0, z1, ... in SQL, rounded to float32 as the core does."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Model
from ._sql_text import Query, quote_name, write_label, write_number

DIALECTS = ("sqlite", "duckdb")
_MOST_Z = 1e30
_LEAST_NORMAL = 2.0**-126  # of float32; below, its numbers lie 2^-149 apart
_ROUNDER = 1.5 * 2.0**-97  # added and taken off again, leaves multiples of 2^-149
_INFINITY = "9e999"  # as SQLite reads it
_SPLIT_24, _SPLIT_23 = f"{2**29 + 1}e0", f"{2**30 + 1}e0"


def normalise(query: Query, fitted: Model, keys: Sequence[str], dialect: str) -> list[str]:
    """Add z of the columns of table t; the names of the columns to pass on: the keys and is_infinite."""
    features = range(fitted.n_features)
    passed = [f"k{i}" for i in range(len(keys))]
    given = [f"t.{quote_name(key)} AS {name}" for key, name in zip(keys, passed, strict=True)]
    query.add("given", [*given, *(f"{x} AS x{f}" for f, x in enumerate(_read_columns(fitted, dialect)))])

    infinity = "CAST('Infinity' AS DOUBLE)" if dialect == "duckdb" else _INFINITY
    is_infinite = f"CASE WHEN {infinity} IN ({', '.join(f'abs(x{f})' for f in features)}) THEN 1 ELSE 0 END"
    centre, scale = ([write_number(value) for value in values.tolist()] for values in fitted.normalisation)
    quotients = [f"(x{f}-{centre[f]})/{scale[f]} AS q{f}" for f in features]
    query.add("moved", [*passed, f"{is_infinite} AS is_infinite", *quotients])
    passed.append("is_infinite")

    query.add("clipped", [*passed, *(f"{_clip(f'q{f}')} AS q{f}" for f in features)])
    if dialect == "duckdb":
        query.add("rounded", [*passed, *(f"CAST(CAST(q{f} AS FLOAT) AS DOUBLE) AS z{f}" for f in features)])
        return passed
    # SQLite has no float32. Veltkamp's h = c·q - (c·q - q) with c = 2^29 + 1 is q rounded to 24 bits, but for ties:
    # then o = 2q - h, the neighbour on the other side, has 24 bits as well, and the one of even last bit is right.
    query.add("halves", [*passed, *(f"q{f}, {_split(f'q{f}', _SPLIT_24)} AS h{f}" for f in features)])
    query.add("others", [*passed, *(f"q{f}, h{f}, h{f}+(q{f}-h{f})+(q{f}-h{f}) AS o{f}" for f in features)])
    query.add("rounded", [*passed, *(f"{_settle(f'q{f}', f'h{f}', f'o{f}')} AS z{f}" for f in features)])
    return passed


def _clip(q: str) -> str:
    most, least = write_number(_MOST_Z), write_number(-_MOST_Z)
    return f"CASE WHEN {q} IS NULL THEN 0e0 WHEN {q}>{most} THEN {most} WHEN {q}<{least} THEN {least} ELSE {q} END"


def _settle(q: str, h: str, o: str) -> str:
    """The float32 nearest q, given the two candidates."""
    small, rounder = write_number(_LEAST_NORMAL), write_number(_ROUNDER)
    is_tie = f"{o}<>{h} AND {_split(o, _SPLIT_24)}={o}"
    is_odd = f"{_split(h, _SPLIT_23)}<>{h}"
    return f"CASE WHEN abs({q})<{small} THEN ({q}+{rounder})-{rounder} WHEN {is_tie} AND {is_odd} THEN {o} ELSE {h} END"


def _split(q: str, factor: str) -> str:
    return f"({q}*{factor}-({q}*{factor}-{q}))"


def _read_columns(fitted: Model, dialect: str) -> list[str]:
    """The features of a row, NULL where they are missing. Named with the table, a misspelt column is no text."""
    values = []
    for name, some in zip(fitted.column_names, fitted.encoding.categories, strict=True):
        column = f"t.{quote_name(name)}"
        if some is None:
            values.append(_read_number(column, dialect))
            continue
        # Case-sensitive whatever the table's collation is; DuckDB collates text only.
        if dialect == "sqlite":
            column += " COLLATE BINARY"
        elif all(isinstance(category, str) for category in some):
            column = f"CAST({column} AS VARCHAR) COLLATE C"
        known = [write_label(category) for category in some]
        values += [
            f"CASE WHEN {column}={own} THEN 1e0 WHEN {column} IN ({', '.join(known)}) THEN 0e0 END"
            for own in known
        ]
    return values


def _read_number(column: str, dialect: str) -> str:
    """A number, NULL where it is missing. SQLite casts any text to 0: here it becomes an infinity, which is refused."""
    number = f"CAST({column} AS DOUBLE)"
    if dialect == "duckdb":
        return f"CASE WHEN isnan({number}) THEN NULL ELSE {number} END"
    return f"CASE WHEN typeof({column}) NOT IN ('text', 'blob') OR {number}={column} THEN {number} ELSE {_INFINITY} END"
