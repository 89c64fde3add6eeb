"""Counterfactuals: what would change the decision
===============================================

A loan is refused. Which changes of the application would make the model accept it? Every counterfactual is
verified: the changed row is predicted again.
"""

# %%
# Two features, so that everything can be drawn.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.inspection import DecisionBoundaryDisplay

from lhtree import LHTClassifier

rng = np.random.default_rng(1)
loans = pd.DataFrame(
    {"income": rng.lognormal(3.6, 0.4, 600).round(1), "rate": rng.lognormal(1.9, 0.5, 600).round(1)}
)
decision = np.where(loans["income"] - 4.5 * loans["rate"] + rng.normal(0, 4, 600) > 0, "accepted", "refused")
model = LHTClassifier(direction="mixed", min_samples_leaf=40).fit(loans, decision)

# %%
# An application that is refused:
row = {"income": 32.0, "rate": 9.0}
explanation = model.explain(row)
for counterfactual in explanation.counterfactuals():
    print(counterfactual)

# %%
# The first one is the smallest change of both features, the others change one of them. The arrows lead across
# the boundary.
how = {"response_method": "predict", "plot_method": "pcolormesh", "grid_resolution": 300}
ax = DecisionBoundaryDisplay.from_estimator(model, loans, **how, cmap="PiYG_r", alpha=0.3).ax_
for label, marker, colour in (("accepted", "o", "C2"), ("refused", "s", "C6")):
    ax.scatter(*loans[decision == label].to_numpy().T, s=10, marker=marker, color=colour, label=label)
ax.legend()
for counterfactual in explanation.counterfactuals():
    end = (counterfactual.row["income"], counterfactual.row["rate"])
    arrow = {"arrowstyle": "-|>", "color": "black", "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, (row["income"], row["rate"]), arrowprops=arrow, zorder=6)
ax.scatter(row["income"], row["rate"], s=60, color="black", zorder=7)
ax.set(xlim=(10, 70), ylim=(2, 18), title="From refused to accepted")
plt.show()

# %%
# Not every feature can change. Pass the columns that may:
print(explanation.counterfactuals(["rate"], n=1)[0].changes)
