"""``lhtree compare``: two models on the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..evaluation import compare as compare_models
from . import _options
from ._errors import Problem
from ._files import check_picture, check_place, find_target, load_scorer, read_table, save_figure, write_file
from ._show import note, show_json, show_tables

EXAMPLES = (
    "lhtree compare tree.lht model.lht test.csv --target y",
    "lhtree compare tree.lht model.lht test.csv --target y --positive kept --by colour --plot compared.png",
)


def compare(
    champion: Annotated[str, typer.Argument(metavar="CHAMPION", help="Model file in use.")],
    challenger: Annotated[str, typer.Argument(metavar="CHALLENGER", help="Model file that may replace it.")],
    data: _options.DataFile,
    options: _options.RowOptions,
    target: _options.FittedTarget = None,
    positive: _options.Positive = None,
    threshold: _options.Threshold = None,
    by: _options.By = None,
    resamples: Annotated[int, typer.Option(metavar="N", help="Number of bootstrap samples.")] = 500,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed of the bootstrap.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also plot the differences: .png, .svg or .pdf.")
    ] = None,
    is_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Compare two models on rows that neither was trained on.

    The table shows paired differences with 95 % intervals (DeLong for the ROC AUC, else bootstrap) and the
    rows that the models decide differently.
    """
    _options.check_least(resamples=(resamples, 1), seed=(seed, 0))
    _options.check_threshold(threshold)
    if plot is not None:
        check_place(plot, champion, challenger, data)
        check_picture(plot)
    scorers = [load_scorer(path) for path in (champion, challenger)]
    target = find_target(scorers[0]._model, champion, target)
    tables = [
        read_table(scorer, data, options, quiet=quiet, target=target, groups=by or ()) for scorer in scorers
    ]
    X, y = tables[0].X, tables[0].y
    X = X.assign(**{name: tables[1].X[name] for name in tables[1].X if name not in X})
    label = _options.find_class("--positive", positive, scorers[0]._model.labels)
    try:
        compared = compare_models(
            scorers[0],
            scorers[1],
            X,
            y,
            positive=label,
            threshold=threshold,
            by=tables[0].groups or None,
            names=_name(champion, challenger),
            n_resamples=resamples,
            random_state=seed,
        )
    except (TypeError, ValueError) as error:
        raise Problem(f"{champion} and {challenger} cannot be compared: {error}".rstrip(".")) from None
    if is_json:
        show_json(compared.to_dict())
    else:
        show_tables(compared.tables())
    if plot is not None:
        from ..plot import plot_comparison

        write_file(plot, save_figure(lambda: plot_comparison(compared).figure, plot))
        note(f"{plot} written", quiet=quiet)


def _name(*paths: Any) -> tuple[str, str]:
    """Return the names of the files without folder and ending; their roles if both are the same."""
    first, second = (Path(path).stem for path in paths)
    return (first, second) if first != second else ("champion", "challenger")
