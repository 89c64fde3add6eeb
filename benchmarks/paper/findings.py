"""Claims about the method itself: wine by beta, 100 %, WOLF, EEG."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..common.pages import markdown_table
from ..common.results import Result, Results
from ..common.statistics import percent, say_share, subtract, summarise
from .printed import BETAS, FAILS, HOLDS, TABLES, Claim, verdict
from .studies import N_STEPS, N_TREES, TREES
from .tables import lht, there

_LEADS = (12, 0, 2)  # features that lead in blocks 0, 1 and 2 of class 0, as printed
_SMOOTH = 0.001  # a jump below this cannot be seen


def block_table(wine: Result) -> str:
    """Return mean numbers of blocks by beta, setting and class."""
    rows = []
    for title, splits in wine.items():
        blocks = np.array([split["n_blocks"] for split in splits], dtype=np.float64)
        for number, beta in enumerate(BETAS):
            cells = [f"{mean:.1f}" for mean in blocks[:, number].mean(axis=0)]
            rows.append([title, f"{beta:g}", *cells])
    return markdown_table("setting | beta | class 0 | class 1 | class 2", rows)


def _structure(splits: Sequence[Result]) -> dict[str, int]:
    """Return on how many splits each statement about beta 0 and 0.25 is true."""
    blocks = np.array([split["n_blocks"] for split in splits])
    same = np.array([split["is_same"] for split in splits])
    fewer, more = blocks[:, 1, 1] < blocks[:, 0, 1], blocks[:, 1, 2] > blocks[:, 0, 2]
    return {
        "class 0: the same structure": int(same.sum()),
        "class 1: fewer blocks": int(fewer.sum()),
        "class 2: more blocks": int(more.sum()),
        "all three": int((same & fewer & more).sum()),
    }


def structure_table(wine: Result) -> str:
    """Return the shares of splits on which the paper's statements about wine's trees are true."""
    rows = []
    for title, splits in wine.items():
        rows += [[title, said, say_share(n, len(splits))] for said, n in _structure(splits).items()]
        for block, feature in enumerate(_LEADS):
            leads = [split["leads"][block] for split in splits if split["leads"][block] >= 0]
            common = ", ".join(f"{lead} ({n})" for lead, n in Counter(leads).most_common(3))
            said = f"class 0, block {block}: feature {feature} leads"
            hits = say_share(leads.count(feature), len(leads)) if leads else "no such block"
            rows.append([title, said, f"{hits}; leading: {common}"])
    return markdown_table(
        "setting | statement (beta 0.25 against 0; leading features at beta 0) | splits", rows
    )


def claim_wine(wine: Result) -> list[Claim]:
    """Return verdicts on accuracy by beta, block counts and leading features; the best setting speaks."""
    tests = {title: np.array([split["test"] for split in splits]) for title, splits in wine.items()}
    n = len(next(iter(wine.values())))
    at_zero = {title: int((found[:, 0] == 1.0).sum()) for title, found in tests.items()}
    most = max(at_zero, key=lambda title: at_zero[title])
    pattern = max(float((found[:, [0, 1, 2, 4]] == 1.0).all(axis=1).mean()) for found in tests.values())
    drops = summarise((tests[most][:, 4] - tests[most][:, 0]).tolist())
    all_three = max(_structure(splits)["all three"] / n for splits in wine.values())
    leads = [[split["leads"] for split in splits] for splits in wine.values()]
    first = min(float(np.mean([lead[0] == _LEADS[0] for lead in found])) for found in leads)
    every = max(float(np.mean([lead == list(_LEADS) for lead in found])) for found in leads)
    said = {
        "Wine: one tree per class reaches 100 % at beta 0, 0.25, 0.5 and 0.8": (
            f"at beta 0 on {say_share(at_zero[most], n)} splits in the best setting ({most}), at all four on "
            f"{percent(pattern, 1)} %; mean {percent(float(tests[most][:, 0].mean()))} %",
            verdict(pattern),
        ),
        "Wine: fewer features (larger beta) need not cost accuracy": (
            f"beta 0.8 minus beta 0: {100 * drops.mean:+.2f} ± {100 * drops.half:.2f} points",
            HOLDS if drops.mean + drops.half >= 0 else FAILS,
        ),
        "Wine: beta 0.25 leaves class 0 unchanged, gives class 1 fewer blocks and class 2 more": (
            f"all three on at most {percent(all_three, 1)} % of the splits",
            verdict(all_three),
        ),
        "Wine, class 0: feature 12 (proline) leads in block 0": (
            f"on at least {percent(first, 1)} % of the splits",
            verdict(first),
        ),
        "Wine, class 0: features 12, 0, 2 lead in blocks 0, 1, 2": (
            f"all three on at most {percent(every, 1)} % of the splits",
            verdict(every),
        ),
    }
    return [Claim(what, found, f"{n} splits of 36 test rows", told) for what, (found, told) in said.items()]


def hundred_table(hundred: Result) -> str:
    """Return on how many splits a model makes no test error."""
    rows = []
    for name, found in hundred.items():
        n_test = found["n_test"]
        for title, errors in found["errors"].items():
            accuracy = summarise([1 - error / n_test for error in errors])
            test = f"{percent(accuracy.mean)} ± {percent(accuracy.spread)}"
            share = say_share(errors.count(0), len(errors))
            rows.append([name, title, test, share, f"{np.mean(errors):.2f} of {n_test}"])
    return markdown_table("data | model | test % | error-free splits | mean errors", rows)


def claim_hundred(hundred: Result) -> list[Claim]:
    """Return verdicts on 100 % on wine, WDBC and banknote, for the model the paper used."""
    claims = []
    for name, found in hundred.items():
        own = ["LH forest"] if lht(name) == "paper_forest" else [*TREES]
        best = max(own, key=lambda title: found["errors"][title].count(0))
        errors, n_test = found["errors"][best], found["n_test"]
        text = f"{best}: no error on {say_share(errors.count(0), len(errors))} splits, "
        text += f"mean {percent(1 - np.mean(errors) / n_test)} %"
        size = f"{len(errors)} splits of {n_test} test rows"
        claims.append(Claim(f"100 % on {name}", text, size, verdict(errors.count(0) / len(errors))))
    return claims


def wolf_table(wolf: Result) -> str:
    """Return jumps along segments by number of trees."""
    rows = []
    for name, by_trees in wolf.items():
        for n_trees in N_TREES:
            largest, n_jumps = (by_trees[str(n_trees)][key] for key in ("largest", "n_jumps"))
            sizes = [f"{np.mean(largest):.4f}", f"{np.max(largest):.4f}"]
            rows.append([name, n_trees, *sizes, f"{np.mean(n_jumps):.1f}"])
    return markdown_table("data | trees | largest jump, mean | largest of all | jumps per segment", rows)


def claim_wolf(wolf: Result, results: Results, names: Sequence[str]) -> list[Claim]:
    """Return verdicts on "the discontinuities can be removed and the accuracy increased"."""
    largest = {n: [np.mean(found[str(n)]["largest"]) for found in wolf.values()] for n in N_TREES}
    ratio = [one / many for one, many in zip(largest[1], largest[100], strict=True)]
    n_segments = len(next(iter(wolf.values()))["1"]["largest"])
    claims = [
        Claim(
            "WOLF removes the discontinuities of single trees",
            f"mean largest jump {min(largest[1]):.2f}–{max(largest[1]):.2f} with one tree, "
            f"{min(largest[100]):.3f}–{max(largest[100]):.3f} with 100: {min(ratio):.0f} to {max(ratio):.0f} "
            "times smaller, not removed",
            f"{len(wolf)} sets, {n_segments} segments of {N_STEPS:,} steps each",
            HOLDS if max(largest[100]) < _SMOOTH else FAILS,
        )
    ]
    gains = [subtract(results, name, "paper_forest", "paper_tree") for name in there(results, names)]
    if gains:
        n_above = sum(gain.mean > 0 for gain in gains)
        n_clear = sum(gain.mean > gain.half for gain in gains)
        least, most = (100 * end(gain.mean for gain in gains) for end in (min, max))
        claims.append(
            Claim(
                "WOLF increases the accuracy",
                f"100 trees beat one on {n_above} of {len(gains)} sets, by more than the interval on {n_clear}; "
                f"gains {least:+.2f} to {most:+.2f} points",
                f"{len(gains)} sets",
                HOLDS if n_above == len(gains) else FAILS,
            )
        )
    return claims


def eeg_table(eeg: Result) -> str:
    """Return accuracy of the paper's forest by normalisation."""
    goal = TABLES["eeg"]["lht"].test / 100
    rows = []
    for how, found in eeg.items():
        mean = summarise(found)
        share = say_share(sum(value >= goal for value in found), len(found))
        test = f"{percent(mean.mean)} ± {percent(mean.half)}"
        rows.append([f'normalize="{how}"', test, percent(mean.most), share])
    return markdown_table(f"LH forest | test % | best split | splits at {percent(goal)} or above", rows)


def claim_eeg(eeg: Result) -> list[Claim]:
    """Return verdicts on 94.59 % by normalisation."""
    goal = TABLES["eeg"]["lht"].test / 100
    claims = []
    for how, title in (("robust", "robust scaling"), ("standard", "z-scores")):
        found = eeg[how]
        mean = summarise(found)
        text = f"{percent(mean.mean)} ± {percent(mean.half)}, best {percent(mean.most)}"
        share = float(np.mean([value >= goal for value in found]))
        said, size = f"EEG: 94.59 %, with {title}", f"{len(found)} splits of 2996 test rows"
        claims.append(Claim(said, text, size, verdict(share)))
    return claims
