"""The page: the facts as JSON, put into one HTML file with its style and its script."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

import numpy as np

from ..describe.palette import write_css

_SCRIPTS = (
    "calibrate.js",
    "boosted.js",
    "regression.js",
    "model.js",
    "draw.js",
    "classes.js",
    "effects.js",
    "overview.js",
    "tree.js",
    "block.js",
    "row.js",
    "answer.js",
    "main.js",
)


def build_page(facts: dict[str, Any]) -> str:
    """The whole file. Nothing of the facts is ever read as HTML or as a script.

    The browser runs the one script and the one style whose hashes the policy names, and loads nothing.
    """
    script = "".join(['(() => {\n"use strict";\n', *map(_read, _SCRIPTS), "})();\n"])
    style = write_css() + _read("page.css")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    page = _read("page.html")
    for mark, text in (
        ("{{policy}}", policy),
        ("{{style}}", style),
        ("{{script}}", script),
        ("{{facts}}", _encode(facts)),
    ):
        before, after = page.split(mark)
        page = f"{before}{text}{after}"
    return page


def _read(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _encode(facts: dict[str, Any]) -> str:
    """JSON without characters that HTML could interpret as markup; arrays as base64 of their bytes."""
    text = json.dumps(facts, default=_encode_array, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _encode_array(values: object) -> dict[str, str]:
    if not isinstance(values, np.ndarray):
        raise TypeError(f"a report cannot hold {type(values).__name__}")
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return {"dtype": values.dtype.name, "base64": base64.b64encode(little.tobytes()).decode()}
