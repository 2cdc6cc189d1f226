"""Attestations: a model's files, a claim about their privacy, and what supports it, in one signed file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .attestation import Attestation as Attestation
    from .attestation import attest as attest
    from .checking import Check as Check
    from .checking import CheckedAttestation as CheckedAttestation
    from .checking import check_attestation as check_attestation
    from .envelope import read_private_key as read_private_key
    from .envelope import read_public_key as read_public_key
    from .run import AttestRun as AttestRun

_HOMES = {
    "AttestRun": "run",
    "Attestation": "attestation",
    "Check": "checking",
    "CheckedAttestation": "checking",
    "attest": "attestation",
    "check_attestation": "checking",
    "read_private_key": "envelope",
    "read_public_key": "envelope",
}
__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """Loaded when it is first asked for: reading an envelope needs none of the accountants (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
