"""To and from dp_accounting's event objects (dp-accounting 0.6, dp_event.py). Optional: imported on first use.

An event describes what ran, as a mechanism does, and its definition of a noise multiplier is ours: noise over
the bound on one contribution, whatever the neighbours. What its accountants then charge for replace-one
neighbours is not uniform: the PLD accountant doubles a Gaussian's sensitivity, the RDP accountant does not
(google/differential-privacy issue 378), nor does it for fixed-size sampling. `event_for_accountant` is the
adapter: the event for which the named accountant, under the relation, charges what the run costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from .base import Mechanism
from .bounded import Zcdp
from .cohorts import WithReplacement
from .composition import Repeat, Sequence
from .correlated import CorrelatedGaussian
from .discrete import DiscreteLaplace
from .gaussian import Gaussian
from .laplace import Laplace
from .neighbours import Neighbouring, neighbouring_relation, sensitivity
from .randomized_response import RandomizedResponse
from .sampled import FixedSize, Poisson, TruncatedPoisson
from .validate import InputError, choice

if TYPE_CHECKING:
    from dp_accounting import dp_event  # type: ignore[import-untyped]

_HAVE_EVENTS = (
    "Gaussian, Laplace, DiscreteLaplace, RandomizedResponse, Zcdp or a CorrelatedGaussian, composed by Repeat and "
    "Sequence, sampled by Poisson, TruncatedPoisson, FixedSize or WithReplacement (dp_accounting has no other)"
)
_HAVE_MECHANISMS = (
    "a GaussianDpEvent, LaplaceDpEvent, DiscreteLaplaceDpEvent, RandomizedResponseDpEvent, ZCDpEvent with xi = 0, "
    "ComposedDpEvent, SelfComposedDpEvent, PoissonSampledDpEvent, SampledWithReplacementDpEvent, "
    "SampledWithoutReplacementDpEvent or TruncatedSubsampledGaussianDpEvent"
)


def _dp_accounting() -> Any:
    """The package, or an ImportError that says how to get it."""
    try:
        return import_module("dp_accounting")
    except ModuleNotFoundError as missing:
        if missing.name != "dp_accounting":
            raise
        text = "dp_accounting's events need dp_accounting: pip install 'dpcert[dp-accounting]'"
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
    known = next((event for event in EVENTS if event.kind is type(mechanism)), None)
    if known is None:
        raise InputError("mechanism", mechanism, _HAVE_EVENTS)
    return getattr(dp_event, known.name)(*known.arguments(mechanism))


Mechanism.to_event = staticmethod(to_event)


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

    >>> from_event(Poisson(Gaussian(2.0), 0.01).event())
    Poisson(mechanism=Gaussian(noise_multiplier=2.0), sampling_rate=0.01)

    Raises InputError naming the event where it describes none, or one with values out of range.
    """
    dp_event = _dp_accounting().dp_event
    name = type(event).__name__
    known = next((each for each in EVENTS if each.name == name), None)  # older releases lack some of these classes
    if known is None or type(event) is not getattr(dp_event, name, None) or getattr(event, "xi", 0) != 0:
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
        lambda e: RandomizedResponse(e.noise_parameter * (e.num_buckets - 1) / e.num_buckets, e.num_buckets),
    ),
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
"""Those of dp_accounting 0.6, each told once; more may be added (extending.py)."""


def neighbouring_for_accountant(neighbouring: Neighbouring) -> Any:
    """dp_accounting's NeighboringRelation: zero-out is its REPLACE_SPECIAL.

    >>> neighbouring_for_accountant("zero-out").name
    'REPLACE_SPECIAL'
    """
    relations = _dp_accounting().NeighboringRelation
    return {
        "add-remove": relations.ADD_OR_REMOVE_ONE,
        "replace-one": relations.REPLACE_ONE,
        "zero-out": relations.REPLACE_SPECIAL,
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
    if isinstance(mechanism, Repeat):
        return Repeat(_rescaled(mechanism.mechanism, factor), mechanism.rounds)
    if isinstance(mechanism, Poisson):
        return Poisson(_rescaled(mechanism.mechanism, factor), mechanism.sampling_rate)
    if isinstance(mechanism, FixedSize):
        return FixedSize(_rescaled(mechanism.mechanism, factor), mechanism.population, mechanism.cohort)
    if isinstance(mechanism, WithReplacement):
        return WithReplacement(_rescaled(mechanism.mechanism, factor), mechanism.population, mechanism.draws)
    return mechanism
