"""Auditors: statistics that try to refute a privacy claim by running the mechanism (docs/auditing.md)."""

from .audit import audit, audit_samples
from .calling import MechanismError, Raised, observing_failures
from .curve import ClaimedCurve, approximate_dp, from_profile, gdp, of_mechanism, points, rdp, renyi_at, zcdp
from .eprocess import EProcess
from .result import AuditResult, LowerBound, Test
from .trials import Samples, from_arrays
from .witness import AuditWitness

__all__ = [
    "AuditResult",
    "AuditWitness",
    "ClaimedCurve",
    "EProcess",
    "LowerBound",
    "MechanismError",
    "Raised",
    "Samples",
    "Test",
    "approximate_dp",
    "audit",
    "audit_samples",
    "from_arrays",
    "from_profile",
    "gdp",
    "observing_failures",
    "of_mechanism",
    "points",
    "rdp",
    "renyi_at",
    "zcdp",
]
