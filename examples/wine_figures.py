"""The paper's figures for wine: trees, weights and the rows of a block, for beta 0 and 0.25 and all three classes.

python examples/wine_figures.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from lhtree import LHTClassifier, plot_block, plot_tree, plot_weights

BETAS = (0.0, 0.25)


def main(folder: Path) -> list[Path]:
    """Draw all figures into a folder; return the files."""
    wine = load_wine(as_frame=True)
    y = wine.target.map(dict(enumerate(wine.target_names)))
    X_train, X_test, y_train, y_test = train_test_split(
        wine.data, y, test_size=0.2, stratify=y, random_state=0
    )
    models = {beta: LHTClassifier(beta=beta).fit(X_train, y_train) for beta in BETAS}
    for beta, model in models.items():
        print(f"beta {beta:g}: {model.score(X_test, y_test):.4f} of the test rows are predicted correctly")

    folder.mkdir(parents=True, exist_ok=True)
    files = [save(draw_trees(models), folder / "wine_trees.png")]
    for beta, model in models.items():
        figure = plot_weights(model)[0].figure
        figure.suptitle(f"Feature weights of every branching block (beta = {beta:g})", fontsize=10)
        files.append(save(figure, folder / f"wine_weights_beta_{beta:g}.png"))
        for tree, label in enumerate(model.classes_):
            figure = plot_block(model, X_train, y_train, block=0, tree=tree).figure
            files.append(save(figure, folder / f"wine_block_0_{label}_beta_{beta:g}.png"))
    return files


def draw_trees(models: dict[float, LHTClassifier]) -> Figure:
    """The trees of all classes, one row each, with one column per beta."""
    first, *_ = models.values()
    heights = [
        1.3 + 1.15 * max(int(model.trees_[tree].depth.max()) for model in models.values())
        for tree in range(len(first.trees_))
    ]
    figure, axes = plt.subplots(
        len(heights), len(models), figsize=(6.0 * len(models), sum(heights) + 0.4), height_ratios=heights
    )
    figure.subplots_adjust(
        left=0.0, right=1.0, bottom=0.0, hspace=0.04, top=1.0 - 0.4 / figure.get_figheight()
    )
    for column, (beta, model) in zip(axes.T, models.items(), strict=True):
        for tree, ax in enumerate(column):
            plot_tree(model, tree=tree, max_depth=100, ax=ax)
        column[0].set_title(f"beta = {beta:g}", fontsize=11)
    return figure


def save(figure: Figure, path: Path) -> Path:
    """Write a figure as PNG, the same bytes for the same picture."""
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)
    return path


if __name__ == "__main__":
    for file in main(Path(sys.argv[1] if len(sys.argv) > 1 else "wine_figures")):
        print(file)
