"""Picture of one branching block of a regression: responses against feature sums, and the mean on each side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..describe.palette import AGAINST, FOR
from ..draw.style import INK, SMALL, fit, strip, take_axes, write_thousands
from ..draw.take import width_of
from ..model.model import read
from ..model.numbers import NumberFormat
from ..tables.labels import take_numbers
from ._reach import name_children, reach_block, say_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BlockResponses:
    """Feature sums and responses of the rows that reach a branching block."""

    offset: float
    feature_sum: Floats
    response: Floats
    goes_left: NDArray[np.bool_]
    below: tuple[str, str]  # names of the two child blocks
    without: str  # rows that have no feature sum, in words
    amounts: NumberFormat

    def mean(self, left: bool) -> float:
        """Mean response of the rows on one side; NaN without any."""
        own = self.response[self.goes_left == left]
        return float(own.mean()) if len(own) else float("nan")


def find_responses(model: Any, X: Any, y: Any, block: int, tree: int = 0) -> BlockResponses:
    """Responses of the rows of X in a block, and the side each goes to."""
    view, inside, sums, goes_left, n_rows = reach_block(model, X, block, tree)
    return BlockResponses(
        offset=float(view.offset[block]),
        feature_sum=sums,
        response=take_numbers(y, n_rows)[inside],
        goes_left=goes_left,
        below=name_children(view, block),
        without=say_missing(view, block, int((~np.isfinite(sums)).sum())),
        amounts=read(model, takes_numbers=True).amounts.plain(),
    )


def draw_responses(facts: BlockResponses, ax: Axes | None) -> Axes:
    """Draw the rows as points, violet on the side with the larger mean and red on the other."""
    ax = take_axes(ax, 7.6, 3.9)
    has_sum = np.isfinite(facts.feature_sum)
    rises = facts.mean(False) > facts.mean(True)
    size = float(np.clip(4000.0 / max(len(has_sum), 1), 4.0, 18.0))
    for left in (True, False):
        own = (facts.goes_left == left) & has_sum
        colour = AGAINST if left == rises else FOR
        ax.scatter(
            facts.feature_sum[own],
            facts.response[own],
            s=size,
            color=colour,
            alpha=0.75,
            linewidth=0,
            zorder=2,
        )
    shown = np.append(facts.feature_sum[has_sum], facts.offset)
    air = 0.05 * float(np.ptp(shown)) or 1.0
    ax.set_xlim(float(shown.min()) - air, float(shown.max()) + air)
    ax.axvline(facts.offset, color=INK, linewidth=1.8, zorder=3)
    (low, high), room = ax.get_xlim(), width_of(ax) / 2 - 22.0
    for left, name in zip((True, False), facts.below, strict=True):
        n_rows, mean = int((facts.goes_left == left).sum()), facts.mean(left)
        text = f"{n_rows:,} row{'s' * (n_rows != 1)} to {name}"
        if n_rows:
            ends = (low, facts.offset) if left else (facts.offset, high)
            ax.plot(ends, [mean, mean], color=INK, linewidth=1.4, linestyle=(0, (4, 2)), zorder=4)
            text = f"{text}, mean {facts.amounts.write(mean)}".replace("-", "−")
        text = fit(text, room, SMALL)
        ax.set_title(
            f"← {text}" if left else f"{text} →",
            loc="left" if left else "right",
            fontsize=SMALL,
            color=INK,
        )
    at = f"offset c = {facts.offset:.4g}".replace("-", "−")
    ax.set_xlabel(f"feature sum of normalised values; {at}{facts.without}", fontsize=SMALL)
    ax.set_ylabel("response", fontsize=SMALL)
    write_thousands(ax.yaxis)
    strip(ax)
    return ax
