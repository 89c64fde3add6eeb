"""Pictures of the reproduction: the paper's figures for wine, and WOLF along segments."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from .draw import save
from .paper_claims import N_TREES

_ROOT = Path(__file__).resolve().parents[1]
PICTURES = _ROOT / "docs" / "pictures"
_STYLES = {1: ("#cb181d", 1.2), 10: ("#6baed6", 1.2), 100: ("#08306b", 2.0)}


def draw_wine() -> list[Path]:
    """Draw the paper's figures for wine with the example that does."""
    spec = importlib.util.spec_from_file_location("wine_figures", _ROOT / "examples" / "wine_figures.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError("examples/wine_figures.py is not there.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.main(PICTURES / "wine"))


def draw_wolf(wolf: dict[str, Any], folder: Path = PICTURES) -> None:
    """Draw WOLF along one segment of each data set, by number of trees."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(wolf), figsize=(11, 3.4), sharey=True, layout="constrained")
    for ax, (name, by_trees) in zip(axes, wolf.items(), strict=True):
        for n_trees in N_TREES:
            curve = np.array(by_trees[str(n_trees)]["shown"])
            colour, width = _STYLES[n_trees]
            title = f"{n_trees} trees" if n_trees > 1 else "one tree"
            ax.plot(np.linspace(0, 1, len(curve)), curve, color=colour, linewidth=width, label=title)
        ax.set(title=name, xlabel="way between two test rows", ylim=(-0.03, 1.03))
    axes[0].set_ylabel("corrected membership")
    axes[-1].legend(frameon=False, fontsize="small")
    save(figure, "wolf", folder)
