"""Calibrated probabilities
========================

Of the rows with a probability of 0.7, about 70 % should belong to the class. Boosted trees are close to that;
a single tree is not, unless it is calibrated.
"""

# %%
# Two classes with 10 % wrong labels.
import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier

X, y = make_classification(6000, n_features=12, n_informative=6, flip_y=0.2, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

# %%
# ``calibrate`` learns a map from scores to probabilities by cross-fitting. The map is part of the model: it
# is saved, exported and explained.
models = {
    "paper's tree": LHTClassifier(),
    "paper's tree, calibrated": LHTClassifier(calibrate="sigmoid"),
    "mixed forest": LHForestClassifier(50, direction="mixed", random_state=0),
    "boosted trees": LHBoostClassifier(max_iter=100, random_state=0),
}
figure, ax = plt.subplots(figsize=(7, 5.5), layout="constrained")
for name, model in models.items():
    proba = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    label = f"{name}: log loss {log_loss(y_test, proba):.3f}"
    CalibrationDisplay.from_predictions(y_test, proba, n_bins=10, strategy="quantile", name=label, ax=ax)
ax.legend(fontsize=9, loc="upper left")
plt.show()
