"""WHY believe it: claim verification, auditors, and the papers' theorems as executable checks."""

from typing import Any

from .assertion import assert_private
from .auditing import audit
from .billboard import BillboardReport, check_billboard
from .verify import verify

__all__ = ["BillboardReport", "assert_private", "audit", "check_billboard", "neighbours", "verify"]


def __getattr__(name: str) -> Any:
    """`neighbours` needs hypothesis, which only test environments have: it is imported when asked for."""
    if name == "neighbours":
        from .neighbour_strategies import neighbours

        return neighbours
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
