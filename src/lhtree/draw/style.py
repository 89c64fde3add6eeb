"""Colours, letters and axes that all pictures share."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .._extras import import_extra
from .._parameters import refuse
from ..describe.palette import ACCENT, AGAINST, FOR, class_colour, tint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

INK, LINE, PALE = "#222222", "#8A8A8A", "#F3F3F3"
# Seven of each, against 24 colours: 168 classes look different, and the first seven do in grey.
MARKERS = "osD^vPX"
DASHES: tuple[Any, ...] = (
    "solid",
    "dashed",
    "dashdot",
    "dotted",
    (0, (7, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (1, 4)),
)
SMALL, NORMAL = 7.5, 9.0

_GENERIC = ("serif", "sans-serif", "cursive", "fantasy", "monospace")
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Mn"}


def marker(code: int) -> str:
    """Marker of a class."""
    return MARKERS[code % len(MARKERS)]


def dashes(code: int) -> Any:
    """Line style of a class."""
    return DASHES[code % len(DASHES)]


def diverging() -> Colormap:
    """From evidence against (-1) over white (0) to evidence for (1)."""
    return _make_map("#A8323E", AGAINST, "#FFFFFF", FOR, "#35248F")


def sequential(code: int | None) -> Colormap:
    """From white (0) to the colour of a class (1); None is for numbers."""
    colour = ACCENT if code is None else class_colour(code)
    return _make_map("#FFFFFF", tint(colour, 0.5), colour)


def _make_map(*colours: str) -> Colormap:
    colors = import_extra("matplotlib.colors", "plot")
    made: Colormap = colors.LinearSegmentedColormap.from_list("lhtree", colours)
    return made


def name_class(label: object) -> str:
    """A class as titles call it: a name speaks for itself, a number does not."""
    return label if isinstance(label, str) else f"class {label}"


def letters(text: object) -> str:
    """Text as matplotlib can draw it: one line, no mathematics, and the name of a sign the fonts lack."""
    known = _glyphs()
    drawn = []
    for sign in " ".join(str(text).split()):
        if ord(sign) in known and unicodedata.category(sign) not in _INVISIBLE - {"Mn"}:
            drawn.append(sign)
        elif unicodedata.category(sign) == "So":
            drawn.append(f"[{unicodedata.name(sign, f'U+{ord(sign):04X}').lower()}]")
        elif unicodedata.category(sign) not in _INVISIBLE:
            drawn.append(f"[U+{ord(sign):04X}]")
    return "".join(drawn).replace("$", r"\$")


def fit(text: object, points: float, size: float) -> str:
    """Letters of a text that are at most so many points wide, its middle left out where it is longer."""
    drawn = letters(text)
    if measure(drawn, size) <= points:
        return drawn
    drawn = drawn.replace(r"\$", "$")

    def cut(kept: int) -> str:
        head = (kept + 1) // 2
        return (drawn[:head] + "…" + drawn[len(drawn) - (kept - head) :]).replace("$", r"\$")

    low, high = 0, len(drawn) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(cut(middle), size) <= points else (low, middle - 1)
    return cut(low)


def fit_all(names: Sequence[object], points: float, size: float) -> list[str]:
    """Each name's letters within so many points; names that would look alike get their number in front."""
    fitted = [fit(name, points, size) for name in names]
    count = Counter(fitted)
    return [
        fit(f"{i}: {name}", points, size) if count[text] > 1 else text
        for i, (name, text) in enumerate(zip(names, fitted, strict=True))
    ]


def measure(drawn: str, size: float) -> float:
    """Width in points of letters in the default font."""
    return _measure(drawn, size, _families())


@lru_cache(maxsize=4096)
def _measure(drawn: str, size: float, families: tuple[str, ...]) -> float:  # families: key of the cache only
    manager = import_extra("matplotlib.font_manager", "plot")
    textpath = import_extra("matplotlib.textpath", "plot")
    font = manager.FontProperties(size=size)
    shown = drawn.replace(r"\$", "$")
    return float(textpath.text_to_path.get_text_width_height_descent(shown, font, False)[0])


def _families() -> tuple[str, ...]:
    parameters = import_extra("matplotlib", "plot").rcParams
    return tuple(
        name
        for family in parameters["font.family"]
        for name in (parameters[f"font.{family}"] if family in _GENERIC else [family])
    )


def _glyphs() -> frozenset[int]:
    return _find_glyphs(_families())


@lru_cache(maxsize=8)
def _find_glyphs(families: tuple[str, ...]) -> frozenset[int]:
    manager = import_extra("matplotlib.font_manager", "plot")
    installed = set(manager.get_font_names())
    paths = [manager.findfont(family) for family in families if family in installed]
    paths = paths or [manager.findfont(manager.FontProperties())]
    return frozenset(code for path in paths for code in manager.get_font(path).get_charmap())


def new_axes(width: float, height: float) -> Axes:
    """Axes of a new figure of so many inches."""
    pyplot = import_extra("matplotlib.pyplot", "plot")
    ax: Axes = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return ax


def check_axes(ax: Any) -> Axes:
    """Refuse what is not a matplotlib Axes."""
    if not isinstance(ax, import_extra("matplotlib.axes", "plot").Axes):
        raise refuse("ax", ax, "a matplotlib Axes, or None for a new figure")
    checked: Axes = ax
    return checked


def take_axes(ax: Any, width: float, height: float) -> Axes:
    """The axes given, or those of a new figure of so many inches."""
    return new_axes(width, height) if ax is None else check_axes(ax)


def write_thousands(axis: Any) -> None:
    """Numbers at an axis as people write them: 150,000."""
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}".replace("-", "−"))


def strip(ax: Axes) -> None:
    """Take away the frame but for the axis lines."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL)
