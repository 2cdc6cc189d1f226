"""Purely discrete mechanisms on finitely many datasets: every outcome with its exact probability.

The function itself runs, on concrete data, once for each way in which its coins and choices can fall.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from .exact import exact
from .exploration import split
from .proof import rounded_up
from .sealed import sealed
from .unsupported import Raises, Unsupported, unsupported, where

MOST = 200_000
Law = dict[Any, Fraction]


@dataclass(frozen=True)
class Worst:
    """The largest ratio of two neighbours' probabilities of an output (None: one of them is 0), and where it is."""

    ratio: Fraction | None
    dataset: tuple[float, ...]
    neighbour: tuple[float, ...]
    output: Any


class Coins:
    """A generator with finitely many outcomes. script: how the first choices fall; the rest take the first outcome."""

    __class__ = property(lambda self: np.random.Generator)  # what isinstance is told

    def __init__(self, script: list[int]) -> None:
        self.script = script
        self.taken: list[int] = []
        self.chance = Fraction(1)
        self.others: list[list[int]] = []

    def fall(self, chances: Sequence[Fraction]) -> int:
        """One of the outcomes with these probabilities."""
        possible = [i for i, chance in enumerate(chances) if chance > 0]
        position = len(self.taken)
        choice = self.script[position] if position < len(self.script) else possible[0]
        if position >= len(self.script):
            self.others += [[*self.taken, i] for i in possible[1:]]
        self.taken.append(choice)
        self.chance *= chances[choice]
        return choice

    def random(self, size: Any = None) -> Any:
        return _filled(size, lambda: Coin(self))

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Any:
        if (low, high) != (0, 1):
            raise unsupported("rng.uniform other than on [0, 1] in a discrete mechanism")
        return self.random(size)

    def integers(self, low: int, high: int | None = None, size: Any = None, endpoint: bool = False) -> Any:
        first, end = (0, low) if high is None else (low, high)
        count = int(end) - int(first) + endpoint
        return _filled(size, lambda: int(first) + self.fall([Fraction(1, count)] * count))

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        values = list(range(a)) if isinstance(a, int | np.integer) else list(np.asarray(a))  # of one type, as there
        if not replace and size is not None:
            raise unsupported("rng.choice without replacement")
        weights = [Fraction(1)] * len(values) if p is None else [Fraction(exact(w)) for w in p]
        total = sum(weights)
        return _filled(size, lambda: values[self.fall([w / total for w in weights])])

    def binomial(self, n: int, p: Any, size: Any = None) -> Any:
        chance = Fraction(exact(p))
        return _filled(size, lambda: sum(1 - self.fall([chance, 1 - chance]) for _ in range(int(n))))

    def permutation(self, x: Any) -> Any:
        left = list(range(x)) if isinstance(x, int | np.integer) else list(x)
        return np.array([left.pop(self.integers(len(left))) for _ in range(len(left))])

    def __getattr__(self, name: str) -> Any:
        raise unsupported(f"rng.{name} is not supported in a mechanism with finitely many outcomes")


def _filled(size: Any, draw: Callable[[], Any]) -> Any:
    if size is None:
        return draw()
    shape = (size,) if isinstance(size, int | np.integer) else tuple(size)
    cells = [draw() for _ in range(int(np.prod(shape)))]
    array = np.array(cells, object if any(isinstance(cell, Coin) for cell in cells) else None)
    return array.reshape(shape)


class Coin:
    """A uniform number, known to lie in [low, high); comparing it with a number narrows that."""

    __class__ = property(lambda self: float)  # what isinstance is told
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, coins: Coins) -> None:
        self._coins = coins
        self._low, self._high = Fraction(0), Fraction(1)

    def _below(self, bound: Any) -> bool:
        end = Fraction(exact(bound))
        if end <= self._low or end >= self._high:
            return end >= self._high
        share = (end - self._low) / (self._high - self._low)
        if self._coins.fall([share, 1 - share]) == 0:
            self._high = end
            return True
        self._low = end
        return False

    def __lt__(self, bound: Any) -> bool:
        return self._below(bound)

    __le__ = __lt__  # equality has probability 0

    def __gt__(self, bound: Any) -> bool:
        return not self._below(bound)

    __ge__ = __gt__

    def _refused(self, *_: Any) -> Any:
        raise unsupported("a uniform number may only be compared, in a mechanism with finitely many outcomes")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refused
    __eq__ = __ne__ = __bool__ = __float__ = __int__ = __index__ = __repr__ = __neg__ = __pow__ = _refused


def law(mechanism: Callable[..., Any], dataset: Sequence[float]) -> Law:
    """The exact distribution of the output. Raises Unsupported."""
    found: Law = defaultdict(Fraction)
    waiting: list[list[int]] = [[]]
    ways = 0
    with sealed():
        while waiting:
            coins = Coins(waiting.pop())
            found[_outcome(mechanism, dataset, coins)] += coins.chance
            waiting += coins.others
            ways += 1
            if ways + len(waiting) > MOST:
                raise Unsupported(f"more than {MOST} ways in which the function's choices can fall")
    return dict(found)


def _outcome(mechanism: Callable[..., Any], dataset: Sequence[float], coins: Coins) -> Any:
    try:
        key, _ = split(mechanism(np.array(dataset), coins))
    except Exception as problem:
        trace = problem.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = where(trace.tb_frame if trace is not None else None)
        raise Raises(f"{place}the function raises {type(problem).__name__} ({problem})") from problem
    return key


def neighbours(values: Sequence[float], entries: int, relation: str) -> Iterator[tuple[tuple[float, ...], ...]]:
    """All pairs of neighbours with that many entries (add-remove: the larger one), in both orders."""
    for dataset in itertools.product(values, repeat=entries):
        for i in range(entries):
            if relation == "add-remove":
                yield dataset, dataset[:i] + dataset[i + 1 :]
                yield dataset[:i] + dataset[i + 1 :], dataset
            else:
                yield from ((dataset, (*dataset[:i], v, *dataset[i + 1 :])) for v in values if v != dataset[i])


def worst(mechanism: Callable[..., Any], values: Sequence[float], entries: int, relation: str) -> Worst:
    """The largest ratio over all neighbours and outputs. Raises Unsupported."""
    laws: dict[tuple[float, ...], Law] = {}
    largest = Worst(Fraction(1), (), (), None)
    for here, there in neighbours(values, entries, relation):
        for dataset in (here, there):
            if dataset not in laws:
                laws[dataset] = law(mechanism, dataset)
        for output, chance in laws[here].items():
            other = laws[there].get(output)
            if other is None:
                return Worst(None, here, there, output)
            if largest.ratio is not None and chance / other > largest.ratio:
                largest = Worst(chance / other, here, there, output)
    return largest


def excess(
    mechanism: Callable[..., Any], values: Sequence[float], entries: int, relation: str, epsilon: Fraction
) -> tuple[Fraction, tuple[float, ...], tuple[float, ...]]:
    """The least delta of (epsilon, delta)-DP, rounded up, and the neighbours that need it. Raises Unsupported.

    It is the sum of max(0, p - e^epsilon q) over the outputs.
    """
    laws: dict[tuple[float, ...], Law] = {}
    factor = _fraction(
        arb(fmpq(epsilon.numerator, epsilon.denominator)).exp().lower()
    )  # down: the excess is rounded up
    largest: tuple[Fraction, tuple[float, ...], tuple[float, ...]] = Fraction(0), (), ()
    for here, there in neighbours(values, entries, relation):
        for dataset in (here, there):
            if dataset not in laws:
                laws[dataset] = law(mechanism, dataset)
        other = laws[there]
        delta = sum((max(p - factor * other.get(o, 0), Fraction(0)) for o, p in laws[here].items()), Fraction(0))
        if delta > largest[0]:
            largest = delta, here, there
    return largest


def _fraction(ball: Any) -> Fraction:
    """The exact value of a ball without radius."""
    mantissa, exponent = ball.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def logarithm(ratio: Fraction) -> Fraction:
    """log(ratio), rounded up to a float."""
    ctx.prec = 200
    return Fraction(rounded_up(_fraction(arb(fmpq(ratio.numerator, ratio.denominator)).log().upper())))
