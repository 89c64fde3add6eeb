"""The parameters of boosting, checked and settled, and the rounds that are grown with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import (
    BOOST_DIRECTIONS,
    GROWTHS,
    UNSEEN,
    check_count,
    check_number,
    choose,
    is_auto,
    is_integer,
    is_real,
    refuse,
    settle_one_tree,
)
from ..evaluation.measures import find_ranks
from ..model.model import Model
from ..model.records import Bins, BoostRecord, RacedSetting
from ..model.trees import Trees
from ..tables.errors import TableWarning, find_nearest, warn_caller
from ..tables.frames import refuse_infinity
from ..tables.normalise import Normalisation
from .deadline import Deadline, OutOfTimeError
from .holdout import Validation, check_fraction, join
from .labels import Progress
from .objective import Objective
from .race import (
    CAPACITIES,
    RACED,
    Fold,
    FoldTrees,
    Race,
    RacedRows,
    Rivals,
    list_rivals,
    rate_by_rows,
    round_rate,
)
from .sources import Coding, Hold, Sample, Show, code_rows, hold_codes
from .training import Training

_DEEPEST = 62
_MOST = 2**53  # of any count: more than there can be of anything
_RACE_SHARE = 1 / 3  # of a time limit
_OPPOSED = 3.0  # standard errors of a rank correlation that contradicts a constraint
# Learning rate of trees of all classes or outputs, relative to that of a tree for each.
_JOINT_RATES = {"softmax": 1.5, "quantile": 1.6, "squared_error": 1.0}


@dataclass(frozen=True)
class BoostSettings:
    """Parameters of one fit, checked."""

    objective: Objective
    of_loss: dict[str, Any]  # as the core takes it
    max_iter: int
    n_each: int  # trees of a round
    n_rounds: int  # to grow, without the rounds of an earlier fit
    learning_rate: float | None  # None: by the number of rows
    max_bins: int
    stops: bool
    n_iter_no_change: int
    tol: float
    base_rate: float  # of 400 rounds on many rows
    of_trees: dict[str, Any]
    rivals: Rivals  # changes of of_trees that race against it
    is_cautious: (
        bool  # the race only lowers the rate: quantiles that follow the training rows lose their coverage
    )

    @classmethod
    def of(cls, params: dict[str, Any], training: Training, earlier: Model | None) -> BoostSettings:
        """The settings for these parameters and rows; ``earlier`` has the rounds to keep."""
        direction = choose("direction", params["direction"], BOOST_DIRECTIONS)
        objective = Objective.of(params, training)
        growth = choose("growth", params["growth"], ("auto", *GROWTHS))
        is_cautious = _core.LOSSES[objective.loss].selects
        if growth == "auto":  # quantiles of the few rows of a small leaf would be noise
            growth = "free" if is_cautious else "symmetric"
        leaf, open_names = (
            objective.settle_leaf(params["leaf"]),
            {name for name in RACED if is_auto(params[name])},
        )
        capacity = CAPACITIES[growth]
        monotonic = find_monotonic(params["monotonic_cst"], training)
        if monotonic is not None and objective.outputs:
            raise refuse(
                "monotonic_cst", params["monotonic_cst"], "None with several quantiles or columns of y"
            )
        known = capacity.settings | {"leaf": leaf}
        if earlier is not None and earlier.boost is not None:
            known |= earlier.boost.settings
        joint = None if earlier is None else earlier.head.shares_classes
        if objective.outputs:
            auto = len(objective.quantiles) > 1
            is_joint = settle_one_tree("multi_output", params, is_several=True, auto=auto, earlier=joint)
        else:
            is_several = len(training.classes) > 2
            auto = is_several and params["leaf"] != "linear"
            is_joint = settle_one_tree("multi_class", params, is_several=is_several, auto=auto, earlier=joint)
        params = params | {name: known[name] for name in open_names}
        if earlier is not None and earlier.link != objective.link:
            raise refuse(
                "loss", objective.loss, f"a loss of the same kind as in the earlier fit ({earlier.link} link)"
            )
        choose("unseen", params["unseen"], UNSEEN)
        check_fraction(params["validation_fraction"])
        rate = params["learning_rate"]
        if not is_auto(rate) and not (is_real(rate) and 0.0 < rate <= 1.0):
            raise refuse("learning_rate", rate, "'auto' or a number in (0, 1]")
        max_bins = params["max_bins"]
        if not is_integer(max_bins) or not 2 <= max_bins <= _core.MOST_BINS:
            raise refuse("max_bins", max_bins, f"an integer from 2 to {_core.MOST_BINS}")
        stops = params["early_stopping"]
        if not isinstance(stops, (bool, np.bool_)):
            raise refuse("early_stopping", stops, "True or False")
        max_iter, n_earlier = _count("max_iter", params), 0 if earlier is None else earlier.n_estimators
        if max_iter < n_earlier:
            raise refuse(
                "max_iter",
                max_iter,
                f"at least {n_earlier}, the number of rounds already fitted, with warm_start=True",
            )
        n_directed = _count("n_directed", params, 0)
        return cls(
            objective=objective,
            of_loss=objective.of_core(training),
            max_iter=max_iter,
            n_each=1 if is_joint else len(objective.outputs) or training.n_targets,
            n_rounds=max_iter - n_earlier,
            learning_rate=None if isinstance(rate, str) else float(rate),
            max_bins=int(max_bins),
            stops=bool(stops),
            n_iter_no_change=_count("n_iter_no_change", params),
            tol=check_number("tol", params["tol"]),
            base_rate=capacity.learning_rate * (_JOINT_RATES[objective.loss] if is_joint else 1.0),
            of_trees={
                "l2_regularization": check_number("l2_regularization", params["l2_regularization"]),
                "min_samples_leaf": _count("min_samples_leaf", params),
                "shrinkage": check_number("shrinkage", params["shrinkage"]),
                "monotonic": monotonic,
                "groups": _list_features(find_groups(params["interaction_cst"], training), training),
                "growth": growth,
                "n_directions": capacity.n_directions,
                "max_depth": min(_count("max_depth", params), _DEEPEST),
                "max_features": _share("max_features", params["max_features"]),
                "n_directed": n_directed if direction == "mixed" else 0,
                "subsample": _share("subsample", params["subsample"]),
                "leaf": "constant" if is_joint else params["leaf"],
                "is_joint": is_joint,
            },
            rivals=list_rivals(
                growth, set() if is_cautious else open_names, "constant" if is_joint else leaf
            ),
            is_cautious=is_cautious,
        )

    def raced_values(self) -> dict[str, Any]:
        """Values of the parameters that can be raced."""
        return {name: self.of_trees[name] for name in RACED}


class Boosted(NamedTuple):
    """The result of the rounds of a fit."""

    trees: Trees  # of the new rounds
    base: NDArray[np.float64]
    record: BoostRecord


class CodedFit(NamedTuple):
    """Coded rows that rounds are grown from, their bins, and the validation rows."""

    bins: _core.BoostBins
    hold: Hold
    validation: Validation | None


@contextmanager
def code_fit(
    training: Training,
    sample: Sample,
    max_bins: int,
    validation: Validation | None,
    normalisation: Normalisation,
    earlier: Model | None,
    n_threads: int,
    show: Show,
    folder: str | None = None,
) -> Iterator[CodedFit]:
    """Learn bins, or take the bins of an ``earlier`` model, and code all rows."""
    record = None if earlier is None else earlier.boost
    if record is None:
        bins = _learn_bins(training, sample, max_bins, validation, normalisation, n_threads)
    else:
        levels = training.encoding.levels
        centre, scale = normalisation
        coded = levels if levels.any() else None
        bins = _core.BoostBins(vars(record.bins), centre=centre, scale=scale, levels=coded)
    del sample  # memory is free for the codes
    more = None if validation is None else validation.X
    with training.X.code(Coding(bins, normalisation, more, n_threads, show, folder)) as hold:
        yield CodedFit(bins, hold, validation)


def _learn_bins(
    training: Training,
    sample: Sample,
    max_bins: int,
    validation: Validation | None,
    normalisation: Normalisation,
    n_threads: int,
) -> _core.BoostBins:
    """Learn the bins of the sampled rows that are not held out."""
    weight, is_learned = training.weight, None if validation is None else validation.held == 0
    of_weights: dict[str, Any] = {}
    if weight is not None:
        known = weight if is_learned is None else weight[is_learned]
        is_whole = bool((np.floor(known) == known).all())
        unit = _core.find_weight_unit(float(known.max()), is_whole, training.n_rows)
        of_weights = {"weight": sample.take(weight), "weight_unit": unit}
    own = sample.take(is_learned)
    bins = _core.learn_bins(
        **sample.X.arguments(),
        centre=normalisation.centre,
        scale=normalisation.scale,
        max_bins=max_bins,
        n_threads=n_threads,
        rows=None if own is None or own.all() else np.flatnonzero(own),
        **of_weights,
    )
    if bins is None:
        refuse_infinity(sample.X.expand(), training.row if sample.rows is None else None)
    return bins


FinishRound = Callable[[], bool] | None  # called after every round; true ends the fit


class Chosen(NamedTuple):
    """The learning rate, the values of parameters that were raced, and the runs of the race."""

    learning_rate: float
    settings: dict[str, Any]
    race: tuple[RacedSetting, ...] = ()


def boost_rounds(
    training: Training,
    settings: BoostSettings,
    coded: CodedFit,
    earlier: Model | None,
    seed: int,
    n_threads: int,
    progress: Progress,
    deadline: Deadline,
    finish_round: FinishRound = None,
) -> Boosted:
    """Race open settings, grow the rounds of a fit, and keep the rounds up to the best if it stops early."""
    record = None if earlier is None else earlier.boost
    validation, objective = coded.validation, settings.objective
    stops = settings.stops or validation is not None
    if record is None:
        share = deadline.take_share(_RACE_SHARE)
        chosen = _choose(training, settings, coded, seed, n_threads, progress, share)
    else:
        chosen = Chosen(record.learning_rate, settings.raced_values(), record.race)
    found = _grow(
        coded.hold(settings.of_loss, join(training, validation, objective)),
        coded.bins,
        settings,
        chosen.settings,
        chosen.learning_rate,
        n_rounds=settings.n_rounds,
        seed=seed,
        patience=settings.n_iter_no_change if stops else 0,
        tol=settings.tol,
        earlier=None if earlier is None else objective.shrink_trees(earlier),
        first=None if earlier is None or earlier.base is None else objective.shrink_base(earlier.base),
        n_threads=n_threads,
        progress=progress,
        is_over=lambda: (finish_round is not None and finish_round()) or deadline.is_over(),
    )
    arrays = objective.grow_trees(found["trees"])
    del arrays["n_target"]  # sums of gradients, which no reader needs
    trees = Trees(**arrays)
    train, held = found["training_loss"], found["validation_loss"]
    if stops:
        best = int(np.argmin(train if validation is None else held))
        least = 1 if earlier is None else 0  # a model has a round
        trees = trees.part(0, max(best, least) * settings.n_each)
    n_earlier = 0 if earlier is None else earlier.n_estimators
    train, held = -objective.grow_losses(train), -objective.grow_losses(held)
    train_score = _go_on(None if record is None else record.train_score, n_earlier, train)
    validation_score = _go_on(None if record is None else record.validation_score, n_earlier, held)
    known = None if earlier is None else earlier.base
    base = objective.grow_base(found["first"]) if known is None else known
    return Boosted(
        trees,
        base,
        BoostRecord(
            chosen.learning_rate,
            Bins(**coded.bins.arrays()),
            train_score,
            validation_score,
            chosen.settings,
            chosen.race,
        ),
    )


def _grow(
    rows: Any,
    bins: _core.BoostBins,
    settings: BoostSettings,
    changes: dict[str, Any],
    rate: float,
    **of_rounds: Any,
) -> dict[str, Any]:
    """Grow rounds of trees with some changes of the settings."""
    options = _core.BoostOptions(learning_rate=rate, **settings.of_trees | changes)
    found: dict[str, Any] = _core.boost_rows(rows, bins, **settings.of_loss, options=options, **of_rounds)
    return found


def _choose(
    training: Training,
    settings: BoostSettings,
    coded: CodedFit,
    seed: int,
    n_threads: int,
    progress: Progress,
    deadline: Deadline,
) -> Chosen:
    """Choose the learning rate by the number of rows, and then, if there are enough rows and rounds, by a race.

    With early stopping, which finds the number of rounds, the race decides on the other parameters only. A race that
    reaches the deadline decides nothing. The race makes no progress, but ``progress`` is called, as it may end the fit.
    """
    bins, validation, objective = coded.bins, coded.validation, settings.objective
    is_learned = slice(None) if validation is None else validation.held == 0
    n_rows = len(training.codes[is_learned])
    n = float(n_rows if training.weight is None else training.weight[is_learned].sum())
    rate = settings.learning_rate or rate_by_rows(settings.base_rate, n, settings.max_iter)
    known = settings.raced_values()
    stays = settings.learning_rate is not None or settings.stops or validation is not None
    rivals = settings.rivals.admit(min(n, n_rows), settings.max_iter)
    rows = None
    if rivals is not None and (rivals or not stays):
        rows = RacedRows.draw(training, validation, seed)
    if rivals is None or rows is None:
        return Chosen(round_rate(rate), known)
    hold = hold_codes(code_rows(bins, rows.training.X.load(), n_threads), bins)

    def grow(
        coded_rows: Any,
        changes: dict[str, Any],
        rate: float,
        n_rounds: int,
        patience: int,
        earlier: FoldTrees | None,
    ) -> dict[str, Any]:
        found = _grow(
            coded_rows,
            bins,
            settings,
            changes,
            rate,
            n_rounds=n_rounds,
            seed=seed,
            patience=patience,
            tol=0.0,
            earlier=None if earlier is None else earlier.trees.arrays(),
            first=None if earlier is None else earlier.first,
            keeps_row_losses=True,
            n_threads=n_threads,
            progress=None if progress is None else lambda n: progress(0),
            is_over=deadline.is_over,
        )
        deadline.check()
        return found

    folds = [
        Fold(
            partial(grow, hold(settings.of_loss, join(rows.training, held, objective))),
            rows.held_weight(held),
        )
        for held in rows.folds
    ]
    race = Race(folds, known, rate, settings.max_iter)
    try:
        winner, runs = race.run(rivals)
    except OutOfTimeError:
        return Chosen(round_rate(rate), known)
    if not stays:
        find = race.find_cautious_factor if settings.is_cautious else race.find_factor
        factor = find(winner, rows.training.n_rows, n_rows)
        rate = min(1.0, rate * factor)
    losses = objective.grow_losses(np.array([run.loss for run in runs]))
    raced = (
        RacedSetting(known | run.changes, float(loss), run.best)
        for run, loss in zip(runs, losses, strict=True)
    )
    return Chosen(round_rate(rate), known | winner.changes, tuple(raced))


def _go_on(
    earlier: NDArray[np.float64] | None, n_earlier: int, new: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Scores of all rounds, where they were taken in an earlier fit too; the new ones begin with its last round."""
    if earlier is None or len(earlier) <= n_earlier or not len(new):
        return new
    return np.concatenate([earlier[:n_earlier], new])


def _count(name: str, params: dict[str, Any], least: int = 1) -> int:
    return min(check_count(name, params[name], least), _MOST)


def _share(name: str, value: Any) -> float:
    if not is_real(value) or not 0.0 < value <= 1.0:
        raise refuse(name, value, "a number in (0, 1]")
    return float(value)


def warn_opposed(signs: NDArray[np.int8] | None, training: Training, sample: Sample) -> None:
    """Warn if a monotonic constraint opposes the rank correlation of its column with the response."""
    if signs is None:
        return
    ((response,), _), encoding = training.responses(), training.encoding
    ranks = find_ranks(np.asarray(sample.take(response), dtype=np.float64))
    for feature in np.flatnonzero(signs * ~encoding.is_indicator).tolist():
        values = sample.X.transpose(slice(feature, feature + 1))[0]
        is_known = ~np.isnan(values)
        x, y = find_ranks(values[is_known]), ranks[is_known]
        if not (len(x) and np.ptp(x) and np.ptp(y)):
            continue
        correlation = float(np.corrcoef(x, y)[0, 1])
        if correlation * signs[feature] < -_OPPOSED / np.sqrt(len(x)):
            sign = int(signs[feature]) * (-1 if training.positive == 0 else 1)
            seen = "falls" if sign > 0 else "rises"
            what = "the response" if training.response is not None else "the class"
            warn_caller(
                f"monotonic_cst={sign} of column {encoding.names[encoding.column[feature]]!r} opposes the training "
                f"rows, in which {what} {seen} with it (rank correlation {abs(correlation):.2f}): check the sign, and "
                "that positive is the class of interest.",
                TableWarning,
            )


def find_monotonic(constraints: Any, training: Training) -> NDArray[np.int8] | None:
    """The constraint of every feature; None without any."""
    if constraints is None:
        return None
    encoding = training.encoding
    names, n_columns = list(encoding.names), encoding.n_columns
    if isinstance(constraints, dict):
        unknown = [name for name in constraints if name not in names]
        if unknown:
            nearest = find_nearest(str(unknown[0]), names)
            raise refuse(
                "monotonic_cst", constraints, f"columns of X only: {unknown[0]!r} is not one ({nearest})"
            )
        values = [constraints.get(name, 0) for name in names]
    else:
        given = np.asarray(constraints)
        if given.shape != (n_columns,):
            raise refuse("monotonic_cst", constraints, f"one value per column of X ({n_columns}), or a dict")
        values = given.tolist()
    if any(not is_real(value) or value not in (-1, 0, 1) for value in values):
        raise refuse("monotonic_cst", constraints, "-1, 0 or 1 for each column")
    if not any(values):
        return None
    if training.n_targets > 1:
        raise refuse("monotonic_cst", constraints, "None with more than two classes")
    of_features = np.zeros(encoding.n_features, dtype=np.int8)
    for column, value in enumerate(values):
        noun = encoding.encoders[column].noun
        if value and noun != "numbers":
            raise refuse("monotonic_cst", constraints, f"0 for {names[column]!r}, which holds {noun}")
        if value:
            of_features[encoding.features_of(column)] = value
    # The target of the trees is the second class.
    return -of_features if training.positive == 0 else of_features


def find_groups(constraints: Any, training: Training) -> list[list[int]]:
    """Return the groups of columns that may interact, ascending in each; none without constraints.

    Columns in no group are a group of their own, as in HistGradientBoosting.
    """
    if constraints is None:
        return []
    names = list(training.encoding.names)
    every = range(len(names))
    if isinstance(constraints, str):
        choose("interaction_cst", constraints, ("pairwise", "no_interactions"))
        if constraints == "no_interactions":
            return [[column] for column in every]
        return [list(pair) for pair in combinations(every, 2)] or [list(every)]
    wanted = "'pairwise', 'no_interactions', or a list of groups of columns"
    if isinstance(constraints, dict) or not hasattr(constraints, "__iter__"):
        raise refuse("interaction_cst", constraints, wanted)
    groups = []
    for group in constraints:
        if isinstance(group, str) or not hasattr(group, "__iter__"):
            raise refuse("interaction_cst", constraints, wanted)
        columns = set()
        for one in group:
            if is_integer(one) and 0 <= one < len(names):
                columns.add(int(one))
            elif one in names:
                columns.add(names.index(one))
            else:
                raise refuse("interaction_cst", constraints, f"columns of X only: {one!r} is not one")
        groups.append(sorted(columns))
    rest = sorted(set(every) - {column for group in groups for column in group})
    return [*groups, rest] if rest else groups


def _list_features(groups: list[list[int]], training: Training) -> list[list[int]]:
    """Return the features of groups of columns."""
    features_of = training.encoding.features_of
    return [
        [
            feature
            for column in group
            for feature in range(features_of(column).start, features_of(column).stop)
        ]
        for group in groups
    ]
