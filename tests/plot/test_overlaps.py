"""Texts of plots neither overlap nor leave the figure, and given axes are used."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lhtree import (
    plot_block,
    plot_decision_regions,
    plot_importances,
    plot_membership,
    plot_path,
    plot_tree,
    plot_weights,
)
from support import pictures

pytestmark = pytest.mark.usefixtures("closing")

MAKERS = {
    "wine": pictures.wine,
    "sparse wine": lambda: pictures.wine(beta=0.25),
    "one leaf": lambda: pictures.wine(gamma=10_000),
    "iris": pictures.iris,
    "hostile names": pictures.hostile,
    "clouds": pictures.clouds,
    "stump": lambda: pictures.clouds(max_depth=1),
    "many features": lambda: pictures.clouds(3000, 57, 7),
    "mixed directions": lambda: pictures.clouds(3000, 20, 3, direction="mixed"),
    "many blocks": lambda: pictures.clouds(1500, 4, 2, gamma=1),
}
FEW = ("wine", "iris", "hostile names", "clouds")
PLOTS = {
    "tree": (lambda model, X, y: plot_tree(model), tuple(MAKERS)),
    "weights": (lambda model, X, y: plot_weights(model), (*FEW[:3], "one leaf", "many features")),
    "importances": (lambda model, X, y: plot_importances(model), (*FEW[:3], "one leaf", "many features")),
    "first block": (lambda model, X, y: plot_block(model, X, y, 0), FEW),
    "last block": (lambda model, X, y: plot_block(model, X, y, find_last_block(model)), FEW),
    "path": (lambda model, X, y: plot_path(model.explain(np.asarray(X)[60])), FEW),
    "lines": (lambda model, X, y: plot_membership(model, 0, row=X[:1]), FEW),
    "map": (lambda model, X, y: plot_membership(model, [0, 1]), FEW),
    "regions": (lambda model, X, y: plot_decision_regions(model, X, y), FEW),
}


def find_last_block(model):
    return int(np.flatnonzero(~model.trees_[0].is_leaf)[-1])


@pytest.mark.parametrize(("plot", "maker"), [(plot, maker) for plot in PLOTS for maker in PLOTS[plot][1]])
def test_texts_do_not_overlap(plot, maker):
    assert pictures.find_flaws(PLOTS[plot][0](*MAKERS[maker]())) == ([], [])


@pytest.mark.parametrize(
    "draw",
    [
        lambda model, X, y, ax: plot_block(model, X, y, ax=ax),
        lambda model, X, y, ax: plot_membership(model, 0, ax=ax),
        lambda model, X, y, ax: plot_decision_regions(model, X, y, ax=ax, n_points=20),
    ],
)
def test_given_axes_are_used(draw):
    figure, ax = plt.subplots()
    assert draw(*pictures.iris(), ax) is ax
    assert plt.get_fignums() == [figure.number]
