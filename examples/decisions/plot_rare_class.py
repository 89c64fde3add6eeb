"""A rare class
============

If 3 % of the rows belong to a class, a model that never predicts it is 97 % accurate. Choose the threshold
instead.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.metrics import precision_recall_curve, precision_score, recall_score
from sklearn.model_selection import train_test_split

from lhtree import LHBoostClassifier, choose_threshold, evaluate

X, y = make_classification(6000, n_features=15, n_informative=8, weights=[0.97], flip_y=0.01, random_state=0)
X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=0.6, stratify=y, random_state=0)
X_held, X_test, y_held, y_test = train_test_split(
    X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=0
)
model = LHBoostClassifier(max_iter=100, random_state=0).fit(X_train, y_train)

# %%
# For rare classes, :func:`~lhtree.evaluate` leads with balanced accuracy and average precision.
print(evaluate(model, X_test, y_test))

# %%
# :func:`~lhtree.choose_threshold` finds the threshold with the largest F1 or balanced accuracy, on held-out
# rows.
thresholds = {
    "default": 0.5,
    "largest F1": choose_threshold(model, X_held, y_held, metric="f1"),
    "largest balanced accuracy": choose_threshold(model, X_held, y_held, metric="balanced_accuracy"),
}
proba = model.predict_proba(X_test)[:, 1]
precision, recall, _ = precision_recall_curve(y_test, proba)
figure, ax = plt.subplots(figsize=(7, 4.8), layout="constrained")
ax.plot(recall, precision, color="#0072B2")
for (name, threshold), marker in zip(thresholds.items(), "os^", strict=True):
    found = proba >= threshold
    point = recall_score(y_test, found), precision_score(y_test, found)
    ax.plot(*point, marker, markersize=10, label=f"{name}: threshold {threshold:.2f}")
ax.set(xlabel="recall", ylabel="precision", title="Three thresholds on the test rows")
ax.legend()
plt.show()
