"""Certificates of Renyi divergences, rho, mu and refuted true-positive rates: the orders and points that prove them.

The checker decides (checker/currencies.py, docs/certificates.md, section 6); what is found here is a proposal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from flint import arb, ctx, fmpq

from ...accounting import delta, epsilon
from ...accounting.bracket import Bracket
from ..claims.claim import Claim
from ..claims.currency import Against, Currency, Mu, RenyiAt, Rho, TprAtFpr
from .checker import bounds, check, currencies, format, pairs
from .checker.command import PRECISION
from .evidence import Search
from .knots import as_far_as_can_be, in_order, worst_vertex
from .restated import NoCertificate
from .stated import Table, stated

_MOST_POINTS = 60
_TOWARDS = 1e-9
"""How far, relatively, a proved delta is from the accountants': their brackets are as narrow as asked for."""


def serves(stated_in: Currency, found: Bracket) -> bool:
    """Whether a file of this kind is about such a claim: that a rate holds is a matter of one point (points.py)."""
    if isinstance(stated_in, TprAtFpr):
        return found.exceeds(stated_in.threshold)
    return isinstance(stated_in, Rho | Mu | RenyiAt)


def of_currency(claim: Claim, found: Bracket, against: Against) -> Table:
    """The certificate of the verdict that follows from the bracket; it passes the checker.

    Raises NoCertificate, with the reason, where there is no verdict, or none that the checker can prove.
    """
    currency = claim.statement.currency
    holds = found.at_most(currency.threshold)
    if not holds and not found.exceeds(currency.threshold):
        raise NoCertificate(f"a claim in {currency.name} that is undecided proves nothing")
    search = _Proposals(claim, against)
    place = search.place
    document = search.statement | {
        "format": format.CURRENCY,
        "verdict": "holds" if holds else "refuted",
        "currency": {"name": search.name, "number": repr(currency.threshold), "place": place},
    }
    reason = "no point of the curve shows it"
    try:
        for orders, points in search.proposals(holds):
            tried = document | {"orders": orders, "points": points}
            tried["digest"] = format.digest(tried)
            result = check(tried)
            if result.ok:
                return tried
            reason = result.reason
    except (ValueError, ArithmeticError) as problem:  # the search calls parts of the checker, which raise these
        reason = str(problem)
    raise NoCertificate(f"the checker does not find the proof of this {currency.name} sufficient ({reason})")


class _Proposals:
    """What may prove a claim in some currency."""

    def __init__(self, claim: Claim, against: Against) -> None:
        self.claim, self.against, self.currency = claim, against, claim.statement.currency
        absent: dict[str, Any] = dict.fromkeys(("rho", "mu", "renyi", "tpr_at_fpr", *_RANGES))
        point = claim.statement.model_copy(update=absent | {"epsilon": 0.0, "delta": 0.0})
        whole = stated(replace(claim, statement=point))
        about = {key: value for key, value in whole["claim"].items() if key not in _OF_EPSILON}
        self.statement: Table = {"issued": whole["issued"], "claim": about, "phases": whole["phases"]}
        self.searches: dict[bool, dict[str, pairs.Product]] = {}
        self.deltas: dict[float, Bracket] = {}
        self.end_of = Search.evidence

    @property
    def name(self) -> str:
        """The format's name for it."""
        return "mu at deltas" if isinstance(self.currency, Mu) and self.currency.delta else self.currency.name

    @property
    def place(self) -> str | None:
        """Where the number is meant: an order, a range's end, a rate."""
        stated_in = self.currency
        if isinstance(stated_in, RenyiAt):
            return repr(stated_in.order)
        if isinstance(stated_in, Rho):
            return None if stated_in.orders_up_to == math.inf else repr(stated_in.orders_up_to)
        if isinstance(stated_in, Mu):
            least = stated_in.delta or stated_in.fpr_at_least
            return repr(least) if least else None
        return repr(stated_in.fpr) if isinstance(stated_in, TprAtFpr) else None

    def proposals(self, holds: bool) -> Iterator[tuple[list[str], list[Table]]]:
        """Orders and points to try."""
        stated_in = self.currency
        if isinstance(self.currency, RenyiAt):
            yield [], []
        elif isinstance(self.currency, Rho):
            if holds:
                yield [], []
                yield self._orders(self.currency), []
            else:
                yield from self._high_orders(self.currency)
        elif isinstance(self.currency, Mu):
            yield from self._of_mu(self.currency, holds)
        elif isinstance(stated_in, TprAtFpr):
            yield from self._many(lambda: self._of_rate(stated_in))

    def _products(self, worst: bool) -> dict[str, pairs.Product]:
        if worst not in self.searches:
            about = self.statement["claim"]
            with ctx.workprec(PRECISION):
                phases = [format.phase(phase) for phase in self.statement["phases"]]
                self.searches[worst] = pairs.products(phases, about["neighbouring"], about["participation"], worst)
        return self.searches[worst]

    def _high_orders(self, rho: Rho) -> Iterator[tuple[list[str], list[Table]]]:
        """One order at which the divergence is above the claim."""
        last = rho.orders_up_to
        for order in (1.001, 1.5, 2.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0):
            if order < last:
                yield [repr(order)], []
        if last < math.inf:
            yield [repr(last)], []

    def _orders(self, rho: Rho) -> list[str]:
        """Orders whose chords are below the claim, each as far from the last as it can be."""
        last = rho.orders_up_to if rho.orders_up_to < math.inf else 2.0**14
        with ctx.workprec(PRECISION):
            worst, most = list(self._products(True).values()), fmpq(*rho.threshold.as_integer_ratio())
            known: dict[fmpq, list[arb]] = {}

            def moments(order: fmpq) -> list[arb]:
                if order not in known:
                    known[order] = [arb(order - 1) * currencies.divergence(each, order, True) for each in worst]
                return known[order]

            return as_far_as_can_be(moments, most, last)

    def _of_mu(self, mu: Mu, holds: bool) -> Iterator[tuple[list[str], list[Table]]]:
        if not holds:
            yield from self._above_mu(mu)
            return
        yield [], []
        yield from self._many(lambda: self._below_mu_to(mu) if mu.delta else self._below_mu(mu))

    def _many(self, points: Callable[[], list[Table]]) -> Iterator[tuple[list[str], list[Table]]]:
        """Many points, each proved by the checker once, in the end; or also here, where that did not do."""
        for how in (Search.proposal, Search.evidence):
            self.end_of = how
            yield [], points()

    def _delta(self, at: float) -> Bracket:
        """Both ends as the checker's list of losses has them, where there is one; else the accountants'; asked once."""
        if at not in self.deltas:
            self.deltas[at] = self._asked(at)
        return self.deltas[at]

    def _asked(self, at: float) -> Bracket:
        try:
            with ctx.workprec(PRECISION):
                ends = [
                    max(arb.upper(self._listed(name, each, at, worst)) for name, each in self._products(worst).items())
                    for worst in (False, True)
                ]
            return Bracket(float(ends[0]) * (1 - 1e-12), float(ends[1]) * (1 + 1e-12), True, "lattice")
        except ValueError:
            return delta(self.claim.run, at, **(self.against.options() | {"rtol": 1e-7}))

    @staticmethod
    def _listed(direction: str, product: pairs.Product, at: float, worst: bool) -> arb:
        end = format.End(direction, "lattice", fmpq(0), fmpq(0), 0, fmpq(0), None)
        return bounds.delta_bound({direction: product}, end, arb(at), worst)

    def _upper(self, at: float, least: float) -> Table:
        """A point with its proof from above, in every dominating direction; least: the delta that it is not below."""
        slack = _TOWARDS
        while slack <= 1.0:
            level = min(least * (1 + slack) + 1e-300 * (least > 0), 1 - 2.0**-50)
            ends = []
            for direction, product in self._products(True).items():
                end = self.end_of(Search(product, repr(level)), direction, repr(at), upper=True)
                if end is None:
                    break
                ends.append(end)
            else:
                return {"epsilon": repr(at), "delta": repr(level), "upper": ends, "lower": None}
            slack *= 10
        raise NoCertificate(f"the checker's methods do not prove delta = {least:g} at epsilon = {at:g}")

    def _lower(self, at: float, most: float, direction: str | None = None) -> Table:
        """A point with its proof from below, in one direction."""
        places = list(range(len(self.statement["phases"])))
        slack = _TOWARDS
        while slack < 1e-2:
            level = repr(most * (1 - slack))
            for name, product in sorted(self._products(False).items(), reverse=True):  # "remove" shows the most
                if direction in (None, name):
                    end = self.end_of(Search(product, level), name, repr(at), upper=False)
                    if end is not None:
                        return {"epsilon": repr(at), "delta": level, "upper": None, "lower": end | {"phases": places}}
            slack *= 10
        raise NoCertificate(f"the checker's methods do not prove delta = {most:g} at epsilon = {at:g} from below")

    def _above_mu(self, mu: Mu) -> Iterator[tuple[list[str], list[Table]]]:
        """A point where delta is above the claimed mu's, and one further on, which shows where the line touches."""
        step, found = 0.05 * mu.threshold + 1e-3, []
        marks = [mu.threshold * k / 12 for k in range(48)]
        if mu.delta:
            marks.append(epsilon(self.claim.run, 1.001 * mu.delta, **(self.against.options() | {"rtol": 1e-6})).lower)
        for at in marks:
            with ctx.workprec(PRECISION):
                claimed = float(bounds.profile(arb(mu.threshold), arb(at)).upper())
            known, less = self._delta(at).lower, self._delta(at + step).upper
            chord = (known - less) / (math.exp(at + step) - math.exp(at))
            within = math.sqrt(known) * math.sqrt(claimed) > mu.delta * (1 + 1e-6)  # what will be said to be needed
            if within and known > claimed * (1 + 1e-8) and chord >= 1.001 * mu.fpr_at_least:
                found.append((known / claimed, at, known, less))
        for ratio, at, known, less in sorted(found, reverse=True)[:6]:
            if mu.fpr_at_least:
                yield [], [self._lower(at, known), self._upper(at + step, less)]
            else:
                yield [], [self._lower(at, known / math.sqrt(ratio))]

    def _below_mu(self, mu: Mu) -> list[Table]:
        """Points whose lines meet above the curve of the claimed mu; more of them about the worst vertex."""
        least = mu.fpr_at_least
        options = self.against.options()
        target = min(0.5, least / 64) if least else 0.0
        last = epsilon(self.claim.run, target, **(options | {"rtol": 1e-6})).upper
        if last == math.inf:
            raise NoCertificate("no point is the last one: the loss has no bound")
        marks = {last * k / 8: 0.0 for k in range(9 if least else 8)}
        knots = {at: self._delta(at).upper * (1 + 1e-6) for at in marks}
        if not least:
            knots[math.nextafter(last, math.inf)] = 0.0
        while len(knots) < _MOST_POINTS:
            worst = worst_vertex(sorted(knots.items()), least, mu.threshold)
            if worst is None:
                return [self._upper(at, value) for at, value in in_order(sorted(knots.items()))]
            for left, right in worst:
                middle = (left + right) / 2
                knots[middle] = self._delta(middle).upper * (1 + 1e-6)
        raise NoCertificate(f"no {_MOST_POINTS} points prove the mu, so near is the claim to the truth")

    def _below_mu_to(self, mu: Mu) -> list[Table]:
        """Points from 0 to the delta, halved where the profile of mu is not seen to be above."""
        last = epsilon(self.claim.run, 0.999 * mu.delta, **(self.against.options() | {"rtol": 1e-6})).upper
        while self._delta(last).upper * (1 + 1e-6) > mu.delta:  # the checker's own pair may be a little worse
            last *= 1.01
        knots = {last * k / 8: self._delta(last * k / 8).upper * (1 + 1e-6) for k in range(9)}
        most = fmpq(*mu.threshold.as_integer_ratio())
        while len(knots) < _MOST_POINTS:
            points = [(fmpq(*at.as_integer_ratio()), fmpq(*knots[at].as_integer_ratio())) for at in sorted(knots)]
            with ctx.workprec(PRECISION):
                cells = [pair for pair in pairwise(points) if not currencies.in_cell(most, *pair)]
            if not cells:
                return [self._upper(at, knots[at]) for at in sorted(knots)]
            for left, right in cells:
                middle = float(left[0] + right[0]) / 2
                knots[middle] = self._delta(middle).upper * (1 + 1e-6)
        raise NoCertificate(f"no {_MOST_POINTS} points prove the mu, so near is the claim to the truth")

    def _of_rate(self, stated_in: TprAtFpr) -> list[Table]:
        """Steps along delta from below, each as long as the claim allows."""
        last = math.log(stated_in.threshold / stated_in.fpr) * (1 + 1e-12) + 1e-12
        marks, at = [last], last
        while at > 0.0:
            if len(marks) > _MOST_POINTS:
                raise NoCertificate(f"no {_MOST_POINTS} points refute the rate, so near is the claim to the truth")
            value = (self._delta(at).lower if at else 0.0) * (1 - 1e-6)
            least = stated_in.threshold - value
            before = math.log(least / stated_in.fpr) if least > stated_in.fpr else 0.0
            if before >= at:
                raise NoCertificate("the claim is too near to the truth to be refuted by steps")
            at = max(0.0, before + (at - before) * 1e-9)
            marks.append(at)
        points: list[Table] = []
        for mark in marks:
            direction = points[0]["lower"]["direction"] if points else None
            points.append(self._lower(mark, self._delta(mark).lower, direction))
        return points[::-1]


_RANGES = ("orders_up_to", "fpr_at_least", "delta_at_least")
_OF_EPSILON = ("epsilon", "epsilon_interval", "delta")
