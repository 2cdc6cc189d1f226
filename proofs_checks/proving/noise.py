"""The symbolic generator: numpy's Generator as far as proofs understand it. Every draw is a noise variable."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from . import state
from .arrays import Symbols
from .exact import Number, exact
from .linear import Condition, Linear
from .unsupported import unsupported

WHOLE = ("geometric", "discrete-laplace")

Draw = tuple[str, Number]
"""A kind of noise and its scale; of geometric noise the success probability."""


def _positive(value: Any, what: str) -> Number:
    number = Linear.of(value).number()
    if number <= 0:
        raise unsupported(f"noise whose {what} is not positive")
    return number


def weight(kind: str, scale: Number) -> Fraction:
    """The cost of a shift by one, rounded up: of Laplace-like noise 1 / scale, of geometric noise -log(1 - p)."""
    if kind in ("uniform", "part"):
        return Fraction(0)
    if kind == "geometric":
        return Fraction(-math.log1p(-float(scale))) * (1 + Fraction(1, 10**12))  # log1p errs by an ulp or two
    return Fraction(1) / Fraction(scale)


class SymbolicGenerator:
    """What a mechanism gets as `rng`."""

    def _draw(self, kind: str, scale: Number, size: Any) -> Any:
        if size is None:
            return state.current().draw(kind, scale)
        shape = (size,) if isinstance(size, int | np.integer) else tuple(size)
        cells = [state.current().draw(kind, scale) for _ in range(int(np.prod(shape)))]
        return Symbols.of(cells).reshape(shape)

    def _each(self, kind: str, scale: Any, size: Any, loc: Any = 0) -> Any:
        """One draw a scale, where scales or locations come as arrays."""
        if isinstance(scale, np.ndarray | list | tuple):
            scales = np.asarray(scale, object)
            if size is not None and tuple(np.atleast_1d(size)) != scales.shape:
                raise unsupported("an array of scales with another size")
            noise: Any = Symbols.of([self._draw(kind, _positive(s, "scale"), None) for s in scales.ravel()])
            noise = noise.reshape(scales.shape)
        else:
            if size is None and isinstance(loc, np.ndarray | list | tuple):
                size = np.shape(np.asarray(loc, object))
            noise = self._draw(kind, _positive(scale, "scale"), size)
        if isinstance(loc, list | tuple):
            loc = np.asarray(loc, object)
        return noise + loc

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._each("laplace", scale, size, loc)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._each("gumbel", scale, size, loc)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._each("exponential", scale, size)

    def standard_exponential(self, size: Any = None) -> Any:
        return self._each("exponential", 1, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._each("gaussian", scale, size, loc)

    def standard_normal(self, size: Any = None) -> Any:
        return self._each("gaussian", 1, size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return low + self._draw("uniform", 1, size) * (high - low)

    def random(self, size: Any = None) -> Any:
        return self._draw("uniform", 1, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        chance = exact(Linear.of(p).number())
        if not 0 < chance < 1:
            raise unsupported("geometric noise whose probability is not between 0 and 1")
        return self._draw("geometric", chance, size)

    def part(self, dataset: Any, epsilon: float) -> Any:
        """What a black box puts out: anything, at the price of epsilon."""
        run = state.current()
        whole = [cell.text() for cell in run.dataset]
        if [Linear.of(cell).text() for cell in dataset] != whole:
            raise unsupported("a part may only be called with the mechanism's whole dataset")
        return run.draw("part", exact(epsilon))

    def __getattr__(self, name: str) -> Any:
        raise unsupported(f"rng.{name} is not supported")


def discrete_laplace(scale: Any, source: Any = None) -> Any:
    """Stands in for dpcert.mechanisms.samplers.discrete_laplace during a symbolic run."""
    return state.current().draw("discrete-laplace", _positive(scale, "scale"))


def support(kind: str, value: Linear) -> list[Condition]:
    """The conditions that the noise itself meets."""
    if kind in ("exponential", "uniform"):
        least: list[Condition] = [Condition(value, False)]
        return [*least, Condition(1 - value, False)] if kind == "uniform" else least
    return [Condition(value - 1, False)] if kind == "geometric" else []
