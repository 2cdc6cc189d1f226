"""To and from dp_accounting's event objects (dp-accounting 0.6 and its main branch). Optional: imported on first use.

An event describes what ran, as a mechanism does, and its definition of a noise multiplier is ours: noise over
the bound on one contribution, whatever the neighbours. What its accountants then charge for replace-one
neighbours is not uniform: the PLD accountant doubles a Gaussian's sensitivity, the RDP accountant does not
(google/differential-privacy issue 378), nor does it for fixed-size sampling. `event_for_accountant` is the
adapter: the event for which the named accountant, under the relation, charges what the run costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from .base import Mechanism
from .bounded import ApproximateDp, Zcdp
from .cohorts import WithReplacement
from .composition import Repeat, Sequence
from .correlated import CorrelatedGaussian
from .discrete import DiscreteGaussian, DiscreteLaplace
from .gaussian import Gaussian
from .laplace import Laplace
from .mixture_of_gaussians import MixtureOfGaussians
from .neighbours import Neighbouring, Relation, neighbouring_relation, sensitivity
from .private_selection import BestOfSeveral
from .randomized_response import RandomizedResponse
from .sampled import FixedSize, Poisson, TruncatedPoisson
from .selection import ReportNoisyMax, exponential_mechanism, permute_and_flip
from .validate import InputError, choice, lacks

if TYPE_CHECKING:
    from dp_accounting import dp_event  # type: ignore[import-untyped]

_HAVE_EVENTS = (
    "Gaussian, Laplace, DiscreteLaplace, RandomizedResponse, Zcdp, MixtureOfGaussians, BestOfSeveral or a "
    "CorrelatedGaussian, composed by Repeat and Sequence, sampled by Poisson, TruncatedPoisson, FixedSize or "
    "WithReplacement (this dp_accounting has no other)"
)
_HAVE_MECHANISMS = (
    "a GaussianDpEvent, LaplaceDpEvent, DiscreteLaplaceDpEvent, RandomizedResponseDpEvent, ZCDpEvent with xi = 0, "
    "MixtureOfGaussiansDpEvent, RepeatAndSelectDpEvent, EpsilonDeltaDpEvent, ExponentialMechanismDpEvent, "
    "PermuteAndFlipDpEvent, DiscreteGaussianDpEvent in one dimension, ComposedDpEvent, SelfComposedDpEvent, "
    "PoissonSampledDpEvent, SampledWithReplacementDpEvent, "
    "SampledWithoutReplacementDpEvent or TruncatedSubsampledGaussianDpEvent"
)


def _dp_accounting() -> Any:
    """The package, or an ImportError that says how to get it."""
    try:
        return import_module("dp_accounting")
    except ModuleNotFoundError as missing:
        if missing.name != "dp_accounting":
            raise
        text = str(lacks("A mechanism as an event", "dp_accounting", "dpcert[dp-accounting]"))
        raise ModuleNotFoundError(text, name="dp_accounting") from None


def to_event(mechanism: Mechanism) -> dp_event.DpEvent:
    """The DpEvent that describes the mechanism.

    >>> to_event(Repeat(Gaussian(2.0), rounds=3))
    SelfComposedDpEvent(event=GaussianDpEvent(noise_multiplier=2.0), count=3)

    Raises InputError, naming the part, where dp_accounting has no event for it, and ModuleNotFoundError where
    dp_accounting is not installed.
    """
    dp_event = _dp_accounting().dp_event
    if isinstance(mechanism, CorrelatedGaussian):
        return dp_event.GaussianDpEvent(_as_one_release(mechanism))
    name = _named(mechanism)
    known = next((event for event in EVENTS if event.kind is type(mechanism) and name in (event.name, "")), None)
    if known is None or not hasattr(dp_event, known.name):
        raise InputError("mechanism", mechanism, _HAVE_EVENTS)
    return getattr(dp_event, known.name)(*known.arguments(mechanism))


Mechanism.to_event = staticmethod(to_event)


def _named(mechanism: Mechanism) -> str:
    """The event's class where a mechanism's field decides about it, else empty; a name that no event has for none."""
    return _MAXIMA.get(mechanism.noise, "none") if isinstance(mechanism, ReportNoisyMax) else ""


_MAXIMA = {"gumbel": "ExponentialMechanismDpEvent", "exponential": "PermuteAndFlipDpEvent"}


def _of_search(m: BestOfSeveral) -> tuple[object, ...]:
    if m.poisson_mean is None and m.shape < 0:
        raise InputError("shape", m.shape, "at least 0: dp_accounting has no event of other searches")
    return to_event(m.mechanism), m.mean, math.inf if m.poisson_mean is not None else m.shape


def _grid_gaussian(event: Any) -> DiscreteGaussian:
    if event.dimension != 1:
        raise InputError("dimension", event.dimension, "1")
    return DiscreteGaussian(event.sigma, math.floor(event.sensitivity))


def _of_truncated(m: TruncatedPoisson) -> tuple[object, ...]:
    if not isinstance(m.mechanism, Gaussian):
        raise InputError("mechanism", m, "Gaussian noise: dp_accounting has no other event with truncated sampling")
    return m.population, m.sampling_rate, m.max_cohort, m.mechanism.noise_multiplier


def _as_one_release(mechanism: CorrelatedGaussian) -> float:
    """The noise multiplier, rounded down, of the single Gaussian release that costs what all its rounds cost."""
    quotient = mechanism.noise_multiplier / math.sqrt(mechanism.squared_sensitivity()[1])
    return math.nextafter(quotient * (1 - 2**-51), 0.0)


def _uniform_share(mechanism: RandomizedResponse) -> float:
    """dp_accounting's noise parameter: the probability of a uniformly random report, true category included."""
    return min(1.0, mechanism.flip_probability * mechanism.categories / (mechanism.categories - 1))


def from_event(event: dp_event.DpEvent) -> Mechanism:
    """The mechanism that an event describes; the inverse of `to_event`.

    event: a DpEvent of Google's dp_accounting.

    >>> from_event(Poisson(Gaussian(2.0), 0.01).event())
    Poisson(mechanism=Gaussian(noise_multiplier=2.0), sampling_rate=0.01)

    Raises InputError naming the event where it describes none, or one with values out of range.
    """
    dp_event = _dp_accounting().dp_event
    name = type(event).__name__
    known = next((each for each in EVENTS if each.name == name), None)  # older releases lack some of these classes
    if known is None or type(event) is not getattr(dp_event, name, type(event)) or getattr(event, "xi", 0) != 0:
        raise InputError("event", event, _HAVE_MECHANISMS)
    try:
        mechanism = known.read(event)
    except (InputError, ZeroDivisionError, TypeError) as error:
        raise InputError("event", event, f"values in range ({error})") from error
    return mechanism


@dataclass(frozen=True, slots=True)
class Event:
    """One class of dp_accounting's events and the mechanism that it describes.

    name: of the class; arguments: those that make the event of a mechanism; read: the way back.
    """

    kind: type[Mechanism]
    name: str
    arguments: Callable[[Any], tuple[object, ...]]
    read: Callable[[Any], Mechanism]


EVENTS = [
    Event(Gaussian, "GaussianDpEvent", lambda m: (m.noise_multiplier,), lambda e: Gaussian(e.noise_multiplier)),
    Event(Laplace, "LaplaceDpEvent", lambda m: (m.noise_multiplier,), lambda e: Laplace(e.noise_multiplier)),
    Event(
        DiscreteLaplace,
        "DiscreteLaplaceDpEvent",
        lambda m: (1 / m.scale, m.clip),
        lambda e: DiscreteLaplace(1 / e.noise_parameter, e.sensitivity),
    ),
    Event(
        RandomizedResponse,
        "RandomizedResponseDpEvent",
        lambda m: (_uniform_share(m), m.categories),
        lambda e: RandomizedResponse(
            min(e.noise_parameter * (e.num_buckets - 1) / e.num_buckets, 1 - 1 / e.num_buckets), e.num_buckets
        ),
    ),
    Event(
        MixtureOfGaussians,
        "MixtureOfGaussiansDpEvent",
        lambda m: (m.standard_deviation, list(m.sensitivities), list(m.probabilities)),
        lambda e: MixtureOfGaussians(e.standard_deviation, tuple(e.sensitivities), tuple(e.sampling_probs)),
    ),
    Event(
        BestOfSeveral,
        "RepeatAndSelectDpEvent",
        _of_search,
        lambda e: BestOfSeveral.with_mean(from_event(e.event), e.mean, e.shape),
    ),
    Event(
        ApproximateDp,
        "EpsilonDeltaDpEvent",
        lambda m: (m.epsilon, m.delta),
        lambda e: ApproximateDp(e.epsilon, e.delta),
    ),
    Event(
        ReportNoisyMax,
        "ExponentialMechanismDpEvent",
        lambda m: (m.epsilon,),
        lambda e: exponential_mechanism(e.epsilon),
    ),
    Event(ReportNoisyMax, "PermuteAndFlipDpEvent", lambda m: (m.epsilon,), lambda e: permute_and_flip(e.epsilon)),
    Event(DiscreteGaussian, "DiscreteGaussianDpEvent", lambda m: (m.sigma, float(m.clip), 1), _grid_gaussian),
    Event(Zcdp, "ZCDpEvent", lambda m: (m.rho,), lambda e: Zcdp(e.rho)),
    Event(
        Repeat,
        "SelfComposedDpEvent",
        lambda m: (to_event(m.mechanism), m.rounds),
        lambda e: Repeat(from_event(e.event), e.count),
    ),
    Event(
        Sequence,
        "ComposedDpEvent",
        lambda m: ([to_event(part) for part in m.mechanisms],),
        lambda e: Sequence(tuple(from_event(part) for part in e.events)),
    ),
    Event(
        Poisson,
        "PoissonSampledDpEvent",
        lambda m: (m.sampling_rate, to_event(m.mechanism)),
        lambda e: Poisson(from_event(e.event), e.sampling_probability),
    ),
    Event(
        FixedSize,
        "SampledWithoutReplacementDpEvent",
        lambda m: (m.population, m.cohort, to_event(m.mechanism)),
        lambda e: FixedSize(from_event(e.event), e.source_dataset_size, e.sample_size),
    ),
    Event(
        WithReplacement,
        "SampledWithReplacementDpEvent",
        lambda m: (m.population, m.draws, to_event(m.mechanism)),
        lambda e: WithReplacement(from_event(e.event), e.source_dataset_size, e.sample_size),
    ),
    Event(
        TruncatedPoisson,
        "TruncatedSubsampledGaussianDpEvent",
        _of_truncated,
        lambda e: TruncatedPoisson(
            Gaussian(e.noise_multiplier), e.sampling_probability, e.dataset_size, e.truncated_batch_size
        ),
    ),
]
"""Those of dp_accounting 0.6, and of its main branch where the installed release lacks them, each told once; more may
be added (extending.py)."""


def neighbouring_for_accountant(neighbouring: Neighbouring) -> Any:
    """dp_accounting's NeighboringRelation: zero-out is its REPLACE_SPECIAL.

    >>> neighbouring_for_accountant("zero-out").name
    'REPLACE_SPECIAL'
    """
    relations = _dp_accounting().NeighboringRelation
    return {
        Relation.ADD_REMOVE: relations.ADD_OR_REMOVE_ONE,
        Relation.REPLACE_ONE: relations.REPLACE_ONE,
        Relation.ZERO_OUT: relations.REPLACE_SPECIAL,
    }[neighbouring_relation(neighbouring)]


def event_for_accountant(
    mechanism: Mechanism, neighbouring: Neighbouring, accountant: Literal["pld", "rdp"]
) -> dp_event.DpEvent:
    """The event for which dp_accounting's accountant, built with `neighbouring_for_accountant`, charges the run.

    The RDP accountant takes noise multipliers relative to the sensitivity itself: for replace-one they are
    halved. The PLD accountant does its own doubling. Whether it supports the event remains the accountant's say.

    >>> event_for_accountant(Gaussian(2.0), "replace-one", "rdp")
    GaussianDpEvent(noise_multiplier=1.0)
    """
    relation = neighbouring_relation(neighbouring)
    if choice("accountant", accountant, ("pld", "rdp")) == "pld":
        return to_event(mechanism)
    return to_event(_rescaled(mechanism, 1 / sensitivity(relation)))


def _rescaled(mechanism: Mechanism, factor: float) -> Mechanism:
    """The mechanism with every Gaussian and Laplace noise multiplied by the factor."""
    if isinstance(mechanism, Gaussian):
        return Gaussian(mechanism.noise_multiplier * factor)
    if isinstance(mechanism, Laplace):
        return Laplace(mechanism.noise_multiplier * factor)
    if isinstance(mechanism, Sequence):
        return Sequence(tuple(_rescaled(part, factor) for part in mechanism.mechanisms))
    if isinstance(mechanism, Repeat | Poisson | FixedSize | WithReplacement | BestOfSeveral):
        return replace(mechanism, mechanism=_rescaled(mechanism.mechanism, factor))
    return mechanism
