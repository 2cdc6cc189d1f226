"""WHAT it costs: certified, two-sided privacy accounting of mechanism descriptions."""

from .bracket import Bracket
from .calibration.accuracy import Accuracy, accuracy, noise_within
from .calibration.calibrate import calibrate, calibrations
from .calibration.calibrate_risk import RiskCalibration, calibrate_risk
from .calibration.calibrate_to import TargetCalibration, calibrate_to
from .calibration.search import Calibration
from .currencies.convert import Conversion, convert
from .currencies.gaussian_dp import mu
from .currencies.gaussian_fit import GaussianFit, gaussian_fit
from .currencies.risk import Risk, risk
from .currencies.tradeoff import TradeOff, tradeoff
from .currencies.zcdp import rho
from .epsilon import delta, deltas, epsilon, epsilons
from .pricing.dominating import dominating
from .renyi.renyi import renyi

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
