"""Models of many shapes for tests of plots, and the texts and shapes of a figure."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.text import Text
from sklearn.datasets import load_iris, load_wine

from lhtree import LHTClassifier
from support.clouds import make_clouds

HOSTILE = ["$a_b$ " + "very long " * 30, "🍷 flavanoids 😀 $x", "W" * 300, "酒 hue\nnewline\t<b>\"'\\"]


def wine(**arguments):
    """A model of three classes with names, its rows and their classes."""
    data = load_wine(as_frame=True)
    y = data.target.map(dict(enumerate(data.target_names)))
    return LHTClassifier(**arguments).fit(data.data, y), data.data, y


def iris(**arguments):
    data = load_iris(as_frame=True)
    y = data.target.map(dict(enumerate(data.target_names)))
    return LHTClassifier(**arguments).fit(data.data, y), data.data, y


def hostile(**arguments):
    """Names of features and classes that a drawing might stumble over."""
    _, X, y = wine()
    X = X.rename(columns=dict(zip(X.columns[:4], HOSTILE, strict=True)))
    y = y + " $_{🍷" * 20
    return LHTClassifier(**arguments).fit(X, y), X, y


def clouds(n_rows=600, n_features=8, n_classes=2, **arguments):
    X, y = make_clouds(n_rows, n_features, n_classes)
    return LHTClassifier(**arguments).fit(X, y), X, y


def noise():
    """A tree deeper than Python's stack, as purity cuts grow where there is nothing to learn."""
    generator = np.random.default_rng(0)
    return LHTClassifier(gamma=1).fit(generator.normal(size=(3000, 1)), generator.integers(0, 2, 3000))


def texts(ax):
    """Visible texts of axes that say something."""
    return [text for text in ax.findobj(Text) if text.get_visible() and text.get_text().strip()]


def written(ax):
    """Return the texts of axes as displayed."""
    return [text.get_text().replace(r"\$", "$") for text in texts(ax)]


def find_flaws(ax):
    """Texts of a figure that are cut off by its edge, and pairs that overlap; draws the figure."""
    figure = np.ravel(ax)[0].figure
    drawn = []

    class Renderer(type(figure.canvas.get_renderer())):
        def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
            if mtext is not None:  # a text of several lines comes without it
                drawn.append(mtext)

    figure.canvas.draw()  # the layout settles
    renderer = Renderer(figure.bbox.width, figure.bbox.height, figure.dpi)
    figure.draw(renderer)
    # The extent of the letters, not of the box that may stand behind them.
    boxes = np.array([text.get_window_extent(renderer).extents for text in drawn])
    assert len(boxes)
    low, high = boxes[:, :2], boxes[:, 2:]
    is_cut = (low < -1.0).any(axis=1) | (high > figure.bbox.size + 1.0).any(axis=1)
    common = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    # Descenders may touch.
    first, second = np.nonzero(np.triu((common > [1.0, 1.5]).all(axis=2), k=1))
    names = [text.get_text() for text in drawn]
    over = [(names[i], names[j]) for i, j in zip(first, second, strict=True)]
    return [name for name, is_out in zip(names, is_cut, strict=True) if is_out], over
