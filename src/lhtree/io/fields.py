"""Columns of files: text is parsed as numbers where possible, and some words mean missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

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
_CURRENCY = r"([$€£¥₹]|USD|EUR|GBP|CHF)"
_AMOUNT = r"(\d[\d., '\x{a0}\x{202f}]*|[.,]\d+)"
_UNIT = rf"^([+-]?{_CURRENCY} ?[+-]?{_AMOUNT}|[+-]?{_AMOUNT} ?({_CURRENCY}|%))$"
_TIME = r"\d{1,2}:\d{2}(:\d{2}.*)?"
_DAY = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
_DATE = rf"^(({_DAY})([ T]{_TIME})?|{_TIME})$"
_ISO_DATE = rf"^\d{{4}}-\d{{2}}-\d{{2}}([ T]{_TIME})?$"


class Spelling(NamedTuple):
    """Facts about the texts of a column that are not missing; each holds for all of them.

    The facts of parts of a column can be merged, so a table that is read in batches has the same columns as a whole
    one.
    """

    example: str | None = None  # the first text; None: all are missing
    are_numbers: bool = True
    are_digits: bool = True
    any_padded: bool = False  # some text of digits begins with 0, as ids do
    are_dates: bool = True
    are_iso: bool = True  # dates such as 2026-01-31, which may be followed by a time
    have_commas: bool = True  # numbers with a decimal comma, where a point was expected
    are_marked: bool = True  # numbers, some of them with signs of thousands, of a currency or of percent
    marked: str | None = None  # the first of these

    @classmethod
    def of(cls, text: Any, decimal: str) -> Spelling:
        """Return the facts about text of Arrow."""
        numbers = parse_numbers(text, decimal)
        if numbers is not None:
            return cls._of_numbers(text, numbers, decimal)
        pc = import_extra("pyarrow.compute", "cli")
        texts = pc.unique(clean(text).drop_null())
        marked, are_marked = find_marked(texts, decimal)
        return cls(
            texts[0].as_py(),
            are_numbers=False,
            are_digits=False,
            are_dates=are_dates(texts),
            are_iso=are_dates(texts, _ISO_DATE),
            have_commas=decimal == "." and parse_numbers(texts, ",") is not None,
            are_marked=are_marked,
            marked=marked,
        )

    @classmethod
    def _of_numbers(cls, text: Any, numbers: NDArray[np.float64], decimal: str) -> Spelling:
        """Return the facts about text that holds numbers, as most columns do."""
        pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
        is_known = ~np.isnan(numbers)
        if not is_known.any():
            return cls()
        known = numbers[is_known]
        are_digits = any_padded = False
        if (known == np.floor(known)).all():
            trimmed = pc.utf8_trim_whitespace(text.filter(pa.array(is_known)))
            are_digits = bool(pc.all(pc.ascii_is_decimal(trimmed)).as_py())
            is_padded = pc.and_(pc.starts_with(trimmed, "0"), pc.greater(pc.binary_length(trimmed), 1))
            any_padded = are_digits and bool(pc.any(is_padded).as_py())
        return cls(
            text[int(is_known.argmax())].as_py().strip(),
            are_digits=are_digits,
            any_padded=any_padded,
            are_dates=False,
            are_iso=False,
            have_commas=decimal == "." and not pc.any(pc.match_substring(text, ".")).as_py(),
        )

    def merge(self, other: Spelling) -> Spelling:
        """Return the facts about this part of a column and a later one."""
        if self.example is None or other.example is None:
            return self if other.example is None else other
        return Spelling(
            self.example,
            self.are_numbers and other.are_numbers,
            self.are_digits and other.are_digits,
            self.any_padded or other.any_padded,
            self.are_dates and other.are_dates,
            self.are_iso and other.are_iso,
            self.have_commas and other.have_commas,
            self.are_marked and other.are_marked,
            self.marked if self.marked is not None else other.marked,
        )

    @property
    def kind(self) -> str:
        """The kind of the column; digits with leading zeros are ids, and so categories."""
        if self.are_numbers:
            return "categories" if self.are_digits and self.any_padded else "numbers"
        return "dates" if self.are_iso else "times" if self.are_dates else "categories"


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
        """Return the name of a row in messages: its line, if the file has lines."""
        return self._locate(row)

    def clean(self, category: Category) -> Category | None:
        """Return text without surrounding blanks; None if it means missing."""
        text = category.strip() if isinstance(category, str) else category
        return None if text in self._markers else text

    def _find_kind(self) -> str:
        return self.spelling.kind if self.is_text else super()._find_kind()

    @cached_property
    def spelling(self) -> Spelling:
        """Facts about the texts of a column of text."""
        return Spelling.of(self._flatten(), self._decimal)

    def _holds_objects(self) -> bool:
        return not self.is_text and super()._holds_objects()

    def numbers(self) -> NDArray[np.float64]:
        """Return the values as float64, NaN where they are missing; an error where they are no numbers, or infinite."""
        if not self.is_text:
            return super().numbers()
        text, decimal = self._flatten(), self._decimal
        numbers = parse_numbers(text, decimal)
        if numbers is None:
            row = find_text(text, decimal)
            value, one = text[row].as_py(), Spelling.of(text.slice(row, 1), decimal)
            remedy, options = f"write {strip_signs(value, decimal)}" if one.marked else "", {}
            if one.have_commas:
                remedy, options = "read it with a decimal comma", {"decimal": ","}
            self._refuse_text(row, value, remedy, **options)
        return self._check_finite(numbers)

    def find_refusal(self, *, is_category: bool) -> Refusal | None:
        """Return the reason why the column cannot be learned from, as categories or else as numbers."""
        is_text_date = self.is_text and self.kind == "dates"
        refusal = None if is_text_date else super().find_refusal(is_category=is_category)
        if refusal is None and self.is_text and not is_category:
            refusal = self.refuse_spelling(self.spelling)
        return refusal

    def _refuse_kind(self) -> Refusal:
        refusal = super()._refuse_kind()
        reason = f"{refusal.reason} ({self.values.type})"
        return refusal._replace(
            reason=reason, remedy=f"drop it, or {refusal.remedy}", options={"drop": self.name}
        )

    def refuse_spelling(self, spelling: Spelling) -> Refusal | None:
        """Refuse text that was surely meant as numbers or dates; ``spelling`` is that of the whole column."""
        if spelling.are_numbers or spelling.are_iso:
            return None
        example = shorten(spelling.example)
        if spelling.are_dates:
            remedy = "drop it, or write dates as 2026-01-31 and times as numbers"
            return Refusal(self, f"holds dates or times, such as {example}", remedy, {"drop": self.name})
        as_category = {"categorical": self.name}
        if spelling.are_marked and spelling.marked is not None:
            marked, signs = spelling.marked, find_signs(spelling.marked)
            reason = f"holds numbers with {signs}, such as {shorten(marked)}"
            remedy = "write them without, or treat them as categories"
            if signs != _THOUSANDS:
                remedy = f"write {strip_signs(marked, self._decimal)}, or treat them as categories"
            if spelling.have_commas:
                remedy = f"{remedy}, or read it with a decimal comma"
                as_category |= {"decimal": ","}
            return Refusal(self, reason, remedy, as_category)
        if spelling.have_commas:
            reason = f"holds numbers with decimal commas, such as {example}"
            remedy = "read it with a decimal comma, or make them categories"
            return Refusal(self, reason, remedy, {"decimal": ","} | as_category)
        return None


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
        """Return the column of a name; ``markers`` are the texts that mean missing."""
        return FileColumn(self, name, markers)

    def select(self, names: Sequence[str]) -> FileRows:
        """Return the rows with some of the columns, in this order."""
        return FileRows(self.records.select(list(names)), self.name, self.decimal, self.locate)

    def filter(self, is_kept: NDArray[np.bool_]) -> FileRows:
        """Return some of the rows."""
        kept = np.flatnonzero(is_kept)
        return FileRows(
            self.records.filter(import_extra("pyarrow", "cli").array(is_kept)),
            self.name,
            self.decimal,
            lambda row: self.locate(int(kept[row])),
        )

    def take(self, row: int) -> FileRows:
        """Return one of the rows."""
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
    """Return Arrow text without surrounding blanks; null if it is a marker of a missing value."""
    pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
    trimmed = pc.utf8_trim_whitespace(text)
    is_missing = pc.is_in(trimmed, value_set=pa.array(markers, pa.string()))
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), trimmed)


def parse_numbers(text: Any, decimal: str = ".") -> NDArray[np.float64] | None:
    """Return the numbers in Arrow text, NaN where missing; None if some text is neither a number nor true or false."""
    numbers = _cast(text, decimal)
    if numbers is None:  # most columns need no cleaning
        numbers = _cast(_number_truths(clean(text)), decimal)
    return numbers


def find_text(text: Any, decimal: str = ".") -> int:
    """Return the first row that is no number, of text for which ``parse_numbers`` gave None."""
    low, high = 0, len(text)  # the rows before low are fine, those before high are not
    while high - low > 1:
        middle = (low + high) // 2
        if parse_numbers(text.slice(low, middle - low), decimal) is None:
            high = middle
        else:
            low = middle
    return low


def are_dates(distinct: Any, pattern: str = _DATE) -> bool:
    """Whether all of some texts look like dates or times."""
    pc = import_extra("pyarrow.compute", "cli")
    return len(distinct) > 0 and bool(pc.all(pc.match_substring_regex(distinct, pattern)).as_py())


def find_marked(distinct: Any, decimal: str = ".") -> tuple[str | None, bool]:
    """Return the first number with a sign (1,234.5, $5, 5 %), and whether all texts are such or plain numbers."""
    pc = import_extra("pyarrow.compute", "cli")
    is_marked = pc.or_(
        pc.match_substring_regex(distinct, _GROUPED[decimal]), pc.match_substring_regex(distinct, _UNIT)
    )
    marked = distinct.filter(is_marked)
    are_numbers = parse_numbers(distinct.filter(pc.invert(is_marked)), decimal) is not None
    return (str(marked[0].as_py()) if len(marked) else None), are_numbers


_THOUSANDS = "thousands signs"


def find_signs(marked: str) -> str:
    """Name the signs of a text that ``find_marked`` found."""
    if "%" in marked:
        return "percent signs"
    return "currency signs" if re.search(_CURRENCY, marked) else _THOUSANDS


def strip_signs(marked: str, decimal: str) -> str:
    """Return a text that ``find_marked`` found as a plain number; a last group of three digits is one of thousands."""
    found = re.fullmatch(r"(.*?)(?:([.,])(\d+))?", re.sub(r"[^\d.,-]", "", marked))
    assert found is not None  # the expression matches any text
    head, sign, tail = re.sub(r"[.,]", "", found[1]), found[2], found[3] or ""
    return f"{head}{decimal}{tail}" if sign == decimal or (sign and len(tail) != 3) else head + tail


def _number_truths(text: Any) -> Any:
    pc = import_extra("pyarrow.compute", "cli")
    lower = pc.utf8_lower(text)
    return pc.if_else(pc.equal(lower, "true"), "1", pc.if_else(pc.equal(lower, "false"), "0", text))


def _point(text: Any, decimal: str) -> Any:
    """Return text with a decimal point; where the decimal sign is a comma, a point is made invalid."""
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
