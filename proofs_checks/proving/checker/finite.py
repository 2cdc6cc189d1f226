"""The checker's own enumeration of a mechanism with finitely many outcomes: P <= e^epsilon Q for every output.

Unlike the search it goes breadth first, with each run's choices forced from outside, and compares in ball arithmetic.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from .check import Checked
from .following import Refused
from .names import taking
from .rational import rational
from .reachable import Reachable
from .runs import parts

FORMAT = "dpcert enumeration 1"
LIMIT = 400_000
RUNS, ERROR = 100, 1e-9
"""Real runs on every dataset, and the chance that they refuse a law that is right."""


class _Undecided(BaseException):
    """A run that needs one more choice than it was given."""

    def __init__(self, chances: list[Fraction]) -> None:
        super().__init__()
        self.chances = chances


class Forced:
    """A generator whose choices are given; asks for more by ending the run."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """For isinstance: what the function has in earnest."""
        return np.random.Generator

    def __init__(self, choices: Sequence[int]) -> None:
        self._left = list(choices)
        self.ended = False
        """Whether the run had to end, whatever the function makes of that."""

    def pick(self, chances: list[Fraction]) -> int:
        if not self._left:
            self.ended = True
            raise _Undecided(chances)
        return self._left.pop(0)

    def _shaped(self, size: Any, one: Callable[[], Any]) -> Any:
        if size is None:
            return one()
        count = int(np.prod(size))
        made = np.empty(count, object)
        for i in range(count):
            made[i] = one()
        return made.reshape(size)

    def random(self, size: Any = None) -> Any:
        return self._shaped(size, lambda: Uniform(self))

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Any:
        if low != 0 or high != 1:
            raise Refused("a uniform number on another interval")
        return self.random(size)

    def integers(self, low: int, high: int | None = None, size: Any = None, endpoint: bool = False) -> Any:
        values = list(range(low)) if high is None else list(range(low, high))
        if endpoint:
            values.append(values[-1] + 1 if values else int(low))
        return self._shaped(size, lambda: values[self.pick([Fraction(1, len(values))] * len(values))])

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        if not replace and size is not None:
            raise Refused("a choice without replacement")
        values = list(range(a)) if isinstance(a, int) else list(np.array(a))  # numpy makes one array of them, too
        weights = [rational(w) for w in p] if p is not None else [Fraction(1)] * len(values)
        return self._shaped(size, lambda: values[self.pick([w / sum(weights) for w in weights])])

    def binomial(self, n: int, p: Any, size: Any = None) -> Any:
        chance = rational(p)
        return self._shaped(size, lambda: sum(self.pick([1 - chance, chance]) for _ in range(n)))

    def permutation(self, x: Any) -> Any:
        pool, out = (list(range(x)) if isinstance(x, int) else list(x)), []
        while pool:
            out.append(pool.pop(self.pick([Fraction(1, len(pool))] * len(pool))))
        return np.array(out)


class Uniform:
    """A uniform number that has only been compared so far."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """For isinstance: a number."""
        return float

    def __init__(self, source: Forced) -> None:
        self._source = source
        self._between = [Fraction(0), Fraction(1)]

    def __lt__(self, other: Any) -> bool:
        cut, (low, high) = rational(other), self._between
        if not low < cut < high:
            return cut >= high
        above = self._source.pick([(cut - low) / (high - low), (high - cut) / (high - low)])
        self._between[0 if above else 1] = cut
        return not above

    __le__ = __lt__

    def __gt__(self, other: Any) -> bool:
        return not self < other

    __ge__ = __gt__

    def _no(self, *_: Any) -> Any:
        self._source.ended = True
        raise Refused("a uniform number may only be compared")

    __eq__ = __bool__ = __float__ = __hash__ = __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = __repr__ = _no


def distribution(function: Callable[..., Any], dataset: Sequence[float]) -> dict[str, Fraction]:
    """Every output's exact probability, as JSON text. Raises Refused."""
    found: dict[str, Fraction] = {}
    queue: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    for steps in itertools.count():
        if not queue:
            break
        if steps > LIMIT:
            raise Refused("too many outcomes")
        choices, chance = queue.pop()
        source = Forced(choices)
        try:
            output = function(np.array(dataset), source)
        except _Undecided as more:
            queue += [((*choices, i), chance * c) for i, c in enumerate(more.chances) if c > 0]
            continue
        except Exception as problem:
            raise Refused(f"the function raises {type(problem).__name__}: {problem}") from problem
        if source.ended:
            raise Refused("the function catches what ends its run")
        key = json.dumps(parts(output)[0])
        found[key] = found.get(key, Fraction(0)) + chance
    if sum(found.values()) != 1:
        raise Refused("probabilities that do not sum to 1")
    return found


def in_earnest(function: Callable[..., Any], dataset: Sequence[float], law: Mapping[str, Fraction]) -> None:
    """Raises Refused where runs with numpy's own generator do not look like the law: a function may tell coins from it.

    Of a law that is right it is refused with probability ERROR at most for each output (Hoeffding).
    """
    seen = dict.fromkeys(law, 0)
    generator = np.random.default_rng(RUNS)
    for _ in range(RUNS):
        try:
            key = json.dumps(parts(function(np.array(dataset), generator))[0])
        except Exception as problem:
            raise Refused(f"with a real generator the function raises {type(problem).__name__}: {problem}") from problem
        if key not in seen:
            raise Refused(f"with a real generator the function puts out {key}, which its coins never give")
        seen[key] += 1
    apart = math.sqrt(math.log(2 / ERROR) / (2 * RUNS))
    for output, chance in law.items():
        if abs(seen[output] / RUNS - chance) > apart:
            raise Refused(f"with a real generator the output {output} is not as likely as with coins")


def check_enumeration(document: Mapping[str, Any], function: Callable[..., Any]) -> Checked:
    """Whether the function is epsilon-DP for all datasets of the stated values and sizes."""
    try:
        if document.get("format") != FORMAT or document["relation"] not in ("replace-one", "add-remove"):
            raise Refused(f"not a certificate of the format {FORMAT!r}")
        epsilon, delta = Fraction(document["epsilon"]), Fraction(document.get("delta", 0))
        values = [float(value) for value in document["values"]]
        if epsilon < 0 or not 0 <= delta < 1 or not document["sizes"] or len(set(values)) < 2:
            raise Refused("fields that make no claim")
        sizes = tuple(int(n) for n in document["sizes"])
        if sorted(sizes) != list(range(1, max(sizes) + 1)):
            raise Refused("numbers of entries that are not all from 1 on")
        around = Reachable(function)
        function = taking(function, document.get("container", "array"))
        kinds: list[list[Any]] = [values]
        if all(value.is_integer() for value in values):  # numpy's arrays of integers keep no fractions
            kinds.append([int(value) for value in values])
        compared = sum(
            _check_size(function, kind, n, document["relation"], epsilon, delta) for n in sizes for kind in kinds
        )
        around.unchanged()
    except Refused as problem:
        return Checked(False, str(problem))
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as problem:
        return Checked(False, f"the certificate cannot be read ({type(problem).__name__}: {problem})")
    return Checked(True, f"{compared} pairs of probabilities compared in exact arithmetic", compared, sizes=sizes)


def _check_size(
    function: Callable[..., Any], values: list[float], entries: int, relation: str, epsilon: Fraction, delta: Fraction
) -> int:
    sizes = (entries, entries - 1) if relation == "add-remove" else (entries,)
    laws = {d: distribution(function, d) for n in sizes for d in itertools.product(values, repeat=n)}
    for dataset, law in laws.items():
        in_earnest(function, dataset, law)
    compared = 0
    for here, there in itertools.permutations(laws, 2):
        if not _are_neighbours(here, there, relation):
            continue
        if delta:
            if not _small(laws[here], laws[there], epsilon, delta):
                raise Refused(f"{list(here)} and {list(there)} need a larger delta")
            compared += len(laws[here])
            continue
        for output, chance in laws[here].items():
            if not _at_most(chance, laws[there].get(output, Fraction(0)), epsilon):
                raise Refused(f"the output {output} is too likely on {list(here)}, compared with {list(there)}")
            compared += 1
    return compared


def _are_neighbours(here: tuple[float, ...], there: tuple[float, ...], relation: str) -> bool:
    if relation == "replace-one":
        return len(here) == len(there) and sum(a != b for a, b in zip(here, there, strict=True)) == 1
    more, fewer = (here, there) if len(here) > len(there) else (there, here)
    return len(more) == len(fewer) + 1 and any(more[:i] + more[i + 1 :] == fewer for i in range(len(more)))


def _at_most(chance: Fraction, other: Fraction, epsilon: Fraction) -> bool:
    """chance <= e^epsilon * other, for certain."""
    if chance <= other:
        return True
    ctx.prec = 200
    bound = arb(fmpq(epsilon.numerator, epsilon.denominator)).exp() * arb(fmpq(other.numerator, other.denominator))
    return bool(bound >= arb(fmpq(chance.numerator, chance.denominator)))


def _small(law: Mapping[str, Fraction], other: Mapping[str, Fraction], epsilon: Fraction, delta: Fraction) -> bool:
    """sum of max(0, p - e^epsilon q) <= delta, for certain: over the outputs that may be on the wrong side."""
    ctx.prec = 200
    factor, total = arb(fmpq(epsilon.numerator, epsilon.denominator)).exp(), arb(0)
    for output, chance in law.items():
        q = other.get(output, Fraction(0))
        over = arb(fmpq(chance.numerator, chance.denominator)) - factor * arb(fmpq(q.numerator, q.denominator))
        if not over <= 0:
            total += arb(over.upper())
    return bool(total <= arb(fmpq(delta.numerator, delta.denominator)))
