"""One run of a function on symbols: the answers to its tests, its noise, and the values that are made of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .exact_numbers import exact
from .farkas import Prover
from .forms import Form, Point, Sign
from .noise import COMPUTED, KINDS, Draw, checked, support
from .pairs import Data, Ends
from .refusals import Refused

DEEPEST = 500
LONGEST = 300_000
"""Statements and items of one run."""

Ways = tuple[tuple[Sign, ...], ...]
"""Of a fork: what holds on each. Of any numbers the signs of exactly one way hold, all of them."""


@dataclass(frozen=True)
class Computed:
    """A value that is a function of forms: the k-th draw, n_k."""

    arguments: tuple[Form, ...]
    value: Callable[..., Fraction]


class Tracer:
    """One run. script: the ways that it takes at its first forks.

    as_written: numbers are the decimals that are written; else, as in certificates of 0.2.0, the fractions that floats
    are. coins: a uniform number that is compared with a constant is a coin.
    """

    def __init__(
        self, prover: Prover, data: Data, script: list[tuple[Ways, int]], as_written: bool = True, coins: bool = True
    ) -> None:
        self.prover = prover
        self.data = data
        self.script = script
        self.as_written = as_written
        self.coins = coins and as_written
        self.trail: list[tuple[Ways, int, list[int], Known]] = []
        """At each fork the ways, the number of the one taken, those possible besides, and what was drawn."""
        self.assumed: list[Sign] = []
        self.steps = 0
        self.draws: list[Draw] = []
        self.computed_values: dict[int, Computed] = {}
        self.entries: list[str] = []
        self._made: dict[Any, Form] = {}
        self._whole: set[str] = set()
        self.signs: dict[str, bool] = {}
        """Values that are never below 0; whether they are always above."""

    def step(self) -> None:
        """One statement more. Raises Refused where a run does not end."""
        self.steps += 1
        if self.steps > LONGEST:
            raise Refused(f"a run that is not over after {LONGEST} steps")

    def answer(self, sign: Sign) -> bool:
        """The truth of a test on this run."""
        done = sign.decided()
        return self.choose([(sign,), (sign.negation(),)]) == 0 if done is None else done

    def choose(self, ways: Sequence[tuple[Sign, ...]]) -> int:
        """The number of the way that this run takes; exactly one of them must hold wherever the run is."""
        position, met, chosen, others = len(self.trail), tuple(ways), 0, list[int]()
        if position >= DEEPEST:
            raise Refused(f"a loop that is not over after {DEEPEST} decisions")
        if position < len(self.script):
            before, chosen = self.script[position]
            if _keys(before) != _keys(met):
                raise Refused("the function does not do the same when it is run again")
        else:
            known, last = [*self.data.facts, *self.assumed], len(met) - 1
            possible = [k for k in range(last) if not self.prover.contradictory([*known, *met[k]])]
            if not possible or not self.prover.contradictory([*known, *met[last]]):
                possible.append(last)
            chosen, *others = possible
        self.trail.append((met, chosen, others, self.known()))
        self.assumed += met[chosen]
        return chosen

    def known(self) -> Known:
        """What was drawn and computed so far."""
        return tuple(self.draws), dict(self.computed_values)

    def merged_sign(self, sign: Sign) -> Form | None:
        """The truth of a test on data as 0 or 1, of which no more is known."""
        if not self.data.merging or sign.form.noisy:
            return None
        name = f"[{sign.name()}]"
        return self.data.merge(
            name, (sign.form,), lambda point: Fraction(sign.holds(point)), (Fraction(0), Fraction(1)), True
        )

    def merged_extreme(self, which: str, left: Form, right: Form) -> Form | None:
        """max or min of data, one of them a constant, as a variable of which the range is known."""
        if not self.data.merging or left.noisy or right.noisy:
            return None
        (low, high), (least, most) = self.data.between(left), self.data.between(right)
        if low is not None and most is not None and low >= most:
            return left if which == "max" else right
        if least is not None and high is not None and least >= high:
            return right if which == "max" else left
        if left.slopes and right.slopes:
            return None
        choose = max if which == "max" else min
        name = f"{which}({';'.join(sorted((left.name(), right.name())))})"
        ends = _end(which, "max", low, least), _end(which, "min", high, most)
        return self.data.merge(name, (left, right), lambda point: choose(left.value(point), right.value(point)), ends)

    def is_whole(self, form: Form) -> bool:
        """Whether the form is a whole number at every point: rounding leaves it as it is."""
        whole = {f"n{k}" for k, (kind, _) in enumerate(self.draws) if KINDS[kind].whole} | self._whole | self.data.whole
        sizes = [form.at_zero, *form.slopes.values()]
        return form.slopes.keys() <= whole and all(size.denominator == 1 for size in sizes)

    def computed(
        self,
        what: str,
        value: Callable[..., Fraction],
        arguments: Sequence[Form],
        ends: Ends = (None, None),
        whole: bool = False,
        record: bool = False,
    ) -> Form:
        """A function of values, of which nothing is known but that it is one (and, of data, between which ends it is).

        Where the values are the same in both runs, it is the same: at the end of every way through the function that is
        shown of the arguments of all computed values, as if they were put out. record: it is one (language/records.py).
        """
        name = what, tuple(form.name() for form in arguments)
        if name in self._made:
            return self._made[name]
        if None not in ends and not any(form.noisy for form in arguments):
            text = f"{what}({';'.join(name[1])})"
            held = tuple(arguments)
            made = self.data.merge(text, held, lambda point: value(*[a.value(point) for a in held]), ends, whole)
        else:
            self.computed_values[len(self.draws)] = Computed(tuple(arguments), value)
            kind = COMPUTED[1] if record else COMPUTED[0]
            made = self.atom(kind, f"{what}/{len(arguments)}")
            self._whole |= set(made.slopes) if whole else set()
        self._made[name] = made
        return made

    def noise(self, kind: str, scale: Any) -> Form:
        """A new noise variable."""
        return self.atom(kind, self.parameter(kind, scale))

    def parameter(self, kind: str, scale: Any) -> str:
        """The parameter as text: a number, or a multiple of the number of entries. Raises Refused."""
        if isinstance(scale, Form):
            alone = list(scale.slopes) == ["N"] and not scale.at_zero and scale.slopes["N"] > 0
            if not KINDS[kind].scaling or not alone:
                raise Refused("noise whose scale depends on the data or on other noise")
            return f"{scale.slopes['N']}*N"
        if not isinstance(scale, int | float):
            raise Refused("noise whose scale depends on the data or on other noise")
        return str(checked(kind, exact(scale)))

    def atom(self, kind: str, parameter: str) -> Form:
        """A new variable that was drawn."""
        value = Form.variable(f"n{len(self.draws)}")
        self.draws.append((kind, parameter))
        self.assumed += support(kind, parameter, value)
        return value


Known = tuple[tuple[Draw, ...], dict[int, Computed]]


def complete(point: Point, known: Known) -> Point | None:
    """The point with the computed values; None where one of them is too large, or needs noise that is not given.

    Raises Refused where one does not exist there: every way that is followed promises that all do.
    """
    full = dict(point)
    for k, made in known[1].items():
        try:
            full[f"n{k}"] = made.value(*[form.value(full) for form in made.arguments])
        except ValueError as problem:
            raise Refused(f"a computed value that does not exist at a point of a way ({problem})") from problem
        except (ArithmeticError, KeyError):
            return None
    return full


def _keys(ways: Ways) -> list[list[Any]]:
    return [[sign.key() for sign in way] for way in ways]


def _end(which: str, certain: str, a: Fraction | None, b: Fraction | None) -> Fraction | None:
    """An end of max(a-side, b-side): of a max one finite lower end suffices, of a min one finite upper end."""
    if a is not None and b is not None:
        return max(a, b) if which == "max" else min(a, b)
    return (a if a is not None else b) if which == certain else None
