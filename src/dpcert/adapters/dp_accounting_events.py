"""What dp_accounting's events describe, as mechanisms: those of 0.6, and of its main branch by their classes' names.

A noise multiplier is read as dp_event.py defines it, noise over the bound on one contribution, whatever the relation.
What releases nothing (no sample, one category, mixtures that move nothing) is nothing; no noise at all is not private.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

from dp_accounting import dp_event  # type: ignore[import-untyped]

from ..accounting import dominating
from ..accounting.rounding import down, up
from ..mechanisms import (
    BestOfSeveral,
    FixedSize,
    Gaussian,
    InputError,
    Mechanism,
    Poisson,
    Relation,
    RenyiDp,
    Repeat,
    Sequence,
    Zcdp,
    from_event,
    rounds_by_step,
    sensitivity,
)
from ..mechanisms.validate import count as whole
from ..mechanisms.validate import nonnegative, positive, rate


class Unsupported(Exception):
    """An event that cannot be accounted for: `event` itself, and the reason."""

    def __init__(self, event: dp_event.DpEvent, reason: str) -> None:
        super().__init__(f"{event}: {reason}")
        self.event = event
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Released:
    """What an event released. run: None for nothing at all. private: False where no guarantee is left."""

    run: Mechanism | None
    private: bool = True


_ORDERS = tuple(1 + 2.0 ** (k / 4) for k in range(-32, 65))
"""Between which a divergence that is linear in the order is next to its chords."""

NOTHING = Released(None)
NOT_PRIVATE = Released(None, private=False)


def released(event: dp_event.DpEvent, neighbouring: Relation) -> Released:
    """The mechanism that an event tree describes, checked to have a certified cost under the relation.

    Raises Unsupported, naming the innermost event, for what has none. Several events on one sample are released
    together, by one coin.
    """
    found = _released(event, neighbouring)
    for step in rounds_by_step(found.run) if found.run is not None else ():
        try:
            dominating(step, neighbouring)
        except InputError as error:
            raise Unsupported(_origin(event, step), str(error)) from error
    return found


def _released(event: dp_event.DpEvent, neighbouring: Relation) -> Released:
    name = type(event).__name__
    known = READERS.get(name) if getattr(dp_event, name, type(event)) is type(event) else None
    try:
        return known(event, neighbouring) if known else Released(from_event(event))
    except (InputError, ArithmeticError, TypeError, ValueError) as error:
        raise Unsupported(event, str(error)) from error


def _composed(event: dp_event.ComposedDpEvent, neighbouring: Relation) -> Released:
    parts = [_released(part, neighbouring) for part in event.events]
    runs = tuple(part.run for part in parts if part.run is not None)
    return Released(Sequence(runs) if runs else None, all(part.private for part in parts))


def _repeated(event: dp_event.SelfComposedDpEvent, neighbouring: Relation) -> Released:
    rounds = whole("count", event.count, least=0)
    inner = _released(event.event, neighbouring)
    if rounds == 0:
        return NOTHING
    return inner if inner.run is None else Released(Repeat(inner.run, rounds), inner.private)


def _poisson(event: dp_event.PoissonSampledDpEvent, neighbouring: Relation) -> Released:
    inner = _released(event.event, neighbouring)
    if event.sampling_probability == 0:
        return NOTHING
    share = rate("sampling_probability", event.sampling_probability)
    if inner.run is None:
        return inner
    return Released(Poisson(_on_one_sample(inner.run), share), inner.private)


def _fixed_size(event: dp_event.SampledWithoutReplacementDpEvent, neighbouring: Relation) -> Released:
    inner = _released(event.event, neighbouring)
    if event.sample_size == 0 and whole("source_dataset_size", event.source_dataset_size, least=0) >= 0:
        return NOTHING
    if inner.run is None:
        return inner
    return Released(FixedSize(_on_one_sample(inner.run), event.source_dataset_size, event.sample_size), inner.private)


def _on_one_sample(run: Mechanism) -> Mechanism:
    """What is released about one sample: a release by itself as it is."""
    steps = rounds_by_step(run)
    return next(iter(steps)) if list(steps.values()) == [1] else run


def _tree(event: dp_event.SingleEpochTreeAggregationDpEvent, neighbouring: Relation) -> Released:
    """A tree of n steps in which a unit takes part once is a Gaussian of sensitivity sqrt(1 + floor(log2 n)) (Kairouz
    et al. 2021, arXiv 2103.00039, appendix D)."""
    if neighbouring == Relation.ADD_REMOVE:
        raise _other_relation("`REPLACE_SPECIAL` or `REPLACE_ONE`", "tree aggregation: a unit has its place in it")
    steps = event.step_counts if isinstance(event.step_counts, list | tuple) else [event.step_counts]
    levels = max(whole("step_counts", number) for number in steps).bit_length()
    if event.noise_multiplier == 0:
        return NOT_PRIVATE
    return Released(Gaussian(down(event.noise_multiplier / sqrt(levels), 2)))


def _noise(parameter: str) -> Callable[[Any, Relation], Released]:
    """No noise at all is no mechanism of ours, but a number that dp_accounting gives a meaning."""
    return lambda event, _: NOT_PRIVATE if getattr(event, parameter) == 0 else Released(from_event(event))


def _truncated(event: dp_event.TruncatedSubsampledGaussianDpEvent, neighbouring: Relation) -> Released:
    if 0 in (event.sampling_probability, event.truncated_batch_size, event.dataset_size):
        return NOTHING
    return NOT_PRIVATE if event.noise_multiplier == 0 else Released(from_event(event))


def _randomized_response(event: dp_event.RandomizedResponseDpEvent, neighbouring: Relation) -> Released:
    if neighbouring == Relation.ADD_REMOVE:
        raise _other_relation("`REPLACE_ONE` or `REPLACE_SPECIAL`", "randomized response: a unit always reports")
    if event.num_buckets == 1:
        return NOTHING
    return NOT_PRIVATE if event.noise_parameter == 0 else Released(from_event(event))


def _mixture(event: dp_event.MixtureOfGaussiansDpEvent, neighbouring: Relation) -> Released:
    if neighbouring == Relation.REPLACE_ONE:
        raise _other_relation(
            "`ADD_OR_REMOVE_ONE` or `REPLACE_SPECIAL`", "a mixture of Gaussians: it says nothing of a replacement"
        )
    if list(event.sensitivities) == [0]:
        return NOTHING
    return NOT_PRIVATE if event.standard_deviation == 0 else Released(from_event(event))


def _best_of_several(event: dp_event.RepeatAndSelectDpEvent, neighbouring: Relation) -> Released:
    """Where the number of runs is Poisson distributed and 0, something that depends on no data has to be released."""
    inner = _released(event.event, neighbouring)
    if inner.run is None:
        return inner
    if event.shape != inf and event.mean == 1:  # one run, always
        nonnegative("shape", event.shape)
        return inner
    return Released(BestOfSeveral.with_mean(_on_one_sample(inner.run), event.mean, event.shape), inner.private)


def _zcdp(event: dp_event.ZCDpEvent, neighbouring: Relation) -> Released:
    """jax-privacy says "no noise" by an infinite rho. With xi, by its divergences at many orders, which are all that is
    said of it."""
    if event.rho == inf or event.xi == inf:
        return NOT_PRIVATE
    if event.xi == 0:
        return NOTHING if event.rho == 0 else Released(from_event(event))
    rho, xi = nonnegative("rho", event.rho), nonnegative("xi", event.xi)
    return Released(RenyiDp(tuple((order, up(xi + up(rho * order))) for order in _ORDERS)))


def _epsilon_delta(event: Any, neighbouring: Relation) -> Released:
    return NOT_PRIVATE if event.epsilon == inf or event.delta == 1 else Released(from_event(event))


def _discrete_gaussian(event: Any, neighbouring: Relation) -> Released:
    """In several dimensions, or in nobody knows how many, (move / sigma)^2 / 2 of zCDP (Canonne, Kamath, Steinke 2020,
    arXiv 2004.00010, Theorem 14)."""
    if event.sigma == 0:
        return NOT_PRIVATE
    if event.dimension == 1:
        return Released(from_event(event))
    share = sensitivity(neighbouring) * positive("sensitivity", event.sensitivity) / positive("sigma", event.sigma)
    return Released(Zcdp(up(share * share / 2, 8)))


def _other_relation(expected: str, why: str) -> InputError:
    """In dp_accounting's words."""
    sentence = f"neighboring_relation must be {expected} for {why}"
    return InputError("neighboring_relation", None, expected, sentence)


READERS: dict[str, Callable[[Any, Relation], Released]] = {
    "NoOpDpEvent": lambda event, _: NOTHING,
    "NonPrivateDpEvent": lambda event, _: NOT_PRIVATE,
    "ComposedDpEvent": _composed,
    "SelfComposedDpEvent": _repeated,
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": _fixed_size,
    "SingleEpochTreeAggregationDpEvent": _tree,
    "GaussianDpEvent": _noise("noise_multiplier"),
    "LaplaceDpEvent": _noise("noise_multiplier"),
    "DiscreteLaplaceDpEvent": _noise("noise_parameter"),
    "TruncatedSubsampledGaussianDpEvent": _truncated,
    "RandomizedResponseDpEvent": _randomized_response,
    "MixtureOfGaussiansDpEvent": _mixture,
    "RepeatAndSelectDpEvent": _best_of_several,
    "ZCDpEvent": _zcdp,
    "EpsilonDeltaDpEvent": _epsilon_delta,
    "DiscreteGaussianDpEvent": _discrete_gaussian,
}
"""By the names of their classes: the last two are on dp_accounting's main branch, and in no release yet. All others are
read by dpcert.mechanisms.from_event."""


def _origin(event: dp_event.DpEvent, step: Mechanism) -> dp_event.DpEvent:
    """The part of a (self-)composed event that describes this step, or the event where that is not one part."""
    parts = event.events if isinstance(event, dp_event.ComposedDpEvent) else [getattr(event, "event", None)]
    composed = isinstance(event, dp_event.ComposedDpEvent | dp_event.SelfComposedDpEvent)
    for part in parts if composed else ():
        run = _part(part)
        if run is not None and step in rounds_by_step(run):
            return _origin(part, step)
    return event


def _part(event: dp_event.DpEvent) -> Mechanism | None:
    """What a part describes under whichever relation it has a meaning."""
    for relation in (Relation.ZERO_OUT, Relation.REPLACE_ONE):
        try:
            return _released(event, relation).run
        except Unsupported:
            continue
    return None
