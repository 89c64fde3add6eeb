"""Values, sums, queries and rows in SQL, exact in every engine.

Rows are features read from the columns of a table, normalised values z0, z1, ..., or values in units.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from copy import copy
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from ..model.model import CLIP, Model
from ..model.trees import LEAST_VALUE, MOST_VALUE
from ..tables.encoders import Dropped, Numbers, TargetStatistic
from ..tables.labels import Label, check_text
from ._walks import MISSING

Result: TypeAlias = tuple[str, list[str]]  # expressions of the prediction and of the probabilities

REAL = {"sqlite": "REAL", "duckdb": "DOUBLE", "postgresql": "DOUBLE PRECISION"}
DIALECTS = tuple(REAL)
_POWER = 59  # 2^59 has 18 digits, which SQLite reads exactly
_MOST_DIGITS = 15  # of a decimal number that every engine reads as the nearest float64
_LEAST_NORMAL = 2.0**-126  # of float32; below, its numbers lie 2^-149 apart
_ROUNDER = 1.5 * 2.0**-97  # adding and subtracting it rounds to multiples of 2^-149
_SPLIT_24, _SPLIT_23 = f"{2**29 + 1}e0", f"{2**30 + 1}e0"
# PostgreSQL raises an error where a difference overflows, and where a quotient does or becomes 0.
_LARGE = 1e300
_FAR, _NEAR = 1e35, 1e-200  # quotients beyond are clipped, or 0 as float32


def write_number(value: float, dialect: str) -> str:
    """Return a float64; for SQLite and DuckDB as whole numbers times or divided by powers of 2.

    SQLite may read a decimal fraction with an error in the last digit, and DuckDB reads one without an exponent as a
    decimal number. PostgreSQL has decimal numbers only, but reads text as the nearest float64.
    """
    if dialect == "postgresql":
        return f"float8 '{value!r}'"
    mantissa, power = math.frexp(value)
    whole = int(math.ldexp(mantissa, 53))
    power -= 53
    while whole and whole % 2 == 0:
        whole, power = whole // 2, power + 1
    if whole == 0:
        return "0e0"
    if power > 0 and abs(whole) << power < 2**53:
        whole, power = whole << power, 0
    text, sign = f"{whole}e0", "*" if power > 0 else "/"
    power = abs(power)
    while power:
        step = min(power, _POWER)
        text += f"{sign}{2**step}e0"
        power -= step
    return f"({text})" if sign in text or whole < 0 else text


def write_short(value: float, dialect: str) -> str:
    """Return a decimal number that an operation with a float64 turns into exactly this float64."""
    text = repr(value).removesuffix(".0")
    return text if _is_short(text) else write_real(value, dialect)


def write_real(value: float, dialect: str) -> str:
    """Return a float64 as a decimal number; in SQLite, which reads 15 digits exactly, as a fraction if it has more."""
    text = repr(value)
    if dialect == "postgresql":
        return f"{text}::float8"
    if dialect == "duckdb":
        return text if "e" in text else f"{text}e0"
    text = f"{Decimal(text):f}"  # without an exponent
    return text if _is_short(text) and _read_in_sqlite(text) == value else write_number(value, dialect)


def _read_in_sqlite(text: str) -> float:
    """Return the number that SQLite reads: it divides with 64 bits, and rounds the quotient to 53 bits."""
    exact = Fraction(text)
    if not exact:
        return 0.0
    unit = Fraction(2) ** (exact.numerator.bit_length() - exact.denominator.bit_length() - 64)
    while abs(exact / unit) >= 2**64:
        unit *= 2
    return float(round(exact / unit) * unit)


def _is_short(text: str) -> bool:
    return "e" not in text and sum(sign.isdigit() for sign in text.lstrip("-0.")) <= _MOST_DIGITS


def quote_name(name: str) -> str:
    """Return a quoted column or table name."""
    return '"' + check_text(name, "name", "SQL").replace('"', '""') + '"'


def write_label(label: Label, dialect: str) -> str:
    """Return a class or a category as a value of its own type."""
    if isinstance(label, str):
        text = check_text(label, "class or category", "SQL")
        return "'" + text.replace("'", "''") + "'"
    if isinstance(label, bool):
        if dialect == "sqlite":  # which reads TRUE as a column of that name if there is one
            return "1" if label else "0"
        return "TRUE" if label else "FALSE"
    if not isinstance(label, int):
        return write_number(label, dialect)
    return "(-9223372036854775807-1)" if label == -(2**63) else str(label)  # without its sign it has 65 bits


def add_terms(terms: Iterable[tuple[int, float]], dialect: str) -> str:
    """Return a feature sum of the columns z0, z1, ... in the order of the core."""
    products = (
        f"z{feature}" if value == 1.0 else f"{write_number(value, dialect)}*z{feature}"
        for feature, value in terms
    )
    return add_lanes(products) or write_number(0.0, dialect)


def add_lanes(products: Iterable[str]) -> str:
    """Return a sum in the order of the core; empty without products."""
    lanes: list[list[str]] = [[] for _ in range(8)]
    for place, product in enumerate(products):
        lanes[place % 8].append(product)
    sums = ["+".join(lane) for lane in lanes]
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [_add(low, high) for low, high in zip(sums[:half], sums[half:], strict=True)]
    return sums[0]


def _add(low: str, high: str) -> str:
    return f"({low})+({high})" if high else low


def choose(value: str, cases: Iterable[tuple[int, str]], otherwise: str) -> str:
    """Return an expression that selects one of many texts by a number; cases are in ascending order.

    A binary search needs fewer comparisons than a list, which engines read from its beginning.
    """
    listed = list(cases)
    if len(listed) <= 4:
        whens = " ".join(f"WHEN {number} THEN {text}" for number, text in listed)
        return f"CASE {value} {whens} ELSE {otherwise} END" if listed else otherwise
    middle = len(listed) // 2
    low = choose(value, listed[:middle], otherwise)
    high = choose(value, listed[middle:], otherwise)
    return f"CASE WHEN {value}<{listed[middle][0]} THEN {low} ELSE {high} END"


def find_largest(columns: Sequence[str], values: Sequence[str]) -> str:
    """Return the value that belongs to the largest of the columns, the first of equal ones."""
    whens = []
    for place, (column, value) in enumerate(zip(columns[:-1], values[:-1], strict=True)):
        others = " AND ".join(f"{column}>={other}" for other in columns[place + 1 :])
        whens.append(f"WHEN {others} THEN {value}")
    return f"CASE {' '.join(whens)} ELSE {values[-1]} END"


def find_twins(names: Iterable[str], dialect: str) -> tuple[str, str] | None:
    """Return two names that are the same in SQL, which ignores case; PostgreSQL reads 63 bytes of a name."""
    n_bytes = 63 if dialect == "postgresql" else None

    def seen(name: str) -> bytes:
        return name.encode(errors="surrogatepass")[:n_bytes].decode(errors="ignore").casefold().encode()

    return next((pair for pair in pairwise(sorted(names, key=seen)) if seen(pair[0]) == seen(pair[1])), None)


def quote_distinct(names: Sequence[str], letter: str, taken: Iterable[str], dialect: str) -> list[str]:
    """Return quoted names of columns, or numbered ones if two are the same in SQL or one is empty or taken.

    In SQLite, a common table expression cannot have columns named true and false.
    """
    taken = [*taken, "is_infinite", *["true", "false"] * (dialect == "sqlite")]
    if find_twins([*names, *taken], dialect) or "" in names:
        return [f"{letter}{i}" for i in range(len(names))]
    return [quote_name(name) for name in names]


class Query:
    """A SELECT of common table expressions, most of which read the one before.

    They are materialised: an engine that inlines them would double its work with every level. The ending of their names
    keeps them apart from reserved words and from the table, which SQLite would read as the expression.
    """

    def __init__(self, table: str, dialect: str) -> None:
        self.dialect = dialect
        self._source = f"{quote_name(table)} AS t"
        self._ending = "_0" if table.endswith("_") else "_"
        self._parts: list[str] = []
        self.streams = False  # whether expressions are not materialised

    def name(self, name: str) -> str:
        """Return the name of an expression in the text."""
        return name + self._ending

    def number(self, value: float) -> str:
        """Return a float64."""
        return write_number(value, self.dialect)

    def add(self, name: str, columns: Iterable[str]) -> None:
        """Add an expression that selects these columns of the one before."""
        text = f"SELECT {', '.join(columns)}\nFROM {self._source}"
        self.define(name, text, is_kept=not self.streams)
        self.read(self.name(name))

    def define(self, name: str, text: str, columns: str = "", *, is_kept: bool = True) -> None:
        """Add an expression that does not read the one before; ``is_kept`` materialises it."""
        kept = "MATERIALIZED " * is_kept
        self._parts.append(f"{self.name(name)}{columns} AS {kept}({text})")

    def branch(self, name: str, source: str) -> Query:
        """Return a query that begins with a source, and adds expressions under names of their own to this one."""
        other = copy(self)
        other._ending = f"_{name}{self._ending}"
        other.read(source)
        return other

    def read(self, source: str) -> None:
        """Set the source of the next expression."""
        self._source = source

    def finish(self, columns: Iterable[str]) -> str:
        """Return the whole text."""
        together = ",\n".join(self._parts)
        shown = ",\n  ".join(columns)
        return f"WITH RECURSIVE {together}\nSELECT {shown}\nFROM {self._source}"


class Given(NamedTuple):
    """The source of a query has the features x0, x1, ... and columns to pass on; is_infinite is an expression."""

    passed: list[str]
    is_infinite: str


def read_features(
    query: Query,
    fitted: Model,
    keys: Sequence[str],
    numbers: Sequence[int] | None = None,
    others: Sequence[str] = (),
) -> Given:
    """Add the features x0, x1, ... of table t, or only the features in ``numbers``, and other columns.

    The names of the keys are passed on.
    """
    numbers = range(fitted.n_features) if numbers is None else numbers
    passed = [f"k{i}" for i in range(len(keys))]
    given = [f"t.{quote_name(key)} AS {name}" for key, name in zip(keys, passed, strict=True)]
    features = read_columns(fitted, query.dialect)
    query.add("given", [*given, *(f"{features[f]} AS x{f}" for f in numbers), *others])
    if not numbers:
        return Given(passed, "0 AS is_infinite")
    absolute = ", ".join(f"abs(x{f})" for f in numbers)
    return Given(
        passed,
        f"CASE WHEN {write_infinity(query.dialect)} IN ({absolute}) THEN 1 ELSE 0 END AS is_infinite",
    )


def fill_units(query: Query, fitted: Model, keys: Sequence[str], names: dict[int, str]) -> list[str]:
    """Add features in the user's units under these names, with the centre instead of missing values.

    Return the names of the columns to pass on: the keys and is_infinite.
    """
    passed, is_infinite = read_features(query, fitted, keys)
    least, most, zero = (write_real(value, query.dialect) for value in (LEAST_VALUE, MOST_VALUE, 0.0))
    filled = []
    for f, name in names.items():
        x, centre = f"x{f}", write_real(float(fitted.normalisation.centre[f]), query.dialect)
        clipped = f"WHEN {x}>{most} THEN {most} WHEN {x}<-{most} THEN -{most} ELSE {x}"
        filled.append(f"COALESCE(CASE WHEN abs({x})<{least} THEN {zero} {clipped} END, {centre}) AS {name}")
    query.add("filled", [*passed, is_infinite, *filled])
    return [*passed, "is_infinite"]


def normalise(query: Query, fitted: Model, given: Given, missing: str | None = None) -> list[str]:
    """Add z0, z1, ..., rounded to float32 as in the core, and return the names of the columns to pass on.

    These are the given ones and is_infinite. Missing values are replaced by ``missing``; None keeps them as NULL.
    """
    features, dialect = range(fitted.n_features), query.dialect
    passed, is_infinite = list(given.passed), given.is_infinite
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
    query.add("clipped", [*passed, *(f"{_clip(f'q{f}', CLIP, dialect)} AS q{f}" for f in features)])
    if dialect == "duckdb":
        rounded = [f"CAST(CAST(q{f} AS FLOAT) AS DOUBLE)" for f in features]
    elif dialect == "postgresql":
        rounded = [_round(f"q{f}") for f in features]
    else:
        # SQLite has no float32. Veltkamp's h = c·q - (c·q - q) with c = 2^29 + 1 is q rounded to 24 bits, except at
        # ties: then o = 2q - h, the neighbour on the other side, has 24 bits, too, and the one with an even last bit
        # is right.
        query.add("halves", [*passed, *(f"q{f}, {_split(f'q{f}', _SPLIT_24)} AS h{f}" for f in features)])
        others = (f"q{f}, h{f}, h{f}+(q{f}-h{f})+(q{f}-h{f}) AS o{f}" for f in features)
        query.add("others", [*passed, *others])
        rounded = [_settle(f"q{f}", f"h{f}", f"o{f}") for f in features]
    if missing is not None:
        rounded = [f"COALESCE({z},{missing})" for z in rounded]
    query.add("rounded", [*passed, *(f"{z} AS z{f}" for f, z in enumerate(rounded))])
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


def read_columns(fitted: Model, dialect: str) -> list[str]:
    """Return the features of a row, NULL where missing.

    Columns are qualified by the table, because SQLite reads an unknown quoted name as text.
    """
    values = []
    for name, encoder in zip(fitted.column_names, fitted.encoding.encoders, strict=True):
        column = f"t.{quote_name(name)}"
        if isinstance(encoder, Dropped):
            continue
        if isinstance(encoder, Numbers):
            number = _read_number(column, dialect)
            values.append(number)
            values += [f"CASE WHEN {number} IS NULL THEN 1e0 ELSE 0e0 END"] * encoder.has_indicator
            continue
        some = encoder.categories or ()
        column = read_category(name, some, dialect)
        known = [write_label(category, dialect) for category in some]
        if isinstance(encoder, TargetStatistic):
            values += [_look_up(column, known, own.tolist(), dialect) for own in encoder.values]
            continue
        values += [
            f"CASE WHEN {column}={own} THEN 1e0 WHEN {column} IN ({', '.join(known)}) THEN 0e0 END"
            for own in known
        ]
    return values


def read_category(name: str, categories: Sequence[Label], dialect: str) -> str:
    """Return a column of categories that is compared case-sensitively whatever the collation of the table.

    DuckDB and PostgreSQL collate text only.
    """
    column = f"t.{quote_name(name)}"
    if dialect == "sqlite":
        return f"{column} COLLATE BINARY"
    if all(isinstance(category, str) for category in categories):
        return f'CAST({column} AS VARCHAR) COLLATE "C"'
    return column


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
