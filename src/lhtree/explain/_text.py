"""An explanation as text and as HTML: a few short sentences, and a bar per contribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..describe.palette import AGAINST, FOR
from ..model.heads import Head, MeanHead, NumberScoreHead, RawScoreHead, SharesHead, WolfHead
from ..model.numbers import NumberFormat, write_count, write_share, write_value
from ..model.views import Conditions, TreeView, TreeViews
from ._paths import Path, Step, Term, ValueLeaf, ValueStep

if TYPE_CHECKING:
    from ._explanation import Account, Explanation

CLIPPED = "clipped to the ranges of the leaves"  # the one term without a feature
N_MOVES = 5  # features with their contributions
N_STEPS = 6  # steps of a path
N_REASONS = 3  # features of a step
_LONGEST_NAME = 60
_WIDEST = 12.0  # em
_NEAR = 0.25  # a lower confidence is close to the boundary
_LEVELS = ((2.0, "very high"), (0.5, "high"), (-0.5, "typical"), (-2.0, "low"), (-np.inf, "very low"))


class Move(NamedTuple):
    """The contribution of one feature to the total of the explained class, or to the predicted number."""

    what: str  # name and value
    level: str  # comparison of the value with the training rows; "" if they are unknown
    amount: float

    @property
    def subject(self) -> str:
        """Name, value and level."""
        return " is ".join(filter(None, self[:2]))


def write_text(explanation: Explanation) -> str:
    """Return all sentences, a line each."""
    moves = _list_moves(explanation, "{} more features", "{} more feature")
    lines = [*describe_prediction(explanation), "", describe_course(explanation)]
    lines += [f"  {move.what}: {move.written}" for move in moves]
    path = describe_path(explanation)
    if path:
        lines += ["", path[0], *(f"  {line}" for line in path[1:])]
    return "\n".join(lines)


def draw_html(explanation: Explanation) -> str:
    """Return a compact block of HTML for notebooks; every name is escaped."""
    first, *more = (escape(line) for line in describe_prediction(explanation))
    lines = _list_moves(explanation, "{} more", "{} more")
    largest = max((abs(line.amount) for line in lines), default=1.0)
    rows = "".join(_draw_bar(*line, largest) for line in lines)
    path = [escape(line) for line in describe_path(explanation)]
    items = "".join(f"<li>{line}</li>" for line in path[1:])
    details = (
        f"<details><summary>{path[0].removesuffix(':')}</summary><ul style='margin:0'>{items}</ul></details>"
        if path
        else ""
    )
    return (
        "<div class='lhtree-explanation' style='max-width:50em;line-height:1.4'>"
        f"<strong>{first}</strong>{''.join(f'<br>{line}' for line in more)}"
        f"<p style='margin:.5em 0 0'>{escape(describe_course(explanation))}</p>"
        f"<table style='border-collapse:collapse;margin:.25em 0;color:inherit;font:inherit'>{rows}</table>"
        f"{details}</div>"
    )


def _draw_bar(what: str, amount: float, written: str, largest: float) -> str:
    width = _WIDEST * abs(amount) / largest if largest else 0.0
    colour = FOR if amount >= 0.0 else AGAINST
    bar = f"<div style='width:{width:.2f}em;height:.8em;background:{colour}'></div>"
    return (
        f"<tr><td style='text-align:left;padding:0'>{escape(what)}</td>"
        f"<td style='text-align:right;padding:0 .5em 0 1em'>{written}</td><td style='padding:0'>{bar}</td></tr>"
    )


class _MoveLine(NamedTuple):
    """A part of the total in a list whose amounts add up as printed."""

    what: str
    amount: float
    written: str


def _list_moves(explanation: Explanation, many: str, one: str) -> list[_MoveLine]:
    """Return the largest contributions, the sum of the others, and the clipped part."""
    moves, n_more, rest = find_moves(explanation)
    parts = [(move.subject, move.amount) for move in moves]
    if n_more:
        parts.append(((one if n_more == 1 else many).format(n_more), rest))
    amounts, account = explanation._fitted.amounts, explanation.account(explanation.target)
    if amounts.is_seen(account.clipped):
        parts.append((CLIPPED, account.clipped))
    rounded = amounts.add_up(account.base, [amount for _, amount in parts], account.total)
    return [_MoveLine(*part, amounts.sign(number)) for part, number in zip(parts, rounded, strict=True)]


def find_moves(explanation: Explanation) -> tuple[list[Move], int, float]:
    """Return the largest contributions to the explained class or number, the number and the sum of the others."""
    of_class = explanation.account(explanation.target).contributions
    features = sorted(filter(of_class.get, of_class), key=lambda name: -abs(of_class[name]))
    shown, rest = features[:N_MOVES], features[N_MOVES:]
    levels = find_levels(explanation)
    moves = [
        Move(
            _name_cell(name, explanation.row[name]),
            levels[name],
            of_class[name],
        )
        for name in shown
    ]
    return moves, len(rest), sum(of_class[name] for name in rest)


def describe_prediction(explanation: Explanation) -> list[str]:
    """Return sentences about the prediction and its scores."""
    return _text_of(explanation).describe_prediction(explanation)


def describe_course(explanation: Explanation) -> str:
    """Return a sentence about the start and the end of the total."""
    return _text_of(explanation).describe_course(explanation, explanation.account(explanation.target))


def describe_path(explanation: Explanation) -> list[str]:
    """Return the path through the tree of the explained class, heading first; empty if there are many trees."""
    if explanation.n_estimators > 1:
        return []
    label = explanation.target
    path = next((path for path in explanation.paths if path.target == label), explanation.paths[0])
    return _text_of(explanation).describe_path(explanation, path, find_levels(explanation))


class _ValueText:
    """Sentences about models whose blocks have values; here a boosted classifier."""

    def describe_prediction(self, explanation: Explanation) -> list[str]:
        """Return the predicted class with its probability, and further scores."""
        proba, prediction = explanation.proba, explanation.prediction
        others = sorted((label for label in proba if label != prediction), key=lambda label: -proba[label])
        also = ", ".join(f"{name_class(label)} {percent(proba[label])}" for label in others[:3])
        lines = [f"Prediction: {name_class(prediction)}, probability {percent(proba[prediction])} ({also})."]
        if explanation._fitted.calibration is not None:
            before = percent(explanation.uncalibrated[prediction])
            lines.append(
                f"Probabilities are calibrated; before calibration {name_class(prediction)} has {before}."
            )
        return [*lines, *self.describe_scores(explanation, [prediction, *others[:3]])]

    def describe_scores(self, explanation: Explanation, labels: list[Any]) -> list[str]:
        """Return the raw scores of more than two classes."""
        if len(explanation.classes) == 2:
            return []
        write, raw = explanation._fitted.amounts.sign, explanation.raw_score
        return [f"Raw scores: {', '.join(f'{name_class(label)} {write(raw[label])}' for label in labels)}."]

    def describe_course(self, explanation: Explanation, account: Account) -> str:
        """Return the total as base plus the contributions."""
        amounts, head = explanation._fitted.amounts, explanation._fitted.head
        total = head.name_total(name_class(explanation.target))
        whole = f"The {total} is {amounts.write(account.total)} = base {amounts.write(account.base)}"
        if not any(account.contributions.values()):
            return f"{whole}. The values of this row do not change it."
        change = _write_change(amounts, account)
        return f"{whole} {change[0]} {change[1:]} from the values of this row:"

    def describe_path(self, explanation: Explanation, path: Path, levels: dict[str, str]) -> list[str]:
        """Return the values of the blocks on a path, and the reasons for their sides."""
        view = TreeViews(explanation._fitted)[path.tree]
        which = f" for {name_class(path.target)}" if explanation.classes else ""
        what = "mean responses" if view.is_mean else "values"
        lines = [f"Path through the tree{which}, with the {what} of its blocks:"]
        for step in path.steps:
            why = (
                describe_step(step, levels)
                if len(step.terms) > 1
                else describe_single(step, view.conditions(step.block))
            )
            rows = count(step.n_samples, "training row")
            lines.append(f"block {step.block} ({view.write_value(step.value)}, {rows}): {why}")
        leaf = path.leaf
        lines.append(
            f"leaf {leaf.block} ({count(leaf.n_samples, 'training row')}) {'predicts' if view.is_mean else 'adds'} "
            f"{view.write_value(leaf.added)}{_describe_linear(leaf, view, levels)}."
        )
        return [*lines, *_describe_neighbours(path, explanation._fitted.amounts.plain().write)]


class _NumberText(_ValueText):
    """Sentences about a boosted regression."""

    def describe_prediction(self, explanation: Explanation) -> list[str]:
        number = explanation._fitted.amounts.plain().write(explanation.prediction)
        return [f"Prediction: {number}{self.describe_interval(explanation)}."]

    def describe_interval(self, explanation: Explanation) -> str:
        """Return the interval of a forest and its number of trees."""
        return ""


class _MeanText(_NumberText):
    """Sentences about a regression tree or forest."""

    def describe_interval(self, explanation: Explanation) -> str:
        fitted, interval = explanation._fitted, ""
        if explanation.n_estimators == 1:
            return ""
        if fitted.response is not None and fitted.response.reaches(0.9):
            low, high = fitted.interval(np.array([explanation.prediction]), 0.9)[0].tolist()
            write = fitted.amounts.plain().write
            interval = f" (90 % interval: {write(low)} to {write(high)})"
        return f"{interval}, the mean of {explanation.n_estimators} trees"

    def describe_course(self, explanation: Explanation, account: Account) -> str:
        amounts = explanation._fitted.amounts
        mean = f"The mean response of the training rows is {amounts.write(account.base)}."
        if not any(account.contributions.values()):
            return f"{mean} The values of this row do not change it."
        change = _write_change(amounts, account)
        return f"{mean} The values of this row change it by {change}:"


class _WolfText(_ValueText):
    """Sentences about trees and forests of memberships."""

    def describe_scores(self, explanation: Explanation, labels: list[Any]) -> list[str]:
        """Return the votes of a forest, or the WOLF value of a tree, and the fall-back of WOLF values of 0."""
        lines, rule = [], explanation._fitted.confidence
        if explanation.n_estimators > 1:
            lines.append(_describe_votes(explanation))
        elif rule is not None:
            membership, confidence = explanation.membership[labels[0]], explanation.confidence[labels[0]]
            which = "last" if rule == "last" else "nearest"
            near = "; close to the boundary" if confidence < _NEAR else ""
            lines.append(
                f"WOLF: membership {membership:.2f} × confidence {confidence:.2f} (distance from the {which} "
                f"hyperplane, at most 1{near}) = {membership * confidence:.2f}."
            )
        if not any(explanation.wolf.values()):
            has_membership = any(explanation.membership.values())
            what = "the memberships" if has_membership else "the class frequencies in training"
            lines.append(f"The WOLF value of every class is 0, so {what} decide.")
        return lines

    def describe_course(self, explanation: Explanation, account: Account) -> str:
        rows = "training rows are" if explanation._fitted.is_counted else "weight of the training rows is"
        start, end = account.base, account.total
        share = f"{percent(start)} of the {rows} {name_class(explanation.target)}."
        if not any(account.contributions.values()):
            return f"{share} The values of this row do not change it."
        mean = " on average" if explanation.n_estimators > 1 else ""
        return f"{share} The values of this row change its membership from {start:.2f} to {end:.2f}{mean}:"

    def title_path(self, path: Path) -> str:
        """Return the heading of a path."""
        return f"Path through the tree for {name_class(path.target)}:"

    def describe_path(self, explanation: Explanation, path: Path, levels: dict[str, str]) -> list[str]:
        label, is_counted = explanation.target, explanation._fitted.is_counted
        is_mirrored = path.target != label
        lines, last = [self.title_path(path)], -1
        for number in [*_choose_steps(path), len(path.steps)]:
            if number > last + 1:
                lines.append(f"… {count(number - last - 1, 'more block')}")
            last = number
            if number < len(path.steps):
                step = path.steps[number]
                rows = _count_rows(step, label, is_mirrored, is_counted)
                lines.append(f"block {step.block} ({rows}): {describe_step(step, levels)}")
        rows, more = (
            _count_rows(path.leaf, label, is_mirrored, is_counted),
            _describe_slopes(path, is_mirrored),
        )
        lines.append(f"leaf {path.leaf.block}: {rows}{more}.")
        return [*lines, *_describe_neighbours(path, name_class)]


class _SharesText(_WolfText):
    """Sentences about trees of all classes."""

    def title_path(self, path: Path) -> str:
        return "Path through the tree:"


_TEXTS: dict[type[Head], _ValueText] = {
    WolfHead: _WolfText(),
    SharesHead: _SharesText(),
    MeanHead: _MeanText(),
    RawScoreHead: _ValueText(),
    NumberScoreHead: _NumberText(),
}


def _text_of(explanation: Explanation) -> _ValueText:
    return explanation._fitted.head.choose(_TEXTS)


def _write_change(amounts: NumberFormat, account: Account) -> str:
    """Return the difference of base and total as printed."""
    return amounts.sign(*amounts.add_up(account.base, [account.total - account.base], account.total))


def _describe_votes(explanation: Explanation) -> str:
    votes = explanation.votes
    labels = sorted(filter(votes.get, votes), key=lambda label: -votes[label])
    clauses: list[str] = []
    for label in labels[:4]:
        who = f"{votes[label]}{'' if clauses else f' of {explanation.n_estimators} trees'}"
        clauses.append(f"{who} {'predicts' if votes[label] == 1 else 'predict'} {name_class(label)}")
    return f"{join(clauses)}."


def _describe_neighbours(path: Path, name: Callable[[Any], str]) -> list[str]:
    near = [f"row {neighbour.given} ({name(neighbour.label)})" for neighbour in path.leaf.neighbours]
    return [f"Nearest training rows in this leaf: {join(near)}."] if near else []


def _describe_linear(leaf: ValueLeaf, view: TreeView, levels: dict[str, str]) -> str:
    """Return the visible parts of the addition of a linear leaf."""
    amounts = view.amounts()
    terms = [term for term in leaf.terms if amounts.is_seen(term.term)]
    shown, rest = terms[:N_MOVES], terms[N_MOVES:]
    parts = [(term.term, f"for {name_term(term, levels)}") for term in shown]
    if rest:
        parts.append((sum(term.term for term in rest), f"for {count(len(rest), 'more feature')}"))
    if amounts.is_seen(leaf.clipped):
        parts.append((leaf.clipped, "by clipping to its range"))
    start = f"its {'mean' if view.is_mean else 'value'} {view.write_value(leaf.value)}"
    rounded = amounts.add_up(leaf.value, [part for part, _ in parts], leaf.added)
    told = [f"{amounts.sign(part)} {why}" for part, (_, why) in zip(rounded, parts, strict=True)]
    return f": {', '.join([start, *told])}" if told else ""


def _describe_slopes(path: Path, is_mirrored: bool) -> str:
    """Return the effect of the values of the row within the leaf, if it is visible in two digits."""
    share, membership = path.leaf.share, path.leaf.membership
    if is_mirrored:
        share, membership = 1.0 - share, 1.0 - membership
    if f"{share:.2f}" == f"{membership:.2f}":
        return ""
    return f"; the values of this row {'raise' if membership > share else 'lower'} {share:.2f} to {membership:.2f}"


def _choose_steps(path: Path) -> list[int]:
    """Return the indices of the steps with the largest changes of the share of the target."""
    share = np.array([*(step.share for step in path.steps), path.leaf.share])
    change = np.abs(np.diff(share))
    return sorted(np.argsort(-change, kind="stable")[:N_STEPS].tolist())


def _count_rows(block: Any, label: Any, is_mirrored: bool, is_counted: bool) -> str:
    n_own = block.weight - block.n_target if is_mirrored else block.n_target
    if is_counted:
        return f"{write_count(n_own)} of {block.n_samples:,} training rows are {name_class(label)}"
    return f"{block.n_samples:,} training rows, {percent(n_own / block.weight)} of their weight {name_class(label)}"


def find_levels(explanation: Explanation) -> dict[str, str]:
    """Compare every value with the training rows, in a few words."""
    fitted, encoding = explanation._fitted, explanation._fitted.encoding
    is_known = bool((fitted.normalisation.scale != 1.0).any() or fitted.normalisation.centre.any())
    z = fitted.normalise(explanation._x[None])[0]
    levels = [next(word for least, word in _LEVELS if value >= least) if is_known else "" for value in z]
    x, low, high = (_coarsen(values) for values in (explanation._x, fitted.span.low, fitted.span.high))
    is_outside = (x < low) | (x > high)
    levels = [
        ", ".join(filter(None, [level, "outside the training range" if outside else ""]))
        for level, outside in zip(levels, is_outside, strict=True)
    ]
    is_flag = (low == 0.0) & (high == 1.0) & ((x == 0.0) | (x == 1.0))  # yes and no are neither high nor low
    is_plain = encoding.is_category | is_flag
    levels = ["" if plain else level for level, plain in zip(levels, is_plain, strict=True)]
    by_feature = {
        name: "missing" if is_missing else level
        for name, level, is_missing in zip(fitted.feature_names, levels, np.isnan(x), strict=True)
    }
    return {name: "missing" if value is None else "" for name, value in explanation.row.items()} | by_feature


def _coarsen(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return values as float32, the type that training rows may have had: 0.1 is not outside a range to 0.1."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def describe_step(step: Step | ValueStep, levels: dict[str, str]) -> str:
    """Return the side of a step, and the features that pull there."""
    feature_sum = step.y + step.offset
    pulled = "right" if feature_sum > 0.0 else "left"
    pulling = [term for term in step.terms if term.term * feature_sum > 0.0]
    if not pulling:
        return f"goes {step.side}, like any row with typical or missing values."
    names = join([name_term(term, levels) for term in pulling[:N_REASONS]])
    pull = "pull" if len(pulling[:N_REASONS]) > 1 else "pulls"
    if pulled != step.side:
        return f"goes {step.side}: {names} {pull} to the {pulled}, but not strongly enough."
    against = next((term for term in step.terms[:N_REASONS] if term.term * feature_sum < 0.0), None)
    but = f"; {name_term(against, levels)} pulls the other way" if against else ""
    return f"goes {step.side}, because {names} {pull} that way{but}."


def describe_single(step: ValueStep, conditions: Conditions) -> str:
    """Return the side of a step with a single feature: "goes left, because age 33 < 41.5"."""
    (term,) = step.terms
    if np.isnan(term.value):
        return f"goes {step.side}, because {tidy(term.column or conditions.subject)} is missing."
    bound = f" {getattr(conditions, step.side).removesuffix(' or missing')}"
    if term.category is not None:
        bound = f" ({write_value(term.value)}{bound})"
    elif term.column is not None:
        bound = ""
    return f"goes {step.side}, because {_tidy_term(term)}{bound}."


def name_term(term: Term, levels: dict[str, str]) -> str:
    """Name a feature with its value and its level."""
    level = levels[term.feature]
    return f"{_tidy_term(term)} ({level})" if level else _tidy_term(term)


def _tidy_term(term: Term) -> str:
    return tidy(term.what) if term.column is not None else name_value(term.feature, term.value)


def name_value(name: str, value: float) -> str:
    """Name a feature with its value; the name alone if it is missing."""
    return tidy(name) if np.isnan(value) else f"{tidy(name)} {write_value(value)}"


def _name_cell(name: str, value: Any) -> str:
    """Name a column with its number, date or category; the name alone if it is missing."""
    return name_value(name, value) if isinstance(value, float) else name_category(name, value)


def name_category(name: str, category: Any) -> str:
    """Name a column with its category; the name alone if it is missing."""
    return tidy(name) if category is None else tidy(f"{name} = {category}")


def name_class(label: Any) -> str:
    """Name a class: text as it is, "class 3" for a number."""
    return tidy(label) if isinstance(label, str) else f"class {label}"


def tidy(name: str) -> str:
    """Return a name that fits a sentence: on one line, not too long."""
    printable = "".join(letter if letter.isprintable() else " " for letter in name)
    return printable if len(printable) <= _LONGEST_NAME else f"{printable[: _LONGEST_NAME - 1]}…"


def percent(share: float) -> str:
    """Format a share in per cent for a sentence, never rounded to all or nothing."""
    text = write_share(share).replace(".0 %", " %")
    return text.replace("<", "under ").replace(">", "over ")


def count(number: int, what: str) -> str:
    """Format a number of things: "1 block", "2 blocks"."""
    return f"{number} {what}" if number == 1 else f"{number:,} {what}s"


def join(names: Sequence[str]) -> str:
    """Join names as a list in a sentence: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
