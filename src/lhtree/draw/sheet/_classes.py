"""The parts of a decision sheet that are about classes."""

from __future__ import annotations

from ...evaluation.classification import Evaluation
from ...evaluation.measures import write_percent
from ..page import GREY, SMALL, Box, Shape, Text, colour_class, fit_text
from ._facts import SheetFacts
from ._parts import LINE, Dot, draw_diagonal, draw_title, draw_unmeasured

_MOST_CLASSES = 14


def draw_classes(facts: SheetFacts) -> list[Shape]:
    """The share of every class in training and, where rows were held out, its recall and precision."""
    outline, shapes = facts.outline, draw_title("Classes")
    scores = facts.evaluation.classes if isinstance(facts.evaluation, Evaluation) else ()
    for x, text in ((36.0, "share"), *(((47.0, "recall"), (58.0, "precision")) if scores else ())):
        shapes.append(Text(x, 5.6, text, SMALL, "end", GREY))
    shown = list(enumerate(zip(outline.class_names, outline.prior, strict=True)))[:_MOST_CLASSES]
    for place, (code, (label, share)) in enumerate(shown):
        y = 9.0 + LINE * place
        shapes += [
            Box(0.0, y - 1.0, 2.0, 2.0, colour_class(code)),
            Text(3.0, y, fit_text(label, 23.0)),
            Text(36.0, y, f"{share:.3f}", SMALL, "end"),
        ]
        if scores:
            shapes.append(Text(47.0, y, _percent(scores[code].recall), SMALL, "end"))
            shapes.append(Text(58.0, y, _percent(scores[code].precision), SMALL, "end"))
    n_more = len(outline.classes) - len(shown)
    if n_more:
        shapes.append(Text(3.0, 9.0 + LINE * len(shown), f"and {n_more} more classes", SMALL, "start", GREY))
    return shapes


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100.0 * share:.1f} %"


def draw_accuracy(facts: SheetFacts) -> list[Shape]:
    """Accuracy on held-out rows, and how often predictions of some probability are right."""
    evaluation, shapes = facts.evaluation, draw_title("Hold-out")
    if not isinstance(evaluation, Evaluation):
        return shapes + draw_unmeasured()
    interval = f"95 % interval {100 * evaluation.accuracy_low:.1f} to {100 * evaluation.accuracy_high:.1f}"
    shapes += [
        Text(0.0, 5.8, f"accuracy {write_percent(evaluation.accuracy)} ({interval})"),
        Text(0.0, 5.8 + LINE, f"{evaluation.n_rows:,} rows; log loss {evaluation.log_loss:.3f}", SMALL),
        Text(0.0, 5.8 + 2 * LINE, f"most frequent class {write_percent(evaluation.most_frequent)}", SMALL),
    ]
    dots = [Dot(one.probability, one.accuracy, one.n_rows) for one in evaluation.calibration]
    low = int(10.0 * min([0.5, *(min(dot[:2]) for dot in dots)])) / 10.0
    picture = draw_diagonal(
        dots, (low, 1.0), (f"{low:.1f}", "1.0"), "probability of the prediction", "share that is right"
    )
    return shapes + picture
