"""Claims about the other methods: best on seven of nine, fastest, and skin without its copies."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .accuracy_page import Difference
from .paper_printed import PEERS, SMALL, TABLES, best_peer, lead, least_p, n_test, right_rows
from .paper_runs import COLUMNS, DISTINCT, Results
from .paper_statistics import (
    FAILS,
    HOLDS,
    LUCKY,
    Claim,
    chance_of_at_least,
    percent,
    say_interval,
    summarise,
    verdict,
    wilson,
)
from .paper_tables import TITLES, lht, there, values
from .report import markdown_table

_LEAST_CHANCE = 0.001  # rarer than this is not luck any more
_OURS = ("paper_forest", "mixed_forest")


def best_of(results: Results, name: str, metric: str = "accuracy") -> str:
    """Return the peer with the largest mean."""
    return max(PEERS, key=lambda peer: np.mean(values(results, name, peer, metric)))


def difference(results: Results, name: str, model: str, metric: str = "accuracy") -> Difference:
    """Return a model less the best peer, paired over the splits, with the interval for splits that share rows."""
    peer = best_of(results, name, metric)
    pairs = zip(values(results, name, model, metric), values(results, name, peer, metric), strict=True)
    found = summarise([ours - theirs for ours, theirs in pairs])
    return Difference(found.mean, found.half)


def share_at_top(results: Results, name: str, model: str, metric: str = "accuracy") -> float:
    """Return the share of splits on which no peer is more accurate."""
    best = np.max([values(results, name, peer, metric) for peer in PEERS], axis=0)
    return float((np.array(values(results, name, model, metric)) >= best).mean())


def _say(found: Difference) -> str:
    if math.isinf(found.half):
        return f"{100 * found.mean:+.2f} (one split)"
    word = "loses" if found.mean < -found.half else "wins" if found.mean > found.half else "level"
    return f"{100 * found.mean:+.2f} ± {100 * found.half:.2f} {word}"


def rival_table(results: Results, names: Sequence[str]) -> str:
    """Return the paper's LHT and our forests against the best peer of each set."""
    rows = []
    for name in there(results, names):
        model = lht(name)
        share = share_at_top(results, name, model)
        rows.append(
            [
                name,
                str(len(values(results, name, model, "accuracy"))),
                TITLES[best_of(results, name)],
                TITLES[model],
                _say(difference(results, name, model)),
                f"{percent(share, 0)} %",
                f"**{verdict(share)}**" if lead(name) >= 0 else "not claimed",
                *(_say(difference(results, name, ours)) for ours in _OURS),
            ]
        )
    head = [
        "data",
        "splits",
        "best peer",
        "the paper's LHT",
        "LHT − best peer",
        "splits with LHT at the top",
        "best?",
    ]
    return markdown_table([*head, *(f"{TITLES[ours]} − best peer" for ours in _OURS)], rows)


def printed_table() -> str:
    """Return what the paper's own figures can bear: test rows, leads in rows, intervals."""
    rows = []
    for name in TABLES:
        n, own, peer = n_test(name), TABLES[name]["lht"].test, best_peer(name)
        right = right_rows(own, n)
        bounds = wilson(round(own / 100 * n), n)
        rows.append(
            [
                name,
                f"{n}",
                f"{own:.2f}" + ("" if right is not None else " (no share of these rows)"),
                say_interval(bounds),
                f"{TITLES[peer]} {TABLES[name][peer].test:.2f}",
                f"{lead(name):+d}",
                f"{least_p(lead(name)):.2g}",
            ]
        )
    head = [
        "data",
        "test rows",
        "printed LHT",
        "its 95 % interval",
        "best printed peer",
        "lead in rows",
        "least p",
    ]
    return markdown_table(head, rows)


def claim_best(results: Results, names: Sequence[str]) -> list[Claim]:
    """Return verdicts on "best on seven of nine" and "highest on all four small sets"."""
    found = there(results, names)
    claims = []
    for said, some, least in (
        ("Best test accuracy on seven of nine", found, 7),
        ("Highest test accuracy on all four small sets", [name for name in found if name in SMALL], 4),
    ):
        n_best = sum(difference(results, name, lht(name)).mean >= 0 for name in some)
        chance = chance_of_at_least([share_at_top(results, name, lht(name)) for name in some], least)
        is_lucky = chance >= _LEAST_CHANCE
        n_splits = [len(values(results, name, "cart", "accuracy")) for name in some]
        claims.append(
            Claim(
                said,
                f"best mean on {n_best} of {len(some)}; one split of each at random gives {least} or more "
                f"with chance {chance:.2g}",
                f"{len(some)} sets, {'–'.join(map(str, sorted({min(n_splits), max(n_splits)})))} splits",
                HOLDS if n_best >= least else LUCKY if is_lucky else FAILS,
            )
        )
    return claims


def _fastest(results: Results, name: str, metric: str, models: Sequence[str]) -> str:
    return min(models, key=lambda model: np.median(values(results, name, model, metric)))


def claim_speed(results: Results, names: Sequence[str]) -> list[Claim]:
    """Return verdicts on speed; whole models, not slowest trees."""
    found = there(results, names, "row_seconds")
    claims = []
    for said, metric in (
        ("Fastest inference on all nine: one row", "row_seconds"),
        ("The same, all test rows in one call", "batch_seconds"),
    ):
        lost = {}
        for name in found:
            first = _fastest(results, name, metric, (*PEERS, lht(name)))
            if first != lht(name):
                lost[name] = TITLES[first]
        where = (
            "; slower than " + ", ".join(f"{peer} on {name}" for name, peer in lost.items()) if lost else ""
        )
        claims.append(
            Claim(
                said,
                f"fastest on {len(found) - len(lost)} of {len(found)}{where}",
                f"{len(found)} sets, median over splits",
                HOLDS if not lost else FAILS,
            )
        )
    small = [name for name in found if name in SMALL]
    ranks = []
    for name in small:
        times = {
            model: np.median(values(results, name, model, "fit_seconds")) for model in (*PEERS, lht(name))
        }
        ranks.append(sorted(times, key=lambda model: times[model]).index(lht(name)) + 1)
    say = ", ".join(f"{name} {rank}" for name, rank in zip(small, ranks, strict=True))
    claims.append(
        Claim(
            "Second in training speed on the small sets (after CART)",
            f"place by time of the whole model: {say}",
            f"{len(small)} sets, median over splits",
            HOLDS if ranks and max(ranks) <= 2 else FAILS,
        )
    )
    return claims


def skin_table(results: Results) -> str:
    """Return accuracy on skin as split, on its test rows that are not in the training part, and on distinct rows."""
    rows = []
    for model in COLUMNS:
        cells = [TITLES[model]]
        for name, metric in (("skin", "accuracy"), ("skin", "unseen"), (DISTINCT, "accuracy")):
            measured = values(results, name, model, metric)
            if not measured:
                cells.append("not run")
                continue
            found = summarise(measured)
            half = "" if math.isinf(found.half) else f" ± {percent(found.half, 3)}"
            cells.append(f"{percent(found.mean, 3)}{half}")
        rows.append(cells)
    return markdown_table(
        ["method", "as the paper splits", "test rows not in training", "distinct rows only"], rows
    )


def claim_skin(results: Results) -> list[Claim]:
    """Return verdicts on the best accuracy on skin, with and without copies."""
    claims = []
    for said, name, metric in (
        ("Skin segmentation: the best of all", "skin", "accuracy"),
        ("The same without test rows that stand in training too", "skin", "unseen"),
        ("The same on distinct rows only", DISTINCT, "accuracy"),
    ):
        if not there(results, [name], metric):
            continue
        found = values(results, name, "paper_forest", metric)
        ahead = _say(difference(results, name, "paper_forest", metric))
        peer = TITLES[best_of(results, name, metric)]
        claims.append(
            Claim(
                said,
                f"{percent(float(np.mean(found)), 3)}; against {peer} {ahead}",
                f"{len(found)} splits",
                verdict(share_at_top(results, name, "paper_forest", metric)),
            )
        )
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
