"""The ways in which neighbours' data may enter a run: one, unless some of its releases are Disjoint or histograms.

What a run with Disjoint releases reveals is the largest over its ways; each way is an ordinary composition. Under
replace-one the data that a unit had leave up to at_most parts, and those that it has now enter as many: a part in both
is one round of the relation, the others are rounds that the unit leaves (add-remove) or enters (the same in the other
order). Proof: docs/theory/dominating_pairs.md, "Disjoint releases". Of a histogram's groups a unit may be alone in any
number (stable_histogram.py).
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement, product
from math import comb, prod

from ...mechanisms import BestOfSeveral, Disjoint, Group, Mechanism, StableHistogram, rounds_by_step
from ...mechanisms.neighbours import Relation
from ...mechanisms.validate import InputError
from .change import Change, NeighbourCase
from .local_randomisers import LocalRandomiser
from .stable_histogram import groups_of

_Counts = Counter[tuple[Mechanism, Change]]

_MOST = 512
"""Ways beyond which a run is refused: each is asked for by itself."""


def neighbour_cases(run: Mechanism, relation: Relation) -> tuple[NeighbourCase, ...]:
    """All ways of a run. Raises InputError where there are too many of them, or a group is in Disjoint releases."""
    fixed: _Counts = Counter()
    choices: list[list[_Counts]] = []
    for step, rounds in rounds_by_step(run).items():
        if isinstance(step, StableHistogram):
            choices.append([Counter(counts) for counts in groups_of(step, rounds, relation)])
        elif isinstance(step, Disjoint):
            options = _options(step, relation)
            if comb(len(options) + rounds - 1, rounds) > _MOST:
                raise _too_many(step)
            picked = combinations_with_replacement(range(len(options)), rounds) if len(options) > 1 else ()
            choices.append([_sum(Counter(picks), options) for picks in picked] or [_times(options[0], rounds)])
        else:
            _refuse_histogram_inside(step)
            fixed.update(_reports(step, rounds))
    if not choices:
        return (dict(fixed),)
    if prod(map(len, choices)) > _MOST:
        raise _too_many(run)
    return tuple(dict(sum(picks, fixed)) for picks in product(*choices))


def _refuse_histogram_inside(step: Mechanism) -> None:
    """Which of its groups a unit is alone in is for the run's ways; inside of another scheme nothing would ask."""
    inner = getattr(step, "mechanism", None)
    while isinstance(inner, Mechanism) and not isinstance(step, BestOfSeveral | Group):
        if isinstance(inner, StableHistogram):
            raise InputError("mechanism", step, "StableHistogram by itself, in a Repeat or a Sequence")
        step, inner = inner, getattr(inner, "mechanism", None)


def _times(option: _Counts, rounds: int) -> _Counts:
    return Counter({step: rounds * times for step, times in option.items()})


def _sum(picks: Counter[int], options: list[_Counts]) -> _Counts:
    return sum((_times(options[at], rounds) for at, rounds in picks.items()), _Counts())


def _reports(step: Mechanism, rounds: int) -> NeighbourCase:
    """Each unit of a group that reports for itself makes a report of its own."""
    if isinstance(step, Group) and isinstance(step.mechanism, Disjoint):
        raise InputError("mechanism", step, "Disjoint(Group(...), ...): groups inside of the parts")
    if isinstance(step, Group) and isinstance(step.mechanism, StableHistogram):
        raise InputError(
            "mechanism", step, "a histogram of single units: what a group adds to a new group is not priced"
        )
    if isinstance(step, Group) and isinstance(step.mechanism, LocalRandomiser):
        return {(step.mechanism, Change.STAYS): rounds * step.units}
    return {(step, Change.STAYS): rounds}


def _options(step: Disjoint, relation: Relation) -> list[_Counts]:
    """What one round of Disjoint releases is to the unit, each distinct one once."""
    if any(isinstance(inner, Disjoint | StableHistogram) for part in step.mechanisms for inner in rounds_by_step(part)):
        raise InputError("mechanisms", step, "parts that are not Disjoint themselves, nor histograms")
    parts = range(len(step.mechanisms))
    subsets = list(combinations(parts, step.at_most))
    if len(subsets) ** (2 if relation == Relation.REPLACE_ONE else 1) > 100 * _MOST:
        raise _too_many(step)
    pairs = product(subsets, subsets) if relation == Relation.REPLACE_ONE else ((chosen, chosen) for chosen in subsets)
    found = {}
    for before, after in pairs:
        case: _Counts = Counter()
        for part in set(before) | set(after):
            gone = Change.LEAVES if part in before else Change.ENTERS
            change = Change.STAYS if part in before and part in after else gone
            for inner, rounds in rounds_by_step(step.mechanisms[part]).items():
                _refuse_histogram_inside(inner)
                for (base, _), times in _reports(inner, rounds).items():
                    case[base, change] += times
        found[frozenset(case.items())] = case
    return list(found.values())


def _too_many(run: Mechanism) -> InputError:
    return InputError("run", run, f"fewer kinds of Disjoint releases: at most {_MOST} ways in which a unit is in them")
