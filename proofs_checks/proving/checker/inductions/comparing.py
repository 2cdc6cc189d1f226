"""One step of both runs: the second does the same with moved noise, and what that costs is paid from the potential."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..alignment_pieces import Piece
from ..costs import of_its_sort, step_cost
from ..farkas import Prover
from ..forms import Form, Sign
from ..noise import noise_of, smooth
from ..refusals import Refused
from .configurations import START, Configuration, Key, Move
from .states import WHOLE, numbers_of
from .steps import LENGTH, Way
from .walk import BothRuns, Walk

LEFT = "r"
"""How many entries are left, at a step with the one of the step."""
STEPS = ("entry", "differs", "removed", "added", "last")
"""How runs get on by an entry. Others are before or after a loop: then all N entries are left."""


@dataclass
class Comparing(Walk):
    """A certificate's configurations and moves. scaled: costs and potentials are counted N times."""

    prover: Prover
    configurations: list[Configuration]
    moves: Mapping[Key, Move]
    budget: Form
    scaled: bool
    fixed: dict[Any, Any] = field(default_factory=dict)
    """Of rho: what a step draws and how that is shifted, which must not hang on what comes of it."""

    def compared(self, both: BothRuns, potential: Form, facts: Sequence[Sign]) -> None:
        """Every way of the one run is followed by the other, with the shift that the certificate states for it."""
        place, there = (both.k, both.how), both.there
        whole = set() if both.k == START else numbers_of(self.configurations[both.k].layout, WHOLE)
        cells = {way.cell: [test for test in way.tests if test.name() in way.cell] for way in there}
        for way in both.meant:
            known = [*both.data.facts, *facts, *opened(way, way.tests)]
            known += tightened(known, whole)
            for cell, tests in cells.items():
                if self.prover.contradictory([*known, *tests]):
                    continue
                move = self.moves.get((*place, way.cell, cell, way.label))
                if move is None:
                    raise Refused(f"no move for the label {way.label}")
                noise = noise_of(way.draws, way.draws)
                if self.setting.notion == "zcdp" and self.fixed.setdefault((*place, way.cell, cell), noise) != noise:
                    raise Refused("a step that draws otherwise, by what it has drawn, in an induction on rho")
                shifts = noise_of(way.draws, move.shifts)
                if self.setting.notion == "zcdp" and not self._as_before((*place, way.cell, cell, "shifts"), shifts):
                    raise Refused("Gaussian noise is shifted otherwise, by what comes of it")
                others = [other for other in there if other.cell == cell]
                self._moved(both, [*known, *tests], potential, way, others, move)

    def _moved(
        self, both: BothRuns, known: list[Sign], potential: Form, way: Way, others: list[Way], move: Move
    ) -> None:
        piece, data = Piece(way.label, way.draws, (), (), move.shifts, ()), both.data
        to = self._target(way, move, both.allowed)
        of_its_sort(piece, data)
        paid = step_cost(self.prover, data, known, piece, move.bounds, self.scaled, self.setting.notion)
        self.affordable(known, potential, paid, to, way, both.how)
        if to is not None and not all(self.prover.entails(known, after(fact, way)) for fact in to.facts):
            raise Refused("a fact of the next configuration that need not be one")
        for other in others:
            tests = [Sign(piece.moved(test.form), test.strict) for test in other.tests]
            met = [*known, *opened(way, tests)]
            if self.prover.contradictory(met):
                continue
            if other.label != way.label or other.draws != way.draws:
                raise Refused(f"the other run may do {other.label} instead of {way.label}")
            self._equal(way.released, [piece.moved(form) for form in other.released], met)
            if to is not None:
                self.differ(to, way.after, [piece.moved(form) for form in other.after], met)

    def _as_before(self, key: Any, shifts: tuple[Form, ...]) -> bool:
        """Whether the shifts are those that were met with this key."""
        former = self.fixed.setdefault(key, shifts)
        return len(former) == len(shifts) and all(a.same(b) for a, b in zip(former, shifts, strict=True))

    def _target(self, way: Way, move: Move, allowed: Mapping[str, tuple[int, str]]) -> Configuration | None:
        """The configuration that the move leads to, if it is one that fits."""
        if way.control not in allowed:
            if move.to is not None:
                raise Refused("a move beyond the output")
            return None
        if type(move.to) is not int or not 0 <= move.to < len(self.configurations):
            raise Refused("a move to nowhere")
        to = self.configurations[move.to]
        if (to.stage, to.phase) != allowed[way.control] or to.layout != way.layout:
            raise Refused("a move to a configuration that describes another state")
        return to

    def affordable(
        self, known: list[Sign], potential: Form, paid: Form, to: Configuration | None, way: Way, how: str
    ) -> None:
        """What is paid, and what is left to pay after it, is at most the potential."""
        more = Form()
        if to is not None:
            remaining = Form.variable(LEFT) - 1 if how in STEPS else Form.variable(LENGTH)
            more = to.potential.inserted({LEFT: remaining, **_numbered(way.after)})
        if not self.prover.entails(known, Sign(potential - paid - more, False)):
            raise Refused(f"a step that costs {paid.name()}, where {(potential - more).name()} is left")

    def _equal(self, ones: Sequence[Form], others: Sequence[Form], known: list[Sign]) -> None:
        for one, other in zip(ones, others, strict=True):
            if not all(self.prover.entails(known, Sign(side, False)) for side in (one - other, other - one)):
                raise Refused("a released number changes")

    def differ(self, to: Configuration, ones: Sequence[Form], others: Sequence[Form], known: list[Sign]) -> None:
        """The states' numbers differ as the configuration says."""
        for one, other, difference in zip(ones, others, to.differences, strict=True):
            gap = other - one
            low, high = (difference, difference) if isinstance(difference, Form) else difference
            sides = ([] if low is None else [gap - low]) + ([] if high is None else [-gap + high])
            if not all(self.prover.entails(known, Sign(side, False)) for side in sides):
                raise Refused("states that differ otherwise than their configuration says")


def opened(way: Way, tests: Iterable[Sign]) -> list[Sign]:
    """Tests on continuous noise as strict ones: equality is a null set, and shifting keeps null sets."""
    return [Sign(test.form, test.strict or smooth(test.form, way.draws)) for test in tests]


def tightened(signs: Iterable[Sign], whole: Container[str]) -> list[Sign]:
    """A whole number above 0 is at least 1: what follows so from the signs."""
    found = []
    for sign in signs:
        parts = [sign.form.at_zero, *sign.form.slopes.values()]
        integral = all(part.denominator == 1 for part in parts) and all(name in whole for name in sign.form.slopes)
        if sign.strict and integral and sign.form.slopes:
            found.append(Sign(sign.form - 1, False))
    return found


def _numbered(numbers: Sequence[Form]) -> dict[str, Form]:
    return {f"s{i}": number for i, number in enumerate(numbers)}


def after(fact: Sign, way: Way) -> Sign:
    """What the fact says of the state after the way."""
    return Sign(fact.form.inserted(_numbered(way.after)), fact.strict)
