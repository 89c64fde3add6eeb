"""The generated parts of docs/reproduction.md, and its pictures."""

import numpy as np

from ..common import data as datasets
from ..common.draw import draw_differences, make_axes, save
from ..common.models import version_key
from ..common.pages import Docs, describe_run, markdown_table
from ..common.results import Result, Results, keep_complete
from . import findings, rivals, tables
from .printed import LARGE, SMALL, Claim
from .runs import COLUMNS, Found, add_accuracies, count_equal
from .studies import N_TREES

_STYLES = {1: ("#cb181d", 1.2), 10: ("#6baed6", 1.2), 100: ("#08306b", 2.0)}


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
    """Return every table of the page by the name of its marker, without tables that were not run."""
    names = datasets.NAMES
    parts = {"printed": rivals.printed_table()}
    claims: dict[str, list[Claim]] = {}
    if tables.there(results, names):
        claims |= {"best": rivals.claim_best(results, names), "speed": rivals.claim_speed(results, names)}
        parts |= {
            "small": tables.accuracy_table(results, SMALL),
            "small_times": tables.time_table(results, SMALL),
            "large": tables.accuracy_table(results, LARGE),
            "large_times": tables.time_table(results, LARGE),
            "settings": tables.settings_table(results, names),
            "rivals": rivals.rival_table(results, names),
            "peers": rivals.peer_table(results, names),
        }
    if wine := studies.get("wine"):
        claims["wine"] = findings.claim_wine(wine)
        parts["betas"], parts["blocks"] = tables.beta_table(wine), findings.block_table(wine)
        parts["structure"] = findings.structure_table(wine)
    if hundred := studies.get("hundred"):
        claims["hundred"], parts["hundred"] = findings.claim_hundred(hundred), findings.hundred_table(hundred)
    if wolf := studies.get("wolf"):
        claims["wolf"], parts["wolf"] = findings.claim_wolf(wolf, results, names), findings.wolf_table(wolf)
    if eeg := studies.get("eeg"):
        claims["eeg"], parts["eeg"] = findings.claim_eeg(eeg), findings.eeg_table(eeg)
    if "skin" in studies and tables.there(results, ["skin"]):
        claims["skin"] = rivals.claim_skin(results)
        parts["skin"] = _say_copies(studies["skin"]) + "\n\n" + rivals.skin_table(results)
    order = ("wine", "wolf", "hundred", "best", "speed", "eeg", "skin")
    rows = [claim.row() for name in order for claim in claims.get(name, [])]
    parts["verdicts"] = markdown_table("claim in the paper | result | based on | verdict", rows)
    parts["run"] = describe_run({version_key("paper_forest"): []})
    if results:
        parts["run"] += f" Over all fits, CPU time was {100 * load_share(results):.0f} % of wall time."
    return parts


def _say_copies(skin: Result) -> str:
    share = float(np.mean(skin["seen_shares"]))
    n_repeated = skin["n_rows"] - skin["n_distinct"]
    return (
        f"Of {skin['n_rows']:,} rows, {skin['n_distinct']:,} are distinct; {n_repeated:,} "
        f"({100 * n_repeated / skin['n_rows']:.1f} %) repeat an earlier row. {skin['n_distinct'] - skin['n_points']} "
        f"points occur with both classes. After a random 80/20 split, {100 * share:.1f} % of the test rows also occur "
        "in the training part."
    )


def render(found: Found) -> dict[str, str]:
    """Return the generated parts by their marks."""
    parts = make_parts(keep_complete(add_accuracies(found.fits, found.accuracy), COLUMNS), found.studies)
    n_both, n_equal = count_equal(found.fits, found.accuracy)
    if n_both:
        parts["run"] += (
            f" Of the {n_both} fits shared with the accuracy page, {n_equal} have the same test accuracy."
        )
    return parts


def draw(found: Found, docs: Docs) -> None:
    """Draw differences from the best peer, and WOLF along segments."""
    results = keep_complete(add_accuracies(found.fits, found.accuracy), COLUMNS)
    names = tables.there(results, datasets.NAMES)
    series = {
        "the paper's LHT": [rivals.difference(results, name, tables.lht(name)) for name in names],
        "LH forest": [rivals.difference(results, name, "paper_forest") for name in names],
        "mixed forest (ours)": [rivals.difference(results, name, "mixed_forest") for name in names],
    }
    title = "Against the best of the five peers"
    draw_differences(docs.pages, "reproduction-differences", title, names, series)
    if "wolf" in found.studies:
        draw_wolf(found.studies["wolf"], docs)


def draw_wolf(wolf: Result, docs: Docs) -> None:
    """Draw WOLF along one segment of each data set, by number of trees."""
    figure, grid = make_axes(1, len(wolf), 11, 3.4, sharey=True)
    for ax, (name, by_trees) in zip(grid.flat, wolf.items(), strict=True):
        for n_trees in N_TREES:
            curve = by_trees[str(n_trees)]["shown"]
            colour, width = _STYLES[n_trees]
            title = f"{n_trees} trees" if n_trees > 1 else "one tree"
            ax.plot(np.linspace(0, 1, len(curve)), curve, color=colour, linewidth=width, label=title)
        ax.set(title=name, xlabel="position between two test rows", ylim=(-0.03, 1.03))
    grid[0, 0].set_ylabel("corrected membership")
    grid[0, -1].legend(frameon=False, fontsize="small")
    save(figure, docs.pictures, "wolf")
