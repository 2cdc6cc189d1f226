"""The cut function, step by step on real numbers, puts out what the function itself does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..outputs import real_parts
from ..pairs import Setting
from ..real.numbers_in_code import marks
from ..real.recorded_noise import quietly, with_sampler
from ..real.runs import TOLERANCE, Real
from ..refusals import Refused
from .comparison_inputs import Entries
from .cut import BREAK, NEXT, Cut, cut

MOST = 6
LARGER = (40, 257)
LARGEST = 10_000
"""With LARGER, and with one entry more than each number in its code from MOST to below LARGEST, the function is run
once: the search looked at few entries only, and what does something else from some number of entries on is seen."""
Step = tuple[Callable[..., Any], Callable[..., Any]]
"""A loop's step, and what comes after the loop."""


def same_outputs(function: Any, made: Cut, setting: Setting, least_columns: int = 1) -> int:
    """How many runs of the function and of what it was cut into were compared. Raises Refused where the two differ."""
    tried, real, entries = 0, Real(function, setting.container), Entries(function, setting)
    source = _Source()
    fed = with_sampler(function, source.discrete_laplace)
    ways = fed, _by_steps(made if fed is function else cut(fed, setting.relation, setting.container))
    for size in [*range(MOST + 1), *larger_sizes(function)]:
        for trial, (draw, noise) in enumerate(entries.kinds() if size <= MOST else entries.kinds()[1:2]):
            columns = max(entries.chance.randint(1, 3), least_columns) if setting.container == "rows" else 1
            drawn: list[Any] = entries.records(draw, size, columns) if setting.order else draw(size)
            drawn = [int(each) for each in drawn] if setting.whole and draw != entries.plain else drawn
            one, other = (_run(way, source, real.held(drawn, columns), noise(trial)) for way in ways)
            if not size and setting.relation != "add-remove":
                continue  # no entries, no neighbours: functions may raise something else there
            if not _equal_but_for_rounding(one, other, float(np.max(np.abs(drawn), initial=1))):
                shown = drawn if size <= MOST else f"{size} entries"
                raise Refused(f"the function cut at its loop puts out something else on {shown}")
            tried += 1
    return tried


def larger_sizes(function: Any) -> list[int]:
    beyond = {int(mark) + 1 for mark in marks(function) if MOST <= mark < LARGEST}
    return sorted({*LARGER, *beyond})


class _Source:
    """Where dpcert's exact sampler, which takes no generator, draws from during a trial."""

    rng: np.random.Generator

    def discrete_laplace(self, scale: Any, source: Any = None) -> int:
        return int(self.rng.geometric(0.5) - self.rng.geometric(0.5))


def _run(function: Callable[..., Any], source: _Source, entries: Any, rng: np.random.Generator) -> Any:
    """The output as text, or the type of what it raises."""
    source.rng = rng
    try:
        return real_parts(quietly(function, entries, source.rng))
    except Exception as problem:
        return type(problem).__name__


def _equal_but_for_rounding(one: Any, other: Any, largest: float) -> bool:
    """Sums, also of squares, may be made in another order. largest: the largest magnitude of an entry."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        if len(one) == 2 and one[0] in ("float", "int") and other[0] in ("float", "int"):
            a, b = float(one[1]), float(other[1])
            near = TOLERANCE * (1 + abs(a) + abs(b)) + 1e-13 * largest**2
            return a == b or abs(a - b) <= near or (a != a and b != b)
        return all(_equal_but_for_rounding(a, b, largest) for a, b in zip(one, other, strict=True))
    return bool(one == other)


def _by_steps(made: Cut) -> Callable[..., Any]:
    loops = [loop.real for loop in made.loops]

    def chained(dataset: Any, rng: Any) -> Any:
        dimension = np.shape(dataset)[-1] if np.ndim(dataset) > 1 else None
        return by_steps(made.real_before, loops, dataset, dimension, rng)

    return chained


def by_steps(before: Callable[..., Any], loops: Sequence[Step], dataset: Any, dimension: Any, rng: Any) -> Any:
    """What the steps of a cut function put out, one after the other: each loop's step, and what comes after it."""
    length = len(dataset)
    _, state = before(length, dimension, rng)
    for step, after in loops:
        for index, entry in enumerate(dataset):
            control, state = step(state, index, entry, length, dimension, rng)
            if control not in (NEXT, BREAK):
                return state
            if control == BREAK:
                break
        control, state = after(state, length, dimension, rng)
        if control != NEXT:
            break
    return state
