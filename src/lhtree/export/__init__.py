"""Models in the languages of other programs: ONNX, C and SQL. Each predicts what the model predicts."""

from .c import export_c
from .onnx import export_onnx
from .sql import export_sql

__all__ = ["export_c", "export_onnx", "export_sql"]
