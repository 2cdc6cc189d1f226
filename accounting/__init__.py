"""WHAT it costs: certified, two-sided privacy accounting of mechanism descriptions."""

from .bracket import Bracket
from .calibrate import Calibration, calibrate
from .dominating import dominating
from .epsilon import delta, epsilon
from .rdp.rdp import renyi
from .tradeoff import TradeOff, tradeoff

__all__ = ["Bracket", "Calibration", "TradeOff", "calibrate", "delta", "dominating", "epsilon", "renyi", "tradeoff"]
