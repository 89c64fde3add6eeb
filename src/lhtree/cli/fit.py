"""``lhtree fit``: from a table to a model file."""

from __future__ import annotations

import time
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .._parameters import DIRECTIONS, MEMBERSHIPS
from ..evaluation import Evaluation, evaluate
from ..tables.read import Training, read_training
from ..tables.source import Reading
from . import _options
from ._errors import ExitCode, Problem, writing
from ._output import check_place
from ._show import note, show_facts, show_json, write_bytes, write_seconds

EXAMPLES = (
    "lhtree fit data.csv --target y --out model.lht",
    "lhtree fit data.csv --target y --out model.lht --holdout 0.2 --direction mixed",
    "lhtree fit data.csv --target y --out tree.lht --model tree --beta 0.25 --drop shop",
)


class Kind(str, Enum):
    """What to fit."""

    TREE = "tree"
    FOREST = "forest"


class Direction(str, Enum):
    """Directions of hyperplanes."""

    _ignore_ = "members name"
    members = vars()
    for name in DIRECTIONS:
        members[name.upper()] = name


class Membership(str, Enum):
    """Membership functions."""

    _ignore_ = "members name"
    members = vars()
    for name in MEMBERSHIPS:
        members[name.upper()] = name


class ClassWeight(str, Enum):
    """Class weights."""

    BALANCED = "balanced"


def fit(
    data: _options.DataFile,
    target: _options.Target,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Model file to write, such as model.lht.")
    ],
    model: Annotated[
        Kind, typer.Option("--model", help="One tree per class, or a forest of them.")
    ] = Kind.FOREST,
    direction: Annotated[
        Direction,
        typer.Option(
            "--direction",
            metavar="NAME",
            help="mean_difference (the paper's), fisher, or mixed (the most accurate).",
        ),
    ] = Direction.MEAN_DIFFERENCE,  # type: ignore[attr-defined]
    trees: Annotated[
        int | None,
        typer.Option("--trees", metavar="N", help="Number of trees per class of a forest. Default: 100."),
    ] = None,
    beta: Annotated[
        str,
        typer.Option(
            "--beta", metavar="NUMBER", help="From 0 to 1: larger values use fewer features; or auto."
        ),
    ] = "auto",
    gamma: Annotated[
        str,
        typer.Option(
            "--gamma", metavar="NUMBER", help="Minimum rows, or share of rows, a pure cut must separate."
        ),
    ] = "10",
    min_samples_leaf: Annotated[
        int,
        typer.Option(
            "--min-samples-leaf", metavar="N", help="Minimum rows of a leaf; larger for noisy classes."
        ),
    ] = 1,
    membership: Annotated[
        Membership,
        typer.Option(
            "--membership",
            metavar="NAME",
            help="Membership within a leaf: marginal (the paper's), least_squares or constant.",
        ),
    ] = Membership.MARGINAL,  # type: ignore[attr-defined]
    max_depth: Annotated[
        int | None,
        typer.Option("--max-depth", metavar="N", help="Maximum depth of a tree. Default: no limit."),
    ] = None,
    class_weight: Annotated[
        ClassWeight | None,
        typer.Option(
            "--class-weight",
            help="balanced: rare classes count as much as others; works best with --min-samples-leaf 20 or so.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Random seed.")] = 0,
    threads: _options.Threads = -1,
    holdout: Annotated[
        float | None,
        typer.Option(
            "--holdout",
            metavar="SHARE",
            help="Hold out this share of the rows and report results on it; the saved model is fitted on all rows.",
        ),
    ] = None,
    drop: _options.Drop = None,
    categorical: _options.Categorical = None,
    drop_missing_target: _options.DropMissingTarget = False,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            "--metadata", metavar="KEY=VALUE", help="Note to store in the model file; may be repeated."
        ),
    ] = None,
    format: _options.Format = None,
    delimiter: _options.Delimiter = None,
    decimal: _options.Decimal = ".",
    encoding: _options.Encoding = None,
    is_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Train a model on a table and save it.

    Columns that hold only numbers are numeric, other text is categorical, and
    empty fields are missing values. The model file stores columns and
    categories, so that lhtree predict accepts the same kind of table.
    """
    import lhtree

    _options.check_least(
        trees=(1 if trees is None else trees, 1),
        min_samples_leaf=(min_samples_leaf, 1),
        max_depth=(1 if max_depth is None else max_depth, 1),
        seed=(seed, 0),
    )
    if holdout is not None and not 0.0 < holdout < 1.0:
        raise Problem(f"--holdout {holdout:g} is not valid: pass a share between 0 and 1", ExitCode.USAGE)
    kept = _read_metadata(metadata or [])
    chosen = {
        "direction": direction.value,
        "beta": beta if beta in ("auto", "schedule") else _read_number("--beta", beta),
        "gamma": _read_number("--gamma", gamma),
        "min_samples_leaf": min_samples_leaf,
        "membership": membership.value,
        "max_depth": max_depth,
        "class_weight": class_weight and class_weight.value,
        "random_state": seed,
        "n_jobs": _options.count_threads(threads),
    }
    estimator = _build(model, trees, chosen, quiet=quiet)
    if gamma != "10" and direction != "mean_difference":
        note(
            f"lhtree: --gamma has no effect with --direction {direction.value}: use --min-samples-leaf instead",
            quiet=quiet or is_json,
        )
    check_place(out, data)
    training = read_training(
        data,
        target,
        Reading(format, delimiter, decimal, encoding),
        drop=drop or (),
        categorical=categorical or (),
        drop_missing_target=drop_missing_target,
    )
    facts: dict[str, Any] = {"table": _describe(training, data)}
    measured = None if holdout is None else _hold_out(estimator, training, holdout, seed)
    start = time.perf_counter()
    estimator.fit(training.X, training.y)
    seconds = time.perf_counter() - start
    # Of this run, not of the model.
    estimator.set_params(n_jobs=None, **({"verbose": 0} if model is Kind.FOREST else {}))
    with writing(out):
        lhtree.save(estimator, out, metadata=kept)
    facts["model"] = {"path": str(out), "n_bytes": out.stat().st_size, "estimator": str(estimator)}
    facts["model"] |= {"n_trees": len(estimator.trees_), "fit_seconds": seconds}
    if is_json:
        show_json(facts if measured is None else facts | {"holdout": measured.to_dict()})
    elif not quiet:
        _show(facts, measured)


def _build(kind: Kind, trees: int | None, chosen: dict[str, Any], *, quiet: bool) -> Any:
    """The unfitted estimator."""
    from lhtree import LHForestClassifier, LHTClassifier

    if kind is Kind.FOREST:
        return LHForestClassifier(trees or 100, verbose=0 if quiet else 1, **chosen)
    if trees is not None:
        raise Problem("--trees applies to forests only: omit it, or pass --model forest", ExitCode.USAGE)
    return LHTClassifier(**chosen)


def _read_number(option: str, text: str) -> float:
    """A number from the command line: integers are counts, others shares."""
    try:
        number = float(text)
    except ValueError:
        raise Problem(f"{option} {text} is not valid: pass a number", ExitCode.USAGE) from None
    return int(text) if text.isdecimal() else number


def _read_metadata(pairs: list[str]) -> dict[str, str] | None:
    kept: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise Problem(f"--metadata {pair} is not valid: pass KEY=VALUE", ExitCode.USAGE)
        kept[key] = value
    return kept or None


def _hold_out(estimator: Any, training: Training, share: float, seed: int) -> Evaluation:
    """Fit on a stratified part of the rows and evaluate on the others."""
    from sklearn.base import clone
    from sklearn.model_selection import train_test_split

    classes, codes, counts = np.unique(training.y, return_inverse=True, return_counts=True)
    n_held = int(np.ceil(share * len(codes)))
    if counts.min() < 2 or min(n_held, len(codes) - n_held) < len(classes):
        raise Problem(
            f"--holdout {share:g} cannot be stratified: class {classes[counts.argmin()]!r} has "
            f"{counts.min()} of {len(codes)} rows; omit --holdout, or pass more rows"
        )
    rows, held = train_test_split(np.arange(len(codes)), test_size=share, stratify=codes, random_state=seed)
    model = clone(estimator).fit(training.X.iloc[rows], training.y[rows])
    return evaluate(model, training.X.iloc[held], training.y[held])


def _describe(training: Training, path: str) -> dict[str, Any]:
    """A summary of the table."""
    X, y = training.X, training.y
    classes, counts = np.unique(y, return_counts=True)
    is_category = [dtype.name == "category" for dtype in X.dtypes]
    return {
        "path": path,
        "n_rows": len(X),
        "n_dropped": training.n_dropped,
        "numbers": [name for name, flag in zip(X.columns, is_category, strict=True) if not flag],
        "categories": {
            name: X[name].cat.remove_unused_categories().cat.categories.tolist()
            for name, flag in zip(X.columns, is_category, strict=True)
            if flag
        },
        "missing": {name: int(n) for name, n in X.isna().sum().items() if n},
        "classes": [
            {"class": label, "n_rows": n} for label, n in zip(classes.tolist(), counts.tolist(), strict=True)
        ],
    }


def _show(facts: dict[str, Any], measured: Evaluation | None) -> None:
    table, model = facts["table"], facts["model"]
    n_missing = sum(table["missing"].values())
    categories = (f"{name} ({len(some)})" for name, some in table["categories"].items())
    classes = (f"{one['class']} ({one['n_rows']:,})" for one in table["classes"])
    dropped = f", {table['n_dropped']:,} without a class dropped" if table["n_dropped"] else ""
    show_facts(
        [
            ("table", f"{table['path']}: {table['n_rows']:,} rows{dropped}"),
            ("numeric", _list(table["numbers"]) or None),
            ("categorical", _list(categories) or None),
            ("missing", f"{n_missing:,} values in {_list(table['missing'])}" if n_missing else None),
            ("classes", _list(classes)),
        ]
    )
    if measured is not None:
        print("\nHold-out results (model fitted on the other rows):")
        show_facts(measured.figures())
    print(f"\n{model['estimator']}")
    trees = "1 tree" if model["n_trees"] == 1 else f"{model['n_trees']:,} trees"
    print(f"{trees} fitted on all rows in {write_seconds(model['fit_seconds'])}")
    print(f"{model['path']} written, {write_bytes(model['n_bytes'])}")


def _list(values: Any, most: int = 12) -> str:
    """The first few of some values, and how many more there are."""
    listed = list(values)
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
