"""Defaults of the parameters of a tree, and values that each refuses."""

import numpy as np

DEFAULTS = {
    "alpha": 0.0,
    "beta": "auto",
    "gamma": 10,
    "direction": "mean_difference",
    "offset": "auto",
    "membership": "marginal",
    "confidence": "auto",
    "normalize": "robust",
    "min_samples_split": "auto",
    "min_samples_leaf": 1,
    "max_depth": None,
    "max_features": "auto",
    "shrinkage": 1e-3,
    "class_weight": None,
    "categorical_features": "from_dtype",
    "unseen": "missing",
    "keep_prototypes": False,
    "n_jobs": None,
    "random_state": None,
}


BAD = {
    "alpha": [-0.1, np.nan, np.inf, "0", None, True, 10**400],
    "beta": [-0.1, 1.0, 2, np.nan, "schedule", "none", None, True],
    "gamma": [0, -1, 0.0, 1.0, 2.5, 1.5, np.nan, np.inf, "auto", None, True, 10**400],
    "direction": ["fischer", "", None, 1, ["fisher"]],
    "offset": ["median", None, 1],
    "membership": ["linear", None, 0],
    "confidence": ["first", 1, True],
    "normalize": ["z", 1, True, False],
    "min_samples_split": [0, -3, 0.0, 1.0, 2.5, "gamma", None, True],
    "min_samples_leaf": [0, -3, 0.0, 1.0, 2.5, "auto", None, True],
    "max_depth": [0, -1, 1.5, "auto", True],
    "max_features": [0, -1, 0.0, 1.5, np.nan, "log2", True],
    "shrinkage": [-1e-9, np.nan, np.inf, "auto", None, True],
    "class_weight": ["auto", 3, ("balanced",), {0: 0.0}, {0: -1.0}, {0: np.nan}, {0: "much"}, {7: 1.0}],
    "categorical_features": ["auto", 3, True, ["a"], [99], [1.5], [None], [True]],
    "unseen": ["skip", None, 1, True],
    "keep_prototypes": ["all", -1, 0, 1, 2.5, None],
    "n_jobs": [0, 1.5, "all", True],
    "random_state": ["seed", -1, 1.5],
}
