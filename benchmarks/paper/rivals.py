"""Claims about the other methods: best on seven of nine, fastest, and skin without its copies."""

import math
from collections.abc import Sequence

import numpy as np

from lhtree.evaluation.measures import find_interval

from ..common.pages import markdown_table
from ..common.results import Results, values
from ..common.statistics import Mean, chance_of_at_least, percent, say_interval, subtract, summarise
from .printed import (
    FAILS,
    HOLDS,
    LUCKY,
    PEERS,
    SMALL,
    TABLES,
    Claim,
    best_peer,
    lead,
    least_p,
    n_test,
    right_rows,
    verdict,
)
from .runs import COLUMNS, DISTINCT
from .tables import TITLES, lht, there

_LEAST_CHANCE = 0.001  # rarer than this is not luck any more
_OURS = ("paper_forest", "mixed_forest")


def best_of(results: Results, name: str, metric: str = "accuracy") -> str:
    """Return the peer with the largest mean."""
    return max(PEERS, key=lambda peer: np.mean(values(results, name, peer, metric)))


def difference(results: Results, name: str, model: str, metric: str = "accuracy") -> Mean:
    """Return a model less the best peer, paired over the splits, with the interval for splits that share rows."""
    return subtract(results, name, model, best_of(results, name, metric), metric)


def share_at_top(results: Results, name: str, model: str, metric: str = "accuracy") -> float:
    """Return the share of splits on which no peer is more accurate."""
    best = np.max([values(results, name, peer, metric) for peer in PEERS], axis=0)
    return float((np.array(values(results, name, model, metric)) >= best).mean())


def _say(found: Mean) -> str:
    if math.isinf(found.half):
        return f"{100 * found.mean:+.2f} (one split)"
    word = "loses" if found.mean < -found.half else "wins" if found.mean > found.half else "ties"
    return f"{100 * found.mean:+.2f} ± {100 * found.half:.2f} {word}"


def rival_table(results: Results, names: Sequence[str]) -> str:
    """Return the paper's LHT and our forests against the best peer of each set."""
    rows = []
    for name in there(results, names):
        model = lht(name)
        share = share_at_top(results, name, model)
        n_splits = len(values(results, name, model))
        claimed = f"**{verdict(share)}**" if lead(name) >= 0 else "not claimed"
        against = _say(difference(results, name, model)), f"{percent(share, 0)} %", claimed
        ours = [_say(difference(results, name, own)) for own in _OURS]
        rows.append([name, n_splits, TITLES[best_of(results, name)], TITLES[model], *against, *ours])
    head = "data | splits | best peer | the paper's LHT | LHT − best peer | splits with LHT on top | best?"
    return markdown_table([*head.split(" | "), *(f"{TITLES[own]} − best peer" for own in _OURS)], rows)


def printed_table() -> str:
    """Return test rows, leads in rows and intervals of the paper's figures."""
    rows = []
    for name, table in TABLES.items():
        n, own, peer = n_test(name), table["lht"].test, best_peer(name)
        note = "" if right_rows(own, n) is not None else " (not a whole number of rows)"
        bounds = say_interval(find_interval(round(own / 100 * n) / n, n))
        ahead = f"{lead(name):+d}", f"{least_p(lead(name)):.2g}"
        rows.append([name, n, f"{own:.2f}{note}", bounds, f"{TITLES[peer]} {table[peer].test:.2f}", *ahead])
    head = (
        "data | test rows | printed LHT | its 95 % interval | best printed peer | lead in rows | smallest p"
    )
    return markdown_table(head, rows)


def claim_best(results: Results, names: Sequence[str]) -> list[Claim]:
    """Return verdicts on "best on seven of nine" and "highest on all four small sets"."""
    every = there(results, names)
    claims = []
    for said, some, least in (
        ("Best test accuracy on seven of nine", every, 7),
        ("Highest test accuracy on all four small sets", [name for name in every if name in SMALL], 4),
    ):
        n_best = sum(difference(results, name, lht(name)).mean >= 0 for name in some)
        chance = chance_of_at_least([share_at_top(results, name, lht(name)) for name in some], least)
        n_splits = [len(values(results, name, "cart")) for name in some]
        found = f"best mean on {n_best} of {len(some)}; one random split of each gives {least} or more "
        size = f"{len(some)} sets, {'–'.join(map(str, sorted({min(n_splits), max(n_splits)})))} splits"
        outcome = HOLDS if n_best >= least else LUCKY if chance >= _LEAST_CHANCE else FAILS
        claims.append(Claim(said, f"{found}with probability {chance:.2g}", size, outcome))
    return claims


def _order(results: Results, name: str, metric: str) -> list[str]:
    """Return the peers and the paper's LHT, fastest first."""
    models = (*PEERS, lht(name))
    return sorted(models, key=lambda model: np.median(values(results, name, model, metric)))


def claim_speed(results: Results, names: Sequence[str]) -> list[Claim]:
    """Return verdicts on speed; whole models, not slowest trees."""
    found = there(results, names, "row_seconds")
    claims = []
    for said, metric in (
        ("Fastest inference on all nine: one row", "row_seconds"),
        ("The same, all test rows in one call", "batch_seconds"),
    ):
        fastest = {name: _order(results, name, metric)[0] for name in found}
        lost = {name: TITLES[first] for name, first in fastest.items() if first != lht(name)}
        text = f"fastest on {len(found) - len(lost)} of {len(found)}"
        if lost:
            text += "; slower than " + ", ".join(f"{peer} on {name}" for name, peer in lost.items())
        claims.append(Claim(said, text, f"{len(found)} sets, median over splits", FAILS if lost else HOLDS))
    small = {
        name: _order(results, name, "fit_seconds").index(lht(name)) + 1 for name in found if name in SMALL
    }
    text = ", ".join(f"{name} {rank}" for name, rank in small.items())
    claims.append(
        Claim(
            "Second in training speed on the small sets (after CART)",
            f"rank by time of the whole model: {text}",
            f"{len(small)} sets, median over splits",
            HOLDS if small and max(small.values()) <= 2 else FAILS,
        )
    )
    return claims


_SKIN = (("skin", "accuracy"), ("skin", "unseen"), (DISTINCT, "accuracy"))


def skin_table(results: Results) -> str:
    """Return accuracy on skin as split, on its test rows that are not in the training part, and on distinct rows."""
    rows = []
    for model in COLUMNS:
        cells = [TITLES[model]]
        for name, metric in _SKIN:
            if measured := values(results, name, model, metric):
                found = summarise(measured)
                half = "" if math.isinf(found.half) else f" ± {percent(found.half, 3)}"
                cells.append(f"{percent(found.mean, 3)}{half}")
            else:
                cells.append("not run")
        rows.append(cells)
    return markdown_table(
        "method | split as in the paper | test rows not in training | distinct rows only", rows
    )


def claim_skin(results: Results) -> list[Claim]:
    """Return verdicts on the best accuracy on skin, with and without copies."""
    claims = []
    texts = (
        "Skin segmentation: best of all methods",
        "The same without test rows that also occur in training",
        "The same on distinct rows only",
    )
    for said, (name, metric) in zip(texts, _SKIN, strict=True):
        if there(results, [name], metric):
            found = values(results, name, "paper_forest", metric)
            ahead = _say(difference(results, name, "paper_forest", metric))
            text = f"{percent(float(np.mean(found)), 3)}; against {TITLES[best_of(results, name, metric)]} {ahead}"
            share = share_at_top(results, name, "paper_forest", metric)
            claims.append(Claim(said, text, f"{len(found)} splits", verdict(share)))
    return claims


def peer_table(results: Results, names: Sequence[str]) -> str:
    """Return the peers' printed test accuracy less our mean; bold where it is outside of the range over our splits."""
    rows = []
    for name in there(results, names):
        cells = [name]
        for peer in PEERS:
            found = summarise(values(results, name, peer, "accuracy"))
            value = TABLES[name][peer].test / 100
            cell = f"{100 * (value - found.mean):+.2f}"
            is_outside = not found.least - 5e-5 <= value <= found.most + 5e-5
            cells.append(f"**{cell}**" if is_outside else cell)
        rows.append(cells)
    return markdown_table(["data", *(TITLES[peer] for peer in PEERS)], rows)
