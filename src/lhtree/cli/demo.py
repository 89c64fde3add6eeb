"""``lhtree demo``: wine, accuracy by beta, one tree and a report."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any, NamedTuple

from .._extras import import_extra
from ._errors import writing
from ._output import check_place

BETAS = (0.0, 0.25, 0.5, 0.7, 0.8)  # the paper's table 1
N_SPLITS = 30
REPORT = "wine_report.html"
EXAMPLES = ("lhtree demo",)


class Accuracies(NamedTuple):
    """Accuracy of a model on the training rows and on the held-out rows, one value per split."""

    training: list[float]
    test: list[float]


def demo() -> None:
    """Train on the wine data: print accuracy by beta and one tree, and write an HTML report."""
    from ..describe.text import export_text

    check_place(Path(REPORT))
    X, y = load_wine()
    print(f"wine: {X.shape[0]} rows, {X.shape[1]} features, {y.nunique()} classes")
    print(f"LHTClassifier(beta=...), accuracy in % over {N_SPLITS} stratified 80/20 splits\n")
    print(describe_accuracies({beta: measure_accuracies(X, y, beta) for beta in BETAS}))

    print(
        "\nOne of the three trees at beta 0.25. One line per block: rows of the class and largest weights.\n"
    )
    print(export_text(fit(X, y, 0.25), tree=0))

    print(f"\nA report on such a model, evaluated on held-out rows: open {write_report(X, y)} in a browser.")


def load_wine() -> tuple[Any, Any]:
    """The wine data with names of features and classes."""
    import_extra("pandas", "cli")
    from sklearn import datasets

    wine = datasets.load_wine(as_frame=True)
    return wine.data, wine.target.map(dict(enumerate(wine.target_names)))


def fit(X: Any, y: Any, beta: float) -> Any:
    """Train the paper's classifier."""
    from ..estimators.tree import LHTClassifier

    return LHTClassifier(beta=beta).fit(X, y)


def split(X: Any, y: Any, seed: int) -> Any:
    """A stratified 80/20 split: X_train, X_test, y_train, y_test."""
    from sklearn.model_selection import train_test_split

    return train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)


def write_report(X: Any, y: Any) -> Any:
    """Write the report on a model of the first split into the working directory; returns its path."""
    from ..reports import report

    X_train, X_test, y_train, y_test = split(X, y, 0)
    model = fit(X_train, y_train, 0.25)
    with writing(REPORT):
        return report(
            model, X_train, y_train, REPORT, X_test=X_test, y_test=y_test, title="Wine: from which cultivar?"
        )


def measure_accuracies(X: Any, y: Any, beta: float) -> Accuracies:
    """Train on 30 stratified splits; splits are the same for every beta."""
    accuracies = Accuracies([], [])
    for seed in range(N_SPLITS):
        X_train, X_test, y_train, y_test = split(X, y, seed)
        model = fit(X_train, y_train, beta)
        accuracies.training.append(model.score(X_train, y_train))
        accuracies.test.append(model.score(X_test, y_test))
    return accuracies


def describe_accuracies(by_beta: dict[float, Accuracies]) -> str:
    """A table with a line per beta: mean, standard deviation and best split, on test and on training rows."""
    lines = [
        "           test accuracy              training accuracy",
        "  beta     mean ± std       best      mean ± std       best",
    ]
    for beta, accuracies in by_beta.items():
        test, training = (
            f"{100 * statistics.mean(side):6.2f} ± {100 * statistics.stdev(side):4.2f}  {100 * max(side):8.2f}"
            for side in (accuracies.test, accuracies.training)
        )
        lines.append(f"{beta:6g}   {test}     {training}")
    return "\n".join(lines)
