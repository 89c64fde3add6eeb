"""The values of a column as Arrow gives them, from text or typed: numbers, or text with what is missing settled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

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


def read_numbers(
    values: Any, decimal: str = ".", *, takes_truths: bool = False
) -> NDArray[np.float64] | None:
    """The numbers of a column, NaN where they are missing; None if some text in it is no number.

    With ``takes_truths`` the texts true and false are 1 and 0: a CSV has them where a frame has truth values.
    """
    pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
    if find_kind(values) == "numbers":
        return _as_float64(pc.cast(values, pa.float64(), safe=False))
    numbers = _cast(make_plain(values), decimal)
    if numbers is None:  # most columns need no cleaning
        text = clean(values)
        numbers = _cast(_number_truths(text) if takes_truths else text, decimal)
    return numbers


def find_text(values: Any, decimal: str = ".") -> int:
    """The first row that is neither a number nor a truth value, of a column for which ``read_numbers`` gave None."""
    low, high = 0, len(values)  # the rows before low are fine, those before high are not
    while high - low > 1:
        middle = (low + high) // 2
        if read_numbers(values.slice(low, middle - low), decimal, takes_truths=True) is None:
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


class Found(NamedTuple):
    """The values of a column among known ones."""

    codes: NDArray[np.int64]  # the number of every value, -1 where it is missing or not known
    is_unknown: NDArray[np.bool_]
    text: Any  # of Arrow, as messages show it


def find_known(values: Any, known: Sequence[Any], markers: tuple[str, ...] = MISSING) -> Found:
    """Find the values of a column among known ones, which are compared as text.

    A value is taken as written first, since one may be called "-"; then without blanks; then as any program may have
    spelled it: the same number is 1 in one file and 1.0 in another, and a truth value is True, TRUE or true.
    """
    pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
    names, text = pa.array(map(str, known), pa.string()), read_text(values)
    codes = pc.index_in(text, value_set=names)
    if codes.null_count:
        text = clean(text, markers)
        codes = pc.coalesce(codes, pc.index_in(text, value_set=names))
    is_unknown = _find_unknown(codes, text)
    if is_unknown.any():
        codes = pc.coalesce(codes, pc.index_in(_spell(text), value_set=_spell(names)))
        is_unknown = _find_unknown(codes, text)
    return Found(codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64), is_unknown, text)


def _find_unknown(codes: Any, text: Any) -> NDArray[np.bool_]:
    pc = import_extra("pyarrow.compute", "cli")
    is_unknown: NDArray[np.bool_] = pc.and_(pc.is_null(codes), pc.is_valid(text)).to_numpy(
        zero_copy_only=False
    )
    return is_unknown


def _spell(text: Any) -> Any:
    """Text in which whole numbers have no decimal point and truth values are in lower case."""
    pc = import_extra("pyarrow.compute", "cli")
    lower = pc.utf8_lower(text)
    is_truth = pc.or_(pc.equal(lower, "true"), pc.equal(lower, "false"))
    return pc.if_else(is_truth, lower, pc.replace_substring_regex(text, r"^(-?\d+)\.0*$", r"\1"))


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
        return _as_float64(pc.cast(_point(text, decimal), pa.float64()))
    except pa.ArrowInvalid:
        return None


def _as_float64(values: Any) -> NDArray[np.float64]:
    numbers: NDArray[np.float64] = values.to_numpy(zero_copy_only=False)
    return numbers
