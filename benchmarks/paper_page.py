"""docs/reproduction.md: written text, with verdicts and tables between markers."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as datasets
from .draw import draw_differences
from .models import version_key
from .paper_claims import Result
from .paper_draw import draw_wine, draw_wolf
from .paper_findings import (
    block_table,
    claim_eeg,
    claim_hundred,
    claim_wine,
    claim_wolf,
    eeg_table,
    hundred_table,
    structure_table,
    wolf_table,
)
from .paper_printed import LARGE, SMALL
from .paper_rivals import (
    claim_best,
    claim_skin,
    claim_speed,
    difference,
    peer_table,
    printed_table,
    rival_table,
    skin_table,
)
from .paper_runs import COLUMNS, Results, add_accuracies, count_equal, keep_whole
from .paper_statistics import Claim
from .paper_tables import accuracy_table, beta_table, lht, settings_table, there, time_table
from .report import PAGES, describe_machine, fill_page, markdown_table, write_json

PAGE = PAGES.parent / "reproduction.md"


def claim_table(claims: list[Claim]) -> str:
    """Return claims as a table."""
    return markdown_table(["the paper says", "found", "over", "verdict"], [claim.row() for claim in claims])


def load_share(results: Results) -> float:
    """Return CPU time over wall time of all fits: below 1, other work had the core."""
    timed = [
        (result["fit_cpu_seconds"], result["fit_seconds"])
        for splits in results.values()
        for result in splits.values()
        if "fit_cpu_seconds" in result
    ]
    cpu, wall = np.sum(timed, axis=0)
    return float(cpu / wall)


def make_parts(results: Results, studies: dict[str, Result]) -> dict[str, str]:
    """Return every table of the page by the name of its marker; what was not run is left out."""
    names = datasets.NAMES
    parts = {"printed": printed_table()}
    claims: dict[str, list[Claim]] = {}
    if there(results, names):
        claims |= {"best": claim_best(results, names), "speed": claim_speed(results, names)}
        parts |= {
            "small": accuracy_table(results, SMALL),
            "small_times": time_table(results, SMALL),
            "large": accuracy_table(results, LARGE),
            "large_times": time_table(results, LARGE),
            "settings": settings_table(results, names),
            "rivals": rival_table(results, names),
            "peers": peer_table(results, names),
        }
    if "wine" in studies:
        wine = studies["wine"]
        claims["wine"] = claim_wine(wine)
        parts |= {"betas": beta_table(wine), "blocks": block_table(wine), "structure": structure_table(wine)}
    if "hundred" in studies:
        claims["hundred"] = claim_hundred(studies["hundred"])
        parts["hundred"] = hundred_table(studies["hundred"])
    if "wolf" in studies:
        claims["wolf"] = claim_wolf(studies["wolf"], results, names)
        parts["wolf"] = wolf_table(studies["wolf"])
    if "eeg" in studies:
        claims["eeg"] = claim_eeg(studies["eeg"])
        parts["eeg"] = eeg_table(studies["eeg"])
    if "skin" in studies and there(results, ["skin"]):
        claims["skin"] = claim_skin(results)
        parts["skin"] = _say_copies(studies["skin"]) + "\n\n" + skin_table(results)
    order = ("wine", "wolf", "hundred", "best", "speed", "eeg", "skin")
    parts["verdicts"] = claim_table([claim for name in order for claim in claims.get(name, [])])
    parts["machine"] = f"Build of ours: `{version_key('paper_forest')}`. {describe_machine()}"
    if results:
        parts["machine"] += f" Over all fits, CPU time was {100 * load_share(results):.0f} % of wall time."
    return parts


def _say_copies(skin: Result) -> str:
    share = float(np.mean(skin["seen_shares"]))
    n_repeated = skin["n_rows"] - skin["n_distinct"]
    return (
        f"Of {skin['n_rows']:,} rows {skin['n_distinct']:,} are distinct: {n_repeated:,} "
        f"({100 * n_repeated / skin['n_rows']:.1f} %) repeat an earlier one. {skin['n_distinct'] - skin['n_points']} "
        f"points carry both classes. After a random 80/20 split {100 * share:.1f} % of the test rows stand in the "
        "training part too."
    )


def render(found: Results, accuracy: Results, studies: dict[str, Result], *, is_draft: bool) -> None:
    """Print the tables and, unless it is a draft, write the page with its pictures."""
    results = keep_whole(add_accuracies(found, accuracy))
    parts = make_parts(results, studies)
    n_both, n_equal = count_equal(found, accuracy)
    if n_both:
        parts["machine"] += (
            f" Of {n_both} fits that this run and that of the accuracy page share, {n_equal} have equal test "
            "accuracies."
        )
    print("\n\n".join(f"{name}\n\n{part}" for name, part in parts.items()))
    if is_draft:
        return
    names = there(results, datasets.NAMES)
    series: dict[str, Any] = {
        "the paper's LHT": [difference(results, name, lht(name)) for name in names],
        "LH forest": [difference(results, name, "paper_forest") for name in names],
        "mixed forest (ours)": [difference(results, name, "mixed_forest") for name in names],
    }
    draw_differences("reproduction-differences", "Against the best of the five peers", names, series)
    draw_wine()
    draw_wolf(studies["wolf"])
    kept = [{"data": name, "model": model, "splits": splits} for (name, model), splits in results.items()]
    keys = {model: version_key(model) for model in COLUMNS}
    write_json("paper", {"keys": keys, "runs": kept, "studies": studies})
    fill_page(PAGE, parts)
