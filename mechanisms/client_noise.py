"""Noise that the units of a round bring themselves, in shares: how much there is depends on who is there.

A unit that is absent takes its share away, so under add-remove the two laws differ in their noise too. In one dimension
N(1, n) against N(0, n - 1) costs more than N(1, n) against N(0, n) (at delta = 1e-5 and n = 100: .4069 for .3407), and
the difference adds up with every dimension of the release, so nothing finite holds for all of them. A cohort of random
size has the same fault whatever the relation: whether the unit came decides how much noise the others' shares are.
Under zero-out and replace-one, in a cohort of known size, the unit is there in both worlds with its share.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from .base import Mechanism
from .cohorts import RandomAllocation
from .composition import Sequence, parts_of, rounds_by_step
from .gaussian import Gaussian
from .neighbours import Relation
from .sampled import Poisson, TruncatedPoisson
from .secure_aggregation import DistributedDiscreteGaussian, Skellam
from .validate import InputError
from .visible import VisibleParticipation

STAYS = (
    "zero-out or replace-one: the units bring this noise themselves, so one that is absent takes its share away, and "
    "laws with different variances are the further apart the more coordinates are released; or a server's noise"
)
COUNTED = (
    "no sampling, or cohorts of a fixed size: the units bring this noise themselves, and a cohort of random size "
    "brings a random amount; or a server's noise; or VisibleParticipation, with what is left of the noise of one upload"
)
KNOWN = (
    "noise that the others know no part of: they subtract the shares that they brought; use observer_epsilon with "
    "PerClientNoise or SecureAggregation, one share alone (clients = 1), or VisibleParticipation with what is left"
)


@dataclass(frozen=True, slots=True)
class DistributedGaussian(Gaussian):
    """A sum of clipped contributions, each with Gaussian noise that its unit added (local noise, shares of noise).

    noise_multiplier: standard deviation of all the noise that the observer cannot subtract, on the sum, over clip_norm:
    sqrt(n) times one unit's for n units. It costs what Gaussian does under zero-out and replace-one neighbours, in
    rounds of a known size; add-remove neighbours and cohorts of random size are refused where they are accounted for.

    >>> DistributedGaussian(10.0).noise_multiplier
    10.0
    """


def brings_noise(step: Mechanism) -> bool:
    """Whether the noise of this single round, sampled or not, is its units' own."""
    return any(isinstance(part, DistributedGaussian | DistributedDiscreteGaussian | Skellam) for part in parts_of(step))


def refuse_absent_shares(step: Mechanism, relation: Relation) -> None:
    """InputError where the amount of noise depends on who is there; a VisibleParticipation says what is left."""
    if not brings_noise(step):
        return
    if relation == Relation.ADD_REMOVE:
        raise InputError("neighbouring", relation, STAYS)
    inner: object = step
    while isinstance(inner, Mechanism) and not isinstance(inner, VisibleParticipation):
        sampled = isinstance(inner, Poisson | TruncatedPoisson) and inner.sampling_rate < 1
        if sampled or (isinstance(inner, RandomAllocation) and inner.participations < inner.rounds):
            raise InputError("sampling", type(inner).__name__, COUNTED)
        inner = getattr(inner, "mechanism", None)


def refuse_known_shares(run: Mechanism) -> None:
    """InputError where clients who pool what they know would know a part of the noise: the shares that they brought."""
    for step in rounds_by_step(run):
        shown = isinstance(step, VisibleParticipation)
        noise = step.mechanism.mechanism if isinstance(step, VisibleParticipation) else step
        alone = noise.clients == 1 if isinstance(noise, DistributedDiscreteGaussian) else shown
        if brings_noise(step) and not alone:
            raise InputError("mechanism", step, KNOWN)


def as_central(run: Mechanism) -> Mechanism:
    """The run with the same noise drawn by a server: for readings of a published number, never for a bound."""
    if isinstance(run, DistributedGaussian):
        return Gaussian(run.noise_multiplier)
    if isinstance(run, Sequence):
        return Sequence(tuple(as_central(part) for part in run.mechanisms))
    if any(field.name == "mechanism" for field in fields(run)):  # type: ignore[arg-type]
        return replace(run, mechanism=as_central(run.mechanism))  # type: ignore[type-var, attr-defined]
    return run
