"""Columns of files: text is parsed as numbers where possible, and some words mean missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..tables.columns import ArrowColumn, Category, Column, Refusal, find_arrow_kind
from ..tables.errors import shorten
from ..tables.frames import Table

MISSING = (
    "",
    *["NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan", "null", "NULL", "None", "?", "-"],
)
# Classes may well be called "-" or "None".
MISSING_CLASS = tuple(marker for marker in MISSING if marker not in ("-", "None"))
_GROUPED = {
    decimal: rf"^[+-]?\d{{1,3}}([{sign}' \x{{a0}}\x{{202f}}]\d{{3}})+([{decimal}]\d+)?$"
    for decimal, sign in ((".", ","), (",", "."))
}
_TIME = r"\d{1,2}:\d{2}(:\d{2}.*)?"
_DAY = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
_DATE = rf"^(({_DAY})([ T]{_TIME})?|{_TIME})$"


class FileColumn(ArrowColumn):
    """A column of ``FileRows``; text may hold anything, since many formats have nothing else."""

    def __init__(self, rows: FileRows, name: str, markers: tuple[str, ...]) -> None:
        super().__init__(rows.records.column(name), name)
        self.origin, self._decimal, self._locate, self._markers = (
            rows.name,
            rows.decimal,
            rows.locate,
            markers,
        )
        self.is_text = find_arrow_kind(self.values.type) == "categories"

    def locate(self, row: int) -> str:
        """How messages call a row: by its line, where the file has lines."""
        return self._locate(row)

    def clean(self, category: Category) -> Category | None:
        """Text without surrounding blanks; None if it means missing."""
        text = category.strip() if isinstance(category, str) else category
        return None if text in self._markers else text

    def _find_kind(self) -> str:
        if not self.is_text:
            return super()._find_kind()
        if parse_numbers(self._flatten(), self._decimal) is not None:
            return "numbers"
        return "times" if are_dates(self._find_texts()) else "categories"

    def _holds_objects(self) -> bool:
        return not self.is_text and super()._holds_objects()

    def numbers(self) -> NDArray[np.float64]:
        """The values as float64, NaN where they are missing; an error where they are no numbers, or infinite."""
        if not self.is_text:
            return super().numbers()
        text, decimal = self._flatten(), self._decimal
        numbers = parse_numbers(text, decimal)
        if numbers is None:
            row = find_text(text, decimal)
            is_comma = decimal == "." and parse_numbers(text.slice(row, 1), ",") is not None
            remedy, options = ("read it with a decimal comma", {"decimal": ","}) if is_comma else ("", {})
            self._refuse_text(row, text[row].as_py(), remedy, **options)
        return self._check_finite(numbers)

    def find_refusal(self, *, is_category: bool) -> Refusal | None:
        """Why the column cannot be learned from, as categories or else as numbers."""
        refusal = super().find_refusal(is_category=is_category)
        if refusal is None and self.is_text and not is_category:
            refusal = self._find_spelling()
        return refusal

    def _refuse_kind(self) -> Refusal:
        refusal = super()._refuse_kind()
        reason = f"{refusal.reason} ({self.values.type})"
        return refusal._replace(
            reason=reason, remedy=f"drop it, or {refusal.remedy}", options={"drop": self.name}
        )

    def _find_spelling(self) -> Refusal | None:
        """Refuse text that was surely meant as numbers or dates."""
        if self.kind == "numbers":
            return None
        texts, decimal = self._find_texts(), self._decimal
        example = shorten(texts[0].as_py())
        if self.kind == "times":
            remedy = "drop it, or convert dates and times to numbers first"
            return Refusal(self, f"holds dates or times, such as {example}", remedy, {"drop": self.name})
        as_category = {"categorical": self.name}
        has_commas = decimal == "." and parse_numbers(texts, ",") is not None
        grouped = find_grouped(texts, decimal)
        if grouped is not None:
            reason = f"holds numbers with thousands signs, such as {grouped!r}"
            remedy = "write them without, or treat them as categories"
            if has_commas:
                return Refusal(
                    self, reason, f"{remedy}, or read it with a decimal comma", as_category | {"decimal": ","}
                )
            return Refusal(self, reason, remedy, as_category)
        if has_commas:
            reason = f"holds numbers with decimal commas, such as {example}"
            remedy = "read it with a decimal comma, or make them categories"
            return Refusal(self, reason, remedy, {"decimal": ","} | as_category)
        return None

    def _find_texts(self) -> Any:
        """Return the distinct texts that are not missing."""
        pc = import_extra("pyarrow.compute", "cli")
        return pc.unique(clean(self._flatten()).drop_null())


class FileRows(Table):
    """Some rows of a file, and how messages call them.

    Parameters
    ----------
    records : pyarrow.RecordBatch or pyarrow.Table
        The rows.
    name : str
        What messages call the file.
    decimal : {".", ","}
        The decimal sign of numbers in text.
    locate : callable
        How messages call a row of the batch.
    """

    checks_names = False  # the columns were chosen by name

    def __init__(self, records: Any, name: str, decimal: str, locate: Callable[[int], str]) -> None:
        super().__init__(records)
        self.records, self.name, self.decimal, self.locate = records, name, decimal, locate

    def __len__(self) -> int:
        return int(self.records.num_rows)

    def column(self, name: str, markers: tuple[str, ...] = MISSING) -> FileColumn:
        """The column of a name; ``markers`` are the texts that mean missing."""
        return FileColumn(self, name, markers)

    def select(self, names: Sequence[str]) -> FileRows:
        """Return the rows with some of the columns, in this order."""
        return FileRows(self.records.select(list(names)), self.name, self.decimal, self.locate)

    def filter(self, is_kept: NDArray[np.bool_]) -> FileRows:
        """Some of the rows."""
        kept = np.flatnonzero(is_kept)
        return FileRows(
            self.records.filter(import_extra("pyarrow", "cli").array(is_kept)),
            self.name,
            self.decimal,
            lambda row: self.locate(int(kept[row])),
        )

    def take(self, row: int) -> FileRows:
        """One of the rows."""
        return FileRows(self.records.slice(row, 1), self.name, self.decimal, lambda _: self.locate(row))

    @cached_property
    def names(self) -> list[str] | None:
        """Names of the columns."""
        return list(self.records.schema.names)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.records.schema)

    def columns(self) -> list[Column]:
        """Return the columns."""
        return [self.column(name) for name in self.records.schema.names]


def clean(text: Any, markers: tuple[str, ...] = MISSING) -> Any:
    """Arrow text without surrounding blanks; null if it is a marker of a missing value."""
    pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
    trimmed = pc.utf8_trim_whitespace(text)
    is_missing = pc.is_in(trimmed, value_set=pa.array(markers, pa.string()))
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), trimmed)


def parse_numbers(text: Any, decimal: str = ".") -> NDArray[np.float64] | None:
    """The numbers of text of Arrow, NaN where they are missing; None if some of it is no number and no truth value."""
    numbers = _cast(text, decimal)
    if numbers is None:  # most columns need no cleaning
        numbers = _cast(_number_truths(clean(text)), decimal)
    return numbers


def find_text(text: Any, decimal: str = ".") -> int:
    """The first row that is no number, of text for which ``parse_numbers`` gave None."""
    low, high = 0, len(text)  # the rows before low are fine, those before high are not
    while high - low > 1:
        middle = (low + high) // 2
        if parse_numbers(text.slice(low, middle - low), decimal) is None:
            high = middle
        else:
            low = middle
    return low


def are_dates(distinct: Any) -> bool:
    """Whether all of some texts look like dates or times."""
    pc = import_extra("pyarrow.compute", "cli")
    return len(distinct) > 0 and bool(pc.all(pc.match_substring_regex(distinct, _DATE)).as_py())


def find_grouped(distinct: Any, decimal: str = ".") -> str | None:
    """The first number with thousands signs, such as 1,234.5, if the other texts are numbers, too."""
    pc = import_extra("pyarrow.compute", "cli")
    is_grouped = pc.match_substring_regex(distinct, _GROUPED[decimal])
    grouped = distinct.filter(is_grouped)
    if len(grouped) == 0 or parse_numbers(distinct.filter(pc.invert(is_grouped)), decimal) is None:
        return None
    return str(grouped[0].as_py())


def _number_truths(text: Any) -> Any:
    pc = import_extra("pyarrow.compute", "cli")
    lower = pc.utf8_lower(text)
    return pc.if_else(pc.equal(lower, "true"), "1", pc.if_else(pc.equal(lower, "false"), "0", text))


def _point(text: Any, decimal: str) -> Any:
    """Text whose decimal sign is a point; where it is a comma, a point is none and must not pass for one."""
    if decimal == ".":
        return text
    pc = import_extra("pyarrow.compute", "cli")
    return pc.replace_substring(pc.replace_substring(text, ".", "!"), decimal, ".")


def _cast(text: Any, decimal: str) -> NDArray[np.float64] | None:
    pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
    try:
        numbers: NDArray[np.float64] = pc.cast(_point(text, decimal), pa.float64()).to_numpy(
            zero_copy_only=False
        )
    except pa.ArrowInvalid:
        return None
    return numbers
