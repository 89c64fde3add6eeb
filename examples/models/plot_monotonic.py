"""Monotonic constraints
=====================

A price should not fall when a flat gets larger, and a risk should not fall when a debt grows.
``monotonic_cst`` makes a boosted model obey such a rule exactly, for single features and for hyperplanes.
"""

# %%
# The chance of default rises with the debt, but 300 noisy rows suggest otherwise in places.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lhtree import LHBoostClassifier

rng = np.random.default_rng(0)
X = pd.DataFrame({"debt": rng.uniform(0, 10, 300), "age": rng.uniform(20, 70, 300)})
log_odds = 0.8 * (X["debt"] - 5) - 0.03 * (X["age"] - 45)
y = (log_odds + rng.logistic(0, 1.5, 300) > 0).map({True: "default", False: "repaid"})

# %%
# The constraint refers to the probability of the second class, ``classes_[1]``, here "repaid": it must not
# rise with the debt.
free = LHBoostClassifier(random_state=0).fit(X, y)
constrained = LHBoostClassifier(monotonic_cst={"debt": -1}, random_state=0).fit(X, y)

rows = pd.DataFrame({"debt": np.linspace(0, 10, 300)})
figure, axes = plt.subplots(1, 2, figsize=(11, 4), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, {"without": free, "with": constrained}.items(), strict=True):
    for age, colour in zip((25, 45, 65), ("#56B4E9", "#0072B2", "#6A55CC"), strict=True):
        proba = model.predict_proba(rows.assign(age=float(age)))[:, 0]
        ax.plot(rows["debt"], proba, color=colour, label=f"age {age}")
    ax.set(title=f"{name} the constraint", xlabel="debt")
axes[0].set_ylabel("probability of default")
axes[0].legend()
plt.show()

# %%
# The constraint holds for every row, whatever its other values are.
steps = np.diff(constrained.predict_proba(rows.assign(age=45.0))[:, 0])
print("never decreases:", bool((steps >= 0).all()))
