"""One thread a process, so that the suite runs in parallel over the cores; set before numpy or torch is loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

for _library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"  # child processes of tests have it too

os.environ.pop("COLUMNS", None)  # pytest-xdist hands its workers a width; tests that want one set it

os.environ["DPCERT_CACHE"] = "off"  # nothing is kept in the cache folder of who runs the suite


@pytest.fixture(autouse=True)
def _pairs_of_its_own() -> Iterator[None]:
    """What a planted fault made of a run's pairs is kept for no other test, nor what was right for a planted fault."""
    _forget_pairs()
    yield
    _forget_pairs()


def _forget_pairs() -> None:
    question = sys.modules.get("dpcert.accounting.question")
    if question is not None:
        question._pairs.cache_clear()
