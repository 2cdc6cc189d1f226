"""One thread a process, so that the suite runs in parallel over the cores; set before numpy or torch is loaded."""

from __future__ import annotations

import os

for _library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"  # child processes of tests have it too

os.environ["DPCERT_CACHE"] = "off"  # nothing is kept in the cache folder of who runs the suite
