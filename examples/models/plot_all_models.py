"""All models side by side
=======================

Every model learns the same three problems with two features and 300 rows. A decision tree of scikit-learn
cuts along one feature at a time, so it approximates a slanted boundary with steps. Hyperplane trees cut along
any line.
"""

# %%
# The problems: two moons; a class that depends on the difference of two correlated features; three
# overlapping clouds.
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_blobs, make_moons
from sklearn.tree import DecisionTreeClassifier

from lhtree import CompactLHTClassifier, LHBoostClassifier, LHForestClassifier, LHTClassifier


def make_diagonal(n, random_state):
    """Two correlated features; the class is the larger one, with a little noise."""
    rng = np.random.default_rng(random_state)
    X = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], n)
    return X, (X[:, 0] > X[:, 1] + rng.normal(0, 0.1, n)).astype(int)


def make_clouds(n, random_state):
    """Three classes that overlap."""
    return make_blobs(n, centers=[[-2, 0], [2, 0.5], [0, 3]], cluster_std=1.2, random_state=random_state)


def make_noisy_moons(n, random_state):
    """Two half moons that overlap."""
    return make_moons(n, noise=0.25, random_state=random_state)


problems = {"moons": make_noisy_moons, "diagonal": make_diagonal, "three clouds": make_clouds}

# %%
# ``LHTClassifier()`` is the paper's tree, one per class. The compact tree is one small tree for all classes. The
# forest and the boosted model are the accurate ones.
models = {
    "CART": DecisionTreeClassifier(random_state=0),
    "paper's tree": LHTClassifier(),
    "compact tree": CompactLHTClassifier(),
    "mixed forest": LHForestClassifier(direction="mixed", random_state=0),
    "boosted trees": LHBoostClassifier(random_state=0),
}

# %%
# The number in each panel is the accuracy on 5,000 new rows.
colours = ListedColormap(["#0072B2", "#E69F00", "#009E73"])
figure, axes = plt.subplots(3, 5, figsize=(12, 7.2), layout="constrained")
for row, (problem, make) in zip(axes, problems.items(), strict=True):
    X, y = make(300, random_state=0)
    X_new, y_new = make(5000, random_state=1)
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 200).T), axis=-1)
    for ax, model in zip(row, models.values(), strict=True):
        model.fit(X, y)
        regions = model.predict(grid.reshape(-1, 2)).reshape(200, 200)
        ax.pcolormesh(grid[..., 0], grid[..., 1], regions, cmap=colours, vmin=0, vmax=2, alpha=0.3)
        ax.scatter(*X.T, c=y, cmap=colours, vmin=0, vmax=2, s=9, edgecolors="white", linewidths=0.3)
        ax.set(xticks=[], yticks=[])
        accuracy = f"{model.score(X_new, y_new):.3f}"
        ax.text(0.03, 0.03, accuracy, transform=ax.transAxes, fontsize=11, weight="bold")
    row[0].set_ylabel(problem, fontsize=12)
for ax, name in zip(axes[0], models, strict=True):
    ax.set_title(name)
plt.show()

# %%
# One compact tree comes close to the forest and the boosted model on all three. The paper's tree fits the training rows
# more closely than the others, and so do the steps of CART.
