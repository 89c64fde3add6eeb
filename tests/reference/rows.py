"""Encoded rows as features, in plain loops."""

import numpy as np


def expand(numbers, codes, levels):
    """All features: the numbers as they are, and 0 or 1 for every level; NaN for all levels where one is missing."""
    rows = []
    for row in range(len(numbers)):
        number, code, features = iter(numbers[row].tolist()), iter(codes[row].tolist()), []
        for n_levels in levels.tolist():
            if n_levels == 0:
                features.append(next(number))
                continue
            level = next(code)
            features += [np.nan if level < 0 else float(one == level) for one in range(n_levels)]
        rows.append(features)
    return np.array(rows, dtype=np.float64).reshape(len(numbers), int(np.maximum(levels, 1).sum()))
