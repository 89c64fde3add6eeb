"""Benchmarks of lhtree and its peers: ``python -m benchmarks --help``."""

import os

# One thread each, set before any library reads it: peers that use OpenMP would otherwise take all cores.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
