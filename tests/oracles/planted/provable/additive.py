"""Noise added to statistics: too little, in the wrong place, used twice, or of the wrong kind. Claims: epsilon = 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .case import Mechanism, Provable

SIGNED = {"low": -1.0}
ALL = {"low": None, "high": None}
ADDED = {"relation": "add-remove"}


def sum_with(scale: float) -> Mechanism:
    return lambda data, rng: data.sum() + rng.laplace(0, scale)


def clipped_at(most: float) -> Mechanism:
    return lambda data, rng: float(np.clip(data, 0, most).sum()) + rng.laplace(0, 1)


def mean_with(scale: float) -> Mechanism:
    return lambda data, rng: data.mean() + rng.laplace(0, scale / len(data))


def mean_of_unknown_size(data: Any, rng: Any) -> Any:
    """The scale tells how many there are."""
    return sum(data) / len(data) + rng.laplace(0, 1 / len(data))


def noisy_sum_and_count(data: Any, rng: Any) -> Any:
    return sum(data) + rng.laplace(0, 2), len(data) + rng.laplace(0, 2)


def histogram_with(scale: float) -> Mechanism:
    def histogram(data: Any, rng: Any) -> list[Any]:
        counts = [0, 0, 0]
        for entry in data:
            counts[0 if entry < 0.3 else 1 if entry < 0.6 else 2] += 1
        return [count + rng.laplace(0, scale) for count in counts]

    return histogram


def present_bins(data: Any, rng: Any) -> dict[str, Any]:
    """A bin that nobody is in is left out, which shows who is the only one in it."""
    low = int((data < 0.5).sum() > 0)
    found = {"low": (data < 0.5).sum() + rng.laplace()} if low else {}
    return found | {"high": (data >= 0.5).sum() + rng.laplace()}


def all_bins(data: Any, rng: Any) -> dict[str, Any]:
    return {"low": (data < 0.5).sum() + rng.laplace(), "high": (data >= 0.5).sum() + rng.laplace()}


def prefix_sums_with(scale_of: Callable[[int], float]) -> Mechanism:
    return lambda data, rng: np.cumsum(data) + rng.laplace(0, scale_of(len(data)), len(data))


def smart_sum_with(scale: float) -> Mechanism:
    """Chan, Shi, Song 2011 (ACM TISSEC 14(3)), in blocks of two: an entry is in one block and in one running sum."""

    def smart_sum(data: Any, rng: Any) -> list[Any]:
        finished, running, out = 0.0, 0.0, []
        for i, entry in enumerate(data):
            running = running + entry
            if i % 2:
                finished, running = finished + running + rng.laplace(0, scale), 0.0
                out.append(finished)
            else:
                out.append(finished + running + rng.laplace(0, scale))
        return out

    return smart_sum


def first_only(data: Any, rng: Any) -> list[Any]:
    return [data[0] + rng.laplace(), *data[1:]]


def each(data: Any, rng: Any) -> list[Any]:
    return [entry + rng.laplace() for entry in data]


def one_noise(data: Any, rng: Any) -> list[Any]:
    noise = rng.laplace()
    return [entry + noise for entry in data]


def exact_branch(data: Any, rng: Any) -> Any:
    return 100 + rng.laplace() if sum(data) > 1 else rng.laplace()


def noisy_branch(data: Any, rng: Any) -> Any:
    return "many" if sum(data) + rng.laplace() > 1 else "few"


def exact_after_a_noisy_test(data: Any, rng: Any) -> Any:
    return sum(data) if sum(data) + rng.laplace() > 1 else None


def noisy_after_a_noisy_test(data: Any, rng: Any) -> Any:
    noisy = sum(data) + rng.laplace()
    return noisy if noisy > 1 else None


def one_sided(data: Any, rng: Any) -> Any:
    return sum(data) + rng.exponential(1)


def counted(chance: float) -> Mechanism:
    """The difference of two geometric noises is discrete Laplace noise."""

    def count(data: Any, rng: Any) -> Any:
        above = 0
        for entry in data:
            if entry > 0.5:
                above += 1
        return above + rng.geometric(chance) - rng.geometric(chance)

    return count


@dataclass
class Report:
    total: Any
    above: bool


def in_a_dataclass(scale: float) -> Mechanism:
    def report(data: Any, rng: Any) -> Report:
        total = sum(data) + rng.laplace(0, scale)
        return Report(total, total > 1)

    return report


def exact_flag(data: Any, rng: Any) -> Report:
    return Report(sum(data) + rng.laplace(), sum(data) > 1)


def weighted(scale: float) -> Mechanism:
    return lambda data, rng: sum((i + 1) * entry for i, entry in enumerate(data)) + rng.laplace(0, scale)


def uniform_noise(data: Any, rng: Any) -> Any:
    return sum(data) + rng.uniform(-1, 1)


CASES = (
    Provable("half the noise", sum_with(0.5), sum_with(1)),
    Provable("un-clipped sum", lambda data, rng: data.sum() + rng.laplace(), clipped_at(1), options=ALL),
    Provable("clipped at another bound", clipped_at(2), clipped_at(1), options=ALL),
    Provable("sensitivity halved", sum_with(1), sum_with(2), options=SIGNED),
    Provable("mean", mean_with(0.5), mean_with(1 + 1e-9)),  # 1 / 3 is rounded: a scale of 1 costs 1 + 2e-16
    Provable("size shown by the scale", mean_of_unknown_size, noisy_sum_and_count, options=ADDED),
    Provable("histogram as if one were added", histogram_with(1), histogram_with(2), entries=2),
    Provable("stability histogram without threshold", present_bins, all_bins, options=ADDED),
    Provable("prefix sums", prefix_sums_with(lambda n: 1), prefix_sums_with(lambda n: n)),
    Provable("smart sum", smart_sum_with(1), smart_sum_with(2), entries=4),
    Provable("only the first entry", first_only, each),
    Provable("one noise for all", one_noise, each),
    Provable("branch on exact data", exact_branch, noisy_branch),
    Provable("exact sum after a noisy test", exact_after_a_noisy_test, noisy_after_a_noisy_test),
    Provable("one-sided noise", one_sided, sum_with(1)),
    Provable("geometric count", counted(1 - math.exp(-2)), counted(1 - math.exp(-0.999))),
    Provable("exact flag beside a noisy sum", exact_flag, in_a_dataclass(1)),
    Provable("weights forgotten", weighted(1), weighted(3)),
    Provable("bounded noise", uniform_noise, sum_with(1)),
)
