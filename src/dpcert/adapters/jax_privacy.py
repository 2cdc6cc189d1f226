"""Our accountant for jax-privacy (2.0): a training accountant, with which its calibration works too.

    accountant = CertifiedTrainingAccountant()
    accountant.compute_epsilon(num_updates, dp_params)
    calibrate_noise_multiplier(accountant=accountant, target_epsilon=2.0, ...)

The events of jax_privacy.experimental.accounting go to dpcert.adapters.dp_accounting as they are.

Batches of a fixed size are accounted for as such, under replace-one. jax-privacy takes them for Poisson batches with
twice the sensitivity, which is too low: below the certified lower end in a setting of the tests (Lebeda et al. 2024,
arXiv 2405.20769, on such mistakes).
"""

from __future__ import annotations

from numbers import Number
from typing import Any

from ..mechanisms import Relation

try:
    from jax_privacy.accounting import DpAccountantConfig, DpParams, DpsgdTrainingAccountant, SamplingMethod
except ImportError as problem:
    raise ImportError(
        "This adapter needs the accounting module of jax-privacy 2.0 to 2.1. Install it with: "
        "pip install 'dpcert[jax-privacy]'. "
        "From 2.2 on there is none: give the events that jax-privacy builds to "
        "dpcert.adapters.dp_accounting.CertifiedAccountant."
    ) from problem

from ..accounting import Bracket, epsilon
from ..mechanisms import FixedSize, InputError, Mechanism, Neighbouring, Poisson, Repeat, Sequence
from ..mechanisms.no_noise import gaussian_or_none
from ..mechanisms.validate import count, number
from .dp_accounting import CertifiedAccountant

RELATIONS: dict[SamplingMethod, Relation] = {
    SamplingMethod.POISSON: Relation.ADD_REMOVE,
    SamplingMethod.FIXED_BATCH_SIZE: Relation.REPLACE_ONE,
}
"""The adjacency that jax-privacy states for each sampling method."""


class _Config(DpAccountantConfig):
    """What DpsgdTrainingAccountant wants to be given; its events are never composed here."""

    def create_accountant(self) -> CertifiedAccountant:
        return CertifiedAccountant()


class CertifiedTrainingAccountant(DpsgdTrainingAccountant):
    """Certified upper bounds for DpParams: DP-SGD, and BandMF with cyclic Poisson sampling.

    neighbouring: "add-remove" for Poisson and "replace-one" for fixed-size batches unless said otherwise.
    """

    def __init__(self, neighbouring: Neighbouring | None = None) -> None:
        super().__init__(_Config())
        self.neighbouring = neighbouring

    def bracket(self, num_updates: int, dp_params: DpParams) -> Bracket:
        """The certified interval around the true epsilon after num_updates (at least 1) updates."""
        self._validate_dp_params(dp_params)
        relation = self.neighbouring or RELATIONS[dp_params.sampling_method]
        return epsilon(training_run(num_updates, dp_params), dp_params.delta, relation)

    def _validate_dp_params(self, dp_params: DpParams) -> None:
        if dp_params.truncated_batch_size is not None:
            raise InputError("truncated_batch_size", dp_params.truncated_batch_size, "None: no bound is known here")
        super()._validate_dp_params(dp_params)

    def _compute_epsilon(self, num_updates: Any, dp_params: DpParams) -> float:
        return self.bracket(num_updates, dp_params).upper


def training_run(num_updates: int, dp_params: DpParams) -> Mechanism:
    """What DpParams describe, as a mechanism: every schedule's segments in turn.

    With cycle_length b, BandMF's reduction (Choquette-Choo et al. 2023, arXiv 2306.08153): ceil(num_updates / b)
    rounds on one of b groups of num_samples // b examples.
    """
    updates = count("num_updates", num_updates)
    cycle = count("cycle_length", dp_params.cycle_length or 1)
    group = count("num_samples", dp_params.num_samples) // cycle
    noises, sizes = _schedule(dp_params.noise_multipliers), _schedule(dp_params.batch_sizes)
    starts = sorted({start for start, _ in (*noises, *sizes) if start < updates})
    parts = []
    for start, end in zip(starts, [*starts[1:], updates], strict=True):
        step = _step(_value(noises, start), _value(sizes, start), group, dp_params.sampling_method)
        parts.append(Repeat(step, -(-(end - start) // cycle)))
    return Sequence(tuple(parts))


def _step(noise_multiplier: float, batch_size: float, group: int, method: SamplingMethod) -> Mechanism:
    if not 0 < batch_size <= group:
        raise InputError("batch_size", batch_size, f"above 0 and at most {group}, the examples to draw from")
    noise = gaussian_or_none(noise_multiplier)
    if method is SamplingMethod.FIXED_BATCH_SIZE:
        return FixedSize(noise, group, count("batch_size", batch_size))
    return Poisson(noise, batch_size / group)


def _schedule(values: Any) -> list[tuple[int, float]]:
    """(first step, value) in order; jax-privacy also takes one number for all steps."""
    single = isinstance(values, Number)
    pairs: list[tuple[int, Any]] = [(0, values)] if single else [(int(start), value) for start, value in values]
    ordered = sorted((start, number("schedule", float(value))) for start, value in pairs)
    if not ordered or ordered[0][0] != 0:
        raise InputError("schedule", values, "a value from step 0 on")
    return ordered


def _value(schedule: list[tuple[int, float]], step: int) -> float:
    return [value for start, value in schedule if start <= step][-1]
