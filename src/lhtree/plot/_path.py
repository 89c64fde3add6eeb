"""Plot of one row's path through a tree, or of the contributions of its features in a forest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, isnan, log10
from typing import TYPE_CHECKING, Any, NamedTuple

from .._parameters import check_count, is_integer, refuse
from ..describe.palette import ACCENT, AGAINST, FOR, class_colour
from ..draw.figure import fit, fit_all
from ..draw.scene import INK, LINE, PALE
from ..draw.tree import minus, name_class
from ..explain import Explanation, LeafStep, Path, Step, Term, ValueLeaf, ValueStep
from ..explain._text import CLIPPED, percent
from ..model.heads import Head, MeanHead, NumberScoreHead, RawScoreHead, WolfHead
from ..model.numbers import NumberFormat, write_count, write_value
from ..model.views import TreeView, TreeViews
from ._axes import NORMAL, SMALL, check_type, strip, take_axes, take_class, write_thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL, _ROW = 165.0, 0.2  # points and inches of a line of a path
_RUNG_LABEL, _RUNG = 190.0, 0.26  # of a waterfall


class Bar(NamedTuple):
    """A number with its label; ``is_sum`` if it is the sum of the bars above."""

    label: str
    value: float
    is_sum: bool = False


class Section(NamedTuple):
    """A block on the path: its title and its bars, of which the last is the sum of the others."""

    title: str
    bars: tuple[Bar, ...] = ()
    lift: float = 1.0  # above 0, positive bars are evidence for the class; below 0, against it
    numbers: NumberFormat | None = None  # None: three digits of the largest

    def write(self) -> list[str]:
        """Format the values of the bars so that they add up as printed."""
        values = [bar.value for bar in self.bars]
        largest = max(map(abs, values), default=0.0) or 1.0
        numbers = self.numbers or NumberFormat(2 - floor(log10(largest)))
        return [numbers.sign(value) for value in (*numbers.add_up(0.0, values[:-1], values[-1]), values[-1])]


def find_sections(view: TreeView, path: Path, n_features: int, max_steps: int) -> list[Section]:
    """Return the sections of a path; the middle of a long path is left out and counted."""
    steps, n_left = list(path.steps), len(path.steps) - max_steps
    n_first = max_steps // 2
    shown = steps if n_left <= 0 else steps[:n_first] + steps[n_first + n_left :]
    sections = [_DESCRIBE[type(step)](step, view, path.target, n_features) for step in (*shown, path.leaf)]
    if n_left > 0:
        sections.insert(n_first, Section(f"… {n_left} more block{'s' * (n_left > 1)} on the path"))
    return sections


def _describe_step(step: Step, view: TreeView, target: Any, n_features: int) -> Section:
    title = (
        f"block {step.block}: {write_count(step.n_target)} of {write_count(step.weight)} are {_name(target)}; "
        f"{_describe_side(step)}, d = {step.confidence:.2f}"
    )
    return Section(title, _list_terms(step, n_features), view.lift(step.block))


def _describe_side(step: Step | ValueStep) -> str:
    return f"y {'<' if step.y < 0.0 else '≥'} 0, so it goes {step.side}"


def _list_terms(step: Step | ValueStep, n_features: int) -> tuple[Bar, ...]:
    """Return bars that add up to y."""
    return (
        *_name_terms(step.terms, n_features),
        Bar("− offset", -step.offset),
        Bar("y", step.y, is_sum=True),
    )


def _describe_leaf(leaf: LeafStep, view: TreeView, target: Any, n_features: int) -> Section:
    title = (
        f"leaf {leaf.block}: {write_count(leaf.n_target)} of {write_count(leaf.weight)} are {_name(target)}; "
        f"μ = {leaf.membership:.3f}, d·μ = {leaf.corrected_membership:.3f}"
    )
    terms = _name_terms(leaf.terms, n_features)
    return Section(
        title, (Bar("intercept", leaf.intercept), *terms, Bar("estimate p̂", leaf.estimate, is_sum=True))
    )


def _describe_value(step: ValueStep, view: TreeView, target: Any, n_features: int) -> Section:
    """Describe a block that has a value; a single feature needs no bars."""
    value = f"block {step.block}: {'mean' if view.is_mean else 'value'} {minus(view.write_value(step.value))}"
    amounts = view.amounts()
    change = minus(amounts.sign(*amounts.add_up(step.value, [step.change], step.value + step.change)))
    if len(step.terms) > 1:
        title = f"{value}; {_describe_side(step)}: {change}"
        return Section(title, _list_terms(step, n_features), view.lift(step.block))
    (term,), conditions = step.terms, view.conditions(step.block)
    if isnan(term.value):
        why = f"{fit(conditions.subject, _LABEL, SMALL)} is missing"
    else:
        is_number = term.column is None or term.category is not None
        number = f"{write_value(term.value)} " if is_number else ""
        bound = getattr(conditions, step.side).removesuffix(" or missing")
        subject = conditions.subject if term.category is None else f"{term.what},"
        why = f"{fit(subject, _LABEL, SMALL)} {number}{fit(bound, _LABEL, SMALL)}"
    return Section(f"{value}; {why}, so it goes {step.side}: {change}")


def _describe_value_leaf(leaf: ValueLeaf, view: TreeView, target: Any, n_features: int) -> Section:
    """Describe a leaf that has a value; a constant leaf needs no bars. Beside a mean, slopes would be invisible."""
    added, terms = minus(view.write_value(leaf.added)), _name_terms(leaf.terms, n_features)
    if leaf.clipped:
        terms.append(Bar("clipped to its range", leaf.clipped))
    if view.is_mean:
        mean = f"mean {minus(view.write_value(leaf.value))}, " if leaf.terms else ""
        title = f"leaf {leaf.block}: {mean}predicts {added}"
        bars = (*terms, Bar("change of the mean", leaf.added - leaf.value, is_sum=True))
    else:
        whose = f" of {_name(view.target)}" if view.target is not None else ""
        title = f"leaf {leaf.block}: adds {added} to the {view.head.contribution_noun}{whose}"
        bars = (Bar("value", leaf.value), *terms, Bar("adds", leaf.added, is_sum=True))
    return Section(title, bars if leaf.terms else (), numbers=None if view.head.labels else view.amounts())


_DESCRIBE: dict[type[Any], Callable[[Any, TreeView, Any, int], Section]] = {
    Step: _describe_step,
    LeafStep: _describe_leaf,
    ValueStep: _describe_value,
    ValueLeaf: _describe_value_leaf,
}


def _name(target: Any) -> str:
    return fit(name_class(target), 120.0, SMALL)


def _name_terms(terms: Sequence[Term], n_features: int) -> list[Bar]:
    """Return bars of the largest terms, and of the sum of the others."""
    others = terms[n_features:] if len(terms) > n_features + 1 else ()
    bars = [Bar(_name_value(term), term.term) for term in terms[: len(terms) - len(others)]]
    if others:
        bars.append(Bar(f"{len(others)} more features", sum(term.term for term in others)))
    return bars


def _name_value(term: Term) -> str:
    if isnan(term.value):
        return f"{term.what} = missing"
    return f"{term.feature} = {write_value(term.value)}" if term.column is None else term.what


def plot_path(
    explanation: Explanation,
    *,
    target: Any = None,
    tree: int | None = None,
    n_features: int | None = None,
    max_steps: int = 5,
    ax: Axes | None = None,
) -> Axes:
    """Draw why a row got its prediction: its path through a tree, or, with many trees, contributions.

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
    check_type("explanation", explanation, Explanation, "model.explain(row)")
    is_forest = tree is None and explanation.n_estimators > 1
    n_features = (10 if is_forest else 4) if n_features is None else check_count("n_features", n_features, 1)
    check_count("max_steps", max_steps, 2)
    if target is not None:
        take_class(explanation.classes, target)
    target = explanation.target if target is None else target
    total = explanation._fitted.head.choose(_TOTALS)(explanation)
    if is_forest:
        ax = _draw_waterfall(explanation, total, target, n_features, ax)
    else:
        path = take_path(explanation, target, 0 if tree is None else tree)
        sections = find_sections(TreeViews(explanation._fitted)[path.tree], path, n_features, max_steps)
        ax = _draw_sections(sections, ax)
    ax.set_title(total.describe(tree), fontsize=SMALL + 1.5, loc="left")
    return ax


def take_path(explanation: Explanation, target: Any, tree: int) -> Path:
    """Return the path through one tree."""
    if not is_integer(tree) or not 0 <= tree < explanation.n_estimators:
        raise refuse("tree", tree, f"an integer from 0 to {explanation.n_estimators - 1}")
    n_targets = len(explanation.paths) // explanation.n_estimators
    code = take_class(explanation.classes, target) if n_targets > 1 else 0
    return explanation.paths[tree * n_targets + code]


def _draw_sections(sections: list[Section], ax: Axes | None) -> Axes:
    n_lines = sum(len(section.bars) + 1.5 for section in sections)
    ax = take_axes(ax, 7.0, _ROW * n_lines + 0.6)
    ax.set_axis_off()
    ax.set(xlim=(-1.0, 1.0), ylim=(n_lines, -1.2))
    y = 0.0
    for section in sections:
        _draw_section(ax, section, y)
        y += len(section.bars) + 1.5
    return ax


def _draw_section(ax: Axes, section: Section, y: float) -> None:
    ax.axhspan(y - 0.55, y + 0.5, color=PALE, zorder=0)
    ax.text(-0.98, y, section.title, fontsize=SMALL, va="center", color=INK)
    largest = max((abs(bar.value) for bar in section.bars), default=0.0) or 1.0
    zero, room = 0.3, 0.5
    how: dict[str, Any] = {"va": "center", "fontsize": SMALL}
    written = section.write() if section.bars else []
    for at, (bar, number) in enumerate(zip(section.bars, written, strict=True), 1):
        length, evidence = bar.value / largest * room, bar.value * section.lift
        if bar.is_sum:
            ax.plot([-0.98, 0.98], [y + at - 0.5] * 2, color=LINE, linewidth=0.6)
        ax.text(zero - room - 0.14, y + at, fit(bar.label, _LABEL, SMALL), ha="right", **how)
        colour = LINE if section.lift == 0.0 else FOR if evidence > 0.0 else AGAINST
        ax.barh(y + at, length, 0.66, zero, color=colour, edgecolor=INK, linewidth=1.2 * bar.is_sum)
        side, shift = ("left", 3) if bar.value >= 0.0 else ("right", -3)
        place = (zero + length, y + at)
        ax.annotate(minus(number), place, (shift, 0), textcoords="offset points", ha=side, **how)
    if section.bars:
        ax.plot([zero, zero], [y + 0.55, y + len(section.bars) + 0.45], color=INK, linewidth=0.8)


class _Total:
    """The total of a row's contributions: this one is a membership. One class per head."""

    label = "membership μ"
    least, most = 0.0, 1.0  # ends of the axis, unless bars reach further
    margins = (0.02, 0.1)

    def __init__(self, explanation: Explanation) -> None:
        self.explanation, self.head = explanation, explanation._fitted.head
        self.numbers = NumberFormat(3)

    def describe(self, tree: int | None) -> str:
        """Return the title: the prediction, and how the trees agree on it."""
        n_trees, prediction = self.explanation.n_estimators, f"prediction: {self.write_prediction()}"
        if n_trees == 1:
            return prediction
        if tree is not None:
            return f"{prediction} ({self.head.estimator_noun} {tree} of {n_trees})"
        return f"{prediction}\n{self.describe_trees(n_trees)}"

    def write_prediction(self) -> str:
        label = self.explanation.prediction
        return f"{fit(name_class(label), 160.0, SMALL)}, probability {percent(self.explanation.proba[label])}"

    def describe_trees(self, n_trees: int) -> str:
        return f"{self.explanation.votes[self.explanation.prediction]} of {n_trees} trees predict it"

    def find_ends(self, rungs: list[Rung]) -> list[float]:
        """Return the values that the axis has to show."""
        return [self.least, self.most, *(end for rung in rungs for end in rung[1:])]

    def draw_end(self, ax: Axes, y: float, rung: Rung, target: Any) -> float:
        """Draw where contributions start or end; return the distance of the number in points."""
        colour = class_colour(self.explanation.classes.index(target))
        ax.barh(y, rung.end - rung.start, left=rung.start, height=0.7, color=colour)
        return 4.0

    def label_axis(self, ax: Axes, target: Any) -> None:
        name = fit(name_class(target), _RUNG_LABEL, NORMAL)
        ax.set_xlabel(f"{self.head.total_noun} of {name}", fontsize=NORMAL)


class _ScoreTotal(_Total):
    """A raw score."""

    label = "raw score"
    most = 0.0

    def describe_trees(self, n_trees: int) -> str:
        return f"sum of {n_trees} rounds"


class _NumberTotal(_Total):
    """A predicted number. It may be far from 0: the axis starts elsewhere, and diamonds mark start and end."""

    label = "prediction"
    margins = (0.05, 0.15)

    def __init__(self, explanation: Explanation) -> None:
        super().__init__(explanation)
        self.numbers = explanation._fitted.amounts

    def write_prediction(self) -> str:
        return minus(self.numbers.plain().write(self.explanation.prediction))

    def describe_trees(self, n_trees: int) -> str:
        return f"sum of {n_trees} rounds" if self.head.adds_rounds else f"mean of {n_trees} trees"

    def find_ends(self, rungs: list[Rung]) -> list[float]:
        return [rung.end for rung in rungs]

    def draw_end(self, ax: Axes, y: float, rung: Rung, target: Any) -> float:
        ax.plot(rung.end, y, marker="D", color=ACCENT, markersize=6, linestyle="")
        return 7.0

    def label_axis(self, ax: Axes, target: Any) -> None:
        if self.numbers.is_log:
            ax.xaxis.set_major_formatter(lambda value, _: self.numbers.write(value))
        else:
            write_thousands(ax.xaxis)
        ax.set_xlabel(f"prediction{', on a logarithmic scale' * self.numbers.is_log}", fontsize=NORMAL)


_TOTALS: dict[type[Head], type[_Total]] = {
    WolfHead: _Total,
    RawScoreHead: _ScoreTotal,
    NumberScoreHead: _NumberTotal,
    MeanHead: _NumberTotal,
}


class Rung(NamedTuple):
    """A bar from ``start`` to ``end``; the first and the last start at 0."""

    label: str
    start: float
    end: float


def find_rungs(explanation: Explanation, target: Any, n_features: int) -> list[Rung]:
    """Return the start, the largest contributions, and the total."""
    at, contributions, clipped, total = explanation.account(target)
    parts = [part for part in contributions.items() if part[1] != 0.0]
    parts.sort(key=lambda part: -abs(part[1]))
    others = parts[n_features:] if len(parts) > n_features + 1 else []
    shown = parts[: len(parts) - len(others)]
    added = [(_name_cell(name, explanation.row[name]), value) for name, value in shown]
    if others:
        added.append((f"{len(others)} more features", sum(value for _, value in others)))
    if clipped:
        added.append((CLIPPED, clipped))
    head = explanation._fitted.head
    rungs = [Rung(head.start_noun, 0.0, at)]
    for label, value in added:
        rungs.append(Rung(label, at, at + value))
        at += value
    return [*rungs, Rung(head.choose(_TOTALS).label, 0.0, total)]


def _name_cell(name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return f"{name} = missing"
    return f"{name} = {write_value(value) if isinstance(value, float) else value}"


def _draw_waterfall(
    explanation: Explanation, total: _Total, target: Any, n_features: int, ax: Axes | None
) -> Axes:
    """Draw the rungs from top to bottom, each from the end of the one above."""
    rungs, numbers = find_rungs(explanation, target, n_features), total.numbers
    first, *added, last = rungs
    changes = numbers.add_up(first.end, [rung.end - rung.start for rung in added], last.end)
    texts = [numbers.write(first.end), *map(numbers.sign, changes), numbers.write(last.end)]
    ax = take_axes(ax, 7.0, _RUNG * len(rungs) + 1.1)
    behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    how: dict[str, Any] = {"va": "center", "fontsize": SMALL, "color": INK, "bbox": behind}
    for y, (rung, text) in enumerate(zip(rungs, texts, strict=True)):
        change = rung.end - rung.start
        if y in (0, len(rungs) - 1):
            shift, x = total.draw_end(ax, y, rung, target), rung.end
        else:
            shift, x = 4.0, max(rung.start, rung.end)
            ax.barh(y, change, left=rung.start, height=0.7, color=FOR if change > 0.0 else AGAINST)
        if y + 1 < len(rungs):
            ax.plot([rung.end, rung.end], [y - 0.35, y + 1.35], color=LINE, linewidth=0.7, zorder=0.5)
        ax.annotate(minus(text), (x, y), (shift, 0), textcoords="offset points", **how)
    ends = total.find_ends(rungs)
    low, high = min(ends), max(ends)
    width = high - low or abs(high) or 1.0
    left, right = total.margins
    ax.set(xlim=(low - left * width, high + right * width), ylim=(len(rungs) - 0.4, -0.6))
    if low < 0.0 < high:
        ax.axvline(0.0, color=LINE, linewidth=0.7, zorder=0.4)
    ax.set_yticks(range(len(rungs)), fit_all([rung.label for rung in rungs], _RUNG_LABEL, SMALL))
    total.label_axis(ax, target)
    strip(ax)
    return ax
