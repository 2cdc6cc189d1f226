"""The recursion over a whole run: V at losses, from above and from below, round by round or in blocks.

A block of b rounds is a kernel like any other: with rho the masses of V_k, V_{k+b}(gamma) <= rho_inf + sum of rho_j
V_b(gamma e^{-x_j}) (docs/theory/fixed_cohorts.md, section 7). Phases are taken in their true order, the last one first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...mechanisms import Relation
from ...mechanisms.arrays import Floats
from ..bracket import OutOfReach
from ..losses.crossing import Excess, crossing, over
from ..pairs import Order
from ..rounding import PARAMETER, TARGET, UNIT, widened_down, widened_up
from .adaptive_choices import OFF_GRID, Attained, Places, merged, opposed_mixtures, remove_mixtures
from .cover import Box, Family, Inscribed, Opened
from .grid_layout import Effort, Layout, Phase, Progress, Window, back_to, finer
from .recursion import Rounds
from .round_profiles import remove_above

MOST_WORK = 1e10
"""Rounds times boxes times points beyond which a recursion would take more than some minutes."""


@dataclass(frozen=True, slots=True)
class Curve:
    """V at the losses of a grid, on one side; `drift`: how far the losses are off, downwards."""

    losses: Floats
    values: Floats
    drift: float = 0.0

    def epsilon_above(self, delta: float) -> float:
        """At least the smallest epsilon >= 0 with V <= delta: V is at most its chord, which is linear in e^epsilon."""
        least = widened_down(delta, TARGET)
        over = np.flatnonzero(self.values > least)
        last = int(over[-1]) if over.size else 0
        if last == self.values.size - 1:
            return math.inf
        fall = float(self.values[last] - self.values[last + 1])
        share = min(1.0, max(0.0, (float(self.values[last]) - least) / fall)) if fall > 0.0 else 1.0
        gap = math.expm1(float(self.losses[last + 1] - self.losses[last]))
        found = widened_up(float(self.losses[last]) + math.log1p(share * gap), 1e-14)
        return max(0.0, found)

    def epsilon_below(self, delta: float) -> float:
        """At most that epsilon: V falls."""
        over = np.flatnonzero(self.values > widened_up(delta, TARGET))
        return max(0.0, float(self.losses[over[-1]]) - self.drift) if over.size else 0.0

    def delta_above(self, epsilon: float) -> float:
        """At least V at epsilon: the value at the last grid point that is no larger."""
        at = int(np.searchsorted(self.losses, widened_down(epsilon, TARGET), side="right")) - 1
        return min(1.0, float(self.values[at])) if at >= 0 else 1.0

    def delta_below(self, epsilon: float) -> float:
        """At most V at epsilon: the value at the first grid point that is no smaller."""
        at = int(np.searchsorted(self.losses, widened_up(epsilon, TARGET) + self.drift))
        return max(0.0, float(self.values[at])) if at < self.values.size else 0.0


@dataclass(frozen=True)
class SolvedBlock:
    """A kernel of many rounds: what V_b exceeds (1 - gamma)_+ by, on its window.

    right: at least that at larger losses; left: at losses below the first of these two, at least the second one.
    """

    bump: Floats
    width: int
    right: float
    left: tuple[float, float]
    root: Box

    def kernel(self, box: Box) -> Floats:
        return self.bump

    def outside(self, tilt: float) -> tuple[float, float]:
        loss, most = self.left
        return self.right, most * math.exp(tilt * loss) * (1 + 1e-13)


@dataclass(frozen=True, slots=True)
class Stretch:
    """`count` rounds, each with `share` of the whole variance, after `done` of it; `open`: not all that is to come
    is known, as in a block that is used many times."""

    count: int
    share: float
    done: float
    epsilon: float
    variance: float
    open: bool

    def wanted(self, k: int, losses: Floats) -> tuple[Floats, float]:
        """Where V matters after k rounds, and how much of the excess one round may use."""
        at = self.done + (k + 0.5) * self.share
        left = 1.0 if self.open else max(1.0 - at, 0.0)
        spread = math.sqrt(self.variance * (at * left + self.share))
        weights = np.exp(-0.5 * ((losses - self.epsilon * at) / spread) ** 2) + 1e-30
        return weights / weights.sum(), self.share * 0.5 / math.sqrt(at)


@dataclass
class SolvedAbove:
    """From above: one run, one order of the neighbours."""

    layout: Layout
    relation: Relation
    order: Order
    effort: Effort
    progress: Progress

    def curve(self) -> Curve:
        """V at the end of the run."""
        layout, block = self.layout, self.effort.block
        tilt, total = layout.tilt, layout.variance
        in_blocks = layout.rounds > 1.5 * block
        halvings = round(math.log2(math.sqrt(block))) if in_blocks else 0
        step = finer(self.effort.step * math.sqrt(total / layout.rounds) * 2.0**halvings)
        window = layout.window(step)
        values, done = _nothing(window), 0.0
        for at in reversed(range(len(layout.phases))):
            phase, share = layout.phases[at], layout.shares[at]
            stretch = Stretch(phase.rounds, share / phase.rounds, done, layout.epsilon, total, False)
            if in_blocks:
                values = self._blocks(values, window, at, math.ldexp(step, -halvings))
            else:
                values = self._rounds(values, Rounds(self._family(phase, step), window, tilt), stretch, {})
            done += share
        return Curve(window.losses, values)

    def _rounds(self, values: Floats, rounds: Rounds, stretch: Stretch, after: dict[int, Floats]) -> Floats:
        """The rounds, with a new cover when their number has grown by half; V is kept where `after` has a place."""
        if (work := stretch.count * self.effort.boxes * rounds.size) > MOST_WORK:
            raise OutOfReach(f"{work:.0e} operations")
        boxes: list[Box] = []
        renewal = 0
        for k in range(stretch.count):
            if k >= renewal:
                weights, goal = stretch.wanted(k, rounds.window.losses)
                goal *= self.effort.excess * self.layout.epsilon * rounds.tilt
                boxes = rounds.cover(values, weights, goal, self.effort.boxes)
                renewal = max(k + 1, int(1.5 * k) if stretch.done == 0.0 else k + max(1, stretch.count // 8))
            values = rounds.advance(values, boxes)
            if k + 1 in after:
                after[k + 1] = values
            if k % 16 == 0:
                self.progress(stretch.done + stretch.share * k)
        return values

    def _blocks(self, values: Floats, window: Window, at: int, step: float) -> Floats:
        """The phase's rounds: the odd ones, then whole blocks, each by the kernel of its V."""
        layout = self.layout
        phase, share = layout.phases[at], layout.shares[at] / layout.phases[at].rounds
        whole = min(self.effort.block, phase.rounds)
        repeats, odd = divmod(phase.rounds, whole)
        top, bottom = layout.rare_loss(at, whole), back_to(share * whole, layout.epsilon, layout.variance)
        small = Window(step, -math.ceil(bottom / step) - 2, math.ceil(top / step) + 2)
        rounds = Rounds(self._family(phase, step), small, layout.tilt)
        after = dict.fromkeys((odd, whole), small.losses)
        self._rounds(_nothing(small), rounds, Stretch(whole, share, 0.0, layout.epsilon, layout.variance, True), after)
        for count, times in ((odd, 1), (whole, repeats)):
            if count:
                block = Rounds(self._block(after[count], small, window.step, rounds.family.root), window, layout.tilt)
                for _ in range(times):
                    values = block.advance(values, [block.family.root])
        return values

    @staticmethod
    def _block(values: Floats, window: Window, step: float, root: Box) -> SolvedBlock:
        """The values at the coarse grid's points, less (1 - gamma)_+, rounded up."""
        ratio = round(step / window.step)
        width = max(-window.first, window.last) // ratio
        places = np.arange(-width, width + 1) * ratio
        inside = (places >= window.first) & (places <= window.last)
        bump = np.zeros(places.size)
        chosen = values[places[inside] - window.first]
        base = np.maximum(-np.expm1(places[inside] * window.step), 0.0)
        bump[inside] = np.maximum(chosen - base, 0.0) + 1e-15 * base
        left = float(values[0]) + math.expm1(window.first * window.step) + 1e-15
        return SolvedBlock(bump, width, float(values[-1]), (window.first * window.step, left), root)

    def _family(self, phase: Phase, step: float) -> Family:
        root: Box = Inscribed() if self.relation == Relation.REPLACE_ONE else Opened(order=self.order)
        wanted = self.layout.delta * 1e-7 / self.layout.rounds

        def excess(edge: float) -> Excess:
            return Excess(over(float(remove_above(np.array([edge]), phase.rate, 2.0 * phase.shift)[0]), wanted))

        edge = crossing(excess, max(step, phase.shift), close=0.02)[1]
        return Family(phase.shift, phase.rate, root, step, math.ceil(edge / step))


def _nothing(window: Window) -> Floats:
    """V before any round, rounded up."""
    return np.asarray(np.maximum(-np.expm1(window.losses), 0.0) * (1 + 8 * UNIT))


def below(layout: Layout, relation: Relation, step: float, progress: Progress) -> Curve:
    """From below, of "remove": in each round the best of the merged attained pairs, given what was released so far."""
    step = finer(step * math.sqrt(layout.variance / layout.rounds))
    window = layout.window(step)
    state = Attained(window, layout.tilt)
    merges: dict[Phase, list[tuple[Places, Floats]]] = {}
    for phase in reversed(layout.phases):
        kernels = merges.setdefault(phase, _attained(phase, relation, step))
        for k in range(phase.rounds):
            state.advance(kernels)
            if k % 64 == 0:
                progress(k / phase.rounds)
    return Curve(window.losses, state.values, drift=1.01 * layout.rounds * OFF_GRID * step)


def _attained(phase: Phase, relation: Relation, step: float) -> list[tuple[Places, Floats]]:
    """Replace-one: "remove" and "add" with the largest move; zero-out: the opposed pair, and "add"."""
    shift, rate = widened_down(phase.shift, PARAMETER), widened_down(phase.rate, PARAMETER)
    if relation == Relation.REPLACE_ONE:
        pair = merged(remove_mixtures(rate, 2.0 * shift), step)
        return [pair.forward, pair.backward]
    opposed, alone = merged(opposed_mixtures(rate, shift), step), merged(remove_mixtures(rate, shift), step)
    return [opposed.forward, alone.backward]
