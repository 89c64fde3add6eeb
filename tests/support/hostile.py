"""Random models of all families with hostile names, weights, gaps, categories and magnitudes, and their exports."""

import sqlite3
from contextlib import closing
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd

import lhtree
from support import exports
from support.exports import quote

KEY = "the key"
TABLES = ["data", "orders_", "both", "Given", "given_", "t", "select", 'a "b" c', "level0_0", "größe_"]
_WORDS = """
true FALSE null select both both_ order user current_date infinity nan is_infinite prediction probability_0 data given
x0 x1 z0 k0 p0 s0 raw0 n t d r id tree target leaf label e0 estimate total rowid %s $1 ?1 :a {0} \\ a;-- it's größe 数
"""
NAMES = [*_WORDS.split(), "", " ", " a ", 'a"b', "/* a", "a\nb", "x" * 62 + "ä", "y" * 80]
CATEGORIES = [
    *("true", "NULL", "it's", 'a"b', "\\n", "%", "ß", "SS", "a", "A"),
    *("1", "1.0", "nan", "数", "", " "),
]
LABELS: list[list[Any]] = [
    [False, True],
    [0, 1, 2, 3],
    [-(2**63), -1, 7, 2**63 - 1],
    [-1.0, 0.0, 3.0, 1e15],
    ["", "it's", 'a"b', "%s"],
    ["true", "false", "null", "größe\n"],
]
CLASSIFIERS = ("tree", "forest", "one tree", "boost", "compact", "additive", "ensemble")
REGRESSORS = (
    "tree regressor",
    "forest regressor",
    "boost regressor",
    "quantiles",
    "responses",
    "compact regressor",
    "additive regressor",
    "ensemble regressor",
)


class Case(NamedTuple):
    """A fitted model, rows to predict, the table that SQL reads them from, and the training data."""

    model: Any
    rows: pd.DataFrame
    table: str
    X: pd.DataFrame | None = None
    y: Any = None
    weight: Any = None


def make_numbers(random, n):
    """Return a column of numbers of any magnitude, often with few values, gaps and far cells."""
    kind = random.integers(6)
    if kind == 0:
        x = random.normal(size=n)
    elif kind == 1:
        x = random.integers(-3, 4, n).astype(float)
    elif kind == 2:
        x = random.normal(size=n) * 10.0 ** random.uniform(-300, 300)
    elif kind == 3:
        x = random.normal(size=n) * 10.0 ** random.uniform(-120, 120, n)
    elif kind == 4:  # a few ulps wide
        x = 10.0 ** random.uniform(-5, 5) * (1.0 + random.integers(0, 4, n) * 2.0**-52)
    else:
        x = np.full(n, random.normal())
    if random.random() < 0.2:
        cells = [0.0, -0.0, 1e300, -1e300, 1e100, -1e101, 5e-324, -2e-310, 1e-300, 1e-101]
        x = np.where(random.random(n) < 0.2, random.choice(cells, n), x)
    if random.random() < 0.4:
        x = np.where(random.random(n) < random.choice([0.1, 0.5, 1.0]), np.nan, x)
    return x


def make_categories(random, n):
    """Return a column of text, of integers or of booleans, often with gaps."""
    kinds = [CATEGORIES, CATEGORIES, [1, 2, 5, -(2**40)], [False, True]]
    some = kinds[random.integers(len(kinds))]
    some = [some[i] for i in random.permutation(len(some))[: random.integers(1, 6)]]
    cells = [some[code] for code in random.integers(0, len(some), n)]
    if random.random() < 0.4:
        cells = [None if random.random() < 0.2 else cell for cell in cells]
    return pd.Series(pd.Categorical(cells, categories=some))


def make_frame(random, n):
    """Return a table of one to five columns with hostile names that differ by more than their case."""
    n_columns = random.integers(1, 6)
    columns, seen = {}, set()
    for name in random.permutation(np.array(NAMES, dtype=object))[: 2 * n_columns]:
        if name[:62].casefold() not in seen and len(columns) < n_columns:
            seen.add(name[:62].casefold())
            columns[name] = (make_categories if random.random() < 0.3 else make_numbers)(random, n)
    return pd.DataFrame(columns)


def make_weight(random, n):
    """Return weights of rows, or None."""
    kind = random.integers(4)
    if kind == 0:
        return 10.0 ** random.uniform(-3, 3, n)
    return np.append(1, random.integers(0, 4, n - 1)) if kind == 1 else None


def choose_classifier(random, kind, seed):
    """Return a classifier with random settings."""
    calibrate = random.choice(np.array([None, "sigmoid", "isotonic"], dtype=object))
    one_hot = int(random.choice([1, 20]))
    if kind == "compact":
        return lhtree.CompactLHTClassifier(**choose_compact(random, [1, 2, 3, 15, None]), max_one_hot=one_hot)
    if kind == "boost":
        return lhtree.LHBoostClassifier(
            int(random.integers(1, 5)),
            min_samples_leaf=1,
            leaf=str(random.choice(["auto", "linear"])),
            direction=str(random.choice(["mixed", "single"])),
            calibrate=calibrate,
            max_one_hot=one_hot,
            random_state=seed,
        )
    if kind == "ensemble":
        return lhtree.LHEnsembleClassifier(**choose_ensemble(random), max_one_hot=one_hot, random_state=seed)
    if kind == "additive":
        return lhtree.AdditiveLHTClassifier(**choose_additive(random), max_one_hot=one_hot, random_state=seed)
    direction = str(random.choice(["mean_difference", "fisher", "mixed"]))
    settings: dict[str, Any] = {
        "direction": direction,
        "membership": str(random.choice(["marginal", "least_squares", "constant"])),
        "confidence": random.choice(np.array(["last", "path", None], dtype=object)),
        "normalize": random.choice(np.array(["robust", "standard", "minmax", None], dtype=object)),
        "calibrate": calibrate,
        "max_one_hot": one_hot,
        "missing_indicator": bool(random.integers(2)),
        "min_samples_leaf": int(random.integers(1, 3)),
        "random_state": seed,
    }
    if kind == "tree":
        return lhtree.LHTClassifier(**settings)
    if kind == "one tree":
        settings |= {"direction": "mixed", "membership": "constant", "multi_class": "one_tree"}
    return lhtree.LHForestClassifier(int(random.integers(1, 4)), **settings)


def choose_compact(random, digits):
    """Return random settings of a compact tree."""
    return {
        "max_leaf_nodes": int(random.choice([2, 3, 16])),
        "max_terms": int(random.integers(1, 4)),
        "penalty": float(random.choice([0.0, 0.1, 1.0])),
        "min_samples_leaf": int(random.integers(1, 4)),
        "membership": str(random.choice(["constant", "linear"])),
        "digits": random.choice(np.array(digits, dtype=object)),
        "max_passes": 2,
    }


def choose_additive(random):
    """Return random settings of an additive model."""
    return {
        "interactions": random.choice(np.array(["auto", 0, 2], dtype=object)),
        "max_iter": int(random.integers(1, 20)),
        "n_bags": int(random.integers(1, 5)),
        "min_samples_leaf": int(random.integers(1, 4)),
        "max_steps": random.choice(np.array(["auto", 3, None], dtype=object)),
    }


def choose_ensemble(random):
    """Return random settings of an ensemble."""
    return {
        "max_iter": int(random.integers(1, 5)),
        "n_estimators": int(random.integers(1, 4)),
        "cv": int(random.integers(2, 4)),
    }


def choose_regressor(random, kind, seed):
    """Return a regressor with random settings."""
    one_hot = int(random.choice([1, 20]))
    if kind == "compact regressor":
        return lhtree.CompactLHTRegressor(**choose_compact(random, [1, 3, None]), max_one_hot=one_hot)
    if kind == "boost regressor":
        loss = str(random.choice(["squared_error", "squared_error", "absolute_error", "poisson", "gamma"]))
        return lhtree.LHBoostRegressor(
            loss,
            max_iter=int(random.integers(1, 5)),
            min_samples_leaf=1,
            leaf=str(random.choice(["auto", "linear"])) if loss == "squared_error" else "auto",
            max_one_hot=one_hot,
            random_state=seed,
        )
    if kind in ("quantiles", "responses"):
        quantile = [[0.1, 0.5, 0.9], [0.5], [0.25, 0.75]][random.integers(3)]
        return lhtree.LHBoostRegressor(
            "quantile" if kind == "quantiles" else "squared_error",
            quantile=quantile if kind == "quantiles" else None,
            multi_output=str(random.choice(["one_tree", "one_per_output"])),
            intervals=bool(random.integers(2)) and kind == "quantiles",
            max_iter=int(random.integers(1, 5)),
            min_samples_leaf=1,
            max_one_hot=one_hot,
            random_state=seed,
        )
    if kind == "ensemble regressor":
        return lhtree.LHEnsembleRegressor(**choose_ensemble(random), max_one_hot=one_hot, random_state=seed)
    if kind == "additive regressor":
        loss = str(random.choice(["squared_error", "squared_error", "absolute_error", "poisson", "gamma"]))
        return lhtree.AdditiveLHTRegressor(
            loss, **choose_additive(random), max_one_hot=one_hot, random_state=seed
        )
    if kind == "tree regressor":
        return lhtree.LHTRegressor(min_samples_leaf=2, pruning=0, max_one_hot=one_hot)
    membership = str(random.choice(["least_squares", "constant"]))
    return lhtree.LHForestRegressor(
        3, membership=membership, min_samples_leaf=2, max_one_hot=one_hot, random_state=seed
    )


_TREES = {"n_estimators": [1, 2, 5], "bootstrap": [False, True], "keep_prototypes": [False, 4]}
_COMPACT = {"penalty": [0.0, "auto"], "max_passes": [0, 3], "digits": [1, 3, None]}
_WEIGHTED = {"class_weight": [None, "balanced"]}
# More settings, by kind.
SETTINGS: dict[str, dict[str, list[Any]]] = {
    "tree": _WEIGHTED | {"min_samples_leaf": ["auto", 1]},
    "forest": _TREES | _WEIGHTED | {"oob_score": [False, True]},
    "one tree": _TREES | _WEIGHTED | {"oob_score": [False, True]},
    "boost": _WEIGHTED | {"subsample": [1.0, 0.5], "growth": ["symmetric", "free"]},
    "compact": _COMPACT | _WEIGHTED,
    "additive": _WEIGHTED,
    "ensemble": {"cv": [2, 3]},
    "tree regressor": {"membership": ["constant", "least_squares"], "pruning": [0.0, 1.0]},
    "forest regressor": _TREES | {"oob_score": [False, True]},
    "boost regressor": {"subsample": [1.0, 0.5], "growth": ["symmetric", "free"]},
    "quantiles": {"subsample": [1.0, 0.5]},
    "responses": {"growth": ["symmetric", "free"]},
    "ensemble regressor": {"cv": [2, 3]},
    "compact regressor": _COMPACT,
    "additive regressor": {"smoothing": [0.1, 3.0]},
}


def vary(model, kind, seed):
    """Give a model more random settings."""
    random = np.random.default_rng([seed, 1])
    chosen = {name: values[random.integers(len(values))] for name, values in SETTINGS[kind].items()}
    if chosen.get("oob_score"):
        chosen["bootstrap"] = True  # leaves rows out
    return model.set_params(**chosen)


def split_outputs(case):
    """Return a case for each output of a model."""
    outputs = case.model._model.outputs
    if len(outputs) < 2:
        return [case]
    y = np.broadcast_to(case.y.reshape(len(case.y), -1), (len(case.y), len(outputs)))
    return [
        case._replace(model=case.model.output(place), y=y[:, place].copy()) for place in range(len(outputs))
    ]


def make_case(kind, seed, is_varied=False):
    """Return a random case; ValueError if the data cannot be fitted."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 61))
    X = make_frame(random, n)
    weight = make_weight(random, n)
    if kind in CLASSIFIERS:
        labels = LABELS[random.integers(len(LABELS))]
        labels = labels[: random.integers(2, len(labels) + 1)]
        codes = random.integers(0, len(labels), n)
        numbers = X.select_dtypes("number")
        if random.random() < 0.7 and numbers.shape[1]:  # something to learn
            rank = np.nan_to_num(numbers.iloc[:, 0].rank(pct=True).to_numpy(), nan=0.5)
            codes = np.minimum((rank * len(labels) * 0.999).astype(int), len(labels) - 1)
        model = choose_classifier(random, kind, seed)
        if kind == "compact" and len(labels) > 2:
            model.membership = "constant"
        y = np.array(labels)[codes]
    else:
        model = choose_regressor(random, kind, seed)
        size = (n, int(random.integers(2, 4))) if kind == "responses" else n
        y = np.abs(random.normal(size=size)) * 10.0 ** random.choice([0, 0, 5, -30, 30]) + 1e-40
    if is_varied:
        vary(model, kind, seed)
    model.fit(X, y, sample_weight=weight)
    return Case(model, add_rows(random, X), TABLES[random.integers(len(TABLES))], X, y, weight)


def add_rows(random, X):
    """Return the rows, rows with gaps and rows of cells that come from other rows, some of them far away."""
    gaps, mixed = X.copy(), X.copy()
    for name in X:
        is_gap = random.random(len(X)) < 0.3
        gaps[name] = X[name].where(~is_gap)
        mixed[name] = X[name].to_numpy()[random.permutation(len(X))]
        if X[name].dtype == np.float64:
            with np.errstate(over="ignore"):
                far = mixed[name] * random.choice([1.0, -1.0, 1e-300, 1e40, 1e200], len(X))
            mixed[name] = np.clip(far, -1.7e308, 1.7e308)
        else:
            mixed[name] = pd.Categorical(mixed[name].to_numpy(), categories=X[name].cat.categories)
    return pd.concat([X, gaps, mixed], ignore_index=True)


KINDS = {
    "sqlite": {"f": "REAL", "b": "INTEGER", "i": "INTEGER", "O": "TEXT"},
    "duckdb": {"f": "DOUBLE", "b": "BOOLEAN", "i": "BIGINT", "O": "VARCHAR"},
    "postgresql": {"f": "DOUBLE PRECISION", "b": "BOOLEAN", "i": "BIGINT", "O": "TEXT"},
}


def fill_table(connection, dialect, case):
    """Create the table of a case; its column KEY numbers the rows."""
    columns = []
    for name, column in case.rows.items():
        dtype = column.dtype if column.dtype == np.float64 else column.cat.categories.dtype
        columns.append(f"{quote(name)} {KINDS[dialect].get(dtype.kind, KINDS[dialect]['O'])}")
    connection.execute(
        f"CREATE TEMPORARY TABLE {quote(case.table)} ({quote(KEY)} INTEGER, {', '.join(columns)})"
    )
    cells = case.rows.astype(object).where(case.rows.notna(), None).to_numpy().tolist()
    mark = "%s" if dialect == "postgresql" else "?"
    line = f"({', '.join([mark] * (1 + len(columns)))})"
    values = [cell for number, row in enumerate(cells) for cell in (number, *row)]
    connection.execute(f"INSERT INTO {quote(case.table)} VALUES {', '.join([line] * len(cells))}", values)


def open_engine(dialect, server=None):
    """Return a connection to an empty database."""
    if dialect == "sqlite":
        return sqlite3.connect(":memory:")
    if dialect == "duckdb":
        return duckdb.connect()
    import psycopg

    return psycopg.connect(server)


def run_sql(case, dialect, server=None):
    """Return the result of an engine; None if the export is refused."""
    try:
        query = lhtree.export_sql(case.model, table=case.table, keys=[KEY], dialect=dialect)
    except ValueError as error:
        if any(part in str(error) for part in ("rename", "too large")):
            return None
        raise
    with closing(open_engine(dialect, server)) as connection:
        fill_table(connection, dialect, case)
        rows = sorted(connection.execute(query).fetchall(), key=lambda row: row[0])
    assert [row[0] for row in rows] == list(range(len(case.rows)))
    if case.model._model.outputs:
        return exports.Result(np.array([row[1:] for row in rows]))
    label = np.array([row[1] for row in rows])
    return exports.Result(label, np.array([row[2:] for row in rows], dtype=float))


def encode(case):
    """Return the numbers that C and ONNX take; indicators are computed."""
    encoding = case.model._model.encoding
    return np.where(encoding.is_indicator, 7.0, encoding.encode(case.rows))


def _numbers(result, label, proba):
    """Return the probabilities (or predicted numbers) of an export and of the model."""
    return (result.label, label) if result.proba is None else (result.proba, proba)


def check(case, folder, dialects=("sqlite", "duckdb"), server=None):
    """Assert that every export of a case gives the predictions of the model, to the bit; of ensembles, SQL."""
    model = case.model
    label = model.predict(case.rows)
    proba = model.predict_proba(case.rows) if model._model.head.labels else np.empty((len(label), 0))
    numbers = encode(case)
    results = {dialect: run_sql(case, dialect, server) for dialect in dialects}
    has_empty = any("" in (categories or ()) for categories in model._model.encoding.categories)
    if not has_empty:  # which ONNX refuses
        results["onnx"] = exports.run_onnx(model, numbers, folder)
    if exports.COMPILER is not None:
        results["c"] = exports.run_c(model, numbers, folder)
    for way, result in results.items():
        if result is None:
            continue
        is_pooled = isinstance(model, (lhtree.LHEnsembleClassifier, lhtree.LHEnsembleRegressor))
        if is_pooled and way not in dialects:  # needs powers, which libraries round
            np.testing.assert_allclose(*_numbers(result, label, proba), rtol=1e-9, err_msg=way)
            continue
        if result.proba is not None:
            np.testing.assert_array_equal(result.proba, proba, err_msg=way)
        found = result.label.astype(bool) if label.dtype == bool else result.label
        np.testing.assert_array_equal(found, label, err_msg=way)
