"""Scenes: both back ends draw the same, and texts fit into their widths."""

from xml.etree import ElementTree

import matplotlib.pyplot as plt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree.draw.figure import draw_scene, new_page
from lhtree.draw.scene import (
    BOLD,
    INK,
    Box,
    Disc,
    Group,
    Polyline,
    Scene,
    Text,
    find_bottom,
    find_width,
    fit_names,
    fit_text,
    move,
    wrap,
    write_svg,
)
from support import pictures

pytestmark = pytest.mark.usefixtures("closing")

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = (
    Box(0.0, 0.0, 40.0, 20.0, "#FFFFFF", INK, 0.5, "frame"),
    Polyline(((0.0, 0.0), (40.0, 20.0)), "#FF0000", 0.3, dashes=True),
    Disc(10.0, 10.0, 2.0, "#00FF00"),
    Group(
        "<tip> & more",
        (Text(20.0, 5.0, "a < b", 8.0, "middle"), Text(1.0, 15.0, "long name " * 9, room=20.0)),
    ),
)
SCENE = Scene(SHAPES, 50.0, 30.0, margin=5.0)


def test_back_ends_draw_the_same_shapes():
    ax = draw_scene(new_page(plt.figure, SCENE.width, SCENE.height), SCENE)
    picture = ElementTree.fromstring(write_svg(SCENE, "id='x'"))
    (frame,) = (patch for patch in ax.patches if patch.get_gid() == "frame")
    box = picture.find(f".//{SVG}rect")
    assert [float(box.get(name)) for name in ("x", "y", "width", "height")] == [*frame.get_xy(), 40.0, 20.0]
    assert (len(ax.patches), len(ax.lines), len(ax.texts)) == (2, 1, 2)
    assert len(picture.findall(f".//{SVG}polyline")) == len(picture.findall(f".//{SVG}circle")) == 1
    texts = ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]
    assert texts[0] == pictures.written(ax)[0] == "a < b"
    assert texts[1].startswith("long")
    assert "…" in texts[1]
    assert "…" in pictures.written(ax)[1]
    assert picture.find(f".//{SVG}title").text == "<tip> & more"
    ax.figure.canvas.draw()
    low, high = ax.transData.inverted().transform(ax.texts[1].get_window_extent())[:, 0]
    assert high - low <= 20.0


def test_page_colours_replace_neutral_ones():
    followed, fixed = write_svg(SCENE, "", follows_page=True), write_svg(SCENE, "")
    assert INK not in followed
    assert "currentColor" in followed
    assert INK in fixed
    assert "currentColor" not in fixed
    assert "#FF0000" in followed


def test_moved_shapes_keep_their_form():
    moved = move(SHAPES, 3.0, 4.0)
    assert moved[0] == Box(3.0, 4.0, 40.0, 20.0, "#FFFFFF", INK, 0.5, "frame")
    assert moved[1].points == ((3.0, 4.0), (43.0, 24.0))
    assert moved[3].shapes[0].x == 23.0
    assert find_bottom(moved) == find_bottom(SHAPES) + 4.0


@given(text=st.text(max_size=80), width=st.floats(10.0, 80.0), weight=st.sampled_from(["normal", BOLD]))
def test_fitted_text_is_not_wider_than_its_room(text, width, weight):
    fitted = fit_text(text, width, 6.0, weight)
    assert find_width(fitted, 6.0, weight) <= width
    assert fitted == " ".join(text.split()) or "…" in fitted


@given(text=st.text("ab c", max_size=200))
def test_wrapped_lines_have_all_words(text):
    lines = wrap(text, 30.0)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(find_width(line) <= 30.0 for line in lines)


@pytest.mark.parametrize(
    "pattern", ["{}_common_end_of_all_the_names", "common_start_of_all_the_names_{}", "a{}" + "b" * 90]
)
def test_shortened_names_are_distinct(pattern):
    names = [pattern.format(f"{number:02}") for number in range(30)]
    fitted = fit_names(names, 20.0)
    assert len(set(fitted.values())) == 30
    assert all(find_width(text) <= 20.0 for text in fitted.values())


@given(
    names=st.lists(st.text("ab …1:=", max_size=40), min_size=2, max_size=12, unique=True),
    width=st.floats(-5.0, 60.0),
)
def test_no_two_names_look_the_same(names, width):
    assert len(set(fit_names(names, width).values())) == len(names)


def test_letters_are_measured_like_dejavu():
    from lhtree.draw.figure import measure

    for text in ("Which wine is it? 12.5 %", "od280/od315_of_diluted_wines", "−0.612 ≥ α"):
        assert measure(text, 6.0) <= find_width(text) / 25.4 * 72.0 <= 1.25 * measure(text, 6.0)
