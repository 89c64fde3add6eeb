"""An explanation as text: a few short sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.views import TreeView, TreeViews
from ._facts import Path, ValueLeaf
from ._phrases import (
    CLIPPED,
    count,
    join,
    name_category,
    name_class,
    name_term,
    name_value,
    percent,
    tell_single,
    tell_step,
)

if TYPE_CHECKING:
    from ._explanation import Explanation

N_MOVES = 5  # features named with their contributions
N_STEPS = 6  # steps described
_ENOUGH = 9  # residuals for an interval of 90 %
_NEAR = 0.25  # a confidence below is worth a warning
_LEVELS = ((2.0, "very high"), (0.5, "high"), (-0.5, "typical"), (-2.0, "low"), (-np.inf, "very low"))


class Move(NamedTuple):
    """What one feature adds to the membership or raw score of the predicted class, or to the predicted number."""

    what: str  # name and value
    level: str  # how the value compares with the training rows; "" where nothing is known of them
    amount: float


def describe(explanation: Explanation) -> str:
    """All sentences, a line each."""
    lines = [*tell_prediction(explanation), "", tell_course(explanation)]
    moves, n_more, rest = find_moves(explanation)
    sign = explanation._fitted.amounts.sign
    lines += [f"  {' is '.join(filter(None, move[:2]))}: {sign(move.amount)}" for move in moves]
    if n_more:
        lines.append(f"  {count(n_more, 'more feature')}: {sign(rest)}")
    clipped = explanation.account(explanation.prediction).clipped
    if explanation._fitted.amounts.is_seen(clipped):
        lines.append(f"  {CLIPPED}: {sign(clipped)}")
    way = tell_way(explanation)
    if way:
        lines += ["", way[0], *(f"  {line}" for line in way[1:])]
    return "\n".join(lines)


def tell_prediction(explanation: Explanation) -> list[str]:
    """The predicted class with its probability, and the votes of a forest's trees, or raw scores of many classes.

    Of a regression the predicted number, with an interval if a forest has one.
    """
    if explanation._fitted.is_regression:
        return [f"Prediction: {_tell_number(explanation)}."]
    proba, prediction = explanation.proba, explanation.prediction
    others = sorted((label for label in proba if label != prediction), key=lambda label: -proba[label])
    also = ", ".join(f"{name_class(label)} {percent(proba[label])}" for label in others[:3])
    lines = [f"Prediction: {name_class(prediction)}, probability {percent(proba[prediction])} ({also})."]
    if explanation._fitted.calibration is not None:
        before = percent(explanation.uncalibrated[prediction])
        lines.append(
            f"Probabilities are calibrated; before calibration {name_class(prediction)} has {before}."
        )
    if explanation._fitted.is_boosted:
        if len(others) > 1:
            scores = [
                f"{name_class(label)} {explanation._fitted.amounts.sign(explanation.raw_score[label])}"
                for label in [prediction, *others[:3]]
            ]
            lines.append(f"Raw scores: {', '.join(scores)}.")
        return lines
    if explanation.n_estimators > 1:
        lines.append(_tell_votes(explanation))
    elif explanation._fitted.confidence is not None:
        membership, confidence = explanation.membership[prediction], explanation.confidence[prediction]
        which = "last" if explanation._fitted.confidence == "last" else "nearest"
        near = "; close to the boundary" if confidence < _NEAR else ""
        lines.append(
            f"WOLF: membership {membership:.2f} × confidence {confidence:.2f} (distance from the {which} hyperplane, "
            f"at most 1{near}) = {membership * confidence:.2f}."
        )
    if not any(explanation.wolf.values()):
        what = (
            "the memberships" if any(explanation.membership.values()) else "the class frequencies in training"
        )
        lines.append(f"The WOLF value of every class is 0, so {what} decide.")
    return lines


def _tell_number(explanation: Explanation) -> str:
    fitted = explanation._fitted
    write = fitted.amounts.plain().write
    number = write(explanation.prediction)
    if fitted.is_boosted or explanation.n_estimators == 1:
        return number
    residual = None if fitted.response is None else fitted.response.residual
    if residual is not None and len(residual) >= _ENOUGH:
        low, high = fitted.interval(np.array([explanation.prediction]), 0.9)[0].tolist()
        number = f"{number} (90 % interval: {write(low)} to {write(high)})"
    return f"{number}, the mean of {explanation.n_estimators} trees"


def _tell_votes(explanation: Explanation) -> str:
    votes = explanation.votes
    labels = sorted(filter(votes.get, votes), key=lambda label: -votes[label])
    said = [_predict(f"{votes[labels[0]]} of {explanation.n_estimators} trees", votes[labels[0]], labels[0])]
    said += [_predict(str(votes[label]), votes[label], label) for label in labels[1:4]]
    return f"{join(said)}."


def _predict(who: str, n_votes: int, label: Any) -> str:
    return f"{who} {'predicts' if n_votes == 1 else 'predict'} {name_class(label)}"


def tell_course(explanation: Explanation) -> str:
    """Where the membership or raw score of the predicted class, or the predicted number, starts and ends."""
    fitted, label = explanation._fitted, explanation.prediction
    start, contributions, _, end = explanation.account(label)
    is_still = not any(contributions.values())
    if fitted.is_boosted:
        what = "prediction" if fitted.is_regression else f"raw score of {name_class(label)}"
        whole = f"The {what} is {fitted.amounts.write(end)} = base {fitted.amounts.write(start)}"
        if is_still:
            return f"{whole}. The values of this row do not change it."
        change = fitted.amounts.sign(end - start)
        return f"{whole} {change[0]} {change[1:]} from the values of this row:"
    if fitted.is_regression:
        mean = f"The mean response of the training rows is {fitted.amounts.write(start)}."
        if is_still:
            return f"{mean} The values of this row do not change it."
        change = fitted.amounts.sign(end - start)
        return f"{mean} The values of this row change it by {change}:"
    rows = "training rows are" if fitted.is_counted else "weight of the training rows is"
    share = f"{percent(start)} of the {rows} {name_class(label)}."
    if is_still:
        return f"{share} The values of this row do not change it."
    mean = " on average" if explanation.n_estimators > 1 else ""
    return f"{share} The values of this row change its membership from {start:.2f} to {end:.2f}{mean}:"


def find_moves(explanation: Explanation) -> tuple[list[Move], int, float]:
    """The largest contributions to the prediction, how many more there are, and the sum of those."""
    of_class = explanation.account(explanation.prediction).contributions
    features = sorted(filter(of_class.get, of_class), key=lambda name: -abs(of_class[name]))
    shown, rest = features[:N_MOVES], features[N_MOVES:]
    levels, encoding = find_levels(explanation), explanation._fitted.encoding
    categories = dict(zip(encoding.names, encoding.categories, strict=True))
    moves = [
        Move(
            (name_value if categories[name] is None else name_category)(name, explanation.row[name]),
            levels[name],
            of_class[name],
        )
        for name in shown
    ]
    return moves, len(rest), sum(of_class[name] for name in rest)


def tell_way(explanation: Explanation) -> list[str]:
    """The path through the tree of the predicted class, heading first; empty where there are many trees."""
    if explanation.n_estimators > 1:
        return []
    label = explanation.prediction
    path = next((path for path in explanation.paths if path.target == label), explanation.paths[0])
    if explanation._fitted.has_values:
        return _tell_value_way(explanation, path)
    is_mirrored = path.target != label
    levels, is_counted = find_levels(explanation), explanation._fitted.is_counted
    is_joint = explanation._fitted.is_joint
    lines = [f"Path through the tree{'' if is_joint else f' for {name_class(path.target)}'}:"]
    told, last = _choose_steps(path), -1
    for number in [*told, len(path.steps)]:
        if number > last + 1:
            lines.append(f"… {count(number - last - 1, 'more block')}")
        last = number
        if number < len(path.steps):
            step = path.steps[number]
            lines.append(
                f"block {step.block} ({_count_rows(step, label, is_mirrored, is_counted)}): {tell_step(step, levels)}"
            )
    rows, more = _count_rows(path.leaf, label, is_mirrored, is_counted), _tell_slopes(path, is_mirrored)
    lines.append(f"leaf {path.leaf.block}: {rows}{more}.")
    return [*lines, *_tell_neighbours(path, name_class)]


def _tell_neighbours(path: Path, name: Callable[[Any], str]) -> list[str]:
    near = [f"row {neighbour.given} ({name(neighbour.label)})" for neighbour in path.leaf.neighbours]
    return [f"Nearest training rows in this leaf: {join(near)}."] if near else []


def _tell_value_way(explanation: Explanation, path: Path) -> list[str]:
    fitted = explanation._fitted
    view, levels = TreeViews(fitted)[path.tree], find_levels(explanation)
    which = "" if fitted.is_regression else f" for {name_class(path.target)}"
    what = "mean responses" if view.is_mean else "values"
    lines = [f"Path through the tree{which}, with the {what} of its blocks:"]
    for step in path.steps:
        why = (
            tell_step(step, levels) if len(step.terms) > 1 else tell_single(step, view.conditions(step.block))
        )
        rows = count(step.n_samples, "training row")
        lines.append(f"block {step.block} ({view.write_value(step.value)}, {rows}): {why}")
    leaf = path.leaf
    lines.append(
        f"leaf {leaf.block} ({count(leaf.n_samples, 'training row')}) {'predicts' if view.is_mean else 'adds'} "
        f"{view.write_value(leaf.added)}{_tell_linear(leaf, view, levels)}."
    )
    return [*lines, *_tell_neighbours(path, fitted.amounts.plain().write)]


def _tell_linear(leaf: ValueLeaf, view: TreeView, levels: dict[str, str]) -> str:
    """Of what the addition of a linear leaf is made, as far as the digits show it."""
    amounts = view.amounts()
    terms = [term for term in leaf.terms if amounts.is_seen(term.term)]
    shown, rest = terms[:N_MOVES], terms[N_MOVES:]
    parts = [f"{amounts.sign(term.term)} for {name_term(term, levels)}" for term in shown]
    if rest:
        parts.append(
            f"{amounts.sign(sum(term.term for term in rest))} for {count(len(rest), 'more feature')}"
        )
    if amounts.is_seen(leaf.clipped):
        parts.append(f"{amounts.sign(leaf.clipped)} by clipping to its range")
    start = f"its {'mean' if view.is_mean else 'value'} {view.write_value(leaf.value)}"
    return f": {', '.join([start, *parts])}" if parts else ""


def _tell_slopes(path: Path, is_mirrored: bool) -> str:
    """What the values of the row change within the leaf, where it can be seen in two digits."""
    share, membership = path.leaf.share, path.leaf.membership
    if is_mirrored:
        share, membership = 1.0 - share, 1.0 - membership
    if f"{share:.2f}" == f"{membership:.2f}":
        return ""
    return f"; the values of this row {'raise' if membership > share else 'lower'} {share:.2f} to {membership:.2f}"


def find_levels(explanation: Explanation) -> dict[str, str]:
    """How every value compares with the training rows, in a few words."""
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
    """Values as float32, which training rows may have been: 0.1 is not outside a range that ends there."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _choose_steps(path: Path) -> list[int]:
    """Indices of the steps to show: those that change the share of the target most."""
    share = np.array([*(step.share for step in path.steps), path.leaf.share])
    change = np.abs(np.diff(share))
    return sorted(np.argsort(-change, kind="stable")[:N_STEPS].tolist())


def _count_rows(block: Any, label: Any, is_mirrored: bool, is_counted: bool) -> str:
    n_own = block.weight - block.n_target if is_mirrored else block.n_target
    if is_counted:
        return f"{n_own:g} of {block.n_samples} training rows are {name_class(label)}"
    return f"{block.n_samples} training rows, {percent(n_own / block.weight)} of their weight {name_class(label)}"
