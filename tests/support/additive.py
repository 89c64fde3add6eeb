"""A table for additive models, and settings for fast fits."""

import numpy as np
import pandas as pd

FAST = {"n_bags": 3, "max_iter": 60, "n_iter_no_change": 10, "random_state": 0}


def make_people(n=300, seed=0, income="income", towns=("north", "North", "o'west")):
    """Return rows with gaps and categories, and scores to predict, in which age and income interact."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": random.integers(18, 80, n).astype(float),
            income: random.lognormal(3.0, 1.0, n).round(2),
            "town": pd.Categorical(random.choice(towns, n)),
        }
    )
    score = (50 - X["age"]) / 12 + (X["town"] == towns[1]) + ((X["age"] > 40) ^ (X[income] > 20))
    X.loc[random.random(n) < 0.1, income] = np.nan
    X.loc[random.random(n) < 0.1, "town"] = None
    return X, score.to_numpy() + random.normal(0, 0.5, n)
