"""The colours of pictures, pages and notebooks: one meaning each."""

from __future__ import annotations

# One per class, by position. The first eight are Okabe and Ito's, which colour-blind people can distinguish, the yellow
# darkened to show on white. Each of the others is as far as possible from all before it (in OKLab, also as seen by
# colour-blind people) among the colours that show on white and on dark paper.
CLASSES = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A400", "#6B6B6B"),
    *("#00E090", "#A80830", "#902088", "#9880F8", "#006040", "#C83890", "#B0D808", "#F888F8"),
    *("#985800", "#78B888", "#908850", "#58D8D8", "#A850D0", "#2048C0", "#4878F8", "#F898B8"),
)
# Evidence for and against a class. Both colours show on light and dark paper, and no class has them.
FOR, AGAINST = "#6A55CC", "#E8707A"
REST = "#BDBDBD"  # all classes but the target, where there are more than two
ACCENT = "#3D4FB8"  # curves and bars that are about no class


def class_colour(code: int) -> str:
    """Return the colour of the class at a position."""
    return CLASSES[code % len(CLASSES)]


def find_pair(target: int, n_classes: int) -> tuple[str, str]:
    """Return the colours of a tree's target and of the rest, which is the other class if there are two."""
    return class_colour(target), class_colour(1 - target) if n_classes == 2 else REST


def tint(colour: str, share: float) -> str:
    """Mix a colour with white: 0 is white, 1 the colour."""
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - part)):02X}" for part in parts)


def write_css() -> str:
    """Return the colours as variables of a style sheet: --c0, --c1, … by class, their number, --for and --against."""
    variables = {f"c{code}": colour for code, colour in enumerate(CLASSES)}
    variables |= {"n-colours": str(len(CLASSES)), "for": FOR, "against": AGAINST}
    return f":root {{ {' '.join(f'--{name}: {colour};' for name, colour in variables.items())} }}\n"
