"""An explanation as HTML for notebooks: the same sentences, and bars for the contributions."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ..describe.palette import AGAINST, FOR
from ._phrases import CLIPPED
from ._words import find_moves, tell_course, tell_prediction, tell_way

if TYPE_CHECKING:
    from ._explanation import Explanation

_WIDEST = 12.0  # em


def draw_html(explanation: Explanation) -> str:
    """A compact block of HTML; every name is escaped."""
    first, *more = (escape(line) for line in tell_prediction(explanation))
    moves, n_more, rest = find_moves(explanation)
    bars = [(" is ".join(filter(None, move[:2])), move.amount) for move in moves]
    if n_more:
        bars.append((f"{n_more} more", rest))
    clipped = explanation.account(explanation.prediction).clipped
    if explanation._fitted.amounts.is_seen(clipped):
        bars.append((CLIPPED, clipped))
    largest = max((abs(amount) for _, amount in bars), default=1.0)
    sign = explanation._fitted.amounts.sign
    rows = "".join(_draw_bar(what, amount, sign(amount), largest) for what, amount in bars)
    way = [escape(line) for line in tell_way(explanation)]
    told = "".join(f"<li>{line}</li>" for line in way[1:])
    details = (
        f"<details><summary>{way[0].removesuffix(':')}</summary><ul style='margin:0'>{told}</ul></details>"
        if way
        else ""
    )
    return (
        "<div class='lhtree-explanation' style='max-width:50em;line-height:1.4'>"
        f"<strong>{first}</strong>{''.join(f'<br>{line}' for line in more)}"
        f"<p style='margin:.5em 0 0'>{escape(tell_course(explanation))}</p>"
        f"<table style='border-collapse:collapse;margin:.25em 0;color:inherit;font:inherit'>{rows}</table>"
        f"{details}</div>"
    )


def _draw_bar(what: str, amount: float, written: str, largest: float) -> str:
    width = _WIDEST * abs(amount) / largest if largest else 0.0
    colour = FOR if amount >= 0.0 else AGAINST
    bar = f"<div style='width:{width:.2f}em;height:.8em;background:{colour}'></div>"
    return (
        f"<tr><td style='text-align:left;padding:0'>{escape(what)}</td>"
        f"<td style='text-align:right;padding:0 .5em 0 1em'>{written}</td><td style='padding:0'>{bar}</td></tr>"
    )
