"""Text that matplotlib can draw within a width, and colours of classes."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from lhtree.describe import palette
from lhtree.draw import figure

pytestmark = pytest.mark.usefixtures("closing")

# Björn Ottosson's OKLab: from linear RGB to cones, and from their cube roots to lightness and two hues.
LMS = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
OKLAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("alcohol", "alcohol"),
        ("od280/od315_of", "od280/od315_of"),
        ("a\n b\t c", "a b c"),
        ("$x^2$", r"\$x^2\$"),
        ("🍷 red", "[wine glass] red"),
        ("酒", "[U+9152]"),
        ("a\u200db\x07\ue000", "ab"),
        ("", ""),
        (3, "3"),
    ],
)
def test_unknown_characters_are_replaced(text, drawn):
    assert figure.letters(text) == drawn


@given(text=st.text(max_size=40))
def test_any_text_can_be_drawn(text):
    own = plt.figure(figsize=(1, 1))
    drawn = own.text(0, 0, figure.letters(text))
    own.canvas.draw()  # warnings about missing glyphs and errors of mathtext fail here
    assert drawn.get_text() == figure.letters(text)
    plt.close(own)


@given(text=st.text(max_size=60), points=st.floats(20, 200))
def test_fitted_texts_are_as_wide_as_allowed(text, points):
    fitted = figure.fit(text, points, 8.0)
    assert figure.measure(fitted, 8.0) <= points
    if figure.measure(figure.letters(text), 8.0) <= points:
        assert fitted == figure.letters(text)
    else:
        assert "…" in fitted


def test_shortened_names_are_distinct():
    names = [f"{'a' * 100}{i}{'z' * 100}" for i in range(12)] + ["b"]
    fitted = figure.fit_all(names, 80.0, 8.0)
    assert len(set(fitted)) == 13
    assert fitted[3].startswith("3: a")
    assert fitted[12] == "b"


def test_fonts_of_the_user_count():
    with plt.rc_context({"font.family": "DejaVu Sans Mono"}):
        narrow = figure.measure("iiii", 8.0)
        assert narrow == pytest.approx(figure.measure("WWWW", 8.0), rel=0.2)
    assert figure.measure("iiii", 8.0) < narrow


def test_colours_are_distinct_in_grey():
    def grey(colour):
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    first, second = (palette.class_colour(code) for code in range(2))
    assert grey(second) - grey(first) > 60
    assert grey(palette.AGAINST) - grey(palette.FOR) > 40
    assert not {palette.FOR, palette.AGAINST, palette.REST} & set(palette.CLASSES)


def test_colours_of_classes_are_distinguishable_on_light_and_dark_paper():
    colours = np.array([to_rgb(colour) for colour in palette.CLASSES])
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    cones = np.cbrt(linear @ np.array(LMS).T)
    lab = cones @ np.array(OKLAB).T
    apart = np.sqrt(((lab[:, None] - lab) ** 2).sum(axis=-1)) + np.eye(len(lab))
    assert len(lab) >= 24
    assert apart[8:].min() >= 0.1  # a difference that one sees between two lines
    assert apart.min() >= 0.07
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    assert (1.05 / (luminance + 0.05)).min() >= 1.6
    assert ((luminance + 0.05) / (0.0118 + 0.05)).min() >= 2.0  # on the dark card of the report
