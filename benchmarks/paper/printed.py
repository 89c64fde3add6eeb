"""Figures and claims of the paper, its test sets, and verdicts."""

from typing import NamedTuple

# The forests of the paper; elsewhere its row "LHT" is one tree per class.
FORESTS = ("banknote", "spambase", "eeg", "magic", "skin")
# Rows and features; the paper prints 3 features for banknote, which has 4.
SIZES = {
    "wine": (178, 13),
    "seeds": (210, 7),
    "wdbc": (569, 30),
    "banknote": (1372, 4),
    "rice": (3810, 7),
    "spambase": (4601, 57),
    "eeg": (14980, 14),
    "magic": (19020, 10),
    "skin": (245057, 3),
}
SMALL = ("wine", "seeds", "wdbc", "banknote")
LARGE = ("rice", "spambase", "eeg", "magic", "skin")
PEERS = ("cart", "rf", "xgboost", "catboost", "lightgbm")


class Printed(NamedTuple):
    """One line of the paper's second or third table: accuracies in %, times in ms."""

    train: float
    test: float
    fit_ms: float
    row_ms: float


# Table 1: accuracy of training and test on wine in %, by beta.
BETAS = {
    0.0: (100.0, 100.0),
    0.25: (100.0, 100.0),
    0.5: (99.29, 100.0),
    0.7: (99.29, 97.30),
    0.8: (99.29, 100.0),
}
# Tables 2 and 3, two lines per data set: CART, RF, XGBoost, then CatBoost, LightGBM, LHT.
_PRINTED = """
wine     | 100 94.40 1.0 0.027    | 100 94.40 47 2.975     | 100 97.22 27 0.364
         | 100 100 786 0.396      | 100 100 73 0.584       | 100 100 1.4 0.011
seeds    | 95.83 88.10 1.1 0.035  | 96.43 88.10 6 0.429    | 98.81 95.24 9.6 0.285
         | 98.81 92.86 301 0.354  | 100 90.48 111 0.441    | 100 97.62 2.3 0.013
wdbc     | 99.78 93.86 5.1 0.052  | 99.56 96.49 70 3.069   | 100 95.61 71 0.285
         | 99.56 97.37 2348 0.544 | 100 97.37 73 0.442     | 100 100 11.4 0.023
banknote | 98.72 96.73 2.1 0.045  | 99.82 98.91 37 1.534   | 100 99.27 21 0.281
         | 100 99.64 462 0.354    | 100 99.64 76 0.515     | 100 100 4.7 0.016
rice     | 94.69 91.47 10 0.047   | 95.08 92.52 68 1.236   | 96.59 92.26 48 0.307
         | 94.26 92.78 669 0.377  | 95.83 92.39 91 0.475   | 97.05 92.26 49 0.016
spambase | 92.91 91.10 16 0.046   | 93.07 91.64 261 5.529  | 99.08 94.90 189 0.309
         | 98.97 94.90 2090 0.602 | 98.26 95.11 117 0.507  | 99.13 95.44 476 0.026
eeg      | 97.08 83.01 86 0.044   | 98.65 90.65 1606 5.633 | 100 94.06 427 0.334
         | 99.76 94.46 7444 0.428 | 99.95 93.49 114 0.519  | 98.07 94.59 649 0.025
magic    | 85.15 83.94 77 0.047   | 85.62 84.91 2012 5.494 | 98.03 88.12 275 0.309
         | 96.69 88.43 6392 0.401 | 92.28 88.43 108 0.541  | 99.53 86.72 813 0.022
skin     | 98.98 98.91 115 0.048  | 99.86 99.83 5973 5.715 | 99.88 99.84 267 0.301
         | 99.88 99.88 19097 0.351 | 99.95 99.89 243 0.490  | 99.92 99.91 843 0.017
"""


def _read_printed() -> dict[str, dict[str, Printed]]:
    cells = [cell.split() for line in _PRINTED.strip().splitlines() for cell in line.split("|")]
    models = (*PEERS, "lht")
    tables = {}
    for i in range(0, len(cells), 8):  # a name and three models, nothing and three models
        rows = cells[i + 1 : i + 4] + cells[i + 5 : i + 8]
        lines = [Printed(*map(float, row)) for row in rows]
        tables[cells[i][0]] = dict(zip(models, lines, strict=True))
    return tables


TABLES = _read_printed()


def n_test(name: str) -> int:
    """Rows of a fifth of a data set, rounded up as scikit-learn does."""
    return -(-SIZES[name][0] // 5)


def right_rows(percent: float, n_rows: int) -> int | None:
    """Return how many of ``n_rows`` give a printed percentage, to its two digits; None if no number does."""
    nearest = round(percent / 100 * n_rows)
    return nearest if abs(100 * nearest / n_rows - percent) < 0.00501 else None


def best_peer(name: str) -> str:
    """Return the peer with the largest printed test accuracy."""
    return max(PEERS, key=lambda peer: TABLES[name][peer].test)


def lead(name: str) -> int:
    """Test rows by which the printed LHT is ahead of the best printed peer, for a test set of a fifth of the rows."""
    table = TABLES[name]
    return round((table["lht"].test - table[best_peer(name)].test) / 100 * n_test(name))


def least_p(n_ahead: int) -> float:
    """Return the smallest two-sided p of a paired sign test for a lead in rows: all won, none lost."""
    return min(1.0, 2.0 * 0.5 ** abs(n_ahead))


HOLDS, LUCKY, FAILS = "holds", "holds on lucky splits", "does not hold"
# A claim about a random split should hold on nearly every split.
HOLDS_FROM = 0.95


def verdict(share: float) -> str:
    """Return the verdict on a claim that holds on this share of the splits."""
    if share >= HOLDS_FROM:
        return HOLDS
    return LUCKY if share > 0 else FAILS


class Claim(NamedTuple):
    """A claim of the paper, the finding, its basis and the verdict."""

    said: str
    found: str
    size: str
    verdict: str

    def row(self) -> list[str]:
        """Return the claim as cells."""
        return [self.said, self.found, self.size, f"**{self.verdict}**"]
