"""Categories and missing values
=============================

Tables with text, categories and gaps are accepted as they are. Explanations and plots name the categories.
"""

# %%
# Flats with a district, a heating system and gaps in the year of construction.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lhtree import LHBoostClassifier, plot_importances, plot_membership

rng = np.random.default_rng(0)
n = 1500
flats = pd.DataFrame(
    {
        "area": rng.normal(75, 25, n).clip(20, 180).round(),
        "year": rng.integers(1900, 2024, n).astype(float),
        "district": rng.choice(["centre", "harbour", "north", "south"], n, p=[0.2, 0.1, 0.4, 0.3]),
        "heating": rng.choice(["gas", "oil", "heat pump"], n),
    }
)
worth = (
    0.05 * flats["area"]
    + 0.02 * (flats["year"] - 1960)
    + flats["district"].map({"centre": 2.0, "harbour": 1.5, "north": -1.0, "south": 0.0})
    + flats["heating"].map({"gas": 0.0, "oil": -0.7, "heat pump": 0.8})
)
rented = np.where(worth + rng.logistic(0, 0.8, n) > 4, "quickly", "slowly")
flats.loc[rng.random(n) < 0.15, "year"] = np.nan
model = LHBoostClassifier(max_iter=100, random_state=0).fit(flats, rented)

# %%
# Up to 20 categories become one feature each; a column with more becomes the share of the class among the
# rows of the category. A missing number has a bin of its own. Importances refer to the columns of the table.
row = {"area": 75, "year": None, "district": "north", "heating": "oil"}
figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
plot_importances(model, ax=axes[0])
plot_membership(model, "district", row=row, X=flats, ax=axes[1])
plot_membership(model, "area", row=row, X=flats, ax=axes[2])
plt.show()

# %%
# An explanation names categories and gaps, and a counterfactual can replace a category by another one.
explanation = model.explain(row)
print(explanation)
print(explanation.counterfactuals(["district", "heating"], n=1)[0])
