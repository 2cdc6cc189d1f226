"""What dpcert.adapters.opacus_shuffled touches of Opacus and of PyTorch's loaders, for where neither is installed.

Examples are whole numbers, and a batch is their list. The same tests with the real ones: test_opacus_shuffled.py.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any


class RandomSampler:
    def __init__(self, data_source: Sequence[int], replacement: bool = False, num_samples: int | None = None) -> None:
        self.data_source, self.replacement = data_source, replacement
        self.num_samples = len(data_source) if num_samples is None else num_samples

    def __iter__(self) -> Iterator[int]:
        return iter(random.sample(range(len(self.data_source)), len(self.data_source)))


class SequentialSampler:
    def __init__(self, data_source: Sequence[int]) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))


class BatchSampler:
    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        order = list(self.sampler)
        for start in range(0, len(order), self.batch_size):
            batch = order[start : start + self.batch_size]
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch


class DataLoader:
    num_workers, collate_fn, pin_memory, timeout, worker_init_fn = 0, None, False, 0, None
    multiprocessing_context, generator, prefetch_factor, persistent_workers = None, None, None, False

    def __init__(
        self,
        dataset: Sequence[int],
        batch_size: int = 1,
        shuffle: bool = False,
        sampler: Any = None,
        batch_sampler: Any = None,
        drop_last: bool = False,
        **_: Any,
    ) -> None:
        own = (RandomSampler if shuffle else SequentialSampler)(dataset)
        self.dataset = dataset
        self.batch_sampler = batch_sampler or BatchSampler(sampler or own, batch_size, drop_last)
        self.sampler = sampler or (own if batch_sampler is None else batch_sampler.sampler)

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self.batch_sampler)


class IAccountant:
    """Its state, as Opacus 1.6 keeps it."""

    history: list[Any]

    def state_dict(self, destination: Any = None) -> dict[str, Any]:
        return {**(destination or {}), "history": copy.deepcopy(self.history), "mechanism": self.mechanism()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        if not state_dict or state_dict.get("mechanism") != self.mechanism() or "history" not in state_dict:
            raise ValueError("no state of this accountant")
        self.history = state_dict["history"]

    @classmethod
    def mechanism(cls) -> str:
        return "stand-in"

    def __len__(self) -> int:
        return 0


class Optimizer:
    """Of which only the hook counts. accumulated_iterations: batches since the last step."""

    accumulated_iterations = 1

    def __init__(self) -> None:
        self.noise_multiplier = 0.0
        self.hook: Callable[[Any], None] = lambda _: None

    def step(self) -> None:
        self.hook(self)


class PrivacyEngine:
    def __init__(self) -> None:
        self.accountant: Any = IAccountant()

    def make_private(
        self, *, module: Any, optimizer: Optimizer, data_loader: Any, noise_multiplier: float, poisson_sampling: bool
    ) -> tuple[Any, Optimizer, Any]:
        assert not poisson_sampling
        optimizer.noise_multiplier = noise_multiplier
        optimizer.hook = self.accountant.get_optimizer_hook_fn(sample_rate=0.5)
        return module, optimizer, data_loader


def modules() -> dict[str, ModuleType]:
    """By the names under which they are imported."""
    parts = {
        "opacus": {"PrivacyEngine": PrivacyEngine},
        "opacus.accountants": {"IAccountant": IAccountant},
        "torch": {},
        "torch.utils": {},
        "torch.utils.data": {"BatchSampler": BatchSampler, "DataLoader": DataLoader, "RandomSampler": RandomSampler},
    }
    return {name: _module(name, **held) for name, held in parts.items()}


def _module(name: str, **held: Any) -> ModuleType:
    made = ModuleType(name)
    made.__dict__.update(SimpleNamespace(**held).__dict__)
    return made
