"""WHY believe it: claim verification, auditors, and the papers' theorems as executable checks."""

from .billboard import BillboardReport, check_billboard

__all__ = ["BillboardReport", "check_billboard"]
