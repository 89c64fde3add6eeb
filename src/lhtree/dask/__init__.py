"""Estimators for Dask collections (extra ``dask``): the models of one machine, to the bit."""

from ._boost import DaskLHBoostClassifier, DaskLHBoostRegressor
from ._forest import DaskLHForestClassifier, DaskLHForestRegressor

__all__ = [
    "DaskLHBoostClassifier",
    "DaskLHBoostRegressor",
    "DaskLHForestClassifier",
    "DaskLHForestRegressor",
]
