"""WHAT it costs: certified, two-sided privacy accounting of mechanism descriptions."""

from .bracket import Bracket
from .dominating import dominating
from .epsilon import delta, epsilon
from .rdp import renyi

__all__ = ["Bracket", "delta", "dominating", "epsilon", "renyi"]
