"""How far apart the numbers of two runs get where they are not kept together: intervals, widened until stable."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..checker.cutting.cut import NEXT
from ..checker.forms import Form, Sign
from ..checker.inductions.states import Layout
from ..checker.inductions.steps import Way
from ..solver import largest
from .loops import Loops, numbered

Interval = tuple[Fraction | None, Fraction | None]
ROUNDS = 4
"""Then an end that still moves is none."""
NOTHING: Interval = Fraction(0), Fraction(0)


def free_intervals(loops: Loops, starts: Sequence[Way]) -> list[tuple[Layout, tuple[Interval, ...]]]:
    """The layouts at the loop's head, each with intervals of the differences, when answers move by at most 1."""
    found: list[tuple[Layout, tuple[Interval, ...]]] = []
    for way in starts:
        _join(found, way.layout, tuple(NOTHING for _ in way.after), False)
    for turn in range(ROUNDS + len(found) + 4):
        former = list(found)
        for layout, intervals in former:
            for reached, differences in _stepped(loops, layout, intervals):
                _join(found, reached, differences, turn >= ROUNDS)
        if found == former:
            break
    return found


def _stepped(loops: Loops, layout: Layout, intervals: Sequence[Interval]) -> list[tuple[Layout, tuple[Interval, ...]]]:
    space, here = loops.space(), numbered(layout)
    x, moved = loops.setting.answer(space.data)
    there = [s + space.data.declare(f"e{i}", *ends) for i, (s, ends) in enumerate(zip(here, intervals, strict=True))]
    ones = loops.step(layout, here, x, space.data)
    others = loops.step(layout, there, moved, space.data)
    reached = []
    for one in ones:
        for other in others:
            inside = [Sign(test.form, True) for test in (*one.tests, *other.tests)]
            alike = one.control == other.control == NEXT and one.layout == other.layout
            if alike and space.possible(*inside):
                known = [*space.data.facts, *inside]
                gaps = [b - a for a, b in zip(one.after, other.after, strict=True)]
                reached.append((one.layout, tuple(_range(gap, known) for gap in gaps)))
    return reached


def _range(form: Form, known: Sequence[Sign]) -> Interval:
    """The least and the largest value of the form; None where there is none."""
    low = largest(-form, known)
    return None if low is None else -low, largest(form, known)


def _join(
    found: list[tuple[Layout, tuple[Interval, ...]]], layout: Layout, new: tuple[Interval, ...], widened: bool
) -> None:
    """Into what is known of the layout; widened: ends that move are gone."""
    for k, (known, old) in enumerate(found):
        if known == layout:
            found[k] = layout, tuple(_hull(a, b, widened) for a, b in zip(old, new, strict=True))
            return
    found.append((layout, new))


def _hull(old: Interval, new: Interval, widened: bool) -> Interval:
    low = old[0] if old[0] is None or (new[0] is not None and new[0] >= old[0]) else None if widened else new[0]
    high = old[1] if old[1] is None or (new[1] is not None and new[1] <= old[1]) else None if widened else new[1]
    return low, high
