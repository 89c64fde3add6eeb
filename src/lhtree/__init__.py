"""Learning Hyperplane Trees: fast, accurate and fully interpretable oblique trees.

``LHTClassifier`` is one tree per class, ``LHForestClassifier`` a forest of them, ``LHBoostClassifier`` boosted trees,
and ``CompactLHTClassifier`` one small tree made to be read. For each there is a regressor that predicts a number.
scikit-learn is loaded when an estimator is first used, so ``import lhtree`` costs little more than NumPy.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# Public names by module; a module is imported when one of its names is first used.
_MODULES = {
    ".describe.text": ["export_text"],
    ".describe.weights": ["weight_table"],
    ".draw.sheet": ["sheet"],
    ".estimators.additive": ["AdditiveLHTClassifier", "AdditiveLHTRegressor"],
    ".estimators.boost": ["LHBoostClassifier", "LHBoostRegressor"],
    ".estimators.compact": ["CompactLHTClassifier", "CompactLHTRegressor"],
    ".estimators.ensemble": ["LHEnsembleClassifier", "LHEnsembleRegressor"],
    ".estimators.forest": ["LHForestClassifier", "LHForestRegressor"],
    ".estimators.persist": ["load", "save"],
    ".estimators.tree": ["LHTClassifier", "LHTRegressor"],
    ".evaluation": [
        "Comparison",
        "Drift",
        "Evaluation",
        "EventScores",
        "Groups",
        "OutputEvaluations",
        "RegressionEvaluation",
        "compare",
        "evaluate",
        "monitor",
    ],
    ".explain._reasons": ["reasons"],
    ".evaluation.decisions": ["choose_threshold", "coverage_curve"],
    ".export": ["export_c", "export_onnx", "export_sql"],
    ".files": ["ModelFileError", "inspect"],
    ".plot": [
        "EffectsDisplay",
        "plot_block",
        "plot_comparison",
        "plot_coverage",
        "plot_curve",
        "plot_effects",
        "plot_event",
        "plot_groups",
        "plot_importances",
        "plot_membership",
        "plot_path",
        "plot_rounds",
        "plot_tree",
        "plot_weights",
    ],
    ".reports": ["report"],
    ".reports._document": ["document"],
    ".reports._drift": ["drift_report"],
    ".scorer": ["Scorer", "load_scorer"],
    ".selection.tuning": ["Tuning", "tune"],
    ".tables.errors": ["ExtraColumnsWarning"],
    ".versions": ["show_versions"],
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

if TYPE_CHECKING:  # the same names for type checkers and editors
    from .describe.text import export_text as export_text
    from .describe.weights import weight_table as weight_table
    from .draw.sheet import sheet as sheet
    from .estimators.additive import AdditiveLHTClassifier as AdditiveLHTClassifier
    from .estimators.additive import AdditiveLHTRegressor as AdditiveLHTRegressor
    from .estimators.boost import LHBoostClassifier as LHBoostClassifier
    from .estimators.boost import LHBoostRegressor as LHBoostRegressor
    from .estimators.compact import CompactLHTClassifier as CompactLHTClassifier
    from .estimators.compact import CompactLHTRegressor as CompactLHTRegressor
    from .estimators.ensemble import LHEnsembleClassifier as LHEnsembleClassifier
    from .estimators.ensemble import LHEnsembleRegressor as LHEnsembleRegressor
    from .estimators.forest import LHForestClassifier as LHForestClassifier
    from .estimators.forest import LHForestRegressor as LHForestRegressor
    from .estimators.persist import load as load
    from .estimators.persist import save as save
    from .estimators.tree import LHTClassifier as LHTClassifier
    from .estimators.tree import LHTRegressor as LHTRegressor
    from .evaluation import Comparison as Comparison
    from .evaluation import Drift as Drift
    from .evaluation import Evaluation as Evaluation
    from .evaluation import EventScores as EventScores
    from .evaluation import Groups as Groups
    from .evaluation import OutputEvaluations as OutputEvaluations
    from .evaluation import RegressionEvaluation as RegressionEvaluation
    from .evaluation import compare as compare
    from .evaluation import evaluate as evaluate
    from .evaluation import monitor as monitor
    from .evaluation.decisions import choose_threshold as choose_threshold
    from .evaluation.decisions import coverage_curve as coverage_curve
    from .explain._reasons import reasons as reasons
    from .export import export_c as export_c
    from .export import export_onnx as export_onnx
    from .export import export_sql as export_sql
    from .files import ModelFileError as ModelFileError
    from .files import inspect as inspect
    from .plot import EffectsDisplay as EffectsDisplay
    from .plot import plot_block as plot_block
    from .plot import plot_comparison as plot_comparison
    from .plot import plot_coverage as plot_coverage
    from .plot import plot_curve as plot_curve
    from .plot import plot_effects as plot_effects
    from .plot import plot_event as plot_event
    from .plot import plot_groups as plot_groups
    from .plot import plot_importances as plot_importances
    from .plot import plot_membership as plot_membership
    from .plot import plot_path as plot_path
    from .plot import plot_rounds as plot_rounds
    from .plot import plot_tree as plot_tree
    from .plot import plot_weights as plot_weights
    from .reports import report as report
    from .reports._document import document as document
    from .reports._drift import drift_report as drift_report
    from .scorer import Scorer as Scorer
    from .scorer import load_scorer as load_scorer
    from .selection.tuning import Tuning as Tuning
    from .selection.tuning import tune as tune
    from .tables.errors import ExtraColumnsWarning as ExtraColumnsWarning
    from .versions import show_versions as show_versions
else:
    __all__ = sorted(["__version__", *_HOMES])


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lhtree' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return ["__version__", *_HOMES]
