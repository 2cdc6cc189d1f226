"""The algorithms, one short file each."""

from .baselines import Ditto, DpFedAvg, DpFedProx, LocalOnly, NaiveJoint, PpSgd
from .fixed_omega import FixedOmega
from .pmtl import ClusteredPmtl, Pmtl, PmtlAsPrinted, PmtlIncrements

__all__ = [
    "ClusteredPmtl",
    "Ditto",
    "DpFedAvg",
    "DpFedProx",
    "FixedOmega",
    "LocalOnly",
    "NaiveJoint",
    "Pmtl",
    "PmtlAsPrinted",
    "PmtlIncrements",
    "PpSgd",
]
