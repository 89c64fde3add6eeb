"""Learning Hyperplane Trees: fast, accurate and fully interpretable oblique trees.

``LHTClassifier`` is one tree per class, ``LHForestClassifier`` a forest of them, ``LHBoostClassifier`` boosted trees,
and ``CompactLHTClassifier`` one small tree made to be read. For each there is a regressor that predicts a number.
scikit-learn is loaded when an estimator is first used, so ``import lhtree`` costs little more than NumPy.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .describe.graphviz import export_graphviz
    from .describe.text import export_text
    from .describe.weights import weight_table
    from .draw.sheet import sheet
    from .estimators.boost import LHBoostClassifier
    from .estimators.boost_regressor import LHBoostRegressor
    from .estimators.compact import CompactLHTClassifier
    from .estimators.compact_regressor import CompactLHTRegressor
    from .estimators.forest import LHForestClassifier
    from .estimators.forest_regressor import LHForestRegressor
    from .estimators.persist import load, save
    from .estimators.tree import LHTClassifier
    from .estimators.tree_regressor import LHTRegressor
    from .evaluation import Evaluation, RegressionEvaluation, evaluate
    from .evaluation.abstain import coverage_curve
    from .evaluation.threshold import choose_threshold
    from .export import export_c, export_onnx, export_sql
    from .files import ModelFileError, inspect
    from .plot import (
        EffectsDisplay,
        plot_block,
        plot_coverage,
        plot_decision_regions,
        plot_effects,
        plot_importances,
        plot_membership,
        plot_path,
        plot_rounds,
        plot_sparsity,
        plot_tree,
        plot_weights,
    )
    from .reports import report
    from .scorer import Scorer, load_scorer
    from .selection.sparsity import sparsity_curve
    from .selection.tuning import Tuning, tune
    from .versions import show_versions

__version__ = "0.2.0"
__all__ = [
    "CompactLHTClassifier",
    "CompactLHTRegressor",
    "EffectsDisplay",
    "Evaluation",
    "LHBoostClassifier",
    "LHBoostRegressor",
    "LHForestClassifier",
    "LHForestRegressor",
    "LHTClassifier",
    "LHTRegressor",
    "ModelFileError",
    "RegressionEvaluation",
    "Scorer",
    "Tuning",
    "__version__",
    "choose_threshold",
    "coverage_curve",
    "evaluate",
    "export_c",
    "export_graphviz",
    "export_onnx",
    "export_sql",
    "export_text",
    "inspect",
    "load",
    "load_scorer",
    "plot_block",
    "plot_coverage",
    "plot_decision_regions",
    "plot_effects",
    "plot_importances",
    "plot_membership",
    "plot_path",
    "plot_rounds",
    "plot_sparsity",
    "plot_tree",
    "plot_weights",
    "report",
    "save",
    "sheet",
    "show_versions",
    "sparsity_curve",
    "tune",
    "weight_table",
]

_HOMES = {
    "EffectsDisplay": ".plot",
    "CompactLHTClassifier": ".estimators.compact",
    "CompactLHTRegressor": ".estimators.compact_regressor",
    "Evaluation": ".evaluation",
    "LHBoostClassifier": ".estimators.boost",
    "LHBoostRegressor": ".estimators.boost_regressor",
    "LHForestClassifier": ".estimators.forest",
    "LHForestRegressor": ".estimators.forest_regressor",
    "LHTClassifier": ".estimators.tree",
    "LHTRegressor": ".estimators.tree_regressor",
    "ModelFileError": ".files",
    "RegressionEvaluation": ".evaluation",
    "Scorer": ".scorer",
    "Tuning": ".selection.tuning",
    "choose_threshold": ".evaluation.threshold",
    "coverage_curve": ".evaluation.abstain",
    "evaluate": ".evaluation",
    "export_c": ".export",
    "export_graphviz": ".describe.graphviz",
    "export_onnx": ".export",
    "export_sql": ".export",
    "export_text": ".describe.text",
    "inspect": ".files",
    "load": ".estimators.persist",
    "load_scorer": ".scorer",
    "plot_block": ".plot",
    "plot_coverage": ".plot",
    "plot_decision_regions": ".plot",
    "plot_effects": ".plot",
    "plot_importances": ".plot",
    "plot_membership": ".plot",
    "plot_path": ".plot",
    "plot_rounds": ".plot",
    "plot_sparsity": ".plot",
    "plot_tree": ".plot",
    "plot_weights": ".plot",
    "report": ".reports",
    "save": ".estimators.persist",
    "show_versions": ".versions",
    "sheet": ".draw.sheet",
    "sparsity_curve": ".selection.sparsity",
    "tune": ".selection.tuning",
    "weight_table": ".describe.weights",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lhtree' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
