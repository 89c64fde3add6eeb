"""Facts of reports, and names that try to break out of a page."""

import json
import re
from pathlib import Path

from lhtree.reports._facts import LabelledTable, summarise

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "<!-- <script>",
    "\"quotes\" 'and' `ticks` \\",
    "😀 emoji",
    "a" * 300,
    "__proto__",
    "constructor",
    "\u202eturned",
    "{{facts}} {{script}}",
    "\ud800 alone",
    "line\u2028end\x00",
]


def make_summary(model, X, y, test=None, **options):
    """Return the facts of a report; ``test`` has held-out rows and their labels."""
    options = {"title": None, "max_bytes": 8 * 2**20} | options
    return summarise(model, LabelledTable(X, y), LabelledTable(*test) if test else None, **options)


def read_facts(path):
    """Return the facts as a browser reads them."""
    text = Path(path).read_text(encoding="utf-8")
    (found,) = re.findall(r'<script type="application/json" id="facts">(.*?)</script', text, flags=re.DOTALL)
    return json.loads(found)
