"""Abstaining: decide only the clear cases
=======================================

Where errors are expensive, a model should decide the clear cases and pass the others to a person.
"""

# %%
# ``predict_or_abstain`` leaves a row undecided if its largest WOLF value (of a boosted model: its
# probability) is below a threshold.
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier, coverage_curve, plot_coverage

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
models = {
    "one tree per digit": LHTClassifier(),
    "mixed forest": LHForestClassifier(direction="mixed", multi_class="one_tree", random_state=0),
    "boosted trees": LHBoostClassifier(max_iter=50, random_state=0),
}
for model in models.values():
    model.fit(X_train, y_train)
decisions = models["mixed forest"].predict_or_abstain(X_test, coverage=0.9)
print(decisions)
everything = models["mixed forest"].score(X_test, y_test)
print(f"accuracy on all rows {everything:.3f}, on the decided rows {decisions.score(y_test):.3f}")

# %%
# :func:`~lhtree.coverage_curve` measures the accuracy at every coverage, on held-out rows.
curve = coverage_curve(models["mixed forest"], X_test, y_test)
plot_coverage(curve)
plt.show()

# %%
# Forest and boosted trees put their errors last, so their curves reach 1. Single trees give most rows the largest
# possible value, so they cannot rank these rows.
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for (name, model), colour in zip(models.items(), ("#E69F00", "#0072B2", "#009E73"), strict=True):
    found = coverage_curve(model, X_test, y_test)
    ax.plot(found.coverage, found.accuracy, color=colour, label=name)
ax.set(xlabel="coverage: share of rows decided", ylabel="accuracy on decided rows")
ax.legend()
plt.show()

# %%
# ``reach`` finds the largest coverage with a given accuracy. Check the threshold on other rows before you use
# it.
point = curve.reach(accuracy=0.995)
print(
    f"99.5 % accuracy at a coverage of {point['coverage']:.2f}, with the threshold {point['threshold']:.2f}"
)
