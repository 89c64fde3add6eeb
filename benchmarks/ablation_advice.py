"""The written text of the ablations page: read from its tables, to be read anew when they change."""

from __future__ import annotations

from .report import markdown_table

SUMMARY = ""
NOTES = dict.fromkeys(
    (
        "direction",
        "offset",
        "membership",
        "confidence",
        "normalize",
        "gamma",
        "beta",
        "n_estimators",
        "max_features",
    ),
    "",
)
RECOMMENDATIONS = markdown_table(["your data looks like this", "these settings"], [])
