"""Which indicators of missing values are worth a feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import refuse
from .coded import CodedRows, Encoded
from .encoding import Encoding
from .treatments import Numbers, Treatment

_LEAST = 10.0  # of n · correlation², which exceeds it by chance once in 600 columns


def wants_indicators(missing_indicator: Any, direction: Any) -> bool:
    """Whether columns with missing values get an indicator; by default never in the paper's trees."""
    if isinstance(missing_indicator, str) and missing_indicator == "auto":
        return bool(direction != "mean_difference")
    if not isinstance(missing_indicator, (bool, np.bool_)):
        raise refuse("missing_indicator", missing_indicator, "True, False or 'auto'")
    return bool(missing_indicator)


def keep_telling(encoding: Encoding, X: Encoded, responses: NDArray[np.generic]) -> tuple[Encoding, Encoded]:
    """The encoding and the rows without the indicators that tell nothing of any response.

    An indicator of gaps at random is one more feature of noise: it stays where its correlation with a response,
    one of shape (n,) per target, is more than chance.
    """
    numbers = X.numbers if isinstance(X, CodedRows) else X
    kept, is_kept = find_telling(encoding, numbers[:, find_indicators(encoding)], responses)
    return (encoding, X) if is_kept.all() else (kept, drop_numbers(X, is_kept, kept))


def find_indicators(encoding: Encoding) -> NDArray[np.int64]:
    """Places of the indicators among the features that are numbers."""
    return encoding.number_of[encoding.is_indicator]


def find_telling(
    encoding: Encoding, indicators: NDArray[Any], responses: NDArray[np.generic]
) -> tuple[Encoding, NDArray[np.bool_]]:
    """The encoding without indicators that tell nothing, and which features that are numbers it keeps."""
    is_kept, treatments = np.ones(int((encoding.levels == 0).sum()), dtype=bool), dict[int, Treatment]()
    for feature, values in zip(np.flatnonzero(encoding.is_indicator), indicators.T, strict=True):
        is_missing = values.astype(np.float64)
        if all(_measure(is_missing, response.astype(np.float64)) <= _LEAST for response in responses):
            is_kept[encoding.number_of[feature]] = False
            treatments[int(encoding.column[feature])] = Numbers()
    return encoding.replace(treatments), is_kept


def drop_numbers(X: Encoded, is_kept: NDArray[np.bool_], encoding: Encoding) -> Encoded:
    """The rows without some of the features that are numbers."""
    if isinstance(X, CodedRows):
        return CodedRows(X.numbers[:, is_kept], X.codes, encoding.levels)
    return X[:, is_kept]


def _measure(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """N · correlation²; 0 where one does not vary."""
    b = np.ldexp(b, -int(np.frexp(np.abs(b).max(initial=0.0))[1]))  # exact; squares of 1e300 would overflow
    a, b = a - a.mean(), b - b.mean()
    scale = float((a * a).sum() * (b * b).sum())
    return len(a) * float((a * b).sum()) ** 2 / scale if scale > 0.0 else 0.0
