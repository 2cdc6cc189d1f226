"""Small worlds of mechanisms around each other around additive noise: who is in which release, drawn as described.

A run is read off its description: every release has a cohort, and noise; in a Disjoint run a unit's data enter one part
only. Then federation.py compares what neighbours' worlds show, as it does for the worlds of one scheme.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import federation as fed
from judging import RESOLVED
from sides import ONE, ZERO, Contribution, Side, constant

from dpcert.accounting import Bracket, epsilon
from dpcert.mechanisms import (
    Cyclic,
    DiscreteGaussian,
    DiscreteLaplace,
    Disjoint,
    DistributedDiscreteGaussian,
    DistributedGaussian,
    FixedSize,
    Gaussian,
    Group,
    Laplace,
    Mechanism,
    Poisson,
    RandomAllocation,
    Repeat,
    Sequence,
    Shuffled,
    Skellam,
    TruncatedPoisson,
    VisibleParticipation,
)

RELATIONS = ("add-remove", "zero-out", "replace-one")
VIEWS = ("hidden", "visible", "pooled")
KINDS = ("Group", "Disjoint", "Sequence", "Poisson", "TruncatedPoisson", "FixedSize", "Shuffled", "Cyclic")
KINDS += ("RandomAllocation", "VisibleParticipation", "Repeat")
AROUND = list(itertools.product(KINDS, repeat=2))
NOISES = ("discrete-laplace", "discrete-gaussian", "gaussian", "laplace", "distributed", "skellam", "shares")
LAWS = {"distributed": "gaussian", "shares": "discrete-gaussian"}
BROUGHT = ("distributed", "skellam", "shares")
CONTINUOUS = ("gaussian", "laplace", "distributed")
FEWEST = {"Poisson": 2, "FixedSize": 3, "TruncatedPoisson": 3, "Shuffled": 4, "RandomAllocation": 2}
"""By scheme that draws lots, how many clients its lots are about."""

TWICE = ("Disjoint", "Sequence", "Repeat", "Cyclic", "Shuffled", "RandomAllocation")
"""Around what each number is released twice."""

ALIKE = ((ZERO,), (-ONE,))
"""What everybody else may send; the unit sends 1 or -1, and everything may be mirrored."""

Parted = tuple[tuple[Contribution | None, ...], ...]
"""By unit of a group, and by Disjoint part, what it sends there."""


@dataclass(frozen=True)
class Nested:
    """around: kinds from the outermost one in, the noise in the innermost."""

    around: tuple[str, ...]
    noise: str
    relation: str
    sees: str
    delta: float = 0.1

    @property
    def scale(self) -> float:
        """Of the noise: of four numbers on the integers there are fewer with less of it."""
        return 0.5 if sum(name in TWICE for name in self.around) == 2 else 1.0

    @property
    def units(self) -> int:
        """In which neighbours differ."""
        return int(2 ** self.around.count("Group"))

    @property
    def has_lots(self) -> bool:
        """Whether cohorts are drawn."""
        return any(name in FEWEST for name in self.around)

    @property
    def clients(self) -> int:
        """Enough that every lot is about some others, and every group has a neighbour."""
        fewest = max((FEWEST.get(name, 1) for name in self.around), default=1)
        needed = max(fewest, self.units + (self.noise in BROUGHT and not self.has_lots))
        return int(needed * 2 ** self.around.count("Cyclic"))

    @cached_property
    def run(self) -> Mechanism:
        """What the product is told."""
        return self._around(self.around, self.clients)

    @property
    def is_small(self) -> bool:
        """Of continuous noise behind lots, of Laplace's law and of sums of shares, two numbers at most that tell
        anything: more of them are rounds of such runs, or on the integers. InputError for what is no description."""
        numbers = releases(self.run)
        telling = numbers // 2 ** self.around.count("Cyclic")
        if self.noise in CONTINUOUS and self.has_lots and numbers > 2:
            return False
        return telling <= 2 or self.noise not in ("laplace", "skellam", "shares")

    @property
    def is_solved(self) -> bool:
        """Whether the interval is of data that follow what was released before: adaptive_cohorts.py."""
        follows = self.around in (("Sequence", "FixedSize"), ("Repeat", "FixedSize"))
        hidden = self.sees == "hidden" and self.relation != "add-remove"
        return follows and hidden and LAWS.get(self.noise, self.noise) == "gaussian"

    def _around(self, names: tuple[str, ...], members: int) -> Mechanism:
        """members: how many clients this may be about."""
        if not names:
            return self._noise(1 if "VisibleParticipation" in self.around else members)
        name, rest = names[0], names[1:]
        inside = {"Cyclic": members // 2, "Shuffled": members // 2, "FixedSize": 1, "TruncatedPoisson": 1}
        inner = self._around(rest, inside.get(name, members))
        made: dict[str, Callable[[], Mechanism]] = {
            "Group": lambda: Group(inner, 2),
            "Sequence": lambda: Sequence(inner, inner),
            "Repeat": lambda: Repeat(inner, 2),
            "Disjoint": lambda: Disjoint(inner, inner),
            "Cyclic": lambda: Cyclic(inner, 2),
            "VisibleParticipation": lambda: VisibleParticipation(inner),  # type: ignore[arg-type]
            "Poisson": lambda: Poisson(inner, 0.5),
            "TruncatedPoisson": lambda: TruncatedPoisson(inner, 0.5, members, 1),
            "FixedSize": lambda: FixedSize(inner, members, 1),
            "Shuffled": lambda: Shuffled(inner, 2),
            "RandomAllocation": lambda: RandomAllocation(inner, 2, 1),
        }
        return made[name]()

    def _noise(self, together: int) -> Mechanism:
        kinds = {"gaussian": Gaussian, "laplace": Laplace, "discrete-gaussian": DiscreteGaussian}
        kinds["discrete-laplace"] = DiscreteLaplace
        if self.noise in kinds:
            return kinds[self.noise](self.scale)
        if self.noise == "skellam":
            return Skellam(self.scale**2 * together, 1.0, 1)
        if self.noise == "shares":
            return DistributedDiscreteGaussian(self.scale, together, 1.0, 1)
        return DistributedGaussian(self.scale * math.sqrt(together))

    def ask(self) -> Bracket:
        """The product's answer; InputError where it refuses."""
        if self.sees == "visible":
            return epsilon(self.run, self.delta, self.relation, participation="visible")
        return epsilon(self.run, self.delta, self.relation, notion="billboard" if self.sees == "pooled" else "dp")

    def setting(self) -> fed.Setting:
        """The oracle's. In every Disjoint part everybody has a name of their own."""
        blocks = range(0, self.clients * parts(self.run), self.clients)
        others = tuple(at + i for at in blocks for i in range(self.units, self.clients))
        sees = {"hidden": "release", "visible": "unit", "pooled": "coalition"}[self.sees]
        colluders = others if self.sees == "pooled" else ()
        if "VisibleParticipation" in self.around:
            sees = "coalition with unit" if colluders else "unit"
            if self.noise in BROUGHT:  # the others may subtract theirs
                sees, colluders = "coalition with unit", others
        brought, law = self.noise in BROUGHT, LAWS.get(self.noise, self.noise)
        slots = [tuple(range(at, at + self.clients)) for at in blocks]
        return fed.Setting(
            lambda there: drawn(self.run, slots, there),
            self._variance(),
            None,
            brought,
            law,
            sees,
            colluders,
            tuple(blocks),
        )  # type: ignore[arg-type]

    def _variance(self) -> Fraction:
        """Of what is drawn: of one client's share, or of all the noise."""
        base = innermost(self.run)
        if isinstance(base, DistributedGaussian):
            return Fraction(base.noise_multiplier) ** 2 / round((base.noise_multiplier / self.scale) ** 2)
        return Fraction(self.scale) ** 2

    def pairs(self) -> Iterator[tuple[Side, Side]]:
        """Neighbours: all units of the group alike, or two that differ, also in their parts; everybody else alike."""
        one = list(self._units())
        groups = itertools.product(one, repeat=2) if self.units == 2 else ((each,) * self.units for each in one)
        together = list(groups)
        absent = ((None,) * parts(self.run),) * self.units
        for rest in map(constant, ALIKE if self.has_lots else ALIKE[:1]):
            for at, group in enumerate(together):
                if self.relation == "add-remove":
                    yield self._sides(group, absent, rest)
                elif self.relation == "zero-out":
                    zeros = tuple(tuple(block and zero for block in blocks) for blocks in group)
                    yield self._sides(group, zeros, rest)
                else:
                    yield from (self._sides(group, other, rest) for other in together[:at])

    def _units(self) -> Iterator[tuple[Contribution | None, ...]]:
        """By Disjoint part what a unit sends there: 1 or -1, or by turns, in the parts that it may be in at once."""
        signs = [constant((ONE,)), constant((-ONE,))]
        if self.units < 4 and releases(self.run) > 1:
            signs += [lambda release, taken: (ONE if release % 2 else -ONE,)]
        if self.relation == "replace-one":
            signs += [zero]
        for mask in entered(self.run):
            for sign in signs:
                yield tuple(sign if inside else None for inside in mask)

    def _sides(self, one: Parted, other: Parted, rest: Contribution) -> tuple[Side, Side]:
        """In a part that no unit of the group is in everybody sends nothing: it says nothing, whatever they send."""
        sides: tuple[list[Contribution | None], list[Contribution | None]] = [], []
        for blocks in zip(zip(*one, strict=True), zip(*other, strict=True), strict=True):
            concerned = any(block != (None,) * self.units for block in blocks)
            for side, block in zip(sides, blocks, strict=True):
                side += [*block, *[rest if concerned else zero] * (self.clients - self.units)]
        return tuple(sides[0]), tuple(sides[1])

    def most(self, epsilon: float, decided: fed.Decided = lambda low, high: False, *, extreme: bool = True) -> fed.Ends:
        """Ends of the largest divergence."""
        return fed.most(self.setting(), self.pairs(), epsilon, RESOLVED * self.delta, decided)


zero = constant((ZERO,))


def innermost(run: Mechanism) -> Mechanism:
    while inner := getattr(run, "mechanism", None) or getattr(run, "mechanisms", (None,))[0]:
        run = inner
    return run


def parts_of(run: Mechanism) -> list[Mechanism]:
    """What is released one after the other, with cohorts drawn independently."""
    return [run.mechanism] * run.rounds if isinstance(run, Repeat) else list(run.mechanisms)  # type: ignore[attr-defined]


def releases(run: Mechanism) -> int:
    """How many numbers are released."""
    if isinstance(run, Repeat | Sequence | Disjoint):
        return sum(map(releases, parts_of(run)))
    if isinstance(run, Cyclic | Shuffled | RandomAllocation):
        return 2 * releases(run.mechanism)
    return releases(run.mechanism) if hasattr(run, "mechanism") else 1


def parts(run: Mechanism) -> int:
    """Of how many populations: Disjoint parts, wherever they are."""
    if isinstance(run, Disjoint):
        return len(run.mechanisms)
    if isinstance(run, Repeat | Sequence):
        inner = parts_of(run)
        return sum(map(parts, inner)) if parts(inner[0]) > 1 else 1
    return parts(run.mechanism) if hasattr(run, "mechanism") else 1


def entered(run: Mechanism) -> list[tuple[bool, ...]]:
    """By part whether a unit is in it: of Disjoint ones in one."""
    if isinstance(run, Disjoint):
        return [tuple(at == chosen for at in range(len(run.mechanisms))) for chosen in range(len(run.mechanisms))]
    if isinstance(run, Repeat | Sequence) and parts(run) > 1:
        return [sum(masks, ()) for masks in itertools.product(*map(entered, parts_of(run)))]
    return entered(run.mechanism) if hasattr(run, "mechanism") else [(True,)]


def drawn(run: Mechanism, slots: list[fed.Cohort], there: fed.Cohort) -> fed.Drawn:
    """Cohorts of all releases. slots: by part whoever may be in it; a public schedule is about them."""
    if isinstance(run, Repeat | Sequence | Disjoint):
        inner = parts_of(run)
        each = len(slots) // len(inner)
        shares = [slots[at * each : at * each + each] for at in range(len(inner))] if each else [slots] * len(inner)
        return independent([drawn(part, own, there) for part, own in zip(inner, shares, strict=True)])
    if isinstance(run, Cyclic):  # of every population one half in each batch
        halves = [(own[: len(own) // 2], own[len(own) // 2 :]) for own in slots]
        return independent([drawn(run.mechanism, list(batch), there) for batch in zip(*halves, strict=True)])
    (own,) = slots
    present = tuple(i for i in there if i in own)
    lots: fed.Drawn | None = None
    if isinstance(run, Poisson):
        lots = fed.poisson(1, Fraction(run.sampling_rate))(present)
    elif isinstance(run, TruncatedPoisson):
        lots = fed.poisson(1, Fraction(run.sampling_rate), run.max_cohort)(present)
    elif isinstance(run, FixedSize):
        lots = fed.fixed_size(1, run.cohort)(present)
    elif isinstance(run, Shuffled):
        lots = fed.shuffled(2)(present)
    elif isinstance(run, RandomAllocation):
        lots = fed.allocated(2)(present)
    if lots is not None:
        inside = ((p, independent([drawn(run.mechanism, [c], c) for c in cohorts])) for p, cohorts in lots)  # type: ignore[attr-defined]
        return merged((p * each, coins) for p, within in inside for each, coins in within)
    return drawn(run.mechanism, slots, there) if hasattr(run, "mechanism") else [(ONE, (present,))]


def independent(lots: list[fed.Drawn]) -> fed.Drawn:
    """One after the other."""
    return [
        (math.prod((p for p, _ in one), start=Fraction(1)), sum((coins for _, coins in one), ()))
        for one in itertools.product(*lots)
    ]


def merged(draws: Iterator[tuple[Fraction, fed.Coins]]) -> fed.Drawn:
    found: dict[fed.Coins, Fraction] = {}
    for p, coins in draws:
        found[coins] = found.get(coins, Fraction(0)) + p
    return [(p, coins) for coins, p in found.items()]
