"""Export of models to ONNX, C and SQL with the same predictions."""

from .c import export_c
from .onnx import export_onnx
from .sql import export_sql

__all__ = ["export_c", "export_onnx", "export_sql"]
