"""The pictures of the documentation.

python examples/gallery.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import train_test_split

from lhtree import LHTClassifier, plot_decision_regions, plot_path, plot_tree, plot_weights

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"


def main(folder: Path) -> list[Path]:
    """Draw all pictures into a folder; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"})
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    model = LHTClassifier(gamma=50, beta=0.5, membership="least_squares").fit(X_train, y_train)
    wine = load_wine(as_frame=True)
    classes = wine.target.map(dict(enumerate(wine.target_names)))
    whole = LHTClassifier(beta=0.25).fit(wine.data, classes)
    two = wine.data[["flavanoids", "color_intensity"]]
    figures = {
        "tree": plot_tree(model).figure,
        "path": plot_path(model.explain(X_test.iloc[8])).figure,
        "weights": plot_weights(whole)[0].figure,
        "regions": plot_decision_regions(LHTClassifier(gamma=50).fit(two, classes), two, classes).figure,
    }
    return [save(figure, folder / f"{name}.png") for name, figure in figures.items()]


def save(figure: Figure, path: Path) -> Path:
    """Write a figure as PNG, the same bytes for the same picture."""
    figure.savefig(path, dpi=90, metadata={"Software": None})
    plt.close(figure)
    return path


if __name__ == "__main__":
    for file in main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES):
        print(file)
