"""The algorithms, one short file each."""

from .clustered import ClusteredPmtl
from .ditto import Ditto
from .dp_fedavg import DpFedAvg
from .dp_fedprox import DpFedProx
from .fixed_omega import FixedOmega
from .local_only import LocalOnly
from .naive_joint import NaiveJoint
from .pmtl import Pmtl, PmtlAsPrinted, PmtlIncrements
from .pp_sgd import PpSgd

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
