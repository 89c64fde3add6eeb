"""``lhtree inspect``: the contents of a model file; ``lhtree version``: versions for bug reports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer

from .. import __version__
from .._extras import show_versions
from ..evaluation.measures import write_number
from ..model.numbers import write_share
from ..model.records import Provenance
from ..tables.encoders import write_date
from ._errors import Problem, reading
from ._options import Json, ModelFile
from ._show import clean, join_settings, show_facts, show_json, show_table, write_bytes, write_settings

_FEW = 10  # categories to show of many
EXAMPLES = (
    "lhtree inspect model.lht",
    "lhtree inspect model.lht --tree 0",
    "lhtree inspect model.lht --json",
    "lhtree version",
    "lhtree version --verbose",
)


def inspect(
    model: ModelFile,
    tree: Annotated[
        int | None, typer.Option(help="Show only this tree, block by block; the first is 0.")
    ] = None,
    is_json: Json = False,
) -> None:
    """Show the contents of a model file: parameters, classes, columns, trees, metadata and arrays."""
    import lhtree

    with reading(model):
        loaded = None if tree is None else lhtree.load(model)
        facts = lhtree.inspect(model)
    if tree is not None:
        return _show_tree(loaded, tree, is_json=is_json)
    if is_json:
        return show_json(facts)
    show_facts(_list_facts(model, facts))
    for title, columns, rows in _list_tables(facts):
        print()
        show_table(title, columns, rows)
    return None


def version(
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="Also show the versions of Python, the system, the compiled core and the libraries.",
        ),
    ] = False,
) -> None:
    """Show the version; with --verbose, everything that a bug report should name."""
    if verbose:
        show_versions()
    else:
        print(f"lhtree {__version__}")


def _show_tree(model: Any, tree: int, *, is_json: bool) -> None:
    from ..describe.text import export_text

    n_trees = len(model.trees_)
    if not 0 <= tree < n_trees:
        raise Problem(f"--tree {tree} is out of range: pass 0 to {n_trees - 1}")
    text = export_text(model, tree=tree, max_depth=model.depth_)
    if is_json:
        show_json({"tree": tree, "text": text})
    else:
        print(clean(text))


def _list_facts(path: str, facts: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    versions = facts["written_by"]
    yield "file", f"{path}, {write_bytes(facts['n_bytes'])}"
    yield "sha256", facts["sha256"]
    yield "format", f"version {facts['format_version']}"
    yield "written by", ", ".join(f"{name} {version}" for name, version in versions.items())
    yield "model", facts["estimator"]
    yield "trained on", f"{facts['n_samples']:,} rows"
    yield "positive class", facts["positive"]
    yield from Provenance(**(facts["provenance"] or {})).figures()
    yield "columns", f"{facts['n_columns']:,}, encoded as {facts['n_features']:,} features"
    if facts["boost"]:
        yield "rounds", "{n_rounds:,}, learning rate {learning_rate:g}".format(**facts["boost"])
        yield "settings", write_settings(facts["boost"]) or None
    if facts["pool"]:
        weights = "{boost_weight:g} boosted trees, {weight:g} forest of {n_estimators:,} trees".format(
            **facts["pool"]
        )
        yield "members", weights
        score = facts["pool"]["cv_score"]
        yield "out of fold", f"log loss {-score:.4g}" if facts["classes"] else f"R² {score:.4g}"
    yield "trees", f"{facts['n_trees']:,}, maximum depth {facts['depth']}"
    yield "blocks", f"{facts['n_blocks']:,}, including {facts['n_leaves']:,} leaves"
    yield "calibrated", facts["calibration"]
    yield (
        "leaf size",
        None if facts["min_samples_leaf"] is None else f"at least {facts['min_samples_leaf']:g}",
    )
    yield "weights", f"{facts['n_weights']:,} in hyperplanes, {facts['n_slopes']:,} slopes in leaves"
    yield "prototypes", f"{facts['n_prototypes']:,} training rows" if facts["n_prototypes"] else None
    if facts["response"] is not None:
        low, mean, high = (write_number(facts["response"][name]) for name in ("low", "mean", "high"))
        if facts["outputs"]:
            yield "predicts", f"numbers: {', '.join(output['name'] for output in facts['outputs'])}"
        else:
            yield "predicts", f"a number; in training from {low} to {high}, mean {mean}"
    if facts["oob_score"] is not None:
        is_class = facts["response"] is None
        score = f"accuracy {write_share(facts['oob_score'])}" if is_class else f"R² {facts['oob_score']:.4f}"
        yield "out-of-bag", score


def _list_tables(facts: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...], Iterable[Sequence[Any]]]]:
    if facts["classes"]:
        yield "Classes", ("class", ">share"), _list_classes(facts)
    yield "Columns", ("column", "type"), _list_columns(facts)
    yield "Parameters", ("parameter", "value"), _list_values(facts["parameters"])
    if facts["declared"]:
        yield "Declared columns", ("declared", "columns"), _list_values(facts["declared"])
    if facts["provenance"]:
        yield "Settings in use", ("setting", "value"), _list_values(facts["provenance"]["settings"])
    if facts["boost"] and facts["boost"]["race"]:
        yield "Race on held-out rows", ("settings", ">loss", ">rounds"), _list_runs(facts["boost"]["race"])
    if facts["metadata"]:
        yield "Metadata", ("key", "value"), _list_values(facts["metadata"])
    arrays = ((name, array["dtype"], _write_shape(array["shape"])) for name, array in facts["arrays"].items())
    yield "Arrays", ("array", "type", ">shape"), arrays


def _list_classes(facts: dict[str, Any]) -> Iterator[tuple[Any, str]]:
    for label, share in zip(facts["classes"], facts["shares"], strict=True):
        yield label, write_share(share)


def _list_runs(race: list[dict[str, Any]]) -> Iterator[tuple[str, str, str]]:
    for run in race:
        yield join_settings(run["settings"]), f"{run['loss']:.6g}", f"{run['n_rounds']:,}"


def _list_columns(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    encoding = facts["encoding"]
    for name, column in zip(encoding["names"], encoding["columns"], strict=True):
        yield name, _describe_column(column)


def _describe_column(column: dict[str, Any]) -> str:
    some = column.get("categories")
    if column["kind"] == "dates":
        return f"dates, as days before {write_date(column['newest'])}, year, month and weekday"
    if some is None:
        names = {"numbers": "numeric", "dropped": "names rows, ignored"}
        return names[column["kind"]] + (
            ", with an indicator of missing values" if "has_indicator" in column else ""
        )
    is_few = column["kind"] == "one_hot"
    shown = ", ".join(map(str, some if is_few else some[:_FEW]))
    more = "" if is_few else f" and {len(some) - _FEW:,} more"
    return f"{len(some):,} categories{'' if is_few else ' as target statistics'}: {shown}{more}"


def _list_values(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict) and value.keys() == {"labels", "weights"}:  # by class or by column
            value = dict(zip(value["labels"], value["weights"], strict=True))
        yield name, json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else str(value)


def _write_shape(shape: list[int]) -> str:
    return " × ".join(f"{size:,}" for size in shape)
