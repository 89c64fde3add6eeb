"""The tables of the compact tree's page: every setting beside the default, and the penalty by cross-validation."""

from collections.abc import Sequence

import numpy as np

from ..common import data as datasets
from ..common.pages import markdown_table
from ..common.results import Results, keep_complete, values
from ..common.statistics import Mean, subtract, summarise
from . import BY_KEY, LINEAR, NOISY, say

_DEFAULT = say({})
_CHOSEN = say({"penalty": "cv"})


def _mean(results: Results, names: Sequence[str], key: str, metric: str) -> float:
    """Mean over the sets of the means over their splits."""
    return float(np.mean([np.mean(values(results, name, key, metric)) for name in names]))


def _compare(results: Results, names: Sequence[str], key: str) -> list[str]:
    """A setting beside the default: means over the sets, and the difference in accuracy with its interval."""
    differences = [subtract(results, name, key, _DEFAULT).mean for name in names]
    overall = summarise(differences, test_share=0.0)
    fits = [
        np.mean(values(results, name, key, "fit_seconds"))
        / np.mean(values(results, name, _DEFAULT, "fit_seconds"))
        for name in names
    ]
    return [
        f"{_mean(results, names, key, 'accuracy'):.4f}",
        "" if key == _DEFAULT else f"{100 * overall.mean:+.2f} ± {100 * overall.half:.2f}",
        f"{_mean(results, names, key, 'log_loss'):.4f}",
        f"{_mean(results, names, key, 'leaves'):.1f}",
        f"{_mean(results, names, key, 'terms'):.0f}",
        f"{np.exp(np.mean(np.log(fits))):.2f}×",
    ]


def _quote(key: str) -> str:
    return f"`{key}`" if BY_KEY[key] else key


def settings_table(results: Results) -> str:
    """Return all settings on the nine sets; linear leaves, which need two classes, beside the default on fewer."""
    names = [name for name in datasets.NAMES if (name, _DEFAULT) in results]
    two = [name for name in names if (name, LINEAR) in results]
    rows = [[_quote(key), *_compare(results, names, key)] for key in BY_KEY if key != LINEAR]
    rows += [
        [f"two classes ({len(two)} sets): {_quote(key)}", *_compare(results, two, key)]
        for key in (_DEFAULT, LINEAR)
    ]
    return markdown_table("setting | accuracy | points | log loss | leaves | terms | fit", rows)


def _say(difference: Mean, scale: float, digits: int) -> str:
    return f"{scale * difference.mean:+.{digits}f} ± {abs(scale) * difference.half:.{digits}f}"


def penalty_table(results: Results) -> str:
    """Return the penalty by cross-validation less the default, set by set."""
    rows = []
    both = keep_complete(results, [_DEFAULT, _CHOSEN])
    for name in [name for name in (*datasets.NAMES, *NOISY) if (name, _CHOSEN) in both]:
        chosen = values(both, name, _CHOSEN, "penalty")
        rows.append(
            [
                name,
                len(chosen),
                f"{float(np.mean(values(both, name, _DEFAULT))):.4f}",
                _say(subtract(both, name, _CHOSEN, _DEFAULT), 100, 2),
                f"{float(np.mean(values(both, name, _DEFAULT, 'log_loss'))):.4f}",
                # Lower is better: the difference counts the other way round.
                _say(subtract(both, name, _CHOSEN, _DEFAULT, "log_loss"), -1, 4),
                f"{float(np.median(chosen)):g}",
                f"{float(np.mean(values(both, name, _DEFAULT, 'leaves'))):.1f} → "
                f"{float(np.mean(values(both, name, _CHOSEN, 'leaves'))):.1f}",
            ]
        )
    head = (
        'data | splits | accuracy, `penalty=1` | points, `"cv"` | log loss, `penalty=1` | difference, `"cv"`'
    )
    return markdown_table(f"{head} | median penalty | leaves", rows)


def render(results: Results) -> dict[str, str]:
    """Return the tables by their marks."""
    return {"settings": settings_table(results), "penalty": penalty_table(results)}
