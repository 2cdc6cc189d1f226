"""WHY believe it: claim verification, auditors, and the papers' theorems as executable checks."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .assertion import assert_private
    from .auditing import audit
    from .billboard import BillboardReport, check_billboard
    from .neighbour_strategies import neighbours
    from .verify import verify

__all__ = ["BillboardReport", "assert_private", "audit", "check_billboard", "neighbours", "verify"]

_HOMES = {
    "BillboardReport": ".billboard",
    "assert_private": ".assertion",
    "audit": ".auditing",
    "check_billboard": ".billboard",
    "neighbours": ".neighbour_strategies",
    "verify": ".verify",
}
"""Where each public name lives: loaded when asked for, since auditors and hypothesis take a while to import."""


def __getattr__(name: str) -> Any:
    """A public name, from its module (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """`verify` names a function here; loading the module of that name must not put the module in its place."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, vars(value)[name] if name == "verify" and isinstance(value, ModuleType) else value)


sys.modules[__name__].__class__ = _Package
