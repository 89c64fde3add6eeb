"""The service without HTTP: requests and answers are values that JSON can store, and a log keeps them for replay."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from .. import __version__
from ..explain._explanation import Explanation
from ..explain._reasons import Comparer, ReasonTask, find_reasons
from ..files import ModelFile, read_file
from ..model.model import Model
from ..scorer import Scorer, make_scorer
from ..tables.errors import ReadError, find_nearest, shorten
from .rows import Finding, RowChecker, describe_columns, make_example

MOST_CHANGES = 10  # counterfactuals of a request
MOST_REASONS = 50
_PLAIN = (str, int, float, bool)
_COLUMN_LISTS = ("features", "immutable", "rising", "falling")  # arguments of counterfactuals
_EXPLAIN = ("row", "target", "reasons", "counterfactuals", "to", *_COLUMN_LISTS, "paths")


class Limits(NamedTuple):
    """Largest requests that are answered."""

    n_bytes: int = 1 << 20
    n_rows: int = 1000


class Refused(ValueError):  # noqa: N818
    """A request that cannot be answered; ``findings`` have the reasons."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(findings[0].message)
        self.findings = findings

    def to_list(self) -> list[dict[str, Any]]:
        """Return the findings for JSON."""
        return [finding._asdict() for finding in self.findings]


class Loaded:
    """A model in service: its file is read once, and nothing of it changes.

    Attributes
    ----------
    sha256 : str
        Hash of the file.
    columns : list of dict
        See ``describe_columns``.
    """

    def __init__(
        self, file: ModelFile, name: str, *, is_strict: bool = False, n_rows: int = Limits().n_rows
    ) -> None:
        self._file, self.name, self.is_strict = file, name, is_strict
        self.scorer: Scorer = make_scorer(file)
        self.model: Model = file.model
        self.sha256, self._most_rows = file.sha256, n_rows
        self.since = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self._checker = RowChecker(self.model.encoding, is_strict=is_strict or self.scorer.unseen == "error")
        self.columns = describe_columns(self.model)
        self.example = make_example(self.columns)
        self.predict({"rows": [self.example]})  # builds the scorer of the core, and tests the model

    @property
    def outputs(self) -> list[str]:
        """Names of several outputs; empty if there is one."""
        return [output.name for output in self.model.outputs]

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The model as ``GET /model`` describes it."""
        header, model = self._file.header, self.model
        ends = {
            name: float(getattr(model.response, name)) for name in ("low", "high", "mean") if model.response
        }
        return {
            "name": self.name,
            "sha256": self.sha256,
            "estimator": header["estimator"],
            "predicts": "classes" if model.labels else "numbers" if self.outputs else "a number",
            "classes": model.labels or None,
            "positive": None if model.positive is None else model.labels[model.positive],
            "outputs": self.outputs or None,
            "response": None if self.outputs else ends or None,
            "columns": self.columns,
            "n_training_rows": model.n_rows,
            "n_trees": model.trees.n_trees,
            "metadata": header["metadata"],
            "versions": {"lhtree": __version__, "written_by": header["written_by"]},
            "is_strict": self.is_strict,
        }

    def predict(self, request: Any) -> dict[str, Any]:
        """Answer ``POST /predict``: the predictions of some rows, with warnings by row."""
        rows = _read_fields(request, ("rows",)).get("rows")
        if not isinstance(rows, list) or not rows:
            raise Refused([_invalid("rows", rows, "a list of at least one row")])
        if len(rows) > self._most_rows:
            message = f"the request has {len(rows):,} rows: pass at most {self._most_rows:,} at a time."
            raise Refused([Finding(None, "rows", "invalid", message)])
        clean, warnings = self._check(rows)
        answers = self._score(clean)
        for finding in warnings:
            answers[finding.row or 0].setdefault("warnings", []).append(finding._asdict())
        return {"model": self.sha256, "predictions": answers}

    def _check(self, rows: list[Any]) -> tuple[list[dict[str, Any]], list[Finding]]:
        clean, warnings, errors = self._checker.check(rows)
        if errors:
            raise Refused(errors)
        return clean, warnings

    def _score(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        model, scorer = self.model, self.scorer
        if not model.labels:
            predicted = scorer.predict(rows).tolist()
            names = self.outputs
            return [{"prediction": dict(zip(names, one, strict=True)) if names else one} for one in predicted]
        labels = model.labels
        keys = [str(label) for label in labels]
        coded = model.code(rows, scorer)
        codes, proba = coded.score(model.scorer.predict, 1), coded.score(model.scorer.proba, 1)
        return [
            {"prediction": labels[code], "proba": dict(zip(keys, shares, strict=True))}
            for code, shares in zip(codes.tolist(), proba.tolist(), strict=True)
        ]

    def explain(self, request: Any) -> dict[str, Any]:
        """Answer ``POST /explain``: contributions, reasons, counterfactuals and text of one row."""
        fields = _read_fields(request, _EXPLAIN)
        clean, warnings = self._check([fields.get("row")])
        target = self._find_target(fields.get("target"))
        n_reasons = _read_count(fields, "reasons", MOST_REASONS)
        n_changes = _read_count(fields, "counterfactuals", MOST_CHANGES)
        has_paths = fields.get("paths", False)
        if type(has_paths) is not bool:
            raise Refused([_invalid("paths", has_paths, "true or false")])
        to, limits = self._read_goal(fields, n_changes), self._read_limits(fields)
        explanation = self.scorer.explain(clean[0], target=target)
        answer = {"model": self.sha256, **self._list_facts(explanation, clean[0], target)}
        if n_reasons:
            answer["reasons"] = self._list_reasons(clean[0], target, n_reasons)
        if n_changes:
            answer |= self._list_changes(explanation, n_changes, to, limits)
        if has_paths:
            answer["paths"] = explanation.to_dict()["paths"]
        if warnings:
            answer["warnings"] = [finding._asdict() for finding in warnings]
        return answer

    def _find_target(self, target: Any) -> Any:
        """Return the class or output to explain; by default, the first of several outputs, or the middle quantile."""
        outputs, labels = self.outputs, self.model.labels
        if target is None:
            middle = len(outputs) // 2 if self.model.head.is_sorted else 0
            return outputs[middle] if outputs else None
        known = outputs or labels
        if type(target) in _PLAIN and target in known:
            return target
        if not known:
            raise Refused([_invalid("target", target, "nothing: the model predicts one number")])
        nearest = find_nearest(str(target), list(map(str, known)))
        noun = "its outputs" if outputs else "the classes"
        raise Refused([_invalid("target", target, f"one of {noun} ({nearest})")])

    def _list_facts(self, explanation: Explanation, row: dict[str, Any], target: Any) -> dict[str, Any]:
        account = explanation.account(explanation.target if explanation.classes else None)
        shown = explanation.target if explanation.classes else target
        return {
            "prediction": explanation.prediction,
            **({"proba": {str(k): v for k, v in explanation.proba.items()}} if explanation.classes else {}),
            **({"predictions": self._score([row])[0]["prediction"]} if self.outputs else {}),
            "target": shown,
            "row": {name: _plain(value) for name, value in explanation.row.items()},
            "base": account.base,
            "contributions": account.contributions,
            "clipped": account.clipped,
            "total": account.total,
            "unit": self.model.head.total_noun,
            "text": str(explanation),
        }

    def _list_reasons(self, row: dict[str, Any], target: Any, n: int) -> list[dict[str, Any]]:
        model = self.model.output(self.model.find_output(target)) if self.outputs else self.model
        positive = target if model.labels else None
        task = ReasonTask.of(model, min(n, len(model.column_names)), positive, None, None, None)
        found = find_reasons(model, model.encode(row, self.scorer), task, Comparer(model))
        names = ("column", "value", "comparison", "contribution", "text")
        return [
            {name: _plain(value) for name, value in zip(names, values, strict=True)}
            for values in zip(*(found[name].tolist() for name in names), strict=True)
        ]

    def _list_changes(
        self, explanation: Explanation, n: int, to: Any, limits: dict[str, Any] | None
    ) -> dict[str, Any]:
        if _is_reached(to, explanation):
            return {"counterfactuals": [], "no_counterfactuals": "The prediction is already what is wanted."}
        if limits is None:
            return {"counterfactuals": [], "no_counterfactuals": "No column may change."}
        try:
            found = explanation.counterfactuals(n=n, to=to, **limits)
        except ValueError as error:
            raise Refused([Finding(None, None, "invalid", str(error))]) from None
        listed = [{**each.to_dict(), "text": str(each)} for each in found]
        return {
            "counterfactuals": listed,
            **({} if found.reason is None else {"no_counterfactuals": found.reason}),
        }

    def _read_goal(self, fields: dict[str, Any], n_changes: int) -> Any:
        """Return the class to reach, None for any other, or the range of numbers to reach."""
        to, labels = fields.get("to"), self.model.labels
        if labels:
            if to is not None and (type(to) not in _PLAIN or to not in labels):
                raise Refused([_invalid("to", to, f"one of the classes {labels}")])
            return to
        if to is None and not n_changes:
            return None
        ends = to if isinstance(to, list) and len(to) == 2 else [None, None]
        if ends == [None, None] or not all(end is None or type(end) in (int, float) for end in ends):
            raise Refused([_invalid("to", to, "[low, high], the range to reach, with null for no limit")])
        return ends[0], ends[1]

    def _read_limits(self, fields: dict[str, Any]) -> dict[str, Any] | None:
        """Return the arguments of counterfactuals that limit changes; None if no column may change."""
        names = set(self.model.column_names)
        chosen: dict[str, set[str]] = {name: set(own) for name, own in (self.model.declared or {}).items()}
        for name in _COLUMN_LISTS:
            if name not in fields:
                continue
            given = fields[name]
            if not isinstance(given, list) or not all(isinstance(one, str) and one in names for one in given):
                raise Refused([_invalid(name, given, "a list of columns of the model")])
            chosen[name] = set(given)
        rising, falling = chosen.get("rising", set()), chosen.get("falling", set())
        fixed = chosen.get("immutable", set()) | (rising & falling)
        free = chosen.get("features", names) - fixed
        limits = {"features": free, "immutable": fixed, "rising": rising - fixed, "falling": falling - fixed}
        return {name: sorted(some) for name, some in limits.items()} if free else None


class Service:
    """A model in service, which can be replaced while requests are answered.

    Parameters
    ----------
    path : str or path
        The model file.
    limits : Limits
        Largest requests.
    is_strict : bool
        Whether unknown fields and unseen categories are errors.
    log : DecisionLog or None
        Where decisions are recorded.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        limits: Limits | None = None,
        *,
        is_strict: bool = False,
        log: DecisionLog | None = None,
    ) -> None:
        self._path, self.limits, self._is_strict, self.log = path, limits or Limits(), is_strict, log
        self.loaded = self._load()

    def _load(self) -> Loaded:
        return load_model(self._path, is_strict=self._is_strict, n_rows=self.limits.n_rows)

    def reload(self) -> Loaded:
        """Read the model file again; requests that have begun keep their model. A bad file changes nothing."""
        loaded = self._load()
        if self.log is not None:
            self.log.reopen()
        self.loaded = loaded
        return loaded

    def answer(self, action: str, request: Any, request_id: str) -> dict[str, Any]:
        """Answer a request, and record it before it is answered."""
        loaded = self.loaded
        answer = loaded.predict(request) if action == "predict" else loaded.explain(request)
        if self.log is not None:
            self.log.write(request_id, loaded, action, request, answer)
        return answer


def load_model(
    path: str | os.PathLike[str], *, is_strict: bool = False, n_rows: int = Limits().n_rows
) -> Loaded:
    """Read a model file for service."""
    return Loaded(read_file(path), Path(path).name, is_strict=is_strict, n_rows=n_rows)


def _read_fields(request: Any, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(request, dict):
        raise Refused([_invalid("body", request, f"an object with the field {names[0]!r}")])
    for name in request:
        if name not in names:
            message = f"{shorten(name)} is not a field ({find_nearest(name, names)})."
            raise Refused([Finding(None, name, "invalid", message)])
    return request


def _is_reached(to: Any, explanation: Explanation) -> bool:
    """Whether the prediction is the class to reach, or in the range to reach."""
    predicted = explanation.prediction
    if explanation.classes:
        return bool(to == predicted)
    low, high = to
    return (low is None or low <= predicted) and (high is None or predicted <= high)


def _read_count(fields: dict[str, Any], name: str, most: int) -> int:
    number = fields.get(name, 0)
    if type(number) not in (int, float) or not 0 <= number <= most or number != int(number):
        raise Refused([_invalid(name, number, f"a whole number from 0 to {most}")])
    return int(number)


def _invalid(name: str, value: Any, wanted: str) -> Finding:
    return Finding(None, name, "invalid", f"{name}={shorten(value)} is not valid: pass {wanted}.")


def _plain(value: Any) -> Any:
    """Return a value of a row for JSON: None if it is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if value is None or value != value else value


class DecisionLog:
    """Appends requests to a file, or to standard output for ``-``, before they are answered."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path, self._lock = os.fspath(path), threading.Lock()
        self._file = self._open()

    def _open(self) -> TextIO:
        return sys.stdout if self._path == "-" else open(self._path, "a", encoding="utf-8")

    def reopen(self) -> None:
        """Open the file again, so that another program can move it away."""
        file = self._open()
        with self._lock:
            self.close()
            self._file = file

    def write(self, request_id: str, loaded: Loaded, action: str, request: Any, answer: Any) -> None:
        """Append one request with the hash of the model, the inputs and the output."""
        line = {
            "time": datetime.now(timezone.utc).isoformat(),
            "request_id": request_id,
            "model": loaded.sha256,
            "action": action,
            "request": request,
            "answer": answer,
        }
        text = json.dumps(line, allow_nan=False)
        with self._lock:
            self._file.write(f"{text}\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not sys.stdout:
            self._file.close()


class Replayed(NamedTuple):
    """A decision of a log, and whether the model gives the same answer today."""

    request_id: str
    action: str
    is_same: bool
    is_same_model: bool
    before: Any
    after: Any


def replay(log: str | os.PathLike[str], loaded: Loaded) -> Iterator[Replayed]:
    """Repeat the decisions of a log with a model, and compare the answers.

    Parameters
    ----------
    log : str or path
        A log written by ``lhtree serve --log``.
    loaded : Loaded
        The model that was served, or another one (see ``load_model``).

    Yields
    ------
    Replayed
        One per line of the log.
    """
    with Path(log).open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                entry = json.loads(line)
                action, request, before = entry["action"], entry["request"], entry["answer"]
                request_id, sha256 = entry["request_id"], entry["model"]
                perform = {"predict": loaded.predict, "explain": loaded.explain}[action]
            except (ValueError, KeyError, TypeError):
                raise ReadError(
                    f"{log}, line {number} is not a decision: pass a log written by lhtree serve --log"
                ) from None
            try:
                after = json.loads(json.dumps(perform(request)))
            except Refused as error:  # by another model
                after = {"detail": error.to_list()}
            yield Replayed(request_id, action, after == before, sha256 == loaded.sha256, before, after)
