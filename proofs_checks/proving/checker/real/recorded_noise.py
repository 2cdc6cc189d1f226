"""A generator that hands out given noise, so that a function runs on the numbers that a proof is about."""

from __future__ import annotations

import functools
import math
import types
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .....mechanisms import samplers
from ..noise import COMPUTED, KINDS, Draw
from ..refusals import Refused

ROUNDING = 1e-12
"""How far a scale that is computed with floats may be from the one that is written."""
SOURCE = np.random.PCG64(0)
"""Of which nothing is drawn."""


class Recorded(np.random.Generator):
    """A generator that hands out given noise, in order, and insists on the stated kinds and scales."""

    def __init__(self, draws: tuple[tuple[str, str], ...], noise: list[list[float]]) -> None:
        """noise: the numbers of each draw, one but for the entries of records."""
        super().__init__(SOURCE)
        known = [(draw, values) for draw, values in zip(draws, noise, strict=True) if draw[0] not in COMPUTED]
        self._left = [((kind.removesuffix(" vector"), scale), one) for (kind, scale), values in known for one in values]

    def __getattribute__(self, name: str) -> Any:
        if name not in Recorded.__dict__ and name in np.random.Generator.__dict__ and not name.startswith("_"):
            raise Refused(f"the real function asks for rng.{name}, the symbolic run does not")
        return super().__getattribute__(name)

    def _next(self, kind: str, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        if size is None and not np.ndim(scale) and not np.ndim(loc):
            return loc + self._one(kind, scale)
        shape = np.broadcast_shapes(np.shape(loc), np.shape(scale)) if size is None else size
        scales = np.broadcast_to(np.asarray(scale, float), shape)
        cells = [self._one(kind, float(s)) for s in scales.ravel()]
        return np.array(cells, int if kind == "geometric" else float).reshape(scales.shape) + np.asarray(loc)

    def _one(self, kind: str, scale: float) -> Any:
        (expected, parameter), value = self._drawn()
        if expected != kind or not math.isclose(scale, float(Fraction(parameter)), rel_tol=ROUNDING):
            raise Refused(
                f"the real function draws {kind} noise of {scale}, the symbolic run {expected} of {parameter}"
            )
        return int(value) if KINDS[kind].whole else value

    def _drawn(self) -> tuple[Draw, float]:
        """What is drawn next."""
        if not self._left:
            raise Refused("the real function draws more noise than the symbolic run")
        return self._left.pop(0)

    def _share(self) -> float:
        """A number between 0 and 1: of a coin one on its side of the probability."""
        (expected, parameter), value = self._drawn()
        if expected not in ("uniform", "coin"):
            raise Refused(f"the real function draws a uniform number, the symbolic run {expected}")
        chance = float(Fraction(parameter))
        return value if expected == "uniform" else chance / 2 if value else (1 + chance) / 2

    def _several(self, one: Callable[[], Any], size: Any) -> Any:
        return one() if size is None else np.array([one() for _ in range(int(np.prod(size)))]).reshape(size)

    def _side(self, sides: int) -> int:
        (expected, parameter), value = self._drawn()
        if (expected, parameter) != ("die", str(sides)):
            raise Refused(
                f"the real function throws a die with {sides} sides, the symbolic run {expected} of {parameter}"
            )
        return int(value)

    def _scaled(self, kind: str, scale: Any = 1.0, size: Any = None) -> Any:
        return self._next(kind, 0, scale, size)

    def _standard(self, kind: str, size: Any = None) -> Any:
        return self._next(kind, 0, 1, size)

    laplace = functools.partialmethod(_next, "laplace")
    gumbel = functools.partialmethod(_next, "gumbel")
    normal = functools.partialmethod(_next, "gaussian")
    exponential = functools.partialmethod(_scaled, "exponential")
    standard_normal = functools.partialmethod(_standard, "gaussian")
    standard_exponential = functools.partialmethod(_standard, "exponential")

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self._next("geometric", 0, p, size)

    def random(self, size: Any = None) -> Any:  # type: ignore[override]
        return self._several(self._share, size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return low + self.random(size) * (high - low)

    def integers(self, low: Any, high: Any = None, size: Any = None, endpoint: bool = False) -> Any:  # type: ignore[override]
        first, end = (0, low) if high is None else (low, high)
        sides = int(end) + endpoint - int(first)
        return self._several(lambda: first + (self._side(sides) if sides > 1 else 0), size)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:  # type: ignore[override]
        options = list(range(a)) if isinstance(a, int | np.integer) else list(np.array(a))
        if p is None:
            return options[self._side(len(options)) if len(options) > 1 else 0]
        if self._left and self._left[0][0][0] != "gumbel":
            return options[self._known(list(p))]
        noisy = [math.log(share) + self._one("gumbel", 1.0) for share in p]
        return options[int(np.argmax(noisy))]

    def _known(self, shares: list[float]) -> int:
        """By given probabilities, coin by coin."""
        left = sum(shares)
        for place, share in enumerate(shares[:-1]):
            if share and math.isclose(share, left):
                return place
            if share and self._one("coin", share / left):
                return place
            left -= share
        return len(shares) - 1

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return sum(self._one("coin", p) if 0 < p < 1 else int(p) for _ in range(n))

    def permutation(self, x: Any) -> Any:  # type: ignore[override]
        left = list(range(x)) if isinstance(x, int | np.integer) else list(x)
        return np.array([left.pop(self._side(len(left)) if len(left) > 1 else 0) for _ in range(len(left))])

    def discrete_laplace(self, scale: Any, source: Any = None) -> Any:
        return self._one("discrete-laplace", scale)

    def part(self, dataset: Any, epsilon: float) -> Any:
        return self._one("part", epsilon)

    def finished(self) -> bool:
        return not self._left


def with_sampler(function: Any, sampler: Callable[..., Any]) -> Any:
    """The function; where it calls dpcert's exact sampler, which takes no generator, over this one."""
    known = samplers.discrete_laplace
    if not isinstance(function, types.FunctionType) or all(v is not known for v in function.__globals__.values()):
        return function
    scope = {n: sampler if v is known else v for n, v in function.__globals__.items()}
    code, name = function.__code__, function.__name__
    made = types.FunctionType(code, scope, name, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def quietly(function: Callable[..., Any], *args: Any) -> Any:
    """What it returns, without numpy's warnings, such as of means of nothing."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)
