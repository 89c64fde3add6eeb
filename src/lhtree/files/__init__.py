"""Model files: arrays and a header in one file, without pickle. Needs NumPy only; see docs/model_files.md."""

from .container import BITS64, ModelFileError
from .header import can_store
from .model_file import ModelFile, inspect, naming, pack_bytes, read_file, unpack_bytes, write_file

__all__ = [
    "BITS64",
    "ModelFile",
    "ModelFileError",
    "can_store",
    "inspect",
    "naming",
    "pack_bytes",
    "read_file",
    "unpack_bytes",
    "write_file",
]
