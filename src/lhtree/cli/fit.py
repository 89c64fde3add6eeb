"""``lhtree fit``: from a table to a model file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..evaluation import Evaluation, evaluate
from ..tables.read import Training, read_training
from ..tables.source import Reading
from . import _estimator, _options
from ._errors import ExitCode, Problem, writing
from ._estimator import ClassWeight, Direction, Kind, Membership, Model, build, read_number
from ._output import check_place
from ._show import note, show_facts, show_json, write_bytes, write_seconds

EXAMPLES = (
    "lhtree fit data.csv --target y --out model.lht",
    "lhtree fit data.csv --target y --out model.lht --holdout 0.2 --direction mixed",
    "lhtree fit data.csv --target y --out tree.lht --model tree --beta 0.25 --drop shop",
    "lhtree fit data.csv --target y --out boosted.lht --model boost --early-stopping --increasing size",
)


def fit(
    data: _options.DataFile,
    target: _options.Target,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Model file to write, such as model.lht.")
    ],
    model: Model = Kind.FOREST,
    direction: Annotated[
        Direction | None,
        typer.Option(
            "--direction",
            metavar="NAME",
            help="Trees and forests: mean_difference (the paper's, the default), fisher, or mixed (the most "
            "accurate). Boosted trees: mixed (the default), or single (no hyperplanes).",
        ),
    ] = None,
    trees: Annotated[
        int | None,
        typer.Option("--trees", metavar="N", help="Forest: number of trees per class. Default: 100."),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", metavar="N", help="Boost: maximum rounds. Default: 400.")
    ] = None,
    learning_rate: Annotated[
        str | None,
        typer.Option(
            "--learning-rate",
            metavar="NUMBER",
            help="Boost: factor of every tree, or auto (by rows and rounds). Default: auto.",
        ),
    ] = None,
    early_stopping: Annotated[
        bool,
        typer.Option(
            "--early-stopping", help="Boost: stop when the loss on a tenth of the rows no longer improves."
        ),
    ] = False,
    l2_regularization: Annotated[
        float | None,
        typer.Option("--l2-regularization", metavar="NUMBER", help="Boost: L2 regularization. Default: 1."),
    ] = None,
    n_directed: Annotated[
        int | None,
        typer.Option("--n-directed", metavar="N", help="Boost: features of a hyperplane. Default: 4."),
    ] = None,
    increasing: Annotated[
        _options.Names,
        typer.Option(
            metavar="NAME",
            help="Boost: the probability of the second class must not fall with this column; may be repeated.",
        ),
    ] = None,
    decreasing: Annotated[
        _options.Names, typer.Option(metavar="NAME", help="Boost: the same, but must not rise.")
    ] = None,
    beta: Annotated[
        str | None,
        typer.Option(
            "--beta", metavar="NUMBER", help="From 0 to 1: larger values use fewer features; or auto."
        ),
    ] = None,
    gamma: Annotated[
        str | None,
        typer.Option(
            "--gamma",
            metavar="NUMBER",
            help="Minimum rows, or share of rows, a pure cut must separate. Default: 10.",
        ),
    ] = None,
    min_samples_leaf: Annotated[
        int | None,
        typer.Option(
            "--min-samples-leaf",
            metavar="N",
            help="Minimum rows of a leaf; larger for noisy classes. Default: 1; boost: 20.",
        ),
    ] = None,
    membership: Annotated[
        Membership | None,
        typer.Option(
            "--membership",
            metavar="NAME",
            help="Membership within a leaf: marginal (the paper's, the default), least_squares or constant.",
        ),
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option(
            "--max-depth", metavar="N", help="Maximum depth of a tree. Default: no limit; boost: 5."
        ),
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
        trees=(trees, 1),
        rounds=(rounds, 1),
        min_samples_leaf=(min_samples_leaf, 1),
        max_depth=(max_depth, 1),
        seed=(seed, 0),
    )
    if holdout is not None and not 0.0 < holdout < 1.0:
        raise Problem(f"--holdout {holdout:g} is not valid: pass a share between 0 and 1", ExitCode.USAGE)
    kept = _options.read_metadata(metadata or [])
    given = {
        "direction": direction and direction.value,
        "n_estimators": trees,
        "max_iter": rounds,
        "learning_rate": read_number("--learning-rate", learning_rate, "auto"),
        "early_stopping": early_stopping or None,
        "l2_regularization": l2_regularization,
        "n_directed": n_directed,
        "monotonic_cst": _estimator.read_constraints(increasing, decreasing),
        "beta": read_number("--beta", beta, "auto", "schedule"),
        "gamma": read_number("--gamma", gamma),
        "min_samples_leaf": min_samples_leaf,
        "membership": membership and membership.value,
        "max_depth": max_depth,
        "class_weight": class_weight and class_weight.value,
    }
    estimator = build(
        model, given, random_state=seed, n_jobs=_options.count_threads(threads), verbose=0 if quiet else 1
    )
    if gamma is not None and estimator.direction != "mean_difference":
        note(
            f"lhtree: --gamma has no effect with --direction {estimator.direction}: use --min-samples-leaf instead",
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
    _estimator.check_constraints(training.X, data, increasing=increasing, decreasing=decreasing)
    facts: dict[str, Any] = {"table": _describe(training, data)}
    measured = None if holdout is None else _hold_out(estimator, training, holdout, seed)
    start = time.perf_counter()
    estimator.fit(training.X, training.y)
    seconds = time.perf_counter() - start
    # Of this run, not of the model.
    estimator.set_params(n_jobs=None, **({} if model is Kind.TREE else {"verbose": 0}))
    with writing(out):
        lhtree.save(estimator, out, metadata=kept)
    facts["model"] = {"path": str(out), "n_bytes": out.stat().st_size, "estimator": str(estimator)}
    facts["model"] |= {
        "n_trees": len(estimator.trees_),
        "fit_seconds": seconds,
        "is_stopping": early_stopping,
    }
    if model is Kind.BOOST:
        facts["model"]["n_rounds"] = estimator.n_iter_
    if is_json:
        show_json(facts if measured is None else facts | {"holdout": measured.to_dict()})
    elif not quiet:
        _show(facts, measured)


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
    trees += f" of {model['n_rounds']:,} rounds" if "n_rounds" in model else ""
    rows = "all rows but a tenth, held out for early stopping," if model["is_stopping"] else "all rows"
    print(f"{trees} fitted on {rows} in {write_seconds(model['fit_seconds'])}")
    print(f"{model['path']} written, {write_bytes(model['n_bytes'])}")


def _list(values: Any, most: int = 12) -> str:
    """The first few of some values, and how many more there are."""
    listed = list(values)
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
