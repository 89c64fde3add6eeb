"""Parsing of text: numbers, booleans and markers of missing values."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra

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
_WHOLE = re.compile(r"(-?\d+)\.0*")


def clean(text: Any, markers: tuple[str, ...] = MISSING) -> Any:
    """Arrow text without surrounding blanks; null if it is a marker of a missing value."""
    pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
    trimmed = pc.utf8_trim_whitespace(text)
    is_missing = pc.is_in(trimmed, value_set=pa.array(markers, pa.string()))
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), trimmed)


def spell(text: str) -> str:
    """One spelling for the same value: the number 1 may be written 1.0, and a truth value True, TRUE or true."""
    if text.lower() in ("true", "false"):
        return text.lower()
    return _WHOLE.sub(r"\1", text) if _WHOLE.fullmatch(text) else text


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
