"""Estimators for Dask collections (extra ``dask``): the models of one machine, to the bit."""

from ._estimators import (
    DaskLHBoostClassifier,
    DaskLHBoostRegressor,
    DaskLHForestClassifier,
    DaskLHForestRegressor,
)

__all__ = [
    "DaskLHBoostClassifier",
    "DaskLHBoostRegressor",
    "DaskLHForestClassifier",
    "DaskLHForestRegressor",
]
