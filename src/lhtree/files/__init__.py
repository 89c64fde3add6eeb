"""Model files: arrays and a header in one file, without pickle. Needs NumPy only; see docs/model_files.md."""

from .inspection import inspect
from .model_file import ModelFile, naming, read_file, write_file
from .strict_json import ModelFileError

__all__ = ["ModelFile", "ModelFileError", "inspect", "naming", "read_file", "write_file"]
