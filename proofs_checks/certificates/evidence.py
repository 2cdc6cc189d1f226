"""The search for evidence: contour abscissa, step and number of terms that suffice to prove an end of an interval.

Nothing found here is trusted: the checker decides with its own arithmetic whether the evidence is enough.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb, arb_poly, ctx

from .checker import bounds, format, largest, pairs, transforms
from .checker.command import PRECISION
from .moments import Round, left_out, log_moments, rounds

AIMS = (1e-16, 1e-13, 1e-10, 1e-7, 1e-5, 1e-4)
"""What the evidence may leave open, relative to delta: the finest that is cheap, or else the coarsest."""

SCHEDULE = (*((aim, 16384) for aim in AIMS), *((aim, 65536) for aim in reversed(AIMS)))
"""Each aim with the number of terms that it may take (for a small shift)."""

LITTLE_NOISE = 3.0
"""The shift above which noise all but shows the coins, so that counting them comes first."""

MOST_COINS, MOST_MASSES = 10_000, 40_000
"""Rounds whose coins are counted, and losses of their sum that are listed: up to about a second of the checker's."""

SHARES = (1e-7, 1e-5, 1e-3, 0.03)
"""What may be cut off, relative to delta: of less, less is lost; with more, larger abscissas have finite moments."""

_LEVELS = [float(f"{10 ** (k / 200):.3g}") for k in range(-2400, 500)]
"""Losses beyond which something may be cut off."""

_GOLDEN = (math.sqrt(5) - 1) / 2
_FURTHER = (1.02, 1.1, 1.3, 1.6, 2.2)
"""Multiples of c at which a Chernoff bound holds down the excess from above."""
_NEARER = (1.0, 0.85, 0.7, 0.5)
"""Multiples of the saddle point among which c is chosen."""


def _orders(found: Iterable[pairs.Pair]) -> set[str]:
    """The orders of these pairs, and of what public coins mix."""
    return {order for pair in found for order in (pair.order, *_orders(part for _, part in pair.parts))}


def _end(direction: str, method: str, **found: Any) -> dict[str, Any]:
    """An "end" table of a certificate; what the method does not read is blank."""
    blank = {"c": "0", "h": "0", "terms": 0, "beyond": "0", "split": None}
    return {"direction": direction, "method": method, **blank, **found}


@dataclass
class Search:
    """Evidence for one composed pair at one delta.

    width: of the interval whose ends are to be proved; what is far less need not be seen. abscissa: where the last
    search ended, a start for the next. failed, blur: the last epsilon that inversion could not prove, and how far from
    it another one must be to be worth a try. schedule: (aim, most terms) still to try. moments: of each phase's step,
    with its rounds. losses: of a lattice's sum, whatever epsilon is. within: the searches among what is not cut off,
    by reach, once they were needed; none in such a search itself, of which `share` was cut off.
    """

    product: pairs.Product
    delta: float | str
    width: float = 0.0
    abscissa: float = 1.0
    failed: float = -math.inf
    blur: float = 0.0
    schedule: list[tuple[float, int]] = field(default_factory=lambda: list(SCHEDULE))
    logs: dict[float, float] = field(default_factory=dict)
    rounds: dict[tuple[float, str | None], list[Round]] = field(default_factory=dict)
    moments: list[tuple[Callable[[float], float], int]] = field(init=False)
    losses: tuple[arb_poly, arb, arb] | None = None
    share: float = 0.0
    within: list[tuple[str, Search]] | None = None

    def __post_init__(self) -> None:
        self.moments = [(log_moments(pair), n) for pair, n in self.product]

    def evidence(self, direction: str, epsilon: str, upper: bool) -> dict[str, Any] | None:
        """An "end" table of a certificate that proves delta(epsilon) <= delta (upper) or > delta; None: not found."""
        with ctx.workprec(PRECISION):
            found = (
                end for end in self._candidates(direction, float(epsilon), upper) if self.proves(end, epsilon, upper)
            )
            return next(found, None)

    def proposal(self, direction: str, epsilon: str, upper: bool) -> dict[str, Any] | None:
        """An end that may prove it, by a look in double precision; for whoever has the checker decide anyway."""
        with ctx.workprec(PRECISION):
            return next(self._candidates(direction, float(epsilon), upper), None)

    def proves(self, end: dict[str, Any], epsilon: str, upper: bool) -> bool:
        """Whether the checker's own arithmetic proves this end."""
        try:
            if end["method"] == "largest-loss":
                above = largest.above(self.product, format.number(epsilon))
                return bool(above <= 0) if upper else bool(above >= 0)
            bound = self._bound(end, arb(format.number(epsilon)), upper)
        except (ValueError, ArithmeticError, LookupError):
            return False
        target = arb(format.number(str(self.delta)))
        return bool(bound <= target) if upper else bool(bound > target)

    def _bound(self, end: dict[str, Any], epsilon: arb, upper: bool) -> arb:
        if end["method"] != "lattice":
            return bounds.delta_bound({end["direction"]: self.product}, format.end(end), epsilon, upper)
        if self.losses is None:
            self.losses = bounds.losses(self.product)
        return bounds.listed(*self.losses, epsilon) + (bounds.lost(self.product) if upper else 0)

    def _candidates(self, direction: str, epsilon: float, upper: bool) -> Iterator[dict[str, Any]]:
        """Ends to try, the exact ones and the cheap ones first."""
        (pair, n), orders = self.product[0], _orders(pair for pair, _ in self.product)
        gaussian = all(pair.mu > 0 for pair, _ in self.product) and "zcdp" not in orders
        mixture = gaussian and not orders & {"epoch", "mixed"} and (n <= MOST_COINS or orders == {"both"})
        if mixture and (orders == {"both"} or (orders == {"visible"} and len(self.product) == 1)):
            yield _end(direction, "mixture")
            return
        if float(self.delta) == 0.0:
            yield _end(direction, "largest-loss")
            return
        if not upper and "epoch" not in orders and self._is_hopeless(epsilon):
            return
        listed = (
            pair.law and all(q.law and q.g.is_zero() for q, _ in self.product[1:]) and orders <= {"both", "visible"}
        )
        if listed and n * (2 * max(pair.law) + 1) <= MOST_MASSES:
            yield _end(direction, "lattice")
            return
        if not upper and (pair.order == "epoch" or pair.law) and n <= MOST_COINS:
            yield _end(direction, "threshold", c=self._threshold(direction, epsilon))
            return
        if orders & {"epoch"} or (not upper and not gaussian):
            return
        coins = [_end(direction, "mixture")] if mixture else []
        seen = float(pair.mu) > LITTLE_NOISE
        yield from coins if seen else ()
        yield from self._smooth(direction, epsilon, upper, gaussian)
        yield from () if seen else coins

    def _smooth(self, direction: str, epsilon: float, upper: bool, gaussian: bool) -> Iterator[dict[str, Any]]:
        """Chernoff's bound and inversion, where a look in double precision says that they may do."""
        c, widest = self._saddle(epsilon), max(float(pair.mu) for pair, _ in self.product)
        target = math.log(float(self.delta))
        for shift in (30.0, 300.0) if upper else ():  # c times mu, and with it the number of nodes, must stay small
            near = min(c, shift / widest) if widest > 0 else c
            if self._chernoff(epsilon, near) < target + 1e-6:
                yield _end(direction, "chernoff", c=repr(near))
        if gaussian and abs(epsilon - self.failed) > self.blur:
            tried: list[dict[str, Any] | None] = [None]
            for width in dict.fromkeys((self.width, 0.0)):  # a coarse look, which is cheap; a fine one where it fails
                self.width = width
                found = self._inversion(epsilon, c, 1 + widest**2 / 2)
                if found is not None and found not in tried:
                    yield _end(direction, "inversion", **found)
                tried.append(found)
            self.failed = epsilon
        if gaussian and widest < LITTLE_NOISE:
            for reach, search in self._within():
                for end in search._smooth(direction, epsilon, upper, gaussian):
                    yield end | {"reach": reach}

    def _within(self) -> list[tuple[str, Search]]:
        """Searches with the outcomes cut off that are rarest, for rounds whose moments those few outcomes decide."""
        if self.within is None:
            self.within = []
            hidden = _orders(pair for pair, _ in self.product) - {"both", "visible"}
            for share in SHARES if hidden else ():
                reach = self._reach(share)
                product = [(transforms.cut_off(pair, arb(reach)), n) for pair, n in self.product]
                kept, schedule = float(self.delta) * (1 - share), [(share / 10, SCHEDULE[-1][1])]
                self.within.append((reach, Search(product, kept, schedule=schedule, share=share, within=[])))
        return self.within

    def _reach(self, share: float) -> str:
        """The least of the levels beyond which at most this share of delta lies."""

        def lost(level: float) -> float:
            return float(bounds.lost([(transforms.cut_off(pair, arb(level)), n) for pair, n in self.product]))

        return repr(_LEVELS[bisect_left(_LEVELS, -share * float(self.delta), key=lambda level: -lost(level))])

    def _threshold(self, direction: str, epsilon: float) -> str:
        """Of some thresholds the one that proves most."""
        pair, n = self.product[0]
        top, whole = float(max(pair.law) if pair.law else 2 * (pair.g + pair.mu) + 12), 0 if pair.law else 6

        def gain(c: float) -> float:
            end = _end(direction, "threshold", c=repr(float(c)))
            try:
                bound = bounds.delta_bound({direction: self.product}, format.end(end), arb(epsilon), False)
            except (ValueError, ArithmeticError):
                return -math.inf
            return float(bound.mid()) if bound.is_finite() else -math.inf

        best, width = top / 2, top / 2
        for _ in range(3 if n <= 1000 else 2):
            grid = np.linspace(max(best - width, 0), min(best + width, top), 33).round(whole)
            best, width = max(grid, key=gain), width / 16
        return repr(float(best))

    def _chernoff(self, epsilon: float, c: float) -> float:
        """About the log of the Chernoff bound at c."""
        if c not in self.logs:
            moments = math.fsum(n * log_moment(c) for log_moment, n in self.moments)
            self.logs[c] = moments + c * math.log(c) - (c + 1) * math.log1p(c)
        return self.logs[c] - c * epsilon

    def _is_hopeless(self, epsilon: float) -> bool:
        """Whether delta(epsilon) is so clearly below delta that nothing can prove a lower end there."""
        return self._chernoff(epsilon, self._saddle(epsilon)) < math.log(float(self.delta)) - 0.01

    def _saddle(self, epsilon: float) -> float:
        """About the c that minimises the Chernoff bound: doubling from the last one, then golden sections."""
        best = self.abscissa
        for factor in (2.0, 0.5):
            while 1e-9 < best * factor < 1e9 and self._chernoff(epsilon, best * factor) < self._chernoff(epsilon, best):
                best *= factor
        low, high = math.log(best / 2), math.log(best * 2)
        while high - low > 0.01:
            first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
            if self._chernoff(epsilon, math.exp(first)) < self._chernoff(epsilon, math.exp(second)):
                high = second
            else:
                low = first
        self.abscissa = float(f"{math.exp((low + high) / 2):.3g}")
        return self.abscissa

    def _step(self, epsilon: float, c: float, aim: float) -> tuple[float, float]:
        """The largest step whose excess, from either side, is below aim times delta, and the abscissa that shows it."""
        log = math.log(float(self.delta) * aim / 100)
        steps = {c * k: 2 * math.pi * c * (k - 1) / max(self._chernoff(epsilon, c * k) - log, 1.0) for k in _FURTHER}
        beyond = max(steps, key=lambda further: steps[further])
        return min(steps[beyond], -2 * math.pi * c / log), beyond

    def _inversion(self, epsilon: float, saddle: float, weight: float) -> dict[str, Any] | None:
        """Abscissa, step, terms and split; weight: how many times as long as usual one term takes. None: not found."""
        near = [
            saddle * k for k in _NEARER if self._chernoff(epsilon, saddle * k) <= self._chernoff(epsilon, saddle) + 2
        ]
        finest = max((aim for aim in AIMS if aim <= saddle * self.width / 1000), default=0.0)
        below = f"{0.999 * epsilon / sum(n for _, n in self.product):.3e}"
        if weight > 10:  # with so little noise each attempt takes seconds, and few can succeed
            few = AIMS[3:] if weight < 50 else (1e-5,)
            self.schedule = [(aim, most) for aim, most in self.schedule if aim in few and (weight < 50 or most > 16384)]
        for aim, most in [each for each in self.schedule if each[0] >= finest]:
            # Left of the saddle where M grows too fast beyond it.
            c = float(f"{max(near, key=lambda c: self._step(epsilon, c, aim)[0]):.3g}")
            h, beyond = self._step(epsilon, c, aim)
            h = float(f"{h:.3g}")
            for split in (None, below):
                terms = self._terms(epsilon, c, h, split, aim, most / weight)
                if terms is not None:
                    self.blur = max(aim / 2, self.share) / c
                    return {"c": repr(c), "h": repr(h), "beyond": repr(beyond), "split": split, "terms": terms}
            self.schedule.remove((aim, most))  # it takes too many terms, and will for the epsilons that follow
        self.blur = math.inf
        return None

    def _terms(self, epsilon: float, c: float, h: float, split: str | None, aim: float, most: float) -> int | None:
        """Few terms, to a sixteenth, that leave out less than aim times delta; None: more than `most`."""
        rounds = self._rounds(c, split)
        scale = -c * epsilon - math.log(math.pi * h) - math.log(float(self.delta) * aim)

        def enough(terms: int) -> bool:
            return left_out(rounds, h * terms) + scale - math.log(terms - 1) < 0

        high = 16
        while rounds and not enough(high):
            high *= 2
            if high > most:
                return None
        low = high // 2
        while high - low > max(1, high // 16):
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high if rounds else None

    def _rounds(self, c: float, split: str | None) -> list[Round]:
        """What is left out of each round's transform; nothing where the checker would take too many nodes."""
        if (c, split) not in self.rounds:
            try:
                cut = None if split is None else float(split)
                self.rounds[c, split] = rounds(self.product, self.moments, c, cut)
            except ValueError:
                self.rounds[c, split] = []
        return self.rounds[c, split]
