"""Explaining many rows at once
============================

``explain_batch`` divides the prediction of every row among its columns. Together, the contributions show the
effect of a column over the range of its values.
"""

# %%
# A boosted model of the progression of diabetes. The contributions of a row, plus the base, add up to its
# prediction.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from lhtree import LHBoostRegressor, plot_effects

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = LHBoostRegressor(max_iter=100, random_state=0).fit(X, y)
frame = model.explain_batch(X)
parts = frame.filter(like="contribution.")
total = frame["base"] + parts.sum(axis=1) + frame["clipped"]
print("largest difference from the prediction:", f"{np.abs(total - frame['prediction']).max():.0e}")

# %%
# The effect of the four most important columns. The line is the mean contribution, the band holds the middle 80 % of
# the rows, and the bars show where the rows are. Rows with the same value differ, because a hyperplane adds up
# several columns.
plot_effects(model, X, n_columns=4)
plt.show()

# %%
# These contributions as a table:
print(model.effects(X, ["bmi"], n_groups=5).to_frame().round(1))
