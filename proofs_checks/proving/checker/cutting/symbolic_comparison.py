"""With few entries what a function was cut into has the ways that the function itself has, whatever the numbers are.

Both are followed on the same symbols. Wherever a way through the one may meet a way through the other, the same is
drawn, the outputs have the same discrete part, and their numbers are shown to be equal. Real runs see single points
only, but of more entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..farkas import Prover
from ..forms import Form, Sign
from ..language.calls import called
from ..language.values import Dimension, Generator, Vector
from ..noise import smooth
from ..outputs import key_of
from ..pairs import Data, Setting
from ..refusals import Raises, Refused, TooManyWays
from ..runs import Leaf, Node, explored, leaves, reached, tree
from ..tracer import Tracer
from .cut import Cut
from .real_runs import by_steps

FEW, LARGEST = (2, 3), 64
"""With these numbers of entries; and, where three have as many ways as two, with larger ones up to so many."""
MOST = 100
"""So many ways are followed at most."""


@dataclass(frozen=True)
class BothReadings:
    """A function, and what it was cut into. as_written: see exact_numbers.py."""

    function: Callable[..., Any]
    made: Cut
    setting: Setting
    as_written: bool
    prover: Prover

    def compare(self, larger: Iterable[int]) -> int:
        """How many pairs of ways were compared. larger: numbers of entries. Raises Refused where they differ."""
        counts = [self._of_size(size) for size in FEW]
        more = [size for size in larger if size <= LARGEST] if counts[-1] == counts[-2] > 0 else []
        return sum(counts) + sum(map(self._of_size, more))

    def _of_size(self, size: int) -> int:
        """0 where one of the two cannot be followed."""
        setting, data = self.setting, self.setting.data(True)
        answers = setting.relation == "answers"
        entries = [setting.answer(data, i)[0] if answers else setting.entry(data, f"x{i}") for i in range(size)]
        try:
            steps = explored(_run(self.made, entries, data), data, self.prover, self.as_written, most=MOST)
            itself = tree(self.function, entries, data, self.prover, setting.container, self.as_written, MOST)
        except (TooManyWays, Raises):  # an exception of the function's own: real runs compare that
            return 0
        return sum(self._compared(leaf, steps, data) for leaf in leaves(itself))

    def _compared(self, leaf: Leaf, steps: Node, data: Data) -> int:
        """How many ways of the steps this way of the function may meet, other than with probability 0."""
        met = 0
        known = [Sign(test.form, test.strict or smooth(test.form, leaf.draws)) for test in leaf.tests]
        for other, more in reached(steps, [*data.facts, *known], self.prover):
            met += 1
            if (other.key, other.draws) != (leaf.key, leaf.draws):
                raise Refused(f"the function cut at its loop puts out {other.key}, or draws otherwise, not {leaf.key}")
            for one, two in zip(leaf.reals, other.reals, strict=True):
                if not (one.same(two) or self._equal(one, two, more)):
                    raise Refused(f"the function cut at its loop puts out another number where it is {leaf.key}")
        return met

    def _equal(self, one: Form, two: Form, known: list[Sign]) -> bool:
        return all(self.prover.entails(known, Sign(side, False)) for side in (one - two, two - one))


def _run(made: Cut, entries: list[Form], data: Data) -> Callable[[Tracer], tuple[str, list[Form]]]:
    """The cut function in the language, step by step."""
    held = [Vector(entry, True) for entry in entries] if data.order else entries
    dimension = Dimension() if data.order else None

    def followed(function: Any) -> Callable[..., Any]:
        return lambda *given: called(function, list(given), {})

    loops = [(followed(loop.step), followed(loop.after)) for loop in made.loops]
    return lambda _: key_of(by_steps(followed(made.before), loops, held, dimension, Generator()))
