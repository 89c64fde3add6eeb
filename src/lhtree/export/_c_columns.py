"""What a C file computes of columns: statistics of categories, and indicators of missing values."""

from __future__ import annotations

from string import Template

import numpy as np

from ..model.labels import check_text
from ..model.model import Model
from ._c_template import LOOK_UP, LOOK_UP_HEAD
from ._c_text import array, doubles, strings


def write_columns(fitted: Model, known: dict[str, str]) -> dict[str, str]:
    """Parts of the file that depend on how columns become features."""
    is_indicator, parts = fitted.encoding.is_indicator, {"x": "x[f]", "given": ""}
    meaning = ""
    if is_indicator.any():
        flags = array("uint8_t", "is_indicator", map(str, is_indicator.astype(int).tolist()))
        parts |= {"x": "given", "given": f"        {INDICATED}"}
        meaning += "\n      Indicators of missing values are computed: what is passed for them is ignored."
    else:
        flags = ""
    if fitted.encoding.counted:
        meaning += f"\n      {known['name']}_look_up gives the numbers of columns with target statistics."
    look_up = _write_look_up(fitted, known)
    head = Template(LOOK_UP_HEAD).substitute(known) if look_up else ""
    flags = f"{flags}\n" if flags else ""
    return parts | {"computed_meaning": meaning, "look_up_head": f"{head}{flags}", "look_up": look_up}


INDICATED = "const double given = is_indicator[f] ? (x[f - 1] == x[f - 1] ? 0.0 : 1.0) : x[f];"


def _write_look_up(fitted: Model, known: dict[str, str]) -> str:
    levels, cases = [], []
    for column in fitted.encoding.counted:
        statistic = fitted.encoding.statistic_of(column)
        assert statistic is not None
        texts = [check_text(str(category), "category", "C") for category in statistic.categories]
        order = np.array(sorted(range(len(texts)), key=lambda i: texts[i].encode()), dtype=np.int64)
        listed = strings([texts[i] for i in order])
        levels.append(f"static const char *const level_{column}[] = {{\n{listed}\n}};")
        for feature, values in enumerate(statistic.values, int(fitted.encoding.ptr[column])):
            levels.append(doubles(f"statistic_{feature}", np.append(values[-1], values[order])))
            cases.append(
                f"    case {feature}: return find(level_{column}, {len(texts)}, statistic_{feature}, category);"
            )
    if not cases:
        return ""
    return Template(LOOK_UP).substitute(known, levels="\n".join(levels), cases="\n".join(cases))
