"""Hypothesis profiles and small data sets. `LHTREE_PROFILE=thorough` tries more, and new cases every time."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from uci import server, small  # noqa: F401

slow_is_fine = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "default", derandomize=True, deadline=None, max_examples=100, suppress_health_check=slow_is_fine
)
settings.register_profile("thorough", deadline=None, max_examples=1000, suppress_health_check=slow_is_fine)
settings.load_profile(os.environ.get("LHTREE_PROFILE", "default"))


def make_clouds(n_rows, n_features, n_classes, seed=0):
    """Overlapping clouds: X (n, m) float64, y (n,) of 0 to K - 1, each present."""
    generator = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    centres = generator.normal(size=(n_classes, n_features))
    return centres[y] + generator.normal(size=(n_rows, n_features)), y


@pytest.fixture
def two():
    """Two classes, 5 features."""
    return make_clouds(200, 5, 2)


@pytest.fixture
def three():
    """Three classes, 5 features."""
    return make_clouds(240, 5, 3)
