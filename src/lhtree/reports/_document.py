"""A model document by the headings that validators expect, as HTML or Markdown; gaps are left for people."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from .._parameters import refuse
from .._write import check_output, write_whole
from ..evaluation import Evaluation, compare, evaluate, monitor, take_columns
from ..evaluation.drift import Drift
from ..evaluation.event import COLUMNS
from ..files import inspect
from ..model.model import Model
from ..model.numbers import write_share, write_value
from ..model.profile import ColumnProfile
from ..model.records import Provenance
from ..scorer import Scorer, load_scorer
from ..tables.errors import find_nearest
from ._drift import draw_drift, draw_lines, draw_table, encode_text, wrap_page

# Facts that only people can provide, by heading.
GAPS = {
    "Purpose": "what is decided with the model, for whom, who owns it, and which uses are excluded",
    "Data": "where the rows come from, which period and cases they cover, and which columns were left out, and why",
    "Method": "why this method, these constraints and these settings were chosen",
    "Performance": "which performance is required, and whether it is reached",
    "Limits": "for which cases the model is not meant, and who may overrule it, and how",
    "Groups": "which groups matter, which differences are accepted, and why",
    "Stability": "how results differ between periods, regions and products",
    "Monitoring": "who checks new rows, how often, and what happens after an alarm",
    "Challengers": "which alternatives were considered, and why they were not chosen",
    "Changes": "earlier versions, what changed and why, and who approved the model, and when",
}
_FEW = 3  # categories of a column that are named
_MOST_IMPORTANT = 15  # columns in the table of importances
_OFTEN_MISSING = 0.2  # share of missing values that is a limit
_GRID = (0.25, 0.5, 0.75, 1.0)  # lines of the picture of the calibration
_FILES = (".html", ".htm", ".md")


class Paragraph(NamedTuple):
    """A paragraph."""

    text: str


class Missing(NamedTuple):
    """A gap that people have to fill."""

    text: str


class TextTable(NamedTuple):
    """A table of texts."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


class Picture(NamedTuple):
    """HTML, and tables that Markdown shows instead."""

    html: str
    tables: tuple[TextTable, ...] = ()


Part = Paragraph | Missing | TextTable | Picture


def document(
    model: str | os.PathLike[str],
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    by: Any = None,
    challenger: Any = None,
    periods: Sequence[Drift] = (),
    positive: Any = None,
    threshold: float | None = None,
    texts: Mapping[str, str] | None = None,
    title: str | None = None,
) -> Path:
    """Write a document about a model file by the headings that validators expect, as HTML or Markdown.

    The headings are purpose, data, method, performance, limits, groups, stability, monitoring, challengers and changes.
    They are filled with what the file and the rows show. What only people know is a marked gap, unless ``texts`` or the
    metadata of the file have a text for the heading. The document contains no rows.

    Parameters
    ----------
    model : str or path
        The model file.
    path : str or path
        Output file, which ends in ``.html`` or ``.md``. An existing file is replaced atomically.
    X, y : array-like, optional
        Rows that the model was not trained on, and their classes or responses.
    by : str, list of str, dict, DataFrame or array-like of shape (n,), optional
        Also show results by group: columns of X, which the model need not use, or values of all rows, by name.
    challenger : fitted model, or path of a model file, optional
        A model to compare with.
    periods : list of Drift, optional
        Results of ``monitor``, in the order of time.
    positive : class label, optional
        The class of interest. Default: that of the model, if it declares one.
    threshold : float, optional
        Two classes: the probability from which the class of interest is predicted.
    texts : dict, optional
        Texts by heading, such as ``{"purpose": "Decisions on consumer loans"}``.
    title : str, optional
        Title of the document.

    Returns
    -------
    pathlib.Path
        The path of the document.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHBoostClassifier, document, save
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> save(LHBoostClassifier(20, random_state=0).fit(X[:400], y[:400]), "tumours.lht")
    >>> path = document("tumours.lht", "tumours.md", X[400:], y[400:], texts={"purpose": "A second opinion."})
    >>> path.read_text(encoding="utf-8").splitlines()[5:8]
    ['## Purpose', '', 'A second opinion.']
    """
    path = check_output(path, "document(model, path)", "a file ending in .html or .md", _FILES)
    if (X is None) != (y is None):
        raise ValueError("X and y must be passed together: pass both or neither.")
    for name, given in (("by", by), ("challenger", challenger)):
        if given is not None and X is None:
            raise ValueError(f"{name} needs rows to measure on: pass X and y, too.")
    if not all(isinstance(one, Drift) for one in periods):
        raise refuse("periods", periods, "a list of results of monitor(model, X)")
    facts, scorer = inspect(model), load_scorer(model)
    written = _take_texts(texts, facts["metadata"])
    measured = None if X is None else evaluate(scorer, X, y, positive=positive, threshold=threshold, by=by)
    compared = None
    if challenger is not None:
        other = load_scorer(challenger) if isinstance(challenger, (str, os.PathLike)) else challenger
        compared = compare(scorer, other, X, y, positive=positive, threshold=threshold, by=by)
    known: dict[str, Iterable[Part]] = {
        "Purpose": _describe_purpose(facts),
        "Data": _describe_data(facts, scorer._model),
        "Method": _describe_method(facts, scorer),
        "Performance": _describe_performance(facts, measured),
        "Limits": _describe_limits(facts, scorer._model),
        "Groups": _list_tables(
            getattr(measured, "groups", None), "results by group: name columns of the data"
        ),
        "Stability": _describe_stability(scorer, X),
        "Monitoring": _describe_monitoring(periods),
        "Challengers": _list_tables(compared, "a comparison with a challenger on the data"),
        "Changes": _describe_changes(facts, scorer._model),
    }
    sections = {heading: [*_open(heading, written), *parts] for heading, parts in known.items()}
    name = title or f"Model document: {Path(model).stem}"
    write = _write_markdown if path.suffix.lower() == ".md" else _write_html
    write_whole(path, encode_text(write(name, sections)))
    return path


def _take_texts(texts: Mapping[str, str] | None, metadata: dict[str, Any] | None) -> dict[str, str]:
    """Return texts by heading: the texts passed, else the texts in the metadata."""
    headings = {heading.lower(): heading for heading in GAPS}
    given = {} if texts is None else dict(texts)
    for name, text in given.items():
        if not isinstance(name, str) or name.lower() not in headings:
            hint = find_nearest(str(name), list(headings))
            raise refuse("texts", texts, f"texts by heading: {name!r} is not one ({hint})")
        if not isinstance(text, str):
            raise refuse("texts", texts, f"texts: that of {name!r} is {text!r}")
    of_file = {name: text for name, text in (metadata or {}).items() if name.lower() in headings}
    return {headings[name.lower()]: str(text) for name, text in (of_file | given).items()}


def _open(heading: str, written: dict[str, str]) -> Iterator[Part]:
    """Return the text of people about a heading, or the gap for it."""
    yield Paragraph(written[heading]) if heading in written else Missing(GAPS[heading])


def _describe_purpose(facts: dict[str, Any]) -> Iterator[Part]:
    target = (facts["provenance"] or {}).get("target")
    what = "a number" if facts["response"] else f"one of the classes {', '.join(map(str, facts['classes']))}"
    pairs = [
        ("predicts", what if target is None else f"{target}: {what}"),
        ("class of interest", facts["positive"]),
    ]
    yield _list_facts("", [(name, str(text)) for name, text in pairs if text is not None])
    noted = {k: v for k, v in (facts["metadata"] or {}).items() if k.lower() not in map(str.lower, GAPS)}
    if noted:
        yield _list_facts("Notes in the model file", [(name, str(value)) for name, value in noted.items()])


def _describe_data(facts: dict[str, Any], learned: Model) -> Iterator[Part]:
    provenance = Provenance(**(facts["provenance"] or {}))
    origin = [pair for pair in provenance.figures() if pair[0] in ("table", "table sha256", "rows hash")]
    yield _list_facts("", [("training rows", f"{facts['n_samples']:,}"), *origin])
    if learned.profile is None:
        yield Missing("a summary of the columns, which the file lacks")
        return
    rows = []
    for number, (name, encoder, column) in enumerate(
        zip(learned.encoding.names, learned.encoding.encoders, learned.profile.columns, strict=True)
    ):
        if column is None:
            rows.append((name, "ignored", "–", "–"))
            continue
        rows.append((name, encoder.noun, _write_values(learned, number, column), write_share(column.missing)))
    yield TextTable("Columns in training", ("column", "kind", "values", "missing"), rows)


def _write_values(learned: Model, number: int, column: ColumnProfile) -> str:
    """Return the range of a column of numbers, or its most frequent categories with their shares."""
    encoder = learned.encoding.encoders[number]
    if column.missing == 1.0:
        return "–"
    if encoder.categories is None:
        first = learned.encoding.features_of(number).start
        ends = sorted(encoder.decode(end[first:]) for end in (learned.span.low, learned.span.high))
        return " to ".join(end if isinstance(end, str) else write_value(end) for end in ends)
    pairs = list(zip(column.codes, column.shares, strict=False))
    shown = ", ".join(f"{encoder.categories[code]} {write_share(share)}" for code, share in pairs[:_FEW])
    n_more = len(encoder.categories) - min(len(pairs), _FEW)
    return f"{shown} and {n_more:,} more" if n_more else shown


def _describe_method(facts: dict[str, Any], scorer: Scorer) -> Iterator[Part]:
    trees = f"{facts['n_trees']:,} of depth {facts['depth']} at most, {facts['n_leaves']:,} leaves"
    pairs = [
        ("estimator", facts["estimator"]),
        ("trees", trees),
        ("calibration", facts["calibration"] or "none"),
    ]
    signs = facts["parameters"].get("monotonic_cst")
    if signs is not None:
        pairs.append(("monotonic constraints", _write_setting(signs)))
    for kind, names in (facts["declared"] or {}).items():
        pairs.append((f"{kind} columns", ", ".join(names)))
    yield _list_facts("", pairs)
    settings = (facts["provenance"] or {}).get("settings") or facts["parameters"]
    rows = [(name, _write_setting(value)) for name, value in settings.items()]
    yield TextTable("Settings in use", ("setting", "value"), rows)
    found = scorer.importances()
    order = sorted(zip(found.names, found.values, strict=True), key=lambda pair: -pair[1])
    rows = [(name, write_share(float(value), 1)) for name, value in order[:_MOST_IMPORTANT] if value > 0.0]
    yield TextTable("Most important columns (share of the gain in training)", ("column", "importance"), rows)


def _write_setting(value: Any) -> str:
    if isinstance(value, dict) and value.keys() == {"labels", "weights"}:
        value = dict(zip(value["labels"], value["weights"], strict=True))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {own}" for name, own in value.items())
    return str(value)


def _describe_performance(facts: dict[str, Any], measured: Any) -> Iterator[Part]:
    held = dict(Provenance(**(facts["provenance"] or {})).figures()).get("hold-out")
    if held:
        yield _list_facts("Hold-out of the fit", [("results", held)])
    if measured is None:
        yield Missing("results on rows that the model was not trained on: pass them as data")
        return
    yield _list_facts("Rows that were passed as data", measured.figures())
    event = measured.event if isinstance(measured, Evaluation) else None
    if event is not None:
        names = [str(number) for number in range(1, len(event.bands) + 1)]
        lines: dict[str, list[float | None]] = {
            "probability": [band.probability for band in event.bands],
            f"share of {event.positive}": [band.rate for band in event.bands],
        }
        title = f"Calibration of {event.positive} by tenths of the rows, largest probabilities first"
        yield TextTable(title, COLUMNS, event.rows())
        highest = max(max(band.probability, band.rate) for band in event.bands)
        yield Picture(draw_lines(names, lines, [share for share in _GRID if share <= highest]))


def _describe_limits(facts: dict[str, Any], learned: Model) -> Iterator[Part]:
    yield Paragraph(
        "The model was trained on the values that the section on data shows. Beyond the ranges of numbers, its "
        "predictions are those at the end of the range or continue a line, and were never tested."
    )
    columns = learned.profile.columns if learned.profile is not None else ()
    named = list(zip(learned.encoding.names, columns, strict=False))
    often = [
        f"{name} ({write_share(one.missing)})" for name, one in named if one and one.missing >= _OFTEN_MISSING
    ]
    ignored = [name for name, one in named if one is None]
    unseen = facts["parameters"].get("unseen")
    if unseen != "error" and any(encoder.categories for encoder in learned.encoding.encoders):
        yield Paragraph("A category that training did not have counts as missing.")
    if often:
        yield Paragraph(f"Often missing in training: {', '.join(often)}.")
    if ignored:
        yield Paragraph(f"Ignored, because their values name rows: {', '.join(ignored)}.")


def _describe_stability(scorer: Scorer, X: Any) -> Iterator[Part]:
    if X is None or scorer._model.profile is None:
        yield Missing("a comparison of new rows with the training table: pass rows as data")
        return
    for title, heads, rows in monitor(scorer, take_columns(scorer, X)).tables():
        yield TextTable(f"Data against the training table: {title}", heads, rows)


def _describe_monitoring(periods: Sequence[Drift]) -> Iterator[Part]:
    if not periods:
        yield Missing("results of lhtree monitor over some periods")
        return
    tables = (TextTable(*table) for drift in periods for table in drift.tables())
    yield Picture(draw_drift(periods, level=3), tuple(tables))


def _describe_changes(facts: dict[str, Any], learned: Model) -> Iterator[Part]:
    known = dict(Provenance(**(facts["provenance"] or {})).figures())
    pairs = [(name, known[name]) for name in ("fitted", "fitted with") if name in known]
    written = ", ".join(f"{name} {version}" for name, version in facts["written_by"].items())
    yield _list_facts("This version", [*pairs, ("written by", written), ("model sha256", facts["sha256"])])
    edits = () if learned.additive is None else learned.additive.edits
    if edits:
        rows = [(str(number), _write_setting(edit)) for number, edit in enumerate(edits, 1)]
        yield TextTable("Edits of curves", ("edit", "what changed"), rows)


def _list_facts(title: str, pairs: Iterable[tuple[str, str]]) -> TextTable:
    return TextTable(title, ("", ""), list(pairs))


def _list_tables(result: Any, missing: str) -> Iterator[Part]:
    """Return the tables of a result, or a gap without one."""
    if result is None:
        yield Missing(missing)
        return
    for title, heads, rows in result.tables():
        yield TextTable(title, heads, rows)


def _count_gaps(sections: dict[str, list[Part]]) -> str:
    n_gaps = sum(isinstance(part, Missing) for parts in sections.values() for part in parts)
    what = "place is" if n_gaps == 1 else "places are"
    return f"{n_gaps} {what} marked as to be completed." if n_gaps else "No gap is left."


def _write_html(title: str, sections: dict[str, list[Part]]) -> str:
    lines = [f"<h1>{escape(title)}</h1>", f"<p class='hint'>{_count_gaps(sections)}</p>"]
    links = (f"<a href='#{heading.lower()}'>{heading}</a>" for heading in sections)
    lines.append(f"<p>{' · '.join(links)}</p>")
    for heading, parts in sections.items():
        lines.append(f"<h2 id='{heading.lower()}'>{heading}</h2>")
        for part in parts:
            if isinstance(part, Paragraph):
                lines.append(f"<p>{escape(part.text)}</p>")
            elif isinstance(part, Missing):
                lines.append(f"<p><span class='gap'><b>To be completed:</b> {escape(part.text)}.</span></p>")
            elif isinstance(part, Picture):
                lines.append(part.html)
            else:
                lines += [f"<h3>{escape(part.title)}</h3>"] if part.title else []
                lines.append(draw_table(part.heads, part.rows))
    return wrap_page(title, "\n".join(lines))


def _write_markdown(title: str, sections: dict[str, list[Part]]) -> str:
    lines = [f"# {_escape(title)}", "", _count_gaps(sections), ""]
    for heading, parts in sections.items():
        lines += ["", f"## {heading}", ""]
        for part in parts:
            if isinstance(part, Paragraph):
                lines += [_escape(part.text), ""]
            elif isinstance(part, Missing):
                lines += [f"> **To be completed:** {_escape(part.text)}.", ""]
            else:
                for table in part.tables if isinstance(part, Picture) else (part,):
                    lines += [f"### {_escape(table.title)}", ""] if table.title else []
                    cells = [map(_escape, map(str, row)) for row in (table.heads, *table.rows)]
                    texts = [f"| {' | '.join(row)} |" for row in cells]
                    lines += [texts[0], f"|{' --- |' * len(table.heads)}", *texts[1:], ""]
    return "\n".join(lines).rstrip() + "\n"


def _escape(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    plain = " ".join(text.split())
    for sign in "\\`*_[]<>|#":
        plain = plain.replace(sign, f"\\{sign}")
    return plain
