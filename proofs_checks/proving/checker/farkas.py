"""Contradictions between linear inequalities, shown by exact multipliers (Farkas' lemma; Schrijver 1986, section 7.3).

Multipliers m >= 0 with sum of m * form = c, c < 0, or c = 0 with a strict inequality among those used, leave no point
at which every form is >= 0 (> 0 where strict). z3 names a few inequalities that contradict each other; the
multipliers are then found and verified in fractions, so that nothing rests on z3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import z3
from scipy.optimize import linprog

from .forms import Form, Sign
from .inequalities import Inequalities
from .progress import Watch


class Prover:
    """Refutes sets of inequalities; keeps what z3 has seen."""

    def __init__(self, watch: Watch | None = None) -> None:
        self._watch = watch or Watch()
        self._asked = Inequalities()
        self.steps = 0
        """How many contradictions were shown by multipliers."""

    def contradictory(self, signs: Iterable[Sign]) -> bool:
        """Whether multipliers show that the inequalities cannot hold together. False proves nothing."""
        self._watch.go_on()
        listed = []
        met: dict[Any, Sign] = {}
        for sign in signs:
            if not sign.form.slopes:
                if not sign.decided():
                    return True
                continue
            opposite = met.get(sign.opposite_key())
            if opposite is not None and valid([sign, opposite], [Fraction(1), Fraction(1)]):
                self.steps += 1
                return True
            met[sign.key()] = sign
            listed.append(sign)
        if self._asked.hold(listed) != z3.unsat:
            return False
        shown = multipliers(self._asked.contradiction()) is not None
        self.steps += shown
        return shown

    def entails(self, premises: Sequence[Sign], conclusion: Sign) -> bool:
        """Whether multipliers show the conclusion from the premises."""
        decided = conclusion.decided()
        if decided is not None:
            return decided or self.contradictory(premises)
        wanted = conclusion.form
        for premise in premises:  # the same inequality, or a stronger one
            if premise.form.slopes == wanted.slopes and (
                premise.form.at_zero < wanted.at_zero
                or (premise.form.at_zero == wanted.at_zero and (premise.strict or not conclusion.strict))
            ):
                return True
        return self.contradictory([*premises, conclusion.negation()])

    def covered(self, known: Sequence[Sign], parts: Sequence[Sequence[Sign]]) -> bool:
        """Whether every point at which the known signs hold lies in one of the parts, each of which is where its signs
        hold. A part that has the negation of a known sign is elsewhere: that is quick to see."""
        if self.contradictory(known):
            return True
        if not parts:
            return False
        met, (part, *rest), inside = {sign.key() for sign in known}, parts, list(known)
        if not met.isdisjoint(sign.opposite_key() for sign in part):
            return self.covered(known, rest)
        for sign in part:
            if not self.entails(inside, sign):
                if not self.covered([*inside, sign.negation()], rest):
                    return False
                inside.append(sign)
        return True

    def possible(self, signs: Iterable[Sign]) -> bool:
        """Whether z3 finds no contradiction; for a search only."""
        listed = list(signs)
        if any(sign.decided() is False for sign in listed):
            return False
        return bool(self._asked.hold([sign for sign in listed if sign.form.slopes]) != z3.unsat)

    def point(self, signs: Iterable[Sign]) -> dict[str, Fraction] | None:
        """A point at which they hold, as z3 has it; for trying out only."""
        listed = [sign for sign in signs if sign.form.slopes]
        if self._asked.hold(listed) != z3.sat:
            return None
        return self._asked.values(sorted({name for sign in listed for name in sign.form.slopes}))


def multipliers(signs: Sequence[Sign]) -> list[Fraction] | None:
    """Multipliers that show the contradiction, verified; or None."""
    for chosen in _chosen(signs):
        solution = _kernel([signs[i].form for i in chosen])
        if solution is None:
            continue
        for factor in (Fraction(1), Fraction(-1)):
            found = [Fraction(0)] * len(signs)
            for i, value in zip(chosen, solution, strict=True):
                found[i] = value * factor
            if valid(signs, found):
                return found
    return None


def _chosen(signs: Sequence[Sign]) -> Iterator[list[int]]:
    """Which inequalities to combine: all; else, which takes longer, those that a linear program says."""
    yield list(range(len(signs)))
    yield _support(signs)


def valid(signs: Sequence[Sign], found: Sequence[Fraction]) -> bool:
    """The whole of what has to be trusted: do these multipliers show the contradiction?"""
    if any(value < 0 for value in found):
        return False
    total = Form()
    for sign, value in zip(signs, found, strict=True):
        total = total.plus(sign.form, value)
    used = any(sign.strict and value > 0 for sign, value in zip(signs, found, strict=True))
    return not total.slopes and (total.at_zero < 0 or (total.at_zero == 0 and used))


def _kernel(forms: Sequence[Form]) -> list[Fraction] | None:
    """The one solution, up to a factor, of sum m * slopes = 0; None where there is none or more than one."""
    names = sorted({name for form in forms for name in form.slopes})
    rows = [[form.slopes.get(name, Fraction(0)) for form in forms] for name in names]
    pivots: list[int] = []
    for column in range(len(forms)):
        at = len(pivots)
        found = next((r for r in range(at, len(rows)) if rows[r][column]), None)
        if found is None:
            continue
        rows[at], rows[found] = rows[found], rows[at]
        lead = rows[at][column]
        rows[at] = [value / lead for value in rows[at]]
        for r in range(len(rows)):
            if r != at and rows[r][column]:
                factor = rows[r][column]
                rows[r] = [a - factor * b if b else a for a, b in zip(rows[r], rows[at], strict=True)]
        pivots.append(column)
    free = [column for column in range(len(forms)) if column not in pivots]
    if len(free) != 1:
        return None
    solution = [Fraction(0)] * len(forms)
    solution[free[0]] = Fraction(1)
    for r, column in enumerate(pivots):
        solution[column] = -rows[r][free[0]]
    return solution


def _support(signs: Sequence[Sign]) -> list[int]:
    """Which inequalities a basic solution uses, in floating point."""
    names = sorted({name for sign in signs for name in sign.form.slopes})
    slopes = np.array([[float(sign.form.slopes.get(name, 0)) for sign in signs] for name in names])
    constants = np.array([float(sign.form.at_zero) for sign in signs])
    total = np.ones((1, len(signs)))
    matrix, right = np.vstack([slopes, total]), np.append(np.zeros(len(names)), 1.0)
    got = linprog(constants, A_eq=matrix, b_eq=right, bounds=(0, None), method="highs-ds")
    return [] if got.status != 0 else [i for i, value in enumerate(got.x) if value > 1e-12]
