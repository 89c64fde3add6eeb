"""Regression with intervals
=========================

Three regressors predict a number. A forest also says how far off it may be: its trees leave out a fifth of
the rows, and the errors on these rows give prediction intervals.
"""

# %%
# One feature, a kinked curve, and noise that grows to the right.
import matplotlib.pyplot as plt
import numpy as np

from lhtree import LHBoostRegressor, LHForestRegressor, LHTRegressor, evaluate

rng = np.random.default_rng(0)
x = rng.uniform(0, 10, 600)
y = np.where(x < 4, 2 * x, 8 - 1.5 * (x - 4)) + rng.normal(0, 0.3 + 0.2 * x)
X, grid = x[:, None], np.linspace(0, 10, 400)[:, None]

# %%
# :class:`~lhtree.LHTRegressor` is a small tree with a linear model in every leaf, so it follows the kink with
# few leaves.
tree = LHTRegressor(min_samples_leaf=100).fit(X, y)
forest = LHForestRegressor(random_state=0).fit(X, y)
low, high = (
    LHBoostRegressor("quantile", quantile=share, max_iter=100, random_state=0).fit(X, y)
    for share in (0.05, 0.95)
)

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), sharey=True, layout="constrained")
for ax in (left, right):
    ax.scatter(x, y, s=6, color="#BDBDBD")
left.plot(grid, tree.predict(grid), color="#D55E00", linewidth=2, label=f"one tree, {tree.n_leaves_} leaves")
left.plot(grid, forest.predict(grid), color="#0072B2", linewidth=2, label="forest")
bounds = forest.predict_interval(grid, coverage=0.9)
left.fill_between(grid[:, 0], *bounds.T, color="#0072B2", alpha=0.15, label="90 % intervals of the forest")
right.fill_between(
    grid[:, 0],
    low.predict(grid),
    high.predict(grid),
    color="#009E73",
    alpha=0.2,
    label="boosted 5 % and 95 % quantiles",
)
for ax in (left, right):
    ax.legend(loc="lower center")
plt.show()

# %%
# The forest's intervals have one width for all rows; the share they promise holds over all rows. Quantiles
# are narrow where the noise is small, but they promise nothing for new rows. Check both on held-out rows.
x_new = rng.uniform(0, 10, 2000)
y_new = np.where(x_new < 4, 2 * x_new, 8 - 1.5 * (x_new - 4)) + rng.normal(0, 0.3 + 0.2 * x_new)
measured = evaluate(forest, x_new[:, None], y_new, coverage=0.9)
print(f"forest: R² {measured.r2:.3f}, {measured.intervals.share:.1%} of the new rows inside the intervals")
inside = (low.predict(x_new[:, None]) <= y_new) & (y_new <= high.predict(x_new[:, None]))
print(f"quantiles: {inside.mean():.1%} of the new rows inside")
