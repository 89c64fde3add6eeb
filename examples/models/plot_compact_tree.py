"""A tree on one page
==================

:class:`~lhtree.CompactLHTClassifier` learns one small tree for all classes. It is not grown greedily: its blocks are
solved again and again until fewer terms and leaves would cost more than they save. Weights are rounded and written
in the units of the data, so the tree can be used with a pocket calculator.
"""

# %%
# Is a tumour malignant? One formula of eight terms and two leaves is enough.
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from lhtree import CompactLHTClassifier, export_text, plot_tree

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = CompactLHTClassifier().fit(X_train, y_train)
cart = DecisionTreeClassifier(random_state=0).fit(X_train, y_train)
print(export_text(model))
print(f"accuracy {model.score(X_test, y_test):.3f} with {model.n_leaves_} leaves and {model.n_terms_} terms")
print(f"CART: accuracy {cart.score(X_test, y_test):.3f} with {cart.get_n_leaves()} leaves")

# %%
# A picture of this tree:
plot_tree(model)
plt.show()

# %%
# ``max_terms`` limits the length of a formula, ``max_leaf_nodes`` the number of leaves, and ``penalty`` weighs size
# against accuracy.
moons, half = make_moons(1000, noise=0.25, random_state=0)
new, new_half = make_moons(5000, noise=0.25, random_state=1)
figure, axes = plt.subplots(1, 4, figsize=(12, 3.3), layout="constrained")
for ax, n_leaves in zip(axes, (2, 3, 4, 16), strict=True):
    small = CompactLHTClassifier(max_leaf_nodes=n_leaves).fit(moons, half)
    how = {"response_method": "predict", "plot_method": "pcolormesh", "grid_resolution": 150}
    DecisionBoundaryDisplay.from_estimator(small, moons, **how, cmap="RdBu", alpha=0.5, ax=ax)
    ax.scatter(*moons[:300].T, c=half[:300], s=10, cmap="RdBu", edgecolor="black", linewidth=0.4)
    title = f"{small.n_leaves_} leaves: accuracy {small.score(new, new_half):.3f}"
    ax.set(title=title, xlabel="", ylabel="")
plt.show()
