"""Attestations: a model's files, a claim about their privacy, and what supports it, in one signed file."""

from __future__ import annotations

from .attestation import Attestation, attest
from .checking import Check, CheckedAttestation, check_attestation
from .envelope import read_private_key, read_public_key
from .run import AttestRun

__all__ = [
    "AttestRun",
    "Attestation",
    "Check",
    "CheckedAttestation",
    "attest",
    "check_attestation",
    "read_private_key",
    "read_public_key",
]
