"""The paper's figures
===================

The figures of the paper for the wine data: the three trees, the weights of their hyperplanes, and how a block
separates its rows.
"""

# %%
# There is one tree per class. ``beta`` drops features with small weights, so the hyperplanes of the second
# model are sparser.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from lhtree import LHTClassifier, plot_block, plot_tree, weight_table

wine = load_wine(as_frame=True)
y = wine.target.map(dict(enumerate(wine.target_names)))
X_train, X_test, y_train, y_test = train_test_split(wine.data, y, test_size=0.2, stratify=y, random_state=0)
models = {beta: LHTClassifier(beta=beta).fit(X_train, y_train) for beta in (0.0, 0.25)}
for beta, model in models.items():
    print(f"beta {beta:g}: {model.score(X_test, y_test):.4f} of the test rows are predicted correctly")

# %%
# The trees
# ---------
# Each card is a block: how many of its rows belong to the class, and its largest weights.
heights = [
    1.3 + 1.15 * max(int(model.trees_[tree].depth.max()) for model in models.values()) for tree in range(3)
]
figure, axes = plt.subplots(3, 2, figsize=(12, sum(heights) + 0.4), height_ratios=heights)
figure.subplots_adjust(left=0, right=1, bottom=0, hspace=0.04, top=1 - 0.4 / figure.get_figheight())
for column, (beta, model) in zip(axes.T, models.items(), strict=True):
    for tree, ax in enumerate(column):
        plot_tree(model, tree=tree, max_depth=100, ax=ax)
    column[0].set_title(f"beta = {beta:g}", fontsize=11)
plt.show()

# %%
# The weights
# -----------
# :func:`~lhtree.weight_table` has the weights of every branching block. The sign of ``lift`` turns them into evidence
# for the class (violet) or against it (orange).
for beta, model in models.items():
    figure, axes = plt.subplots(1, 3, figsize=(10, 4), sharey=True, layout="constrained")
    for tree, ax in enumerate(axes):
        table = weight_table(model, tree)
        evidence = table.weights * np.sign(table.lift)[:, None]
        image = ax.imshow(evidence.T, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
        ax.set(title=model.classes_[tree], xlabel="branching block")
        ax.set_xticks(range(len(table.block)), table.block)
    axes[0].set_yticks(range(len(table.feature_names)), table.feature_names)
    figure.colorbar(image, ax=axes, label="weight for the class")
    figure.suptitle(f"Feature weights of every branching block (beta = {beta:g})", fontsize=10)
plt.show()

# %%
# One block
# ---------
# The feature sums of all rows in the root of the tree for class_0. Rows of the class are above the line, the
# others below. The offset c separates the largest pure set.
plot_block(models[0.0], X_train, y_train, block=0, tree=0)
plt.show()
