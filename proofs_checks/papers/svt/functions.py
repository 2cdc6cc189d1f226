"""Sparse vector techniques as Python functions, for `prove`: which answers are above a threshold, as long as few are.

Numbers are those of Lyu, Su, Li 2017 (PVLDB 10(6), Figure 1; arXiv 1603.01699). Threshold 0, sensitivity 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Mechanism = Callable[..., Any]


def sparse_vector(threshold: float, query: float, most: int | None, *, anew: float | None = None) -> Mechanism:
    """Scales of the two noises; stops after `most` above. anew: the threshold's noise is drawn again after each."""

    def mechanism(data: Any, rng: Any) -> list[bool]:
        bound, out, count = rng.laplace(0, threshold), [], 0
        for answer in data:
            noise = rng.laplace(0, query) if query else 0
            above = bool(answer + noise >= bound)
            out.append(above)
            if above:
                count += 1
                if count == most:
                    break
                if anew is not None:
                    bound = rng.laplace(0, anew)
        return out

    return mechanism


def numeric(threshold: float, query: float, released: float | None) -> Mechanism:
    """Releases the first answer above: with fresh noise of scale `released`, or (None) with what it was tested with."""

    def mechanism(data: Any, rng: Any) -> list[Any]:
        bound, out = rng.laplace(0, threshold), []
        for answer in data:
            noisy = answer + rng.laplace(0, query)
            if noisy >= bound:
                out.append(noisy if released is None else answer + rng.laplace(0, released))
                break
            out.append(False)
        return out

    return mechanism
