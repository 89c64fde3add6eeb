"""Rows in SQL: features read from the columns of a table, normalised values z0, z1, ..., and values in units."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.model import CLIP, Model
from ..model.trees import LEAST_VALUE, MOST_VALUE
from ..tables.encoders import Dropped, Numbers, TargetStatistic
from ._sql_text import Query, quote_name, write_label, write_number, write_real
from ._walks import MISSING

REAL = {"sqlite": "REAL", "duckdb": "DOUBLE", "postgresql": "DOUBLE PRECISION"}
DIALECTS = tuple(REAL)
_LEAST_NORMAL = 2.0**-126  # of float32; below, its numbers lie 2^-149 apart
_ROUNDER = 1.5 * 2.0**-97  # adding and subtracting it rounds to multiples of 2^-149
_SPLIT_24, _SPLIT_23 = f"{2**29 + 1}e0", f"{2**30 + 1}e0"
# PostgreSQL raises an error where a difference overflows, and where a quotient does or becomes 0.
_LARGE = 1e300
_FAR, _NEAR = 1e35, 1e-200  # quotients beyond are clipped, or 0 as float32


def _read(query: Query, fitted: Model, keys: Sequence[str]) -> tuple[list[str], str]:
    """Add the features x0, x1, ... of table t; return the names of the keys, and the column is_infinite."""
    dialect = query.dialect
    passed = [f"k{i}" for i in range(len(keys))]
    given = [f"t.{quote_name(key, dialect)} AS {name}" for key, name in zip(keys, passed, strict=True)]
    query.add("given", [*given, *(f"{x} AS x{f}" for f, x in enumerate(_read_columns(fitted, dialect)))])
    absolute = ", ".join(f"abs(x{f})" for f in range(fitted.n_features))
    return passed, f"CASE WHEN {write_infinity(dialect)} IN ({absolute}) THEN 1 ELSE 0 END AS is_infinite"


def fill_units(query: Query, fitted: Model, keys: Sequence[str], names: dict[int, str]) -> list[str]:
    """Add features in the user's units under these names, with the centre instead of missing values.

    Return the names of the columns to pass on: the keys and is_infinite.
    """
    passed, is_infinite = _read(query, fitted, keys)
    least, most, zero = (write_real(value, query.dialect) for value in (LEAST_VALUE, MOST_VALUE, 0.0))
    filled = []
    for f, name in names.items():
        x, centre = f"x{f}", write_real(float(fitted.normalisation.centre[f]), query.dialect)
        clipped = f"WHEN {x}>{most} THEN {most} WHEN {x}<-{most} THEN -{most} ELSE {x}"
        filled.append(f"COALESCE(CASE WHEN abs({x})<{least} THEN {zero} {clipped} END, {centre}) AS {name}")
    query.add("filled", [*passed, is_infinite, *filled])
    return [*passed, "is_infinite"]


def normalise(query: Query, fitted: Model, keys: Sequence[str], missing: str | None = None) -> list[str]:
    """Add z0, z1, ..., rounded to float32 as in the core, and return the names of the columns to pass on.

    These are the keys and is_infinite. Missing values are replaced by ``missing``; None keeps them as NULL.
    """
    features, dialect = range(fitted.n_features), query.dialect
    passed, is_infinite = _read(query, fitted, keys)
    centre, scale = (values.tolist() for values in fitted.normalisation)
    if dialect == "postgresql":
        differences = [f"{_subtract(f'x{f}', centre[f])} AS d{f}, x{f}" for f in features]
        query.add("differences", [*passed, is_infinite, *differences])
        quotients = [f"{_divide(f'x{f}', f'd{f}', scale[f])} AS q{f}" for f in features]
        is_infinite = "is_infinite"
    else:
        number = query.number
        quotients = [f"(x{f}-{number(centre[f])})/{number(scale[f])} AS q{f}" for f in features]
    query.add("moved", [*passed, is_infinite, *quotients])
    passed.append("is_infinite")

    def fill(z: str) -> str:
        return z if missing is None else f"COALESCE({z},{missing})"

    query.add("clipped", [*passed, *(f"{_clip(f'q{f}', CLIP, dialect)} AS q{f}" for f in features)])
    if dialect == "duckdb":
        query.add(
            "rounded",
            [*passed, *(f"{fill(f'CAST(CAST(q{f} AS FLOAT) AS DOUBLE)')} AS z{f}" for f in features)],
        )
        return passed
    if dialect == "postgresql":
        query.add("rounded", [*passed, *(f"{fill(_round(f'q{f}'))} AS z{f}" for f in features)])
        return passed
    # SQLite has no float32. Veltkamp's h = c·q - (c·q - q) with c = 2^29 + 1 is q rounded to 24 bits, except at ties:
    # then o = 2q - h, the neighbour on the other side, has 24 bits as well, and the one with an even last bit is right.
    query.add("halves", [*passed, *(f"q{f}, {_split(f'q{f}', _SPLIT_24)} AS h{f}" for f in features)])
    query.add("others", [*passed, *(f"q{f}, h{f}, h{f}+(q{f}-h{f})+(q{f}-h{f}) AS o{f}" for f in features)])
    query.add(
        "rounded", [*passed, *(f"{fill(_settle(f'q{f}', f'h{f}', f'o{f}'))} AS z{f}" for f in features)]
    )
    return passed


def lay_planes(fitted: Model, planes: Sequence[str], dialect: str) -> list[str]:
    """Return the values of z0, z1, ... in the planes, without NULL; the first plane is clipped."""
    missing = {kind: write_number(value, dialect) for kind, value in MISSING.items() if value == 0.0}
    missing |= {"leftmost": f"-{write_infinity(dialect)}", "rightmost": write_infinity(dialect)}
    values = []
    for kind in planes:
        for f in range(fitted.n_features):
            z = _clip(f"z{f}", fitted.clip, dialect) if kind == "clipped" and fitted.clip < CLIP else f"z{f}"
            values.append(f"COALESCE({z},{missing[kind]})")
    return values


def write_infinity(dialect: str) -> str:
    """Return an infinity."""
    return "9e999" if dialect == "sqlite" else f"CAST('Infinity' AS {REAL[dialect]})"


def _clip(q: str, most: float, dialect: str) -> str:
    high, low = write_number(most, dialect), write_number(-most, dialect)
    return f"CASE WHEN {q}>{high} THEN {high} WHEN {q}<{low} THEN {low} ELSE {q} END"


def _subtract(x: str, centre: float) -> str:
    """Return a difference that cannot overflow: half of it where x is large."""
    whole, half = (write_number(value, "postgresql") for value in (centre, centre / 2))
    return f"CASE WHEN abs({x})>{write_number(_LARGE, 'postgresql')} THEN {x}/2-{half} ELSE {x}-{whole} END"


def _divide(x: str, difference: str, scale: float) -> str:
    """Return a quotient that cannot overflow or underflow: results far outside the range are constants."""
    large, whole, half = (write_number(value, "postgresql") for value in (_LARGE, scale, scale / 2))
    cases = []
    if scale * _FAR < _LARGE:
        far, most, least = (write_number(v, "postgresql") for v in (scale * _FAR, CLIP, -CLIP))
        cases.append(
            f"WHEN abs({difference})>{far} THEN CASE WHEN {difference}>0 THEN {most} ELSE {least} END"
        )
    if scale * _NEAR > 0.0:
        near = write_number(scale * _NEAR, "postgresql")
        cases.append(f"WHEN abs({difference})<{near} THEN {write_number(0.0, 'postgresql')}")
    cases.append(f"WHEN abs({x})>{large} THEN {difference}/{half}")
    return f"CASE {' '.join(cases)} ELSE {difference}/{whole} END"


def _round(q: str) -> str:
    """Return the float32 nearest q in PostgreSQL, which raises an error where that is 0."""
    tiny, zero = (write_number(value, "postgresql") for value in (2.0**-150, 0.0))
    return f"CASE WHEN abs({q})<={tiny} THEN {zero} ELSE CAST(CAST({q} AS REAL) AS DOUBLE PRECISION) END"


def _settle(q: str, h: str, o: str) -> str:
    """Return the float32 nearest q, given the two candidates."""
    small, rounder = (write_number(value, "sqlite") for value in (_LEAST_NORMAL, _ROUNDER))
    is_tie = f"{o}<>{h} AND {_split(o, _SPLIT_24)}={o}"
    is_odd = f"{_split(h, _SPLIT_23)}<>{h}"
    return f"CASE WHEN abs({q})<{small} THEN ({q}+{rounder})-{rounder} WHEN {is_tie} AND {is_odd} THEN {o} ELSE {h} END"


def _split(q: str, factor: str) -> str:
    return f"({q}*{factor}-({q}*{factor}-{q}))"


def _read_columns(fitted: Model, dialect: str) -> list[str]:
    """Return the features of a row, NULL where missing.

    Columns are qualified by the table, because SQLite reads an unknown quoted name as text.
    """
    values = []
    for name, encoder in zip(fitted.column_names, fitted.encoding.encoders, strict=True):
        column = f"t.{quote_name(name, dialect)}"
        if isinstance(encoder, Dropped):
            continue
        if isinstance(encoder, Numbers):
            number = _read_number(column, dialect)
            values.append(number)
            values += [f"CASE WHEN {number} IS NULL THEN 1e0 ELSE 0e0 END"] * encoder.has_indicator
            continue
        some = encoder.categories or ()
        # Compare case-sensitively whatever the collation of the table; DuckDB and PostgreSQL collate text only.
        if dialect == "sqlite":
            column += " COLLATE BINARY"
        elif all(isinstance(category, str) for category in some):
            column = f'CAST({column} AS VARCHAR) COLLATE "C"'
        known = [write_label(category, dialect) for category in some]
        if isinstance(encoder, TargetStatistic):
            values += [_look_up(column, known, own.tolist(), dialect) for own in encoder.values]
            continue
        values += [
            f"CASE WHEN {column}={own} THEN 1e0 WHEN {column} IN ({', '.join(known)}) THEN 0e0 END"
            for own in known
        ]
    return values


def _look_up(column: str, known: list[str], values: list[float], dialect: str) -> str:
    """Return the statistic of a category: the last one if it is unknown, NULL if it is missing."""
    *of_known, prior = (write_number(value, dialect) for value in values)
    cases = " ".join(f"WHEN {column}={own} THEN {value}" for own, value in zip(known, of_known, strict=True))
    return f"CASE WHEN {column} IS NULL THEN NULL {cases} ELSE {prior} END"


def _read_number(column: str, dialect: str) -> str:
    """Return a number, NULL if missing. SQLite casts any text to 0, so text becomes an infinity, which is rejected."""
    number = f"CAST({column} AS {REAL[dialect]})"
    if dialect == "duckdb":
        return f"CASE WHEN isnan({number}) THEN NULL ELSE {number} END"
    if dialect == "postgresql":
        return f"NULLIF({number},{write_number(float('nan'), dialect)})"
    infinity = write_infinity(dialect)
    return f"CASE WHEN typeof({column}) NOT IN ('text', 'blob') OR {number}={column} THEN {number} ELSE {infinity} END"
