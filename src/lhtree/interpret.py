"""Methods of the estimators that explain predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._parameters import check_count, is_real, refuse
from .model.model import read, read_output
from .tables.labels import find_class

if TYPE_CHECKING:
    from .describe.rules import Rules
    from .evaluation.decisions import Decisions
    from .explain import Effects, Explanation, Importances
    from .explain._batch import Contributions


class Interpretable:
    """Explanations of single predictions and of many."""

    __slots__ = ()  # a Scorer has no dict

    def explain(self, row: Any, *, target: Any = None) -> Explanation:
        """Explain the prediction for one row.

        Parameters
        ----------
        row : array-like of shape (m,) or (1, m), dict or Series from feature name to value, or frame of one row
            The row to explain; NaN is a missing value.
        target : class label, or name of an output, optional
            The class that the text and plots of the explanation are about. Default: the ``positive`` class of the
            model, if it was declared, else the predicted class. If the model has several outputs, the one to explain:
            the name of a response, a quantile, or its place.

        Returns
        -------
        Explanation
            The prediction, the path through every tree and the terms that add up to each decision.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from lhtree import LHTClassifier
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> model = LHTClassifier().fit(X, y)
        >>> explanation = model.explain(X.iloc[0])
        >>> print(str(explanation).splitlines()[0])
        Prediction: class 0, probability 100 % (class 1 0 %, class 2 0 %).
        """
        from .explain._explanation import Explanation, take_row

        fitted = read(self, takes_numbers=True, takes_several=True)
        x = take_row(fitted, row, self)
        if fitted.outputs and target is not None:
            place = fitted.find_place(x[None], fitted.find_output(target))
            return Explanation(fitted.output(place), x, _draw)
        if not fitted.labels:
            return Explanation(read_output(self, target), x, _draw)
        wanted = fitted.positive if target is None else find_class(target, fitted.labels, "target")
        return Explanation(fitted, x, _draw, wanted)

    def explain_batch(self, X: Any, *, target: Any = None) -> Contributions:
        """Explain the predictions for many rows.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Samples. The column ``row`` of the result is the index of a DataFrame, otherwise the row number.
        target : str, float or int, optional
            The output to explain, if the model has several (see ``explain``). Quantiles are explained before they are
            sorted: where two of them cross, the prediction here is the raw one.

        Returns
        -------
        DataFrame
            One row per sample and class: the prediction, ``proba`` (if it is calibrated, ``uncalibrated`` as well),
            ``wolf``, ``membership`` and ``confidence`` of the class, and the ``base`` and ``contribution.<feature>``
            that add up to its membership. A boosted model has ``raw_score`` instead of ``wolf``, ``membership`` and
            ``confidence``; base and contributions (and ``clipped``, if its leaves are linear) add up to it. A
            regression has one row per sample, with the ``prediction``, and the ``base``, contributions and ``clipped``
            that add up to it or, with a log link, to its logarithm ``raw_score``. The method ``to_shap()`` returns the
            contributions as a ``shap.Explanation``.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from lhtree import LHTClassifier
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> frame = LHTClassifier().fit(X, y).explain_batch(X[:2])
        >>> frame.loc[0, ["proba", "base", "contribution.proline"]].round(2)
               proba  base  contribution.proline
        class
        0        1.0  0.33                  0.14
        1        0.0  0.40                 -0.11
        2        0.0  0.27                 -0.02
        """
        from .explain._batch import explain_rows

        fitted = read_output(self, target)
        rows = fitted.encode(X, self)
        index = X.index if hasattr(X, "iloc") else None
        return explain_rows(fitted, rows, index)

    def importances(
        self,
        X: Any = None,
        y: Any = None,
        *,
        kind: str = "gain",
        n_repeats: int = 5,
        random_state: Any = 0,
        target: Any = None,
    ) -> Importances:
        """Return the importance of every column.

        Parameters
        ----------
        X : array-like of shape (n, m), optional
            Rows; required for contributions and permutations.
        y : array-like of shape (n,), optional
            Their classes, or numbers.
        kind : {"gain", "contribution", "permutation"}, default="gain"
            ``"gain"`` is ``feature_importances_``, learned in training, and needs no rows. ``"contribution"`` needs X:
            the mean ``|contribution|`` to the membership of the predicted class, or to its raw score (see
            ``explain_batch``), which shows what the model uses; with y, the mean contribution to the true class, which
            shows what helps. ``"permutation"`` needs both: the drop in accuracy when the values of a column are
            permuted. For a regression, contributions are those to the prediction (with a log link, to its logarithm);
            with y, those towards the true number count as positive. Permutations show the drop in R².
            Pass held-out rows: on training rows, noise that the model has memorised counts as well.
        n_repeats : int, default=5
            Number of permutations of each column.
        random_state : None, int or numpy Generator, default=0
            Random seed of the permutations.
        target : str, float or int, optional
            The output of a model with several (see ``explain``); ``y`` has its responses. Without it, ``"gain"`` is
            that of all outputs.

        Returns
        -------
        Importances
            ``names``, ``values`` of shape (m,), and ``to_frame()``. The categories of a column are summed.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from lhtree import LHTClassifier
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> model = LHTClassifier().fit(X, y)
        >>> model.importances(X, y, kind="permutation").to_frame().head(2).round(2)
                 importance  spread
        column
        proline        0.08    0.03
        alcohol        0.07    0.01
        """
        from .explain._columns import find_importances
        from .tables.labels import encode_known, take_numbers

        of_all = kind == "gain" and target is None
        fitted = read(self, takes_numbers=True, takes_several=True) if of_all else read_output(self, target)
        rows, truth = None if X is None else fitted.encode(X, self), None
        if y is not None and rows is not None:
            truth = (
                encode_known(y, fitted.classes, len(rows), is_strict=True)
                if fitted.head.predicts_classes
                else take_numbers(y, len(rows))
            )
        return find_importances(fitted, kind, rows, truth, n_repeats, random_state)

    def effects(
        self,
        X: Any,
        columns: Any = None,
        *,
        n_groups: int = 20,
        coverage: float = 0.8,
        target: Any = None,
    ) -> Effects:
        """Return the contributions of every column over its values, as effect curves show them.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows whose contributions are averaged (see ``explain_batch``); 1,000 are usually enough.
        columns : name, index or list of them, optional
            Default: all columns that the model has not ignored.
        n_groups : int, default=20
            Maximum number of ranges of a column of numbers, or of categories.
        coverage : float, default=0.8
            Share of the rows of a group between ``low`` and ``high``. Rows with the same value differ, because a
            hyperplane adds up several columns.
        target : str, float or int, optional
            The output of a model with several (see ``explain``).

        Returns
        -------
        Effects
            A sequence in the order of ``columns``, or most important column first; ``to_frame()`` has one row per
            column, group of values and class.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from lhtree import LHTClassifier
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> effects = LHTClassifier().fit(X, y).effects(X, ["proline", "hue"], n_groups=4)
        >>> effects["proline"].labels
        ['278 to 500', '502 to 672', '675 to 985', '990 to 1680']
        """
        from .explain._columns import find_effects

        fitted = read_output(self, target)
        check_count("n_groups", n_groups, 2)
        if not is_real(coverage) or not 0.0 < coverage <= 1.0:
            raise refuse("coverage", coverage, "a number above 0 and at most 1")
        return find_effects(fitted, fitted.encode(X, self), columns, n_groups, coverage)

    def rules(self) -> Rules:
        """Return the rules of a compact tree, one per leaf, as sentences and as formulas that a person could type.

        Returns
        -------
        Rules
            ``print(rules)`` shows sentences; ``to_python()`` and ``to_excel()`` return a formula with the same
            predictions. Other models raise an error: only a compact tree is small enough.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from lhtree import CompactLHTClassifier
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> print(CompactLHTClassifier(max_leaf_nodes=2, max_terms=1).fit(X[:130], y[:130]).rules())
        1. If proline is below 760: class 1 (probability 0.96, 69 rows).
        2. If proline is at least 760: class 0 (probability 0.93, 61 rows).
        A missing number counts as: proline 710.
        """
        from .describe.outline import read_outline
        from .describe.rules import Rules

        return Rules(read_outline(read(self, takes_numbers=True)))

    def predict_or_abstain(
        self, X: Any, threshold: float | None = None, coverage: float | None = None
    ) -> Decisions:
        """Predict the rows that the model is sure of, and leave the others undecided.

        A row is as sure as its largest probability; for ``LHTClassifier`` and ``LHForestClassifier``, its largest WOLF
        value. Pass exactly one of ``threshold`` and ``coverage``.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Samples.
        threshold : float of at least 0, optional
            The model abstains where the largest probability or WOLF value of a row is below it.
        coverage : float from 0 to 1, optional
            Minimum share of rows to decide: the surest ones, including ties.

        Returns
        -------
        Decisions
            ``labels`` is None where the model abstains; ``threshold`` is the threshold that was applied.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from lhtree import LHBoostClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = LHBoostClassifier(random_state=0).fit(X[:400], y[:400])
        >>> model.predict_or_abstain(X[400:], coverage=0.9)
        153 of 169 rows decided (coverage 0.905); the others have a probability below 0.92
        """
        from .evaluation.decisions import decide

        return decide(self, X, threshold, coverage)


def _draw(explanation: Explanation, **options: Any) -> Any:
    """Draw an explanation for ``Explanation.plot``; ``explain`` does not import ``plot``."""
    from .plot import plot_path

    return plot_path(explanation, **options)
