"""Where symbols are no numbers: attributes and operations that they lack are unsupported, and raise no exception that
somebody may drop.
"""

from __future__ import annotations

import sys
from typing import Any

from .unsupported import NUMPY, unsupported


class NoOther:
    """No attributes, but that numpy may ask for some in vain, as Python may for its own."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or sys._getframe(1).f_code.co_filename.startswith(NUMPY):
            raise AttributeError(name)
        raise unsupported(f"the attribute {name} of a value that depends on the data or on noise")


class NoNumber(NoOther):
    """Nor the operations of numbers that are not linear."""

    __slots__ = ()

    def _unknown(self, *_: Any) -> Any:
        raise unsupported("an operation (such as //, % or a bit's) on a value that depends on the data or on noise")

    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __rpow__ = __complex__ = _unknown
    __matmul__ = __rmatmul__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = _unknown
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _unknown
