"""Boosting, round by round
========================

:class:`~lhtree.LHBoostClassifier` adds up small trees. Each round lowers the log loss of the rounds before
it, and the boundary becomes finer.
"""

# %%
# Two moons with noise. ``warm_start`` continues the same model, so each panel is a later stage of one fit.
import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import train_test_split

from lhtree import LHBoostClassifier, plot_rounds

X, y = make_moons(800, noise=0.3, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

model = LHBoostClassifier(learning_rate=0.1, warm_start=True, random_state=0)
figure, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
for ax, n_rounds in zip(axes, (1, 5, 25, 125), strict=True):
    model.set_params(max_iter=n_rounds).fit(X_train, y_train)
    how = {"response_method": "predict_proba", "plot_method": "pcolormesh", "grid_resolution": 150}
    DecisionBoundaryDisplay.from_estimator(model, X_train, **how, cmap="RdBu", alpha=0.6, ax=ax)
    ax.scatter(*X_train.T, c=y_train, s=10, cmap="RdBu", edgecolor="black", linewidth=0.4)
    ax.set(title=f"{n_rounds} rounds: accuracy {model.score(X_test, y_test):.3f}", xlabel="", ylabel="")
plt.show()

# %%
# How many rounds are enough? Early stopping holds out a tenth of the rows and keeps the rounds up to the one
# with the lowest loss. :func:`~lhtree.plot_rounds` draws the loss on these rows and on rows that you pass.
# The dotted line is the last round kept.
stopped = LHBoostClassifier(max_iter=500, learning_rate=0.1, early_stopping=True, random_state=0)
stopped.fit(X_train, y_train)
print(f"{stopped.n_iter_} rounds kept, accuracy {stopped.score(X_test, y_test):.3f}")
plot_rounds(stopped, X_test, y_test)
plt.show()

# %%
# With the default ``learning_rate="auto"`` the step size follows from the number of rows and rounds, and
# early stopping is not needed.
automatic = LHBoostClassifier(random_state=0).fit(X_train, y_train)
print(f"rate {automatic.learning_rate_}, accuracy {automatic.score(X_test, y_test):.3f}")
