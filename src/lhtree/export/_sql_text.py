"""Values, sums and queries in SQL, exact in every engine."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..model.labels import Label, check_text

_POWER = 59  # 2^59 has 18 digits, which SQLite reads exactly
_MOST_DIGITS = 15  # of a decimal number that every engine reads as the nearest float64


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
    n_digits = sum(sign.isdigit() for sign in text.lstrip("-0."))
    return text if n_digits <= _MOST_DIGITS and "e" not in text else write_real(value, dialect)


def write_real(value: float, dialect: str) -> str:
    """Return a float64 as a decimal number; in SQLite, which reads 15 digits exactly, as a fraction if it has more."""
    text = repr(value)
    if dialect == "postgresql":
        return f"{text}::float8"
    if dialect == "duckdb":
        return text if "e" in text else f"{text}e0"
    n_digits = sum(sign.isdigit() for sign in text.lstrip("-0."))
    return text if n_digits <= _MOST_DIGITS and "e" not in text else write_number(value, dialect)


def quote_name(name: str, dialect: str) -> str:
    """Return a quoted column or table name."""
    return '"' + check_text(name, "name", "SQL").replace('"', '""') + '"'


def write_label(label: Label, dialect: str) -> str:
    """Return a class or a category as a value of its own type."""
    if isinstance(label, str):
        text = check_text(label, "class or category", "SQL")
        return "'" + text.replace("'", "''") + "'"
    if isinstance(label, bool):
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


def find_twins(names: Iterable[str], n_bytes: int | None = None) -> tuple[str, str] | None:
    """Return two names that are the same in SQL, which ignores case; only the first ``n_bytes`` count."""

    def seen(name: str) -> bytes:
        return name.encode(errors="surrogatepass")[:n_bytes].decode(errors="ignore").casefold().encode()

    return next((pair for pair in pairwise(sorted(names, key=seen)) if seen(pair[0]) == seen(pair[1])), None)


class Query:
    """A SELECT of common table expressions, most of which read the one before.

    They are materialised: an engine that inlines them would double its work with every level. None may have the name
    of the table, because SQLite would read the expression instead.
    """

    def __init__(self, table: str, dialect: str) -> None:
        self.dialect = dialect
        self._source = f"{quote_name(table, dialect)} AS t"
        self._ending = "" if table.endswith("_") else "_"
        self._parts: list[str] = []

    def name(self, name: str) -> str:
        """Return the name of an expression in the text."""
        return name + self._ending

    def number(self, value: float) -> str:
        """Return a float64."""
        return write_number(value, self.dialect)

    def add(self, name: str, columns: Iterable[str]) -> None:
        """Add an expression that selects these columns of the one before."""
        self.define(name, f"SELECT {', '.join(columns)}\nFROM {self._source}")
        self.read(self.name(name))

    def define(self, name: str, text: str, columns: str = "", *, is_kept: bool = True) -> None:
        """Add an expression that does not read the one before; ``is_kept`` materialises it."""
        kept = "MATERIALIZED " * is_kept
        self._parts.append(f"{self.name(name)}{columns} AS {kept}({text})")

    def read(self, source: str) -> None:
        """Set the source of the next expression."""
        self._source = source

    def finish(self, columns: Iterable[str]) -> str:
        """Return the whole text."""
        together = ",\n".join(self._parts)
        shown = ",\n  ".join(columns)
        return f"WITH RECURSIVE {together}\nSELECT {shown}\nFROM {self._source}"
