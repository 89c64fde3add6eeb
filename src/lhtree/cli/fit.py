"""``lhtree fit``: from a table to a model file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from .._parameters import REGRESSION_LOSSES
from ..io.read import FilePasses, read_training
from ..io.source import Reading
from . import _estimator, _options
from ._errors import ExitCode, Problem, writing
from ._estimator import (
    Calibrate,
    ClassWeight,
    Direction,
    Kind,
    Loss,
    Membership,
    Model,
    build,
    read_given,
    read_number,
)
from ._fitted import describe_table, fit_passes, hold_out, show, tell_numbers
from ._memory import is_too_large
from ._output import check_place
from ._show import note, show_json

EXAMPLES = (
    "lhtree fit data.csv --target y --out model.lht",
    "lhtree fit data.csv --target y --out model.lht --holdout 0.2 --direction mixed",
    "lhtree fit data.csv --target y --out tree.lht --model tree --beta 0.25 --drop shop",
    "lhtree fit data.csv --target y --out boosted.lht --model boost --early-stopping --increasing size",
    "lhtree fit data.csv --target y --out page.lht --model compact --leaves 8 --penalty cv",
    "lhtree fit data.csv --target y --out boosted.lht --model boost --out-of-core",
    "lhtree fit data.csv --target weight --out weights.lht --model boost --loss absolute_error --drop y",
)

_LOSSES = (
    f"{REGRESSION_LOSSES[0]} (the default), {', '.join(REGRESSION_LOSSES[1:-1])} or {REGRESSION_LOSSES[-1]}"
)


def fit(
    data: _options.DataFile,
    target: _options.Target,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Model file to write, such as model.lht.")
    ],
    model: Model = Kind.FOREST,
    task: _options.Task = None,
    direction: Annotated[
        Direction | None,
        typer.Option(
            "--direction",
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
            help="Boost: the prediction (of two classes, the probability of the second) must not fall with this "
            "column; may be repeated.",
        ),
    ] = None,
    decreasing: Annotated[
        _options.Names, typer.Option(metavar="NAME", help="Boost: the same, but must not rise.")
    ] = None,
    loss: Annotated[
        Loss | None,
        typer.Option(
            "--loss",
            metavar="NAME",
            help=f"Boost, regression: {_LOSSES}.",
        ),
    ] = None,
    quantile: Annotated[
        float | None,
        typer.Option(
            "--quantile", metavar="SHARE", help="Boost, regression: predict this quantile, such as 0.9."
        ),
    ] = None,
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
            help="Compact: cost of a term or leaf; larger values give smaller trees; or cv (cross-validation). "
            "Default: 1.",
        ),
    ] = None,
    digits: Annotated[
        int | None,
        typer.Option("--digits", metavar="N", help="Compact: digits of the weights. Default: 3."),
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
        str | None,
        typer.Option(
            "--min-samples-leaf",
            metavar="N",
            help="Minimum rows of a leaf; larger for noisy classes. Default: auto, which is 1 for mean_difference and "
            "else chosen on held-out rows; boost: 20; compact: 5.",
        ),
    ] = None,
    membership: Annotated[
        Membership | None,
        typer.Option(
            "--membership",
            metavar="NAME",
            help="Membership within a leaf: marginal (the paper's, the default), least_squares or constant; compact: "
            "constant or linear.",
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
    calibrate: Annotated[
        Calibrate | None,
        typer.Option(
            "--calibrate", help="Calibrate the probabilities by cross-fitting; takes six times as long."
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
    format: _options.Format = None,
    delimiter: _options.Delimiter = None,
    decimal: _options.Decimal = ".",
    encoding: _options.Encoding = None,
    is_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Train a model on a table and save it.

    A target of many different numbers is predicted as a number, any other as a class.
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
        digits=(digits, 1),
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
        "min_samples_leaf": read_number("--min-samples-leaf", min_samples_leaf, "auto"),
        "membership": membership and membership.value,
        "max_depth": max_depth,
        "class_weight": class_weight and class_weight.value,
        "loss": "quantile" if loss is None and quantile is not None else loss and loss.value,
        "quantile": quantile,
        "pruning": pruning,
        "max_leaf_nodes": leaves,
        "max_terms": terms,
        "penalty": read_number("--penalty", penalty, "cv"),
        "digits": digits,
        "calibrate": calibrate and calibrate.value,
    }
    chosen = read_given(given, model, task)
    check_place(out, data)
    reading = Reading(format, delimiter, decimal, encoding)
    others = {"--holdout": holdout, "--calibrate": calibrate}
    is_streamed = is_too_large(
        data, reading, model, in_memory=in_memory, out_of_core=out_of_core, others=others
    )
    training = (FilePasses if is_streamed else read_training)(
        data,
        target,
        reading,
        drop=drop or (),
        categorical=categorical or (),
        drop_missing_target=drop_missing_target,
        task=task and task.value,
    )
    estimator = build(
        model,
        chosen,
        is_regression=training.is_regression,
        random_state=seed,
        n_jobs=_options.count_threads(threads),
        verbose=0 if quiet else 1,
    )
    if gamma is not None and estimator.direction != "mean_difference":
        note(
            f"lhtree: --gamma has no effect with --direction {estimator.direction}: use --min-samples-leaf instead",
            quiet=quiet or is_json,
        )
    tell_numbers(training, target, task, quiet=quiet or is_json)
    _estimator.check_constraints(training, data, increasing=increasing, decreasing=decreasing)
    measured = None
    if isinstance(training, FilePasses):
        start = time.perf_counter()
        table = fit_passes(estimator, training, target, quiet=quiet or is_json)
    else:
        table = describe_table(training, data, target)
        measured = None if holdout is None else hold_out(estimator, training, holdout, seed)
        start = time.perf_counter()
        estimator.fit(training.X, training.y)
    seconds = time.perf_counter() - start
    facts: dict[str, Any] = {"table": table}
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
    if estimator.min_samples_leaf == "auto" and estimator.direction != "mean_difference":
        facts["model"]["min_samples_leaf"] = estimator.min_samples_leaf_
    if model is Kind.COMPACT:
        facts["model"] |= {"n_leaves": estimator.n_leaves_, "n_terms": estimator.n_terms_}
        facts["model"] |= {"penalty": estimator.penalty_, "rounding_loss": estimator.rounding_loss_}
    if model is Kind.BOOST:
        facts["model"]["n_rounds"] = estimator.n_iter_
    if is_json:
        show_json(facts if measured is None else facts | {"holdout": measured.to_dict()})
    elif not quiet:
        show(facts, measured)
