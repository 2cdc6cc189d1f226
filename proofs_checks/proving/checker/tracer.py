"""One run of a function on the checker's symbols: the answers to its tests, its noise and its merged values."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .entered import unread
from .farkas import Prover
from .following import refuse
from .forms import Form, Sign
from .pairs import Data
from .tables import on_symbols

DEEPEST = 500
SCALING = ("laplace", "exponential", "gumbel")
"""Noise whose scale may be proportional to N, the number of entries, where that is a symbol (steps.py)."""


def noise_index(name: str) -> int | None:
    """k for the k-th noise variable, nk."""
    return int(name[1:]) if name[0] == "n" and name[1:].isdigit() else None


def noisy(form: Form) -> bool:
    return any(noise_index(name) is not None for name in form.slopes)


Ways = tuple[tuple[Sign, ...], ...]
"""Of a fork: what holds on each. Of any numbers the signs of exactly one way hold, all of them."""


class Tracer:
    """One run. script: the ways that it takes at its first forks."""

    def __init__(self, prover: Prover, data: Data, script: list[tuple[Ways, int]]) -> None:
        self.prover = prover
        self.data = data
        self.script = script
        self.trail: list[tuple[Ways, int, list[int]]] = []
        """The ways at each fork, the number of the one that is taken, and those that are possible besides."""
        self.assumed: list[Sign] = []
        self.draws: list[tuple[str, str]] = []
        self.spoilt: str | None = None
        self.entries: list[str] = []

    def answer(self, sign: Sign) -> bool:
        return self.choose([(sign,), (sign.negation(),)]) == 0

    def choose(self, ways: Sequence[tuple[Sign, ...]]) -> int:
        """The number of the way that this run takes; exactly one of them must hold wherever the run is."""
        position, met, chosen, others = len(self.trail), tuple(ways), 0, list[int]()
        if position >= DEEPEST:
            raise refuse("a run without an end")
        if position < len(self.script):
            before, chosen = self.script[position]
            if _keys(before) != _keys(met):
                raise refuse("the function does not do the same when it is run again")
        else:
            known, last = [*self.data.facts, *self.assumed], len(met) - 1
            with unread():
                possible = [k for k in range(last) if not self.prover.contradictory([*known, *met[k]])]
                if not possible or not self.prover.contradictory([*known, *met[last]]):
                    possible.append(last)
            chosen, *others = possible
        self.trail.append((met, chosen, others))
        self.assumed += met[chosen]
        return chosen

    def merged_sign(self, sign: Sign) -> Form | None:
        if not self.data.merging or noisy(sign.form):
            return None
        name = f"[{sign.name()}]"
        form, strict = sign.form, sign.strict
        self.data.merged[name] = lambda point: Fraction(form.value(point) > 0 if strict else form.value(point) >= 0)
        return self.data.declare(name, Fraction(0), Fraction(1), whole=True)

    def merged_extreme(self, which: str, left: Form, right: Form) -> Form | None:
        """max or min of data, one of them a constant, as a variable of which the range is known."""
        if not self.data.merging or noisy(left) or noisy(right):
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
        self.data.merged[name] = lambda point: choose(left.value(point), right.value(point))
        return self.data.declare(name, _end(which, "max", low, least), _end(which, "min", high, most))

    def whole(self, form: Form) -> Form:
        """The form, if it is a whole number at every point: rounding leaves it as it is."""
        discrete = {f"n{k}" for k, (kind, _) in enumerate(self.draws) if kind in ("geometric", "discrete-laplace")}
        sizes = [form.at_zero, *form.slopes.values()]
        if not form.slopes.keys() <= discrete | self.data.whole or any(size.denominator != 1 for size in sizes):
            raise refuse("a rounded symbol")
        return form

    def on_arrays(self, ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """What numpy is to do with a symbol."""
        return on_symbols(ufunc, method, inputs, options)

    def noise(self, kind: str, scale: Any) -> Form:
        form = Form.lift(scale)
        if kind in SCALING and list(form.slopes) == ["N"] and not form.at_zero and form.slopes["N"] > 0:
            return self.atom(kind, f"{form.slopes['N']}*N")
        exact = form.concrete()
        if exact <= 0 or (kind == "geometric" and exact >= 1):
            raise refuse(f"{kind} noise with parameter {exact}")
        return self.atom(kind, exact)

    def atom(self, kind: str, parameter: Fraction | str) -> Form:
        value = Form.variable(f"n{len(self.draws)}")
        self.draws.append((kind, str(parameter)))
        self.assumed += support(kind, value)
        return value


def _keys(ways: Ways) -> list[list[Any]]:
    return [[sign.key() for sign in way] for way in ways]


def _end(which: str, certain: str, a: Fraction | None, b: Fraction | None) -> Fraction | None:
    """An end of max(a-side, b-side): of a max one finite lower end suffices, of a min one finite upper end."""
    if a is not None and b is not None:
        return max(a, b) if which == "max" else min(a, b)
    return (a if a is not None else b) if which == certain else None


def support(kind: str, value: Form) -> list[Sign]:
    """Where a noise has mass."""
    if kind == "exponential":
        return [Sign(value, False)]
    if kind == "uniform":
        return [Sign(value, False), Sign(1 - value, False)]
    return [Sign(value - 1, False)] if kind == "geometric" else []
