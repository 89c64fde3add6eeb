"""The values of a column as Arrow gives them, from text or typed: numbers, or text with what is missing settled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._columns import is_missing, settle
from .._extras import import_extra

MISSING = (
    "",
    "NA",
    "N/A",
    "n/a",
    "#N/A",
    "<NA>",
    "NaN",
    "nan",
    "NAN",
    "-nan",
    "null",
    "NULL",
    "None",
    "?",
    "-",
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


def find_kind(values: Any) -> str:
    """What a column of Arrow holds by its type: "numbers", "text", "times" or "other"."""
    types = import_extra("pyarrow.types", "cli")
    kind = values.type.value_type if types.is_dictionary(values.type) else values.type
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_temporal(kind):
        return "times"
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return "numbers" if is_number or types.is_boolean(kind) or types.is_null(kind) else "other"


def make_plain(values: Any) -> Any:
    """Text as Arrow's string, whatever type of text it is."""
    pa = import_extra("pyarrow", "cli")
    return values if values.type == pa.string() else values.cast(pa.string())


def clean(values: Any, markers: tuple[str, ...] = MISSING) -> Any:
    """Text without blanks around it, null where it says that something is missing."""
    pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
    text = pc.utf8_trim_whitespace(make_plain(values))
    is_missing = pc.is_in(text, value_set=pa.array(markers, pa.string()))
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), text)


def read_numbers(values: Any, decimal: str = ".") -> NDArray[np.float64] | None:
    """The numbers of a column, NaN where they are missing; None if some text in it is no number."""
    pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
    if find_kind(values) == "numbers":
        return _as_float64(pc.cast(values, pa.float64(), safe=False))
    numbers = _cast(make_plain(values), decimal)
    return _cast(clean(values), decimal) if numbers is None else numbers  # most columns need no cleaning


def find_text(values: Any, decimal: str = ".") -> int:
    """The first row whose text is no number, of a column for which ``read_numbers`` gave None."""
    low, high = 0, len(values)  # the rows before low are fine, those before high are not
    while high - low > 1:
        middle = (low + high) // 2
        if read_numbers(values.slice(low, middle - low), decimal) is None:
            high = middle
        else:
            low = middle
    return low


def are_dates(distinct: Any) -> bool:
    """Whether all of some texts look like dates or times."""
    pc = import_extra("pyarrow.compute", "cli")
    return len(distinct) > 0 and bool(pc.all(pc.match_substring_regex(distinct, _DATE)).as_py())


def find_grouped(distinct: Any, decimal: str = ".") -> str | None:
    """The first number with signs between its thousands, such as 1,234.5, if all of some texts are numbers else."""
    pc = import_extra("pyarrow.compute", "cli")
    is_grouped = pc.match_substring_regex(distinct, _GROUPED[decimal])
    grouped = distinct.filter(is_grouped)
    if len(grouped) == 0 or read_numbers(distinct.filter(pc.invert(is_grouped)), decimal) is None:
        return None
    return str(grouped[0].as_py())


def read_text(values: Any) -> Any:
    """A column as text; numbers as a CSV would hold them, whole ones without a point, null where they are missing."""
    pa = import_extra("pyarrow", "cli")
    if find_kind(values) != "numbers":
        return make_plain(values)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    encoded = values.dictionary_encode()
    texts = [None if is_missing(value) else str(settle(value)) for value in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def _point(text: Any, decimal: str) -> Any:
    """Text whose decimal sign is a point; where it is a comma, a point is none and must not pass for one."""
    if decimal == ".":
        return text
    pc = import_extra("pyarrow.compute", "cli")
    return pc.replace_substring(pc.replace_substring(text, ".", "!"), decimal, ".")


def _cast(text: Any, decimal: str) -> NDArray[np.float64] | None:
    pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
    try:
        return _as_float64(pc.cast(_point(text, decimal), pa.float64()))
    except pa.ArrowInvalid:
        return None


def _as_float64(values: Any) -> NDArray[np.float64]:
    numbers: NDArray[np.float64] = values.to_numpy(zero_copy_only=False)
    return numbers
