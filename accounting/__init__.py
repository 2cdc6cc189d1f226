"""WHAT it costs: certified, two-sided privacy accounting of mechanism descriptions."""

from .bracket import Bracket
from .dominating import dominating
from .epsilon import delta, epsilon

__all__ = ["Bracket", "delta", "dominating", "epsilon"]
