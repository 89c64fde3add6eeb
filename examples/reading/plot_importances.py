"""Which columns matter
====================

Three kinds of importance answer three questions. To see whether they can be trusted, we add five columns of
noise.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from lhtree import LHForestClassifier, plot_importances

X, y = load_wine(return_X_y=True, as_frame=True)
rng = np.random.default_rng(0)
X = X.assign(**{f"noise {i}": rng.normal(size=len(X)) for i in range(5)})
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = LHForestClassifier(direction="mixed", random_state=0).fit(X_train, y_train)

# %%
# - *gain*: what separated the training rows? It needs no rows and is corrected for chance, so noise gets about 0.
# - *contribution*: what moves the membership of these rows towards the true class?
# - *permutation*: how much accuracy is lost when the values of a column are shuffled?
#
# The last two are measured on held-out rows.
figure, axes = plt.subplots(1, 3, figsize=(13, 4.8), layout="constrained")
for ax, kind in zip(axes, ("gain", "contribution", "permutation"), strict=True):
    plot_importances(model, X_test, y_test, kind=kind, n_features=18, ax=ax)
plt.show()
