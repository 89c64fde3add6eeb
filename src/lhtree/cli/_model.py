"""Saved models on the command line, and tables in batches for them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io.fields import FileRows
from ..io.streams import Stream
from ..scorer import Scorer
from ..tables.encoding import Encoding
from ._errors import reading
from ._show import note


def load_scorer(path: str) -> Scorer:
    """Load a model for prediction only."""
    from ..scorer import load_scorer

    with reading(path):
        return load_scorer(path)


def load_model(path: str) -> Any:
    """Load a model."""
    from lhtree import load

    with reading(path):
        return load(path)


class Encoder:
    """Finds the columns of a model in a table and encodes them batch by batch."""

    def __init__(self, scorer: Scorer, stream: Stream, unseen: str) -> None:
        self._encoding, self._unseen = scorer._model.encoding, unseen
        self.columns = self._encoding.find_columns(stream.names, stream.name)
        self.n_unseen: Counter[str] = Counter()  # values that count as missing, by column
        # The same model for what ``encode`` gives.
        plain = Encoding.plain(self._encoding.n_features)
        self.scorer = Scorer(replace(scorer._model, encoding=plain), quantile=scorer.quantile)

    def encode(self, rows: FileRows) -> NDArray[np.float64]:
        """Features of some rows, shape (n, m)."""
        return self._encoding.encode(rows.select(self.columns), unseen=self._unseen, n_unseen=self.n_unseen)


def tell_unseen(n_unseen: Counter[str], *, quiet: bool) -> None:
    """A note on the values that are treated as missing."""
    told = ", ".join(f"{n} of column {name!r}" for name, n in n_unseen.items())
    if told:
        note(f"lhtree: categories not seen in training are treated as missing: {told}", quiet=quiet)
