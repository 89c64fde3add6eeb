"""Accurate models of tables that explain every prediction: boosted hyperplane trees and their relatives.

``LHTClassifier`` is one tree per class, ``LHForestClassifier`` a forest of them, ``LHBoostClassifier`` boosted trees,
and ``CompactLHTClassifier`` one small tree made to be read. For each there is a regressor that predicts a number.
scikit-learn is loaded when an estimator is first used, so ``import lhtree`` costs little more than NumPy.
"""

import importlib
import re
from pathlib import Path
from typing import Any

__version__ = "0.3.0"

# The module of every public name, as in the stub for type checkers. A module is imported when one of its names is used.
_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOMES = {name: module for module, name in re.findall(r"^from (\S+) import (\w+) as", _STUB, re.MULTILINE)}
__all__ = sorted(["__version__", *_HOMES])


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lhtree' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
