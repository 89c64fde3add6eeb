"""Generated data like Adult: numbers and categories, some missing, and a class that depends on both."""

import numpy as np
import pandas as pd

WORK = ["private", "state", "self-employed", "federal", "without pay"]
SCHOOL = ["school", "college", "bachelor", "master", "doctor"]
COUNTRIES = [f"country {i:02d}" for i in range(40)]


def make_adult(n_rows, seed=0):
    """A frame with numbers, text, an ordered categorical, booleans and gaps; and the classes "<=50K" and ">50K"."""
    generator = np.random.default_rng(seed)
    school = generator.choice(5, size=n_rows, p=[0.35, 0.3, 0.2, 0.1, 0.05])
    work = generator.choice(5, size=n_rows, p=[0.7, 0.13, 0.1, 0.06, 0.01])
    shares = 0.85 ** np.arange(40)
    country = generator.choice(40, size=n_rows, p=shares / shares.sum())
    age = np.round(np.clip(generator.normal(39, 13, n_rows), 17, 90))
    hours = np.round(np.clip(generator.normal(40, 12, n_rows), 1, 99))
    gain = np.where(generator.random(n_rows) < 0.08, np.round(generator.lognormal(8, 1, n_rows)), 0.0)
    married = generator.random(n_rows) < 0.5
    score = (
        0.05 * (age - 39)
        + 0.04 * (hours - 40)
        + 0.8 * (school - 1.1)
        + np.array([0.0, 0.2, 0.7, 0.9, -3.0])[work]
        + np.where(country % 7 == 3, -1.0, 0.1)
        + 1.6 * married
        + (gain > 4000) * 3.0
        - 2.4
    )
    y = np.where(score + generator.logistic(size=n_rows) > 0.0, ">50K", "<=50K")
    X = pd.DataFrame(
        {
            "age": age,
            "work": pd.Series(np.array(WORK, dtype=object)[work]),
            "school": pd.Categorical.from_codes(school, SCHOOL, ordered=True),
            "gain": gain,
            "hours": pd.array(hours.astype(int), dtype="Int64"),
            "married": married,
            "country": pd.Series(np.array(COUNTRIES, dtype=object)[country]),
        }
    )
    for name, share in (("age", 0.02), ("work", 0.06), ("school", 0.03), ("hours", 0.05), ("country", 0.02)):
        X.loc[generator.random(n_rows) < share, name] = None
    return X, y
