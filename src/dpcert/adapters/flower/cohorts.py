"""Cohorts in which every node takes part by a coin of its own."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from ...mechanisms.validate import rate

_COIN_BITS = 53


def poisson_cohort(node_ids: Iterable[int], sampling_rate: float) -> list[int]:
    """A cohort for which each node flips its own coin, from the operating system's secure generator.

    The coin's probability is sampling_rate rounded down to 53 bits, so never above it. May be empty.
    """
    heads = int(rate("sampling_rate", sampling_rate) * 2**_COIN_BITS)
    return [node for node in node_ids if secrets.randbits(_COIN_BITS) < heads]
