"""Texts of plots neither overlap nor leave the figure, and use the words of their head; given axes are used."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import lhtree
from support import pictures
from support.boosted import find_wrong_words, fit_boosted
from support.regressions import fit_regression

pytestmark = pytest.mark.usefixtures("closing")

MODELS = {
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
BOOSTED, REGRESSIONS = ("adult", "boosted clouds"), ("tree", "forest", "gamma")
MODELS |= {"adult": lambda: fit_boosted("adult"), "boosted clouds": lambda: fit_boosted("clouds")}
MODELS |= {
    kind: lambda kind=kind: fit_boosted(kind) for kind in ("adult linear", "clouds linear", "clouds joint")
}
MODELS |= {kind: lambda kind=kind: fit_regression(kind) for kind in REGRESSIONS}
FEW = ("wine", "iris", "hostile names", "clouds")
SOME = (*FEW[:3], "one leaf", "many features", *BOOSTED, *REGRESSIONS)
ALL = (*FEW, *BOOSTED, *REGRESSIONS)
PLOTS = {
    "tree": (lambda model, X, y: lhtree.plot_tree(model, tree=-1), tuple(MODELS)),
    "gain": (lambda model, X, y: lhtree.plot_importances(model), SOME[:7]),
    "contribution": (lambda model, X, y: lhtree.plot_importances(model, X, kind="contribution"), SOME[5:]),
    "first block": (lambda model, X, y: lhtree.plot_block(model, X, y, 0), ALL),
    "last block": (lambda model, X, y: lhtree.plot_block(model, X, y, find_last_block(model)), FEW),
    "path": (
        lambda model, X, y: lhtree.plot_path(model.explain(find_row(X))),
        (*ALL, "adult linear", "clouds linear", "clouds joint"),
    ),
    "path of a tree": (
        lambda model, X, y: lhtree.plot_path(model.explain(find_row(X)), tree=0),
        ("adult", "boosted clouds", "adult linear", "clouds linear", *REGRESSIONS),
    ),
    "line": (lambda model, X, y: lhtree.plot_membership(model, find_pair(X)[0], row=find_row(X), X=X), ALL),
    "bars": (lambda model, X, y: lhtree.plot_membership(model, "town", X=X), REGRESSIONS),
    "map": (
        lambda model, X, y: lhtree.plot_membership(model, find_pair(X), n_points=20),
        (*FEW, *REGRESSIONS),
    ),
    "coverage": (lambda model, X, y: lhtree.plot_coverage(lhtree.coverage_curve(model, X, y)), BOOSTED),
    "rounds": (lambda model, X, y: lhtree.plot_rounds(model, X, y), BOOSTED),
}


def find_last_block(model):
    return int(np.flatnonzero(~model.trees_[0].is_leaf)[-1])


def find_row(X):
    return X.iloc[7] if hasattr(X, "iloc") else X[7]


def find_pair(X):
    """Return two numeric columns."""
    named = [name for name in ("age", "hours", "living area") if name in getattr(X, "columns", ())]
    return named or [0, 1]


@pytest.mark.parametrize(("plot", "name"), [(plot, name) for plot in PLOTS for name in PLOTS[plot][1]])
def test_texts_do_not_overlap(plot, name):
    axes = PLOTS[plot][0](*MODELS[name]())
    assert pictures.find_flaws(axes) == ([], [])
    texts = str([pictures.written(ax) for ax in np.ravel(axes)[0].figure.axes])
    if name in REGRESSIONS:
        assert "class" not in texts
    if name in (*BOOSTED, *REGRESSIONS):
        assert not find_wrong_words(texts)


@pytest.mark.parametrize(
    "draw",
    [
        lambda model, X, y, ax: lhtree.plot_block(model, X, y, ax=ax),
        lambda model, X, y, ax: lhtree.plot_membership(model, 0, ax=ax),
    ],
)
def test_given_axes_are_used(draw):
    figure, ax = plt.subplots()
    assert draw(*pictures.iris(), ax) is ax
    assert plt.get_fignums() == [figure.number]
