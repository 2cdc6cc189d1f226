"""WHY believe it: claim verification, auditors, and the papers' theorems as executable checks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .assertion import assert_private
    from .auditing.audit import audit
    from .auditing.trainer import audit_trainer
    from .billboard.replay import BillboardReport, check_billboard
    from .neighbour_strategies import neighbours, worst_case_pairs
    from .proof_assertion import assert_proved
    from .proving import prove
    from .reproduction.explanation import explain
    from .verification.verify import verify

__all__ = [
    "BillboardReport",
    "assert_private",
    "assert_proved",
    "audit",
    "audit_trainer",
    "check_billboard",
    "explain",
    "neighbours",
    "prove",
    "verify",
    "worst_case_pairs",
]

_HOMES = {
    "BillboardReport": ".billboard.replay",
    "assert_private": ".assertion",
    "assert_proved": ".proof_assertion",
    "audit": ".auditing",
    "audit_trainer": ".auditing.trainer",
    "check_billboard": ".billboard.replay",
    "explain": ".reproduction.explanation",
    "neighbours": ".neighbour_strategies",
    "prove": ".proving",
    "verify": ".verification.verify",
    "worst_case_pairs": ".neighbour_strategies",
}
"""Where each public name lives: loaded when asked for, since auditors and hypothesis take a while to import."""


def __getattr__(name: str) -> Any:
    """A public name, from its module (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
