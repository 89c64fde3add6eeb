"""Scene of a compact tree: one page of A4, complete and without overlaps."""

import matplotlib.pyplot as plt
import pytest

from lhtree import plot_tree
from lhtree.describe.outline import find_left, read_outline
from lhtree.draw.figure import draw_scene, new_page
from lhtree.draw.outline import compose_outline
from lhtree.model.numbers import ALL_DIGITS, write_value
from lhtree.scorer import Scorer
from support import pictures
from support.compact import LONG, make_model, make_outline

pytestmark = pytest.mark.usefixtures("closing")


def draw_outline(outline):
    scene = compose_outline(outline)
    return draw_scene(new_page(plt.figure, scene.width, scene.height), scene)


A4 = 297.0 / 25.4, 210.0 / 25.4


def minus(value):
    return f"{'−' * (value < 0)}{write_value(abs(value), ALL_DIGITS)}"


@pytest.mark.parametrize(
    ("n_classes", "names", "is_chain"), [(2, None, False), (3, LONG, True), (10, LONG, False)]
)
def test_large_tree_fits_on_a_page(n_classes, names, is_chain):
    outline = make_outline(16, 8, n_classes, names, is_chain=is_chain)
    ax = draw_outline(outline)
    width, height = ax.figure.get_size_inches()
    assert width == pytest.approx(A4[0])
    assert height <= A4[1] + 1e-9
    assert pictures.find_flaws(ax) == ([], [])
    assert min(text.get_fontsize() for text in pictures.texts(ax)) >= 4.0
    written = pictures.written(ax)
    for block in outline.branching:
        assert f"sum < {minus(block.bound)}" in written
        for term in block.terms:
            assert f"{'−' if term.weight < 0 else '+'}{write_value(abs(term.weight), ALL_DIGITS)}" in written
            assert minus(term.fill) in written
    shown = {text for text in written if "_(worst, µm)" in text or text.startswith("feature_")}
    assert len(shown) == len(outline.used)  # no two names look the same


@pytest.mark.parametrize("seed", range(2))
def test_single_terms_are_written_as_conditions(seed):
    model, _ = make_model(seed)
    ax = plot_tree(Scorer(model))
    assert pictures.find_flaws(ax) == ([], [])
    written = pictures.written(ax)
    for block in read_outline(model).branching:
        sign, terms, bound = find_left(block)
        if len(terms) == 1 and sign in "<>" and terms[0].weight == 1.0:
            assert f"{terms[0].name} {sign} {minus(bound)}" in written


def test_single_leaf_is_drawn():
    ax = draw_outline(make_outline(1, 1))
    assert "Compact tree: 1 block, a leaf" in pictures.written(ax)
    assert pictures.find_flaws(ax) == ([], [])


def test_given_axes_are_used():
    ax = plt.subplots(figsize=(6, 4))[1]
    model, _ = make_model(0)
    assert plot_tree(Scorer(model), ax=ax) is ax
    assert pictures.find_flaws(ax) == ([], [])
