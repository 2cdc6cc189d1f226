"""What symbols do not have and numbers may have, refused: somebody could catch an AttributeError or a TypeError."""

from __future__ import annotations

import sys
from typing import Any

from .entered import BELIEVED
from .following import refuse


class Attributes:
    """numpy asks for some attributes and goes on without; those of Python's own names symbols lack like numbers."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if (name[:2] == "__" == name[-2:]) or sys._getframe(1).f_code.co_filename.startswith(BELIEVED):
            raise AttributeError(name)
        raise refuse(f"the attribute {name} of a symbol")


class Operations(Attributes):
    """Those of numbers, but for what affine forms do."""

    __slots__ = ()

    def _none(self, *_: Any) -> Any:
        raise refuse("an operation that symbols do not have")

    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __rpow__ = __matmul__ = _none
    __rmatmul__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __rand__ = __ror__ = __rxor__ = _none
    __and__ = __or__ = __xor__ = __invert__ = __complex__ = _none
