"""A model behind HTTP: predictions, explanations, a page to try it, and a log of decisions that can be replayed."""

from .app import build_app
from .rows import Finding
from .service import Limits, Refused, Service

__all__ = ["Finding", "Limits", "Refused", "Service", "build_app"]
