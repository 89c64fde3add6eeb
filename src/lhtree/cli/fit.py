"""``lhtree fit``: from a table to a model file."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .._parameters import (
    BOOST_DIRECTIONS,
    COMPACT_MEMBERSHIPS,
    DIRECTIONS,
    GROWTHS,
    MEMBERSHIPS,
    REGRESSION_LOSSES,
)
from ..io.passes import pass_over_file
from ..io.read import FilePasses, TrainingTable, read_training
from ..io.source import Reading
from ..io.streams import open_stream
from ..model.records import CALIBRATIONS
from ..tables.errors import check_known, find_nearest
from . import _options
from ._errors import ExitCode, Problem, writing
from ._estimator import (
    Kind,
    Model,
    build,
    describe,
    describe_table,
    hold_out,
    order_rows,
    read_given,
    read_number,
    read_quantiles,
    show_fit,
)
from ._files import add_provenance, check_place
from ._show import note, show_json, write_bytes

EXAMPLES = (
    "lhtree fit data.csv --target y --out model.lht",
    "lhtree fit data.csv --target y --out model.lht --holdout 0.2 --early-stopping --increasing size",
    "lhtree fit data.csv --target y --out tree.lht --model tree --beta 0.25 --drop shop",
    "lhtree fit data.csv --target y --out forest.lht --model forest --direction mixed",
    "lhtree fit data.csv --target y --out curves.lht --model additive --interactions 2 --steps 6",
    "lhtree fit data.csv --target y --out page.lht --model compact --leaves 8 --penalty 3",
    "lhtree fit data.csv --target y --out model.lht --out-of-core",
    "lhtree fit data.csv --target y --out model.lht --positive kept --holdout 0.2",
    "lhtree fit data.csv --target weight --out weights.lht --loss absolute_error --drop y",
    "lhtree fit data.csv --target weight --out weights.lht --quantile 0.05,0.5,0.95 --intervals --drop y",
    "lhtree fit data.csv --target weight --target size --out both.lht --drop y --drop-missing-target",
)
_FEW_CLASSES = 20
_LOSSES = (
    f"{REGRESSION_LOSSES[0]} (the default), {', '.join(REGRESSION_LOSSES[1:-1])} or {REGRESSION_LOSSES[-1]}"
)
_STREAMED = (Kind.BOOST, Kind.ADDITIVE)  # read a large table in batches


def fit(
    data: _options.DataFile,
    target: _options.Targets,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Model file to write, such as model.lht.")
    ],
    options: _options.TrainingOptions,
    model: Model = Kind.BOOST,
    direction: Annotated[
        str | None,
        typer.Option(
            "--direction",
            autocompletion=lambda: list(dict.fromkeys((*DIRECTIONS, *BOOST_DIRECTIONS))),
            metavar="NAME",
            help="Trees and forests: mean_difference (the paper's, the default for classes), fisher, or mixed (the "
            "most accurate, the default for numbers). Boosted trees: mixed (the default), or single (no hyperplanes).",
        ),
    ] = None,
    trees: Annotated[
        int | None,
        typer.Option("--trees", metavar="N", help="Forest: number of trees per class. Default: 100."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option("--rounds", metavar="N", help="Boost: maximum number of rounds. Default: 400."),
    ] = None,
    learning_rate: Annotated[
        str | None,
        typer.Option(
            "--learning-rate",
            metavar="NUMBER",
            help="Boost: factor of every tree, or auto (by rows and rounds). Default: auto.",
        ),
    ] = None,
    growth: Annotated[
        str | None,
        typer.Option(
            "--growth",
            autocompletion=lambda: list(GROWTHS),
            metavar="NAME",
            help="Boost: symmetric trees (one cut per level, the default but for quantiles and absolute errors) or "
            "free trees (one cut per block).",
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
            help="Boost: the prediction (of two classes, the probability of --positive, else of the second) must not "
            "fall with this column; may be repeated.",
        ),
    ] = None,
    decreasing: Annotated[
        _options.Names, typer.Option(metavar="NAME", help="Boost: the same, but must not rise.")
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            "--loss",
            autocompletion=lambda: list(REGRESSION_LOSSES),
            metavar="NAME",
            help=f"Boost, regression: {_LOSSES}.",
        ),
    ] = None,
    quantile: Annotated[
        str | None,
        typer.Option(
            "--quantile",
            metavar="SHARES",
            help="Boost, regression: predict this quantile, such as 0.9, or several that never cross, such as "
            "0.05,0.5,0.95.",
        ),
    ] = None,
    intervals: Annotated[
        bool,
        typer.Option(
            "--intervals",
            help="Boost, regression: learn prediction intervals by cross-fitting; takes up to six times as long.",
        ),
    ] = False,
    pruning: Annotated[
        float | None,
        typer.Option(
            "--pruning",
            metavar="NUMBER",
            help="Regression tree: cost of a parameter; larger values give smaller trees. Default: 1.",
        ),
    ] = None,
    leaves: Annotated[
        int | None,
        typer.Option("--leaves", metavar="N", help="Compact: maximum number of leaves. Default: 16."),
    ] = None,
    terms: Annotated[
        int | None,
        typer.Option(
            "--terms", metavar="N", help="Compact: maximum number of features of a hyperplane. Default: 8."
        ),
    ] = None,
    penalty: Annotated[
        str | None,
        typer.Option(
            "--penalty",
            metavar="NUMBER",
            help="Compact: cost of a term or leaf; larger values give smaller trees; auto (the default): chosen on "
            "held-out rows.",
        ),
    ] = None,
    interactions: Annotated[
        str | None,
        typer.Option(
            "--interactions",
            metavar="N",
            help="Additive: number of surfaces of pairs of columns. Default: auto, by held-out rows.",
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            metavar="N",
            help="Additive: maximum number of steps of a curve. Default: the fewest within a tolerance of the loss.",
        ),
    ] = None,
    smoothing: Annotated[
        float | None,
        typer.Option(
            "--smoothing", metavar="NUMBER", help="Additive: larger values give smoother curves. Default: 3."
        ),
    ] = None,
    beta: Annotated[
        str | None,
        typer.Option(
            "--beta",
            metavar="NUMBER",
            help="Trees and forests: from 0 to 1, larger values use fewer features; or auto.",
        ),
    ] = None,
    gamma: Annotated[
        str | None,
        typer.Option(
            "--gamma",
            metavar="NUMBER",
            help="Trees and forests: minimum rows, or share of rows, that a pure cut must separate. Default: 10.",
        ),
    ] = None,
    min_samples_leaf: Annotated[
        str | None,
        typer.Option(
            "--min-samples-leaf",
            metavar="N",
            help="Minimum rows of a leaf; larger for noisy classes. Default: auto, which is 1 for mean_difference and "
            "else chosen on held-out rows; boost: 1, with free trees 20; compact: 5.",
        ),
    ] = None,
    membership: Annotated[
        str | None,
        typer.Option(
            "--membership",
            autocompletion=lambda: list(dict.fromkeys((*MEMBERSHIPS, *COMPACT_MEMBERSHIPS))),
            metavar="NAME",
            help="Trees and forests, estimate in a leaf: marginal (the paper's, the default), least_squares or "
            "constant; compact: constant or linear.",
        ),
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option(
            "--max-depth",
            metavar="N",
            help="Maximum depth of a tree. Default: no limit; boost: chosen on held-out rows.",
        ),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(
            "--class-weight",
            metavar="balanced",
            help="balanced: rare classes count as much as others; works best with --min-samples-leaf 20 or so.",
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            "--positive",
            metavar="CLASS",
            help="Class of interest, such as default: stored in the model; evaluations, explanations and reasons "
            "describe it, and --increasing and --decreasing refer to its probability.",
        ),
    ] = None,
    calibrate: Annotated[
        str | None,
        typer.Option(
            "--calibrate",
            metavar="NAME",
            autocompletion=lambda: list(CALIBRATIONS),
            help=f"Calibrate the probabilities by cross-fitting: {' or '.join(CALIBRATIONS)}; takes six times as long.",
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
    holdout_by: Annotated[
        str | None,
        typer.Option(
            "--holdout-by",
            metavar="NAME",
            help="With --holdout: hold out the last rows by this column, such as a date, instead of random ones. The "
            "model does not learn from this column.",
        ),
    ] = None,
    declare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=KIND",
            help="Counterfactuals: the column is immutable, may only be rising or falling, or is whole; may be "
            "repeated.",
        ),
    ] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            "--metadata", metavar="KEY=VALUE", help="Note to store in the model file; may be repeated."
        ),
    ] = None,
    in_memory: Annotated[
        bool, typer.Option("--in-memory", help="Boost: read the whole table, however large it is.")
    ] = False,
    out_of_core: Annotated[
        bool,
        typer.Option(
            "--out-of-core",
            help="Boost: read the table in batches, with a scratch file; the model is the same. Default: if the table "
            "takes more than half of the free memory.",
        ),
    ] = False,
    is_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Train a model on a table and save it.

    A target of many different numbers is predicted as a number, any other as a class;
    several targets are numbers.
    Columns that hold only numbers are numeric, other text is categorical, and
    empty fields are missing values. The model file stores columns and
    categories, so that lhtree predict accepts the same kind of table.
    """
    import lhtree

    _options.check_least(
        trees=(trees, 1),
        rounds=(rounds, 1),
        max_depth=(max_depth, 1),
        leaves=(leaves, 2),
        terms=(terms, 1),
        steps=(steps, 2),
        seed=(seed, 0),
    )
    if holdout is not None and not 0.0 < holdout < 1.0:
        raise Problem(f"--holdout {holdout:g} is not valid: pass a share between 0 and 1", ExitCode.USAGE)
    if holdout_by is not None and holdout is None:
        raise Problem("--holdout-by needs --holdout: pass a share, such as --holdout 0.2", ExitCode.USAGE)
    kept, declared = _options.read_metadata(metadata or []), _options.read_declared(declare or [])
    given = {
        "direction": direction,
        "n_estimators": trees,
        "max_iter": rounds,
        "learning_rate": read_number("--learning-rate", learning_rate, "auto"),
        "growth": growth,
        "early_stopping": early_stopping or None,
        "l2_regularization": l2_regularization,
        "n_directed": n_directed,
        "monotonic_cst": _read_constraints(increasing, decreasing),
        "beta": read_number("--beta", beta, "auto", "schedule"),
        "gamma": read_number("--gamma", gamma),
        "min_samples_leaf": read_number("--min-samples-leaf", min_samples_leaf, "auto"),
        "membership": membership,
        "max_depth": max_depth,
        "class_weight": class_weight,
        "positive": positive,
        "loss": "quantile" if loss is None and quantile is not None else loss,
        "quantile": read_quantiles(quantile),
        "intervals": intervals or None,
        "pruning": pruning,
        "max_leaf_nodes": leaves,
        "max_terms": terms,
        "penalty": read_number("--penalty", penalty, "auto"),
        "interactions": read_number("--interactions", interactions, "auto"),
        "max_steps": steps,
        "smoothing": smoothing,
        "calibrate": calibrate,
    }
    if len(target) > 1:
        options = replace(options, task=_check_targets(target, model, options.task))
    if holdout_by is not None:
        options = replace(options, drop=list(dict.fromkeys([*(options.drop or ()), holdout_by])))
    chosen = read_given(given, model, options.task)
    check_place(out, data)
    several = target[1:2] or None
    columns: Any = target[0] if several is None else target
    others = {"holdout": holdout, "calibrate": calibrate, "intervals": intervals or None, "target": several}
    _check_memory_options(model, data, in_memory=in_memory, out_of_core=out_of_core, **others)
    can_stream = model in _STREAMED and data != "-" and all(other is None for other in others.values())
    is_streamed = out_of_core or (can_stream and not in_memory and _exceeds_memory(data, options.reading))
    training = (FilePasses if is_streamed else read_training)(data, columns, **options.arguments())
    if positive is not None and training.task == "classification":
        chosen["positive"] = _find_positive(positive, training.y, target[0])
    estimator = build(
        model,
        chosen,
        training.task,
        random_state=seed,
        n_jobs=_options.count_threads(threads),
        verbose=0 if quiet else 1,
    )
    notes_quiet = quiet or is_json
    if gamma is not None and estimator.direction != "mean_difference":
        note(
            f"lhtree: --gamma has no effect with --direction {estimator.direction}: use --min-samples-leaf instead",
            quiet=notes_quiet,
        )
    if options.task is None:
        _note_many_classes(training, target[0], quiet=notes_quiet)
    _check_constraints(training, data, increasing=increasing, decreasing=decreasing)
    check_known("declare", [name for some in declared.values() for name in some], training.names, data)
    measured = held = None
    if isinstance(training, FilePasses):
        start = time.perf_counter()
        table = _fit_passes(estimator, training, target[0], quiet=notes_quiet)
    else:
        table = describe_table(training, data, ", ".join(target))
        if holdout is not None:
            last = None
            if holdout_by is not None:
                last = order_rows(data, target[0], holdout_by, options.reading, training)
            measured, held = hold_out(estimator, training, target, holdout, seed, last, holdout_by)
        start = time.perf_counter()
        estimator.fit(training.X, training.take_responses(target))
    seconds = time.perf_counter() - start
    # Settings of this run that do not belong to the model.
    estimator.set_params(n_jobs=None, **({} if model is Kind.TREE else {"verbose": 0}))
    if not estimator.depth_:
        size = f": a small table needs a smaller --min-samples-leaf than {estimator.min_samples_leaf}"
        note(
            "lhtree: the model has no branching block, so that every prediction is the same"
            f"{size if model is Kind.BOOST and estimator.min_samples_leaf != 'auto' else ''}",
            quiet=notes_quiet,
        )
    estimator._model = add_provenance(estimator._model, data, ", ".join(target), held)
    try:
        estimator.declare(**declared)
    except ValueError as error:
        raise Problem(f"--declare: {error}".rstrip("."), ExitCode.USAGE) from None
    with writing(out):
        lhtree.save(estimator, out, metadata=kept)
    facts: dict[str, Any] = {
        "table": table,
        "model": {
            "path": str(out),
            "n_bytes": out.stat().st_size,
            "estimator": str(estimator),
            "n_trees": len(estimator.trees_),
            "fit_seconds": seconds,
            "is_stopping": early_stopping,
        },
    }
    is_chosen = model in (Kind.TREE, Kind.FOREST) and estimator.min_samples_leaf == "auto"
    if is_chosen and estimator.direction != "mean_difference":
        facts["model"]["min_samples_leaf"] = estimator.min_samples_leaf_
    learned = {
        Kind.COMPACT: ("n_leaves", "n_terms", "penalty", "rounding_loss"),
        Kind.BOOST: ("n_iter",),
        Kind.ENSEMBLE: ("cv_score",),
        Kind.ADDITIVE: ("n_iter",),
    }
    for name in learned.get(model, ()):
        facts["model"]["n_rounds" if name == "n_iter" else name] = getattr(estimator, f"{name}_")
    if model is Kind.BOOST:
        facts["model"]["chosen"] = estimator.chosen_ | {"learning_rate": estimator.learning_rate_}
    if is_json:
        show_json(facts if measured is None else facts | {"holdout": measured.to_dict()})
    elif not quiet:
        show_fit(facts, measured)


def _find_positive(positive: str, y: Any, target: str) -> Any:
    """Return the class of --positive."""
    by_text = {str(label): label for label in np.unique(y).tolist()}
    if positive not in by_text:
        nearest = find_nearest(positive, list(by_text))
        raise Problem(f"--positive {positive} is not a class of column {target!r} ({nearest})")
    return by_text[positive]


def _check_targets(targets: Sequence[str], model: Kind, task: _options.TaskName | None) -> _options.TaskName:
    """Return the task of several targets; reject a model or task that has one target only."""
    if model is not Kind.BOOST:
        raise Problem(
            f"--target {targets[1]}: --model {model.value} predicts one column: pass --model boost",
            ExitCode.USAGE,
        )
    if task is _options.TaskName.CLASSIFICATION:
        raise Problem(f"--target {targets[1]}: a classification has one target: omit it", ExitCode.USAGE)
    if len(set(targets)) < len(targets):
        raise Problem("--target: a column is given twice: pass different columns", ExitCode.USAGE)
    return _options.TaskName.REGRESSION


def _check_memory_options(
    model: Kind, path: str, *, in_memory: bool, out_of_core: bool, **others: Any
) -> None:
    """Reject contradictions of --in-memory and --out-of-core; ``others`` need the whole table (None: not given)."""
    if in_memory and out_of_core:
        raise Problem("--in-memory contradicts --out-of-core: pass one of them", ExitCode.USAGE)
    obstacles = [f"--{name}: omit it" for name, value in others.items() if value is not None]
    if model not in _STREAMED:
        obstacles.append(f"--model {model.value}: pass --model boost")
    if path == "-":
        obstacles.append("standard input, which can be read once only: pass a file")
    if out_of_core and obstacles:
        raise Problem(f"--out-of-core does not apply to {obstacles[0]}", ExitCode.USAGE)


def _exceeds_memory(path: str, reading: Reading) -> bool:
    """Whether a table takes more than half of the free memory."""
    with open_stream(path, reading) as stream:
        n_bytes, free = stream.estimate_bytes(), find_free_memory()
    return n_bytes is not None and free is not None and n_bytes > free / 2


def find_free_memory() -> int | None:
    """Return the available memory in bytes; None if the system does not report it."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name == "MemAvailable":
                    return 1024 * int(value.split()[0])
    except OSError:
        pass  # not Linux
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _read_constraints(rising: Sequence[str] | None, falling: Sequence[str] | None) -> dict[str, int] | None:
    """Return the monotonic constraints by column; None without any."""
    for name in set(rising or ()) & set(falling or ()):
        raise Problem(
            f"--increasing {name} contradicts --decreasing {name}: pass one of them", ExitCode.USAGE
        )
    return dict.fromkeys(rising or (), 1) | dict.fromkeys(falling or (), -1) or None


def _check_constraints(
    training: TrainingTable | FilePasses, path: str, **options: Sequence[str] | None
) -> None:
    """Reject constraints on columns that the table does not have, or that are categorical."""
    for option, names in options.items():
        check_known(option, names or (), training.names, path)
        for name in names or ():
            if name in training.as_categories:
                raise Problem(f"--{option} {name} is categorical: constraints are for numeric columns only")


def _note_many_classes(training: TrainingTable | FilePasses, target: str, *, quiet: bool) -> None:
    """Print a note if many different integers are treated as classes."""
    n_classes = len(np.unique(training.y)) if training.y.dtype.kind == "i" else 0
    if n_classes > _FEW_CLASSES:
        note(
            f"lhtree: the {n_classes} different numbers of {target} are taken for classes; to predict them as numbers, "
            "pass --task regression",
            quiet=quiet,
        )


def _fit_passes(estimator: Any, file: FilePasses, target: str, *, quiet: bool) -> dict[str, Any]:
    """Fit in passes over a file; return a summary of the table."""
    n_cells = len(file.y) * len(file.names)
    note(
        f"lhtree: {file.path} is read in batches; codes take about {write_bytes(n_cells)} of scratch space",
        quiet=quiet,
    )
    summary = estimator._fit_passes(pass_over_file(file), None)
    encoding = estimator._model.encoding
    known = dict(zip(encoding.names, encoding.categories, strict=True))
    categories = {name: list(known[name] or ()) for name in file.names if name in file.as_categories}
    return describe(file, file.path, target, categories, summary.count_missing()) | {"is_streamed": True}
