"""Flower: a cohort of a fixed size that is accounted as if every client had flipped a coin."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .finding import Slip
from .sampling_scheme import ACCOUNTING
from .script import Script, keyword

FIXED = Slip(
    "Flower samples a fixed number of clients, and this accounts for Poisson sampling",
    "account for a cohort of a fixed size (SampledWithoutReplacementDpEvent; dpcert epsilon --sampling fixed-size)",
)


def fixed_cohort_as_poisson(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """A Poisson accountant in a script of Flower's whose strategy samples clients."""
    if not any(origin.split(".")[0] == "flwr" for origin in script.imports.values()):
        return
    sampled = any(
        keyword(call, name) is not None for call in script.calls for name in ("fraction_fit", "num_sampled_clients")
    )
    for call in script.calls:
        rate = keyword(call, "sample_rate") or keyword(call, "q")
        stepped = script.tail(call) in ("step", "compute_rdp") and rate is not None
        if sampled and (script.tail(call) in ACCOUNTING or stepped):
            yield call, FIXED
