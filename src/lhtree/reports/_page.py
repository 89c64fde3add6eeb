"""The page: facts as JSON in one HTML file with its style and its script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files
from typing import Any

import numpy as np

from ..describe.palette import write_css

_IMPORT = re.compile(r'^import .* from "\./(.*)";\n', re.MULTILINE)


def build_page(facts: dict[str, Any]) -> str:
    """Return the whole file. The browser never reads facts as HTML or as a script.

    The browser runs the one script and the one style whose hashes the policy names, and loads nothing.
    """
    script, style = bundle("main.js"), write_css() + _read("page.css")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    page = _read("page.html")
    for mark, text in (
        ("{{policy}}", policy),
        ("{{style}}", style),
        ("{{script}}", script),
        ("{{facts}}", encode(facts)),
    ):
        before, after = page.split(mark)
        page = f"{before}{text}{after}"
    return page


def bundle(name: str) -> str:
    """Return a module and all that it imports as one module: each after its imports, without import and export.

    A page opened from a file cannot import modules. Top-level names must therefore differ between modules.
    """
    texts: dict[str, str] = {}

    def add(name: str) -> None:
        if name not in texts:
            text = _read(name)
            for other in _IMPORT.findall(text):
                add(other)
            texts[name] = re.sub(r"^export ", "", _IMPORT.sub("", text), flags=re.MULTILINE)

    add(name)
    return "".join(texts.values())


def _read(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def encode(facts: dict[str, Any]) -> str:
    """Return JSON without characters that HTML could interpret as markup; arrays as base64 of their bytes."""
    text = json.dumps(facts, default=_encode_array, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _encode_array(values: object) -> dict[str, str]:
    if not isinstance(values, np.ndarray):
        raise TypeError(f"a report cannot hold {type(values).__name__}")
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return {"dtype": values.dtype.name, "base64": base64.b64encode(little.tobytes()).decode()}
