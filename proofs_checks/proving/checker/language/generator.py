"""What the methods of a numpy Generator draw."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ..current_run import tracer
from ..exact_numbers import exact, number
from ..forms import Sign
from ..noise import KINDS
from ..refusals import Raises, Refused
from .arithmetic import binary
from .arrays import array_of, iterated, of_cells, shape_of
from .functions import coin
from .records import has_dimension
from .records import noise as noise_of_records
from .values import Array, Ratio, Uniform, Weight, is_number, of_records, symbolic


def drawn(kind: str, loc: Any, scale: Any, size: Any) -> Any:
    """loc + noise of that kind, of the shape that numpy gives it."""
    if has_dimension(size) or any(of_records(value) for value in (loc, scale, size)):
        return noise_of_records(kind, loc, scale, size)
    locs, scales = (array_of(x) if isinstance(x, list | tuple) else x for x in (loc, scale))
    shape = np.broadcast_shapes(*[x.cells.shape if isinstance(x, Array) else () for x in (locs, scales)])
    if size is not None:
        stated = shape_of(size)
        if np.broadcast_shapes(shape, stated) != stated:
            raise Raises("the function raises ValueError: noise parameters that do not fit its size")
        shape = stated
    if not shape and size is None:
        one = scales.cells[()] if isinstance(scales, Array) else scales
        noise: Any = one_draw(kind, one)
    else:
        held = (
            np.broadcast_to(scales.cells, shape).ravel().tolist()
            if isinstance(scales, Array)
            else [scales] * int(np.prod(shape))
        )
        noise = of_cells([one_draw(kind, each) for each in held], shape)
    return noise if _zero(locs) else binary(operator.add, locs, noise)


def one_draw(kind: str, scale: Any) -> Any:
    """One noise; of a scale that is divided by the number of entries a noise that is."""
    scales = KINDS[kind].smooth and KINDS[kind].priced  # c times such noise is noise of c times the scale
    if isinstance(scale, Ratio) and scales and not scale.form.slopes:
        return Ratio(tracer().noise(kind, number(scale.form.at_zero)))
    return tracer().noise(kind, scale)


def _zero(value: Any) -> bool:
    return isinstance(value, int | float) and value == 0


def several(one: Callable[[], Any], size: Any, kind: str | None = None) -> Any:
    """One draw, or an array of them."""
    if size is None:
        return one()
    shape = shape_of(size)
    return of_cells([one() for _ in range(int(np.prod(shape)))], shape, kind)


def uniforms(rng: Any, size: Any = None) -> Any:
    """rng.random(): numbers that become coins where they are compared with constants."""
    run = tracer()

    def one() -> Uniform:
        run.atom("unused", "1")
        return Uniform(len(run.draws) - 1)

    return several(one, size, "f")


def uniform(rng: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    share = uniforms(rng, size)
    if _zero(low) and high == 1:
        return share
    return binary(operator.add, low, binary(operator.mul, share, binary(operator.sub, high, low)))


def integers(rng: Any, low: Any, high: Any = None, size: Any = None, *, endpoint: bool = False) -> Any:
    """A die, each side of which is as likely as any other."""
    first, end = (0, low) if high is None else (low, high)
    if type(first) is not int or type(end) is not int or type(endpoint) is not bool:
        raise Refused("rng.integers with ends that depend on the data or on noise")
    sides = end + endpoint - first
    if sides < 1:
        raise Raises("the function raises ValueError: low >= high")

    return several(lambda: first + thrown(sides), size, "i")


def thrown(sides: int) -> int:
    """Which side a die shows, on this run."""
    if sides == 1:
        return 0
    value = tracer().atom("die", str(sides))
    ways = [(Sign(value - side, False), Sign(side - value, False)) for side in range(sides)]
    return int(tracer().choose(ways))


def choice(rng: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
    """One of several: each as likely as any other, or by weights exp(form), as Gumbel noise chooses."""
    options = list(range(a)) if type(a) is int else list(iterated(a))
    if options and all(is_number(option) for option in options):
        options = of_cells(options).cells.tolist()
    if type(replace) is not bool or not options or (size is not None and not replace):
        raise Refused("rng.choice without replacement, or of nothing")
    shares = None if p is None else [*iterated(p)]

    def one() -> Any:
        return options[thrown(len(options)) if shares is None else _by_weights(shares, len(options))]

    return several(one, size)


def _by_weights(shares: list[Any], count: int) -> int:
    """p_i = exp(s_i) / sum: the largest of s_i + Gumbel noise has this law."""
    from ..order import largest_place

    if len(shares) == count and not any(isinstance(x, Weight) or symbolic(x) for x in shares):
        return _by_known(shares)
    total = shares[0].total if isinstance(shares[0], Weight) else None
    alike = len(shares) == count and all(isinstance(x, Weight) and x.total is not None for x in shares)
    if not alike or total is None or not all(_same(x.total, total) for x in shares) or len(total) != count:
        raise Refused("rng.choice by weights other than exp(scores) divided by their sum")
    if not all(x.form.same(y.form) for x, y in zip(shares, total, strict=True)):
        raise Refused("rng.choice by weights divided by another sum")
    return largest_place([x.form.plus(tracer().noise("gumbel", 1)) for x in shares])


def _by_known(shares: list[Any]) -> int:
    """By given probabilities: coin by coin, whether it is this one and none of the former."""
    chances = [exact(share) for share in shares]
    left = sum(chances, Fraction(0))
    if min(chances) < 0 or abs(left - 1) > Fraction(1, 10**8):
        raise Raises("the function raises ValueError: probabilities that do not sum to 1")
    for place, chance in enumerate(chances):
        if chance == left or (chance and coin(chance / left)):
            return place
        left -= chance
    raise Refused("probabilities that do not sum to 1")


def binomial(rng: Any, n: Any, p: Any, size: Any = None) -> int:
    if type(n) is not int or size is not None or symbolic(p):
        raise Refused("rng.binomial with these numbers")
    chance = exact(p)
    return sum(coin(chance) if 0 < chance < 1 else int(chance) for _ in range(n))


def permutation(rng: Any, x: Any) -> Array:
    left = list(range(x)) if type(x) is int else list(iterated(x))
    return of_cells([left.pop(thrown(len(left))) for _ in range(len(left))])


def _same(one: tuple[Any, ...] | None, other: tuple[Any, ...]) -> bool:
    return one is not None and len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


TABLE: dict[str, Callable[..., Any]] = {
    "laplace": lambda rng, loc=0.0, scale=1.0, size=None: drawn("laplace", loc, scale, size),
    "gumbel": lambda rng, loc=0.0, scale=1.0, size=None: drawn("gumbel", loc, scale, size),
    "normal": lambda rng, loc=0.0, scale=1.0, size=None: drawn("gaussian", loc, scale, size),
    "standard_normal": lambda rng, size=None: drawn("gaussian", 0, 1, size),
    "exponential": lambda rng, scale=1.0, size=None: drawn("exponential", 0, scale, size),
    "standard_exponential": lambda rng, size=None: drawn("exponential", 0, 1, size),
    "geometric": lambda rng, p, size=None: drawn("geometric", 0, p, size),
    "random": uniforms, "uniform": uniform, "integers": integers, "choice": choice, "binomial": binomial,
    "permutation": permutation,
}  # fmt: skip
