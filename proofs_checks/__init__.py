"""WHY believe it: claim verification, auditors, and the papers' theorems as executable checks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .assertion import assert_private as assert_private
    from .auditing.audit import audit as audit
    from .auditing.trainer import audit_trainer as audit_trainer
    from .billboard.replay import BillboardReport as BillboardReport
    from .billboard.replay import check_billboard as check_billboard
    from .neighbour_strategies import neighbours as neighbours
    from .neighbour_strategies import worst_case_pairs as worst_case_pairs
    from .proof_assertion import assert_proved as assert_proved
    from .proving import prove as prove
    from .reproduction.explanation import explain as explain
    from .verification.verify import verify as verify

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

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """A public name, from its module (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
