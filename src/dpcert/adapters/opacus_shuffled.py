"""Opacus with batches that are shuffled, not Poisson: the loader is read, every pass over it is counted as one epoch.

    from dpcert.adapters.opacus_shuffled import make_private_shuffled

    model, optimizer, loader = make_private_shuffled(
        engine, neighbouring="zero-out", module=model, optimizer=optimizer, data_loader=loader,
        noise_multiplier=1.0, max_grad_norm=1.0,
    )
    engine.get_epsilon(delta=1e-5)
    engine.accountant.bracket(1e-5)  # [lower, upper]

What is proved of shuffled batches, and against whom: docs/how-to/shuffled.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any

from opacus import PrivacyEngine
from opacus.accountants import IAccountant
from torch.utils.data import BatchSampler, DataLoader, RandomSampler

from ..accounting import Bracket, epsilon
from ..mechanisms import (
    Gaussian,
    InputError,
    Mechanism,
    Neighbouring,
    Relation,
    Repeat,
    Sequence,
    Shuffled,
    neighbouring_relation,
)
from ..mechanisms.no_noise import gaussian_or_none
from ..mechanisms.validate import count, delta_below_one, nonnegative

NAME = "dpcert-shuffled"

_LOADER = "a DataLoader(..., shuffle=True): one permutation of all examples in each pass, drawn afresh"
_RELATION = '"zero-out" or "replace-one": one example less moves all others to other batches'


@dataclass(frozen=True, slots=True)
class ShuffledBatches:
    """How a loader deals out one epoch. batches: how many steps it has; full_batches: how many have the full size.
    drops: whether examples are left over that no batch has (drop_last)."""

    batches: int
    full_batches: int
    drops: bool = False

    def __post_init__(self) -> None:
        count("batches", self.batches)
        Shuffled(Gaussian(1.0), self.batches, self.full_batches)

    @classmethod
    def of(cls, loader: DataLoader[Any]) -> ShuffledBatches:
        """What the loader does. Raises InputError for one that does not shuffle, draws with replacement, or whose
        sampler is not PyTorch's own, so that nobody knows what it draws."""
        batches, sampler = loader.batch_sampler, loader.sampler
        if type(batches) is not BatchSampler or type(sampler) is not RandomSampler or batches.sampler is not sampler:
            raise InputError("data_loader", type(sampler).__name__, _LOADER)
        size, drawn = len(sampler.data_source), sampler.num_samples
        if sampler.replacement or drawn != size:
            raise InputError("data_loader", f"{drawn} of {size} with replacement={sampler.replacement}", _LOADER)
        full, left = divmod(size, batches.batch_size)
        if full == 0 and batches.drop_last:
            raise InputError("batch_size", batches.batch_size, f"at most the {size} examples: no batch is full")
        return cls(full + (left > 0 and not batches.drop_last), full, left > 0 and batches.drop_last)

    def epoch(self, noise_multiplier: float) -> Shuffled:
        """One pass, with this noise in each batch."""
        return Shuffled(gaussian_or_none(noise_multiplier), self.batches, self.full_batches)


class ShuffledAccountant(IAccountant):
    """Certified bounds for training on shuffled batches; each pass over the loader that has begun counts in whole.

    neighbouring: "zero-out" (an example's contribution set to zero) or "replace-one" (its data exchanged). history:
    pairs (noise multiplier, epochs), the smallest noise of each epoch. More steps in one than batches are refused.
    """

    def __init__(self, sampling: ShuffledBatches, neighbouring: Neighbouring) -> None:
        if not isinstance(sampling, ShuffledBatches):
            raise InputError("sampling", sampling, "ShuffledBatches.of(data_loader)")
        if neighbouring_relation(neighbouring) == Relation.ADD_REMOVE:
            raise InputError("neighbouring", neighbouring, _RELATION)
        self.sampling, self.neighbouring = sampling, neighbouring
        self.history: list[tuple[float, int]] = []
        self._begun = self._steps = self._all_steps = 0

    def begin_epoch(self) -> None:
        """A pass over the loader begins: called by the loader that make_private_shuffled returns."""
        self._begun, self._steps = self._begun + 1, 0

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Record one optimiser step; InputError outside of a pass, or for more steps than it has batches."""
        noise = nonnegative("noise_multiplier", noise_multiplier)
        if not self._begun and not self._steps:
            raise InputError("step", sample_rate, "a pass over the loader that make_private_shuffled returned")
        if self._steps >= self.sampling.batches:
            raise InputError("step", self._steps + 1, f"at most {self.sampling.batches} in a pass: one for each batch")
        if not self._begun:  # later in the epoch that was counted last
            before, epochs = self.history.pop()
            if noise < before:
                self._add(before, epochs - 1)
                before, epochs = noise, 1
            self._add(before, epochs)
        else:
            self._add(noise, self._begun)
        self._begun, self._steps, self._all_steps = 0, self._steps + 1, self._all_steps + 1

    def _add(self, noise: float, epochs: int) -> None:
        if self.history and self.history[-1][0] == noise:
            noise, before = self.history.pop()
            epochs += before
        if epochs:
            self.history.append((noise, epochs))

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """What Opacus calls at each optimiser step; InputError for a step over several accumulated batches."""

        def hook(optimizer: Any) -> None:
            if optimizer.accumulated_iterations != 1:
                raise InputError("accumulated_iterations", optimizer.accumulated_iterations, "one batch per step")
            self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=sample_rate)

        return hook

    def run(self) -> Mechanism | None:
        """What was recorded; None for nothing."""
        epochs = [Repeat(self.sampling.epoch(noise), times) for noise, times in self.history]
        return Sequence(epochs) if epochs else None

    def bracket(self, delta: float, rtol: float = 1e-2) -> Bracket:
        """The certified interval around the true epsilon; where examples are left over, an upper end only."""
        delta_below_one("delta", delta)
        if any(noise == 0 for noise, _ in self.history):
            return Bracket(inf, inf, True, "no noise")
        run = self.run()
        if run is None:
            return Bracket(0.0, 0.0, True, "nothing to account for")
        found = epsilon(run, delta, self.neighbouring, rtol=rtol)
        return replace(found, lower=0.0) if self.sampling.drops else found

    def get_epsilon(self, delta: float) -> float:
        """The upper end of `bracket`."""
        return self.bracket(delta).upper

    def __len__(self) -> int:
        """Number of optimiser steps recorded."""
        return self._all_steps

    @classmethod
    def mechanism(cls) -> str:
        return NAME

    def state_dict(self, destination: Any = None) -> Any:
        """Opacus's state, with the sampling and the relation that the history is of."""
        state = super().state_dict(destination)
        state |= {"sampling": asdict(self.sampling), "neighbouring": self.neighbouring, "steps": self._all_steps}
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Replace the history; InputError or ValueError, and no change, for another sampling's or relation's."""
        before = self.history
        super().load_state_dict(state_dict)
        loaded, self.history = self.history, before
        for key, own in (("sampling", asdict(self.sampling)), ("neighbouring", self.neighbouring)):
            if state_dict.get(key) != own:
                raise InputError(key, state_dict.get(key), str(own))
        checked = [(nonnegative("noise_multiplier", noise), count("epochs", times)) for noise, times in loaded]
        steps = count("steps", state_dict.get("steps"), least=0)
        if steps > self.sampling.batches * sum(times for _, times in checked) or (steps == 0) != (not checked):
            raise InputError("steps", steps, f"steps of the epochs in {checked}")
        self.history, self._all_steps, self._begun, self._steps = checked, steps, 0, 0


class _Counted(BatchSampler):
    """The batches of a sampler, each pass told to the accountant."""

    def __init__(self, batches: BatchSampler, accountant: ShuffledAccountant) -> None:
        super().__init__(batches.sampler, batches.batch_size, batches.drop_last)
        self._accountant, self._pass = accountant, 0

    def __iter__(self) -> Iterator[list[int]]:
        self._accountant.begin_epoch()
        self._pass += 1
        return self._dealt(self._pass)

    def _dealt(self, number: int) -> Iterator[list[int]]:
        for batch in super().__iter__():
            if number != self._pass:
                raise InputError("data_loader", f"pass {number}", "no batches of a pass after the next one has begun")
            yield batch


def make_private_shuffled(
    engine: PrivacyEngine, *, data_loader: DataLoader[Any], neighbouring: Neighbouring, **arguments: Any
) -> Any:
    """engine.make_private(poisson_sampling=False, ...), accounted for as the shuffled batches that the loader deals.

    Train on the loader that is returned. arguments: of make_private. Raises InputError for a loader that does not
    shuffle, for poisson_sampling, and for an engine whose accountant has recorded steps.
    """
    if "poisson_sampling" in arguments:
        raise InputError("poisson_sampling", arguments["poisson_sampling"], "nothing: batches are shuffled here")
    if len(engine.accountant):
        raise InputError("engine", f"{len(engine.accountant)} steps", "a new engine: its accountant is exchanged")
    accountant = ShuffledAccountant(ShuffledBatches.of(data_loader), neighbouring)
    batches = data_loader.batch_sampler
    assert isinstance(batches, BatchSampler)  # ShuffledBatches.of
    counted = DataLoader(
        data_loader.dataset,
        batch_sampler=_Counted(batches, accountant),
        num_workers=data_loader.num_workers,
        collate_fn=data_loader.collate_fn,
        pin_memory=data_loader.pin_memory,
        timeout=data_loader.timeout,
        worker_init_fn=data_loader.worker_init_fn,
        multiprocessing_context=data_loader.multiprocessing_context,
        generator=data_loader.generator,
        prefetch_factor=data_loader.prefetch_factor,
        persistent_workers=data_loader.persistent_workers,
    )
    engine.accountant = accountant
    return engine.make_private(data_loader=counted, poisson_sampling=False, **arguments)
