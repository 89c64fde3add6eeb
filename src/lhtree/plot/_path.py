"""Plot of one row's path through a tree, or of the contributions of its features in a forest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from .._parameters import check_count, is_integer, refuse
from ..describe.palette import ACCENT, AGAINST, FOR, class_colour
from ..draw.figure import fit, fit_all
from ..draw.scene import INK, LINE, PALE
from ..draw.tree import name_class
from ..explain import Explanation
from ..explain._facts import LeafStep, Path, Step, Term, ValueLeaf, ValueStep
from ..explain._phrases import CLIPPED, say_number
from ..model.model import Model
from ..model.numbers import NumberFormat
from ..model.views import TreeView, TreeViews
from ._axes import NORMAL, SMALL, strip, take_axes, take_class, write_thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL = 165.0  # points
_ROW = 0.2  # inches
_RUNG, _RUNG_LABEL = 0.26, 190.0  # of a waterfall


class Bar(NamedTuple):
    """A line of the plot: a number with its label; ``is_sum`` if it is the sum of the lines above."""

    label: str
    value: float
    is_sum: bool = False


class Section(NamedTuple):
    """A block on the path: its title and its bars."""

    title: str
    bars: tuple[Bar, ...]
    lift: float = 1.0  # above 0 a positive bar is evidence for the class, below 0 against it
    write: Callable[[float], str] = "{:+.3g}".format


def find_sections(view: TreeView, path: Path, n_features: int, max_steps: int) -> list[Section]:
    """The sections of a path; the middle of a long one is left out and counted."""
    steps = list(path.steps)
    n_first = max_steps // 2
    n_last = max_steps - n_first
    shown = steps if len(steps) <= max_steps else steps[:n_first] + steps[len(steps) - n_last :]
    sections = [
        _describe_value(step, view, n_features)
        if view.has_values
        else _describe_step(step, view, n_features, path.target)
        for step in shown
    ]
    if len(shown) < len(steps):
        n_left = len(steps) - len(shown)
        sections.insert(n_first, Section(f"… {n_left} more block{'s' if n_left > 1 else ''} on the path", ()))
    if view.has_values:
        return [*sections, _describe_value_leaf(path.leaf, view, n_features)]
    return [*sections, _describe_leaf(path.leaf, path.target, n_features)]


def _describe_value(step: ValueStep, view: TreeView, n_features: int) -> Section:
    """A block that has a value; a single feature needs no bars."""
    what = "mean" if view.is_mean else "value"
    value = f"block {step.block}: {what} {_minus(view.write_value(step.value))}"
    change = f"so it goes {step.side}: {_minus(view.amounts().sign(step.change))}"
    if len(step.terms) > 1:
        ends = (Bar("− offset", -step.offset), Bar("y", step.y, is_sum=True))
        title = f"{value}; y {'<' if step.y < 0.0 else '≥'} 0, {change}"
        return Section(title, (*_name_terms(step.terms, n_features), *ends), view.lift(step.block))
    (term,), conditions = step.terms, view.conditions(step.block)
    if isnan(term.value):
        why = f"{fit(conditions.subject, _LABEL, SMALL)} is missing"
    else:
        is_number = term.column is None or term.category is not None
        number = f"{say_number(term.value)} " if is_number else ""
        bound = getattr(conditions, step.side).removesuffix(" or missing")
        subject = conditions.subject if term.category is None else f"{term.what},"
        why = f"{fit(subject, _LABEL, SMALL)} {number}{fit(bound, _LABEL, SMALL)}"
    return Section(f"{value}; {why}, {change}", ())


def _describe_value_leaf(leaf: ValueLeaf, view: TreeView, n_features: int) -> Section:
    """A leaf that has a value; a constant one needs no bars. Beside a mean, slopes would be too small to see."""
    added = _minus(view.write_value(leaf.added))
    terms = _name_terms(leaf.terms, n_features)
    clipped = [Bar("clipped to its range", leaf.clipped)] if leaf.clipped else []
    write = view.amounts().sign if view.is_regression else Section._field_defaults["write"]
    if view.is_mean:
        mean = f"mean {_minus(view.write_value(leaf.value))}, " if terms else ""
        title = f"leaf {leaf.block}: {mean}predicts {added}"
        ends = [Bar("change of the mean", leaf.added - leaf.value, is_sum=True)]
        return Section(title, (*terms, *clipped, *ends) if terms else (), write=write)
    whose = "prediction" if view.is_regression else f"raw score of {_name(view.target)}"
    bars = (Bar("value", leaf.value), *terms, *clipped, Bar("adds", leaf.added, is_sum=True))
    title = f"leaf {leaf.block}: adds {added} to the {'log of the ' if view.adds_logs else ''}{whose}"
    return Section(title, bars if terms else (), write=write)


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _describe_step(step: Step, view: TreeView, n_features: int, target: Any) -> Section:
    title = (
        f"block {step.block}: {step.n_target:.5g} of {step.weight:.5g} are {_name(target)}; "
        f"y {'<' if step.y < 0.0 else '≥'} 0, so it goes {step.side}, d = {step.confidence:.2f}"
    )
    ends = (Bar("− offset", -step.offset), Bar("y", step.y, is_sum=True))
    return Section(title, (*_name_terms(step.terms, n_features), *ends), view.lift(step.block))


def _describe_leaf(leaf: LeafStep, target: Any, n_features: int) -> Section:
    title = (
        f"leaf {leaf.block}: {leaf.n_target:.5g} of {leaf.weight:.5g} are {_name(target)}; "
        f"μ = {leaf.membership:.3f}, d·μ = {leaf.corrected_membership:.3f}"
    )
    ends = (Bar("estimate p̂", leaf.estimate, is_sum=True),)
    return Section(title, (Bar("intercept", leaf.intercept), *_name_terms(leaf.terms, n_features), *ends))


def _name(target: Any) -> str:
    return fit(name_class(target), 120.0, SMALL)


def _name_terms(terms: Sequence[Term], n_features: int) -> list[Bar]:
    """The largest terms, and the sum of the others."""
    others = terms[n_features:] if len(terms) > n_features + 1 else ()
    bars = [Bar(_name_value(term), term.term) for term in terms[: len(terms) - len(others)]]
    if others:
        bars.append(Bar(f"{len(others)} more features", sum(term.term for term in others)))
    return bars


def _name_value(term: Term) -> str:
    if isnan(term.value):
        return f"{term.what} = missing"
    return f"{term.feature} = {say_number(term.value)}" if term.column is None else term.what


def plot_path(
    explanation: Explanation,
    *,
    target: Any = None,
    tree: int | None = None,
    n_features: int | None = None,
    max_steps: int = 5,
    ax: Axes | None = None,
) -> Axes:
    """Draw why a row got its prediction: its path through a tree, or the contributions of its features in a forest.

    For a tree, every block shows the terms that add up to y, and the leaf those that add up to p̂. For a forest, a
    waterfall starts at the share of the class in the training data, adds the largest contributions (means over all
    trees) and ends at the membership; ``tree`` draws the path through one of the trees instead. For a
    boosted model, the waterfall leads from the base to the raw score, and ``tree`` draws the path through one round.
    For a regression it leads from the mean response, or the base, to the prediction.

    Violet bars are evidence for the class (in a branching block, they pull to the side with more of it), red bars
    evidence against it. Bars are to scale within a block.

    Parameters
    ----------
    explanation : Explanation
        From ``model.explain(row)``.
    target : class, optional
        Class whose tree or contributions to draw; by default the predicted class. With two classes there is one tree.
        A regression has none.
    tree : int, optional
        In a forest, the index of the tree to draw; in a boosted model, the round.
    n_features : int, optional
        Terms per block (4 by default) or contributions (10) to draw, largest first; the others are added up.
    max_steps : int, default=5
        Maximum number of branching blocks; on longer paths those in the middle are left out.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, plot_path
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X, y)
    >>> ax = plot_path(model.explain(X.iloc[0]))
    """
    if not isinstance(explanation, Explanation):
        raise TypeError(f"explanation is a {type(explanation).__name__}: pass model.explain(row).")
    is_forest = tree is None and explanation.n_estimators > 1
    n_features = (10 if is_forest else 4) if n_features is None else check_count("n_features", n_features, 1)
    check_count("max_steps", max_steps, 2)
    if target is not None:
        take_class(explanation.classes, target)
    target = explanation.prediction if target is None else target
    if is_forest:
        ax = _draw_waterfall(explanation, target, n_features, ax)
        ax.set_title(_say_outcome(explanation, None), fontsize=SMALL + 1.5, loc="left")
        return ax
    path = take_path(explanation, target, 0 if tree is None else tree)
    sections = find_sections(TreeViews(explanation._fitted)[path.tree], path, n_features, max_steps)
    n_lines = sum(len(section.bars) + 1.5 for section in sections)
    ax = take_axes(ax, 7.0, _ROW * n_lines + 0.6)
    ax.set_axis_off()
    ax.set(xlim=(-1.0, 1.0), ylim=(n_lines, -1.2))
    ax.set_title(_say_outcome(explanation, tree), fontsize=SMALL + 1.5, loc="left")
    y = 0.0
    for section in sections:
        y = _draw_section(ax, section, y) + 1.5
    return ax


def take_path(explanation: Explanation, target: Any, tree: int) -> Path:
    """The path through one tree."""
    if not is_integer(tree) or not 0 <= tree < explanation.n_estimators:
        raise refuse("tree", tree, f"an integer from 0 to {explanation.n_estimators - 1}")
    if explanation._fitted.is_regression:
        return explanation.paths[tree]
    code = take_class(explanation.classes, target)
    n_targets = len(explanation.paths) // explanation.n_estimators
    return explanation.paths[tree * n_targets + (code if n_targets > 1 else 0)]


def _say_outcome(explanation: Explanation, tree: int | None) -> str:
    label, n_trees, fitted = explanation.prediction, explanation.n_estimators, explanation._fitted
    if fitted.is_regression:
        outcome = f"prediction: {_minus(fitted.amounts.plain().write(label))}"
    else:
        outcome = (
            f"prediction: {fit(name_class(label), 160.0, SMALL)}, probability {explanation.proba[label]:.3f}"
        )
    if n_trees == 1:
        return outcome
    is_boosted = fitted.is_boosted
    if tree is not None:
        return f"{outcome} ({'round' if is_boosted else 'tree'} {tree} of {n_trees})"
    if is_boosted:
        return f"{outcome}\nsum of {n_trees} rounds"
    if fitted.is_regression:
        return f"{outcome}\nmean of {n_trees} trees"
    return f"{outcome}\n{explanation.votes[label]} of {n_trees} trees predict it"


def _draw_section(ax: Axes, section: Section, y: float) -> float:
    """Draw from y downwards; return where the section ends."""
    ax.axhspan(y - 0.55, y + 0.5, color=PALE, zorder=0)
    ax.text(-0.98, y, section.title, fontsize=SMALL, va="center", color=INK)
    largest = max((abs(bar.value) for bar in section.bars), default=0.0) or 1.0
    zero, room = 0.3, 0.5
    for line, bar in enumerate(section.bars, 1):
        at, length = y + line, bar.value / largest * room
        if bar.is_sum:
            ax.plot([-0.98, 0.98], [at - 0.5, at - 0.5], color=LINE, linewidth=0.6)
        ax.text(
            zero - room - 0.14, at, fit(bar.label, _LABEL, SMALL), ha="right", va="center", fontsize=SMALL
        )
        ax.barh(
            at,
            length,
            left=zero,
            height=0.66,
            color=LINE if section.lift == 0.0 else FOR if bar.value * section.lift > 0.0 else AGAINST,
            edgecolor=INK,
            linewidth=1.2 if bar.is_sum else 0.0,
        )
        number = _minus(section.write(bar.value))
        ax.annotate(
            number,
            (zero + length, at),
            (3 if bar.value >= 0.0 else -3, 0),
            textcoords="offset points",
            ha="left" if bar.value >= 0.0 else "right",
            va="center",
            fontsize=SMALL,
        )
    if section.bars:
        ax.plot([zero, zero], [y + 0.55, y + len(section.bars) + 0.45], color=INK, linewidth=0.8)
    return y + len(section.bars)


def _name_cell(name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return f"{name} = missing"
    return f"{name} = {say_number(value) if isinstance(value, float) else value}"


class Rung(NamedTuple):
    """A bar from ``start`` to ``end``; the first and the last stand on 0."""

    label: str
    start: float
    end: float


def find_rungs(explanation: Explanation, target: Any, n_features: int) -> list[Rung]:
    """The base, what the features with the largest contributions add, and what they add up to."""
    at, contributions, clipped, total = explanation.account(target)
    parts = sorted(contributions.items(), key=lambda part: -abs(part[1]))
    parts = [part for part in parts if part[1] != 0.0]
    others = parts[n_features:] if len(parts) > n_features + 1 else []
    added = [
        (_name_cell(name, explanation.row[name]), value) for name, value in parts[: len(parts) - len(others)]
    ]
    if others:
        added.append((f"{len(others)} more features", sum(value for _, value in others)))
    if clipped:
        added.append((CLIPPED, clipped))
    fitted = explanation._fitted
    first = "mean response" if fitted.is_regression else "share in the training data"
    rungs = [Rung("base" if fitted.is_boosted else first, 0.0, at)]
    for label, value in added:
        rungs.append(Rung(label, at, at + value))
        at += value
    return [*rungs, Rung(_name_total(explanation), 0.0, total)]


def _name_total(explanation: Explanation) -> str:
    if explanation._fitted.is_regression:
        return "prediction"
    return "raw score" if explanation._fitted.is_boosted else "membership μ"


def _draw_waterfall(explanation: Explanation, target: Any, n_features: int, ax: Axes | None) -> Axes:
    """Draw the rungs from above to below, each where the one before it ends.

    A number may be far from 0: then its axis does not start there, and diamonds show where it starts and ends.
    """
    rungs = find_rungs(explanation, target, n_features)
    ax = take_axes(ax, 7.0, _RUNG * len(rungs) + 1.1)
    fitted = explanation._fitted
    amounts = fitted.amounts if fitted.is_regression else NumberFormat(3)
    for y, rung in enumerate(rungs):
        change = rung.end - rung.start
        is_total = y in (0, len(rungs) - 1)
        if is_total and fitted.is_regression:
            ax.plot(rung.end, y, marker="D", color=ACCENT, markersize=6, linestyle="")
        else:
            own = class_colour(explanation.classes.index(target)) if is_total else None
            ax.barh(y, change, left=rung.start, height=0.7, color=own or (FOR if change > 0.0 else AGAINST))
        if y + 1 < len(rungs):
            ax.plot([rung.end, rung.end], [y - 0.35, y + 1.35], color=LINE, linewidth=0.7, zorder=0.5)
        text = (amounts.write(rung.end) if is_total else amounts.sign(change)).replace("-", "−")
        ax.annotate(
            text,
            (rung.end if is_total else max(rung.start, rung.end), y),
            (7 if is_total and fitted.is_regression else 4, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        )
    _set_limits(ax, rungs, fitted)
    ax.set_yticks(range(len(rungs)), fit_all([rung.label for rung in rungs], _RUNG_LABEL, SMALL))
    if fitted.is_regression:
        what = "prediction"
        if amounts.is_log:
            ax.xaxis.set_major_formatter(lambda value, _: amounts.write(value))
            what = "prediction, on a logarithmic scale"
        else:
            write_thousands(ax.xaxis)
    else:
        what = "raw score" if fitted.is_boosted else "membership"
        what = f"{what} of {fit(name_class(target), _RUNG_LABEL, NORMAL)}"
    ax.set_xlabel(what, fontsize=NORMAL)
    strip(ax)
    return ax


def _set_limits(ax: Axes, rungs: list[Rung], fitted: Model) -> None:
    if fitted.is_regression:
        ends = [rung.end for rung in rungs]
    else:
        ends = [0.0, 0.0 if fitted.is_boosted else 1.0, *(end for rung in rungs for end in rung[1:])]
    low, high = min(ends), max(ends)
    width = high - low or abs(high) or 1.0
    room = (0.05, 0.15) if fitted.is_regression else (0.02, 0.1)
    ax.set(xlim=(low - room[0] * width, high + room[1] * width), ylim=(len(rungs) - 0.4, -0.6))
    if low < 0.0 < high:
        ax.axvline(0.0, color=LINE, linewidth=0.7, zorder=0.4)
