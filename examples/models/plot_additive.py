"""A model of curves
=================

:class:`~lhtree.AdditiveLHTClassifier` is a sum of one curve per column and surfaces for few pairs. The curves are the
whole model: they can be drawn, edited and printed as a scorecard.
"""

# %%
# Loans that fail more often when the customer is young, the income is low, or a long loan is large.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lhtree import AdditiveLHTClassifier

rng = np.random.default_rng(0)
n = 4000
loans = pd.DataFrame(
    {
        "age": rng.integers(18, 75, n),
        "income": rng.lognormal(8, 0.5, n).round(-1),
        "amount": rng.lognormal(9, 0.6, n).round(-2),
        "months": rng.choice([12, 24, 36, 48, 60], n),
        "housing": rng.choice(["own", "rent", "free"], n, p=[0.5, 0.4, 0.1]),
    }
)
log_odds = (
    -2.2
    + 1.2 * (loans["age"] < 26)
    + 0.6 * (loans["housing"] == "rent")
    - 0.0004 * (loans["income"] - 3000)
    + 2.0 * ((loans["amount"] > 9000) & (loans["months"] > 30))
)
loans.loc[rng.random(n) < 0.08, "income"] = np.nan
status = np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), "failed", "paid")
model = AdditiveLHTClassifier(1, positive="failed", max_steps=8, random_state=0).fit(
    loans[:3000], status[:3000]
)
print(f"accuracy {model.score(loans[3000:], status[3000:]):.3f}")
print("surfaces:", [" × ".join(surface.names) for surface in model.surfaces_])

# %%
# Every curve with its standard error and the density of the rows, and the largest surface. Values are additions to the
# log odds of the second class, here "paid".
figure, axes = plt.subplots(2, 3, figsize=(13, 7), layout="constrained")
for ax, term in zip(axes.ravel(), [*model.curves_, *model.surfaces_[:1]], strict=False):
    term.plot(ax=ax)
plt.show()

# %%
# Incomes may not count against a customer: an edit makes the curve monotonic, and records why and at what cost.
edited = (
    model.edit(loans[3000:], status[3000:])
    .monotonize("income", increasing=True, reason="policy: more income is never worse")
    .finish()
)
for edit in edited.edits_:
    print(
        f"{edit['operation']} {edit['column']}: log loss {edit['loss_before']:.4f} → {edit['loss_after']:.4f}"
    )
before, after = (next(curve for curve in one.curves_ if curve.name == "income") for one in (model, edited))
figure, axes = plt.subplots(1, 2, figsize=(11, 3.6), sharey=True, layout="constrained")
for ax, curve, title in zip(axes, (before, after), ("before", "after the edit"), strict=True):
    curve.plot(ax=ax)
    ax.set_title(title)
plt.show()

# %%
# ``points_table`` writes the edited model as a scorecard: whole points, whose sum gives the odds.
table = edited.points_table(pdo=20, base=600, odds=50)
print(table.to_frame().head(12).to_string(index=False))
