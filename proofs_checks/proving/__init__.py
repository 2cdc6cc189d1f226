"""Proofs that a Python mechanism is private: `prove`, its certificates, and (checker/) what believes them."""

from __future__ import annotations

from .accounted import Accounted, composed, described
from .checker.language.black_boxes import part
from .proof import Counterexample, Proof
from .prove import prove

__all__ = ["Accounted", "Counterexample", "Proof", "composed", "described", "part", "prove"]
