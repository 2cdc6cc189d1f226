"""Re-proving an induction over the loop's steps: a certificate for every number of entries.

The loop's head is in one of finitely many configurations. Each says what of the state is discrete, and by how much the
numbers of the state differ between the two runs (the second one with moved noise): exactly, as a form in the entry
that differs, or (phase "free") by something in an interval. Every step moves its noise by a shift that hangs on the
data, the configuration and the step's label: how the step ends, what it draws, appends and puts out, and the discrete
part of the next state. It is shown that the second run has the same label, the same numbers in what is released, and
the differences of the next configuration. Labels and earlier noise being equal, earlier shifts are, so the map of the
noise is injective with determinant 1 (triangular, unit diagonal), whatever the number of steps. Potentials bound what
is still to be paid: cost of the step + potential afterwards <= potential before; at the start at most epsilon. They may
hang on the numbers of the first run's state, of which facts may be known (an invariant of the loop), and on the number
of entries N and of those left, r. Where noise has scales that are proportional to N, all costs are counted N times.

Phases. "answers": "locked". replace-one and add-remove: "before" the entry that differs both runs are the same;
"after" it entries are. In a second loop the entry differs once more, and "again" before it only entries are the same.
"done": after a break. With an event (a name of the state is set) runs are told apart by
the last step at which it happens: before it ("free") nothing is moved and the runs need not do the same; at it both
set the name; after it ("locked") neither does. So both runs have the same last step, and the map stays injective.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..cutting import real_runs
from ..cutting.cut import cut
from ..cutting.real_runs import same_outputs
from ..cutting.symbolic_comparison import BothReadings
from ..farkas import Prover
from ..forms import Form, Sign
from ..pairs import Data, Setting
from ..progress import Watch
from ..refusals import Refused
from .comparing import LEFT, Comparing, after, opened
from .configurations import (
    PERSISTENT,
    PHASES,
    START,
    Configuration,
    read_configuration,
    read_key,
    read_move,
)
from .real_steps import RealSteps
from .states import VECTOR, kinds, numbers_of
from .steps import LENGTH, Steps, Way
from .walk import BothRuns


def check_induction(
    document: Mapping[str, Any],
    function: Callable[..., Any],
    setting: Setting,
    budget: Fraction,
    watch: Watch | None = None,
    as_written: bool = True,
) -> tuple[int, int]:
    """Steps shown and runs compared. Raises Refused with the first thing that is not proved."""
    prover = Prover(watch)
    relation, names = setting.relation, PERSISTENT[setting.relation]
    made, event, scaled = cut(function, relation, setting.container), document["event"], document["scaled"]
    events = [[stage, name] for stage, loop in enumerate(made.loops) for name in loop.names]
    if event is not None and (relation != "answers" or event not in events):
        raise Refused("an event that the function does not have")
    if type(scaled) is not bool or (scaled and not made.sized):
        raise Refused("costs counted by a number of entries that the function does not ask for")
    watched = None if event is None else (int(event[0]), str(event[1]))
    wide, appended, counts = (frozenset(document[name]) for name in ("wide", "appended", "whole"))
    steps = RealSteps(made, wide, appended, counts, watched, as_written=as_written, prover=prover)
    made_of_entries = _made_of_entries(document["configurations"], steps, names, setting)
    names = names | made_of_entries.ends.keys()
    configurations = [read_configuration(entry, names) for entry in document["configurations"]]
    moves = {read_key(entry): read_move(entry, names) for entry in document["moves"]}
    whole = Form({LENGTH: budget}) if scaled else Form(None, budget)
    if setting.notion == "zcdp" and (scaled or event is not None):
        raise Refused("an induction on rho with an event, or with costs that are counted by entries")
    checking = _Checking(steps, setting, made_of_entries, prover, configurations, moves, whole, scaled)
    checking.start()
    for k, at in enumerate(configurations):
        checking.configuration(k, at)
    shown, runs = prover.steps, same_outputs(function, made, setting, made_of_entries.columns)
    BothReadings(function, made, setting, as_written, prover).compare(real_runs.larger_sizes(function))
    return shown, runs


def _made_of_entries(
    configurations: Sequence[Mapping[str, Any]], steps: Steps, names: set[str], setting: Setting
) -> Data:
    """What a step with an entry that differs computes of it alone: later ones may hang on that, too."""
    found = setting.data()
    differing = [entry for entry in configurations if entry["phase"] in ("before", "again")]
    for stage, text in sorted({(int(entry["stage"]), json.dumps(entry["layout"])) for entry in differing}):
        data, layout = setting.data(), json.loads(text)
        numbers = [Form.variable(f"s{i}") for i in range(len(kinds(layout)))]
        for name in sorted(names):
            steps.at(stage).step(layout, numbers, setting.entry(data, name), data)
        found.adopt(data, names)
    return found


class _Checking(Comparing):
    """Every configuration's steps."""

    def pair(self, both: BothRuns) -> None:
        at = None if both.k == START else self.configurations[both.k]
        potential = self.budget if at is None or at.phase == "before" else at.potential
        self.compared(both, potential, () if at is None else at.facts)

    def configuration(self, k: int, at: Configuration) -> None:
        """If it is one that there can be."""
        if at.phase not in PHASES[self.setting.relation] or not 0 <= at.stage < len(self.steps.cut.loops):
            raise Refused(f"a configuration of phase {at.phase!r}")
        if at.phase in ("before", "again") and (at.phase == "before") != (at.stage == 0):
            raise Refused("a first loop in which entries differ again, or a later one that nothing differs before")
        if at.phase == "free" and self.steps.at(at.stage).watched is None:
            raise Refused("a phase before an event, without one")
        super().configuration(k, at)

    def data(self, left: int) -> Data:
        """Of N entries at least so many are left, where costs hang on that."""
        data = super().data(left)
        if self.scaled:
            entries, remaining = self.steps.length(data), data.declare(LEFT, Fraction(left), None)
            data.facts.append(Sign(entries - remaining, False))
        return data

    def numbers(self, at: Configuration, data: Data) -> tuple[list[Form], list[Form]]:
        """The second run's differ as the configuration says."""
        self._sorted(at, data)
        here = [Form.variable(f"s{i}") for i in range(len(at.differences))]
        there = []
        for i, (number, difference) in enumerate(zip(here, at.differences, strict=True)):
            between = difference if isinstance(difference, Form) else data.declare(f"e{i}", *difference)
            there.append(number + between)
        return here, there

    def _sorted(self, at: Configuration, data: Data) -> None:
        """Records differ by records, numbers by numbers; facts and what is left to pay are about numbers."""
        records = data.vectors | numbers_of(at.layout, VECTOR)
        for i, difference in enumerate(at.differences):
            if f"s{i}" not in records:
                fits = not isinstance(difference, Form) or records.isdisjoint(difference.slopes)
            else:
                exact = isinstance(difference, Form) and not difference.at_zero
                fits = exact and difference.slopes.keys() <= data.vectors  # type: ignore[union-attr]
            if not fits:
                raise Refused("records that differ by numbers, or numbers by records")
        if any(not records.isdisjoint(form.slopes) for form in (at.potential, *(fact.form for fact in at.facts))):
            raise Refused("a fact or a potential that hangs on a record")

    def listed(self, ways: Sequence[Way], known: Sequence[Sign]) -> None:
        """Before the entry that differs a state is one that a configuration describes."""
        befores = [at for at in self.configurations if at.phase == "before"]
        for way in ways:
            here = [*known, *opened(way, way.tests)]
            described = [at for at in befores if at.layout == way.layout]
            if not any(all(self.prover.entails(here, after(fact, way)) for fact in at.facts) for at in described):
                raise Refused("a state of the loop that no configuration of phase 'before' describes")

    def again(self, at: Configuration, ones: Sequence[Way], others: Sequence[Way], data: Data) -> None:
        """They lead to such states again, that differ as little."""
        for one, other in itertools.product(ones, others):
            known = [*data.facts, *at.facts, *opened(one, one.tests), *opened(other, other.tests)]
            if self.prover.contradictory(known):
                continue
            following = [c for c in self.configurations if (c.phase, c.stage) == ("free", at.stage)]
            following = [c for c in following if c.layout == one.layout == other.layout]
            if not following:
                raise Refused("a free state that no configuration describes")
            self.affordable(known, at.potential, Form(), following[0], one, "last")
            self.differ(following[0], one.after, other.after, known)
