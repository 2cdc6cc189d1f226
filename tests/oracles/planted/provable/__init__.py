"""Mechanisms for the prover: thirty broken ones, each with a correct twin that keeps the claim."""

from __future__ import annotations

from .additive import CASES as _ADDITIVE
from .case import Provable
from .selection import CASES as _SELECTION
from .sparse_vector import CASES as _SPARSE_VECTOR

__all__ = ["Provable", "provable"]


def provable() -> tuple[Provable, ...]:
    """All of them."""
    return (*_ADDITIVE, *_SELECTION, *_SPARSE_VECTOR)
