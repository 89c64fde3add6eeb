"""Tables of docs/model_files.md match the code; ``python tests/docs/test_model_files.py`` writes them."""

import re
from pathlib import Path

from lhtree.files.arrays import ALL_ARRAYS
from lhtree.files.header import HEADER
from lhtree.model.trees import SCHEMA

TYPES = {"f8": "F64", "f4": "F32", "i8": "I64", "i4": "I32", "i1": "I8"}
PAGE = Path(__file__).parents[2] / "docs" / "model_files.md"


def write_arrays():
    lines = ["| name | type | one value per | default | |", "|---|---|---|---|---|"]
    for name, array in ALL_ARRAYS.items():
        axis = array.axis.replace(" ", " × ") + (" + 1" if array.points_to else "")
        default = "" if array.default is None else "none" if name not in SCHEMA else f"{array.default:g}"
        dtype = " or ".join(TYPES[one] for one in array.dtype.split())
        lines.append(f"| `{name}` | {dtype} | {axis} | {default} | {array.about} |")
    return lines


def write_header():
    lines = ["| field | default | |", "|---|---|---|"]
    for name, field in HEADER.items():
        default = "" if field.default is ... else f"`{field.default}`"
        lines.append(f"| `{name}` | {default} | {field.about} |")
    return lines


def fill(text):
    for mark, lines in (("arrays", write_arrays()), ("header", write_header())):
        inner = "\n".join([f"<!-- {mark} -->", *lines, f"<!-- /{mark} -->"])
        text = re.sub(
            rf"<!-- {mark} -->.*?<!-- /{mark} -->", lambda _, inner=inner: inner, text, flags=re.DOTALL
        )
    return text


def test_tables_of_the_format_match_the_code():
    text = PAGE.read_text(encoding="utf-8")
    assert fill(text) == text


if __name__ == "__main__":
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
