"""What the linear program of an induction says, in simple fractions, as the certificate's part. Nothing rests on it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ..checker.forms import Form, Sign
from ..checker.inductions.states import kinds
from ..checker.noise import GAUSSIAN, KINDS, weight
from ..linear_program import CONSTANT, DENOMINATORS, near
from ..solver import largest
from .configurations import Edge, Place
from .loops import NoInduction
from .solution import Solution


class Exact:
    """A solution in fractions; what is left to pay is computed anew where that is a number."""

    def __init__(self, solution: Solution) -> None:
        self.search, self.program, self.scaled = solution.search, solution.program, solution.scaled
        self.shifts, self.bounds = solution.shifts, solution.bounds
        self.differences, self.potentials, self.start = solution.differences, solution.potentials, solution.start

    def document(self) -> tuple[dict[str, Any], Fraction]:
        """The certificate's part, in fractions, and its epsilon."""
        shifts = {key: [self.program.form(shift) for shift in rows] for key, rows in self.shifts.items()}
        edges = {edge.key: edge for edge in self.search.edges}
        bounds = {
            key: [self._bound(edges[key], k, shift) for k, shift in enumerate(rows)] for key, rows in shifts.items()
        }
        epsilon, potentials = self._summed(bounds) if self._constant() else self._solved()
        moves = [
            {
                "from": edge.start,
                "how": edge.how,
                "cells": [sorted(edge.way.cell), sorted(edge.other.cell)],
                "label": edge.way.label,
                "shifts": [shift.to_json() for shift in shifts[key]],
                "bounds": [str(bound) for bound in bounds[key]],
                "to": edge.to,
            }
            for key, edge in edges.items()
        ]
        steps = self.search.steps
        return {
            "wide": sorted(steps.wide),
            "appended": sorted(steps.appended),
            "whole": sorted(steps.whole),
            "event": None if steps.event is None else list(steps.event),
            "scaled": self.scaled,
            "configurations": [self._configuration(k, potentials[k]) for k in range(len(potentials))],
            "moves": moves,
        }, epsilon

    def _bound(self, edge: Edge, k: int, shift: Form) -> Fraction:
        """The least simple fraction that is proved to bound the shift: what the program says, else by intervals."""
        stated = near(self.program.values[self.bounds[edge.key][k]])
        for wanted in (stated, stated + Fraction(1, DENOMINATORS)):  # what is just above a simple fraction
            least = [wanted - shift, wanted + shift]
            if KINDS[edge.way.draws[k][0]].one_sided:
                least = least[:1]
            if not any(edge.space.possible(*edge.known, Sign(form, False).negation()) for form in least):
                return wanted
        ends = [abs(Fraction(end)) for end in edge.space.data.between(shift) if end is not None]
        return max(ends, default=Fraction(0))

    def _constant(self) -> bool:
        """Whether potentials are numbers, but for what is said to be spent."""
        spent = [place.spent is not None for place in self.search.places]
        return not self.scaled and all(
            s or row.keys() == {CONSTANT} for s, row in zip(spent, self.potentials, strict=True)
        )

    def _solved(self) -> tuple[Fraction, list[Form]]:
        """Epsilon and the potentials as the program has them."""
        return near(self.program.values[self.start]), [self.program.form(row) for row in self.potentials]

    def _summed(self, bounds: Mapping[Any, list[Fraction]]) -> tuple[Fraction, list[Form]]:
        """What is left to pay: the longest path through the configurations. Raises NoInduction where it has no end."""
        places = self.search.places
        left, start = [Fraction(0)] * len(places), Fraction(0)
        free = [k for k, place in enumerate(places) if place.phase == "free"]
        paid = [self._price(edge, bounds[edge.key]) for edge in self.search.edges]
        for _ in range(len(left) + 2):
            former = [*left, start]
            for edge, price in zip(self.search.edges, paid, strict=True):
                total = price + (left[edge.to] if edge.to is not None else 0)
                if self.search.begins(edge):
                    start = max(start, total)
                else:
                    left[edge.start] = max(left[edge.start], total)
            for k in free:  # these lead to one another
                left[k] = max(left[i] for i in free)
            if former == [*left, start]:
                return start, [Form(None, each) - _spent(place) for each, place in zip(left, places, strict=True)]
        raise NoInduction("the cost grows with the number of entries")

    def _price(self, edge: Edge, bounds: list[Fraction]) -> Fraction:
        """Of a step, with what it falls behind or gets ahead of what is said to be spent."""
        pairs = zip(edge.way.draws, bounds, strict=True)
        if self.search.setting.notion == "zcdp":
            paid = sum(
                (b**2 / (2 * Fraction(scale) ** 2) for (kind, scale), b in pairs if kind in GAUSSIAN), Fraction(0)
            )
        else:
            priced = [(draw, b) for draw, b in pairs if KINDS[draw[0]].priced and draw[0] not in GAUSSIAN]
            paid = sum((b * weight(kind, Fraction(scale)) for (kind, scale), b in priced), Fraction(0))
        before = Form() if self.search.begins(edge) else _spent(self.search.places[edge.start])
        after = Form() if edge.to is None else _spent(self.search.places[edge.to])
        gap = before - after.inserted({f"s{i}": form for i, form in enumerate(edge.way.after)})
        most = largest(gap, edge.known)
        if most is None:
            raise NoInduction("what is said to be spent has no bound")
        return paid + most

    def _configuration(self, k: int, potential: Form) -> dict[str, Any]:
        place = self.search.places[k]
        differences: list[dict[str, Any]]
        if place.intervals is not None:
            differences = [{"ends": [None if e is None else str(e) for e in ends]} for ends in place.intervals]
        elif place.phase == "before":
            differences = [{"form": {}} for _ in kinds(place.layout)]
        else:
            differences = [{"form": self.program.form(each).to_json()} for each in self.differences[k]]
        return {
            "stage": place.stage,
            "phase": place.phase,
            "layout": place.layout,
            "differences": differences,
            "facts": [fact.to_json() for fact in place.facts],
            "potential": potential.to_json() if potential.slopes else str(potential.at_zero),
        }


def _spent(place: Place) -> Form:
    return Form() if place.spent is None else place.spent
