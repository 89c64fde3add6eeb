"""How sparse may a tree be?
=========================

A hyperplane with five weights is easier to read than one with thirty. ``beta`` drops features with small
weights; the question is what that costs.
"""

# %%
# :func:`~lhtree.sparsity_curve` measures it by cross-validation.
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from lhtree import LHTClassifier, plot_sparsity, sparsity_curve

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
tree = LHTClassifier(gamma=50, membership="least_squares")
curve = sparsity_curve(X, y, betas=[0, 0.25, 0.5, 0.7, 0.8, 0.9], cv=5, estimator=tree)
print(curve)

# %%
plot_sparsity(curve)
plt.show()

# %%
# ``sparsest`` is the largest beta whose accuracy is within one standard error of the best.
sparse = tree.set_params(beta=curve.sparsest).fit(X, y)
print(f"beta {curve.sparsest}: {sparse.n_leaves_} leaves")
