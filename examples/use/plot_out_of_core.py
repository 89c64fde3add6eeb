"""Learning from data larger than memory
=====================================

``fit_batches`` reads a table in batches and learns the same model, to the bit, as ``fit`` on all rows. Only labels
and scores stay in memory; features become codes of one byte in a scratch file.
"""

# %%
# The source can be a Parquet or CSV file, a folder of them, arrays on disk, or a function that yields batches. Here a
# function generates 60,000 rows, 5,000 at a time.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss

from lhtree import LHBoostClassifier


def make_rows(n, seed):
    """Rows of eight features, and classes that depend on two products of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] - X[:, 3] * X[:, 4] + rng.normal(0, 0.5, n) > 0).astype(int)


def make_batches(n_batches=12):
    """Yield batches of rows and classes; each call starts again."""
    for seed in range(n_batches):
        yield make_rows(5000, seed)


model = LHBoostClassifier(max_iter=50, random_state=0).fit_batches(make_batches)

# %%
# A fit in memory gives the same model.
X, y = (np.concatenate(parts) for parts in zip(*make_batches(), strict=True))
in_memory = LHBoostClassifier(max_iter=50, random_state=0).fit(X, y)
print("bit-identical:", bool((model.predict_proba(X[:1000]) == in_memory.predict_proba(X[:1000])).all()))

# %%
# More rows give a better model, and the memory that features need stays the same.
X_new, y_new = make_rows(20_000, seed=99)
numbers, losses = (1, 2, 4), []
for n_batches in numbers:
    fitted = LHBoostClassifier(max_iter=50, random_state=0)
    fitted.fit_batches(lambda n_batches=n_batches: make_batches(n_batches))
    losses.append(log_loss(y_new, fitted.predict_proba(X_new)))
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
rows = [5000 * n for n in (*numbers, 12)]
ax.plot(rows, [*losses, log_loss(y_new, model.predict_proba(X_new))], "o-", color="#0072B2")
ax.set(xlabel="training rows", ylabel="log loss on new rows")
plt.show()
