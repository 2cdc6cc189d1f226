"""The generator that a function sees in the checker's symbolic run: every draw is a variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from .following import refuse
from .forms import Form
from .tables import table
from .tracer import Tracer


class Dice:
    """The generator that the function sees."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def _many(self, kind: str, loc: Any, scale: Any, size: Any) -> Any:
        shape = np.broadcast_shapes(np.shape(np.asarray(loc, object)), np.shape(np.asarray(scale, object)))
        if size is not None:
            stated = (int(size),) if isinstance(size, int | np.integer) else tuple(size)
            if np.broadcast_shapes(shape, stated) != stated:
                raise refuse("noise parameters that do not fit its size")
            shape = stated
        if not shape:
            return self._tracer.noise(kind, scale) + loc
        scales = np.broadcast_to(np.asarray(scale, object), shape)
        drawn = [self._tracer.noise(kind, s) for s in scales.ravel().tolist()]
        return table(drawn).reshape(shape) + (np.asarray(loc, object) if isinstance(loc, list | tuple) else loc)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._many("laplace", loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._many("gumbel", loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._many("gaussian", loc, scale, size)

    def standard_normal(self, size: Any = None) -> Any:
        return self._many("gaussian", 0, 1, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._many("exponential", 0, scale, size)

    def standard_exponential(self, size: Any = None) -> Any:
        return self._many("exponential", 0, 1, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self._many("geometric", 0, p, size)

    def random(self, size: Any = None) -> Any:
        return self._many("uniform", 0, 1, size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return low + self._many("uniform", 0, 1, size) * (high - low)

    def part(self, dataset: Any, epsilon: float) -> Any:
        """The output of a black box that was given the whole dataset."""
        if [Form.lift(cell).name() for cell in dataset] != self._tracer.entries:
            raise refuse("a part that is not given the whole dataset")
        return self._tracer.atom("part", Form.lift(epsilon).concrete())

    def __getattr__(self, name: str) -> Any:
        raise refuse(f"rng.{name} is not supported")
