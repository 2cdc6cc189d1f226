"""WHAT it costs: certified, two-sided privacy accounting of mechanism descriptions."""

from .accuracy import Accuracy, accuracy, noise_within
from .bracket import Bracket
from .calibrate import Calibration, calibrate, calibrations
from .calibrate_risk import RiskCalibration, calibrate_risk
from .calibrate_to import TargetCalibration, calibrate_to
from .currencies.convert import Conversion, convert
from .currencies.gaussian_dp import mu
from .currencies.gaussian_fit import GaussianFit, gaussian_fit
from .currencies.zcdp import rho
from .dominating import dominating
from .epsilon import delta, deltas, epsilon, epsilons
from .rdp.rdp import renyi
from .risk import Risk, risk
from .tradeoff import TradeOff, tradeoff

__all__ = [
    "Accuracy",
    "Bracket",
    "Calibration",
    "Conversion",
    "GaussianFit",
    "Risk",
    "RiskCalibration",
    "TargetCalibration",
    "TradeOff",
    "accuracy",
    "calibrate",
    "calibrate_risk",
    "calibrate_to",
    "calibrations",
    "convert",
    "delta",
    "deltas",
    "dominating",
    "epsilon",
    "epsilons",
    "gaussian_fit",
    "mu",
    "noise_within",
    "renyi",
    "rho",
    "risk",
    "tradeoff",
]
