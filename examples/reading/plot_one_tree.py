"""Reading one tree
================

A single tree can be read from the root to the leaves. Here it predicts whether a tumour is malignant, from 30
measurements of cell nuclei.
"""

# %%
# ``gamma=50`` keeps the tree small, ``beta=0.5`` drops features with small weights, and
# ``membership="least_squares"`` gives every leaf a linear model of all features.
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from lhtree import LHTClassifier, export_text, plot_block, plot_path, plot_tree, weight_table

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
model = LHTClassifier(gamma=50, beta=0.5, membership="least_squares").fit(X_train, y_train)
print(f"accuracy {model.score(X_test, y_test):.3f}, {model.n_leaves_} leaves")

# %%
# The whole tree
# --------------
# A card per block, with the number of its rows that are malignant and the largest weights. A bar is violet if
# larger values lead to the side with more malignant rows, red if to the other side.
plot_tree(model)
plt.show()

# %%
# This tree as text:
print(export_text(model, n_features=2))

# %%
# One block
# ---------
# Every row has a feature sum: its weights times its normalised values. Rows with a sum below the offset c go
# left.
plot_block(model, X_train, y_train, block=2)
plt.show()

# %%
# One row
# -------
# The path of a row that is misclassified. In every block the terms add up to y; in the leaf they add up to
# the membership.
plot_path(model.explain(X_test.iloc[8]))
plt.show()

# %%
# All weights
# -----------
# :func:`~lhtree.weight_table` lists every hyperplane. In original units it can be checked by hand: a row goes
# right if the sum of weight times value is at least the offset.
table = weight_table(model).to_frame(units="user")
print(table[["block", "depth", "lift", "offset", "weights.worst area", "weights.worst texture"]].round(4))
