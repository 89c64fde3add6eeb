"""Predicted numbers over two features as colours, and rows with their responses in the same colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..draw.style import INK, SMALL, sequential, write_thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


def draw_surface(
    ax: Axes, surface: Floats, ranges: list[tuple[float, float]], points: Floats | None, response: Floats
) -> None:
    """Draw a grid of predictions; rows are at ``points``, shape (n, 2), with or without responses, shape (n,)."""
    seen = np.append(surface.ravel(), response)
    scale: dict[str, Any] = {"cmap": sequential(None), "vmin": float(seen.min()), "vmax": float(seen.max())}
    extent = (*ranges[0], *ranges[1])
    how: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "nearest", "zorder": 0}
    image = ax.imshow(surface, extent=extent, **how, **scale)
    if points is not None:
        size = float(np.clip(6000.0 / max(len(points), 1), 6.0, 28.0))
        colours: dict[str, Any] = {"c": response, **scale} if len(response) else {"color": INK}
        ax.scatter(points[:, 0], points[:, 1], s=size, edgecolor=INK, linewidth=0.5, zorder=3, **colours)
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label("prediction; of rows, the response" if len(response) else "prediction", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    write_thousands(bar.ax.yaxis)
