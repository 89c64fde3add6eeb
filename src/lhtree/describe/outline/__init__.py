"""A compact tree as people read it: facts, and words that text, rules, plots and sheets share."""

from ._facts import CATEGORY, MISSING, NUMBER, STATISTIC, Outline, OutlineBlock, Term
from ._read import read_outline
from ._text import write_tree
from ._words import OPPOSITE, Side, find_left, name_value, settle_leaf, write_number, write_sum

__all__ = [
    "CATEGORY",
    "MISSING",
    "NUMBER",
    "OPPOSITE",
    "STATISTIC",
    "Outline",
    "OutlineBlock",
    "Side",
    "Term",
    "find_left",
    "name_value",
    "read_outline",
    "settle_leaf",
    "write_number",
    "write_sum",
    "write_tree",
]
